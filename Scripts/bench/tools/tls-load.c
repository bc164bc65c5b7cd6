/* A device as fast as C can be one, for measuring doors. Usage:
     tls-load handshakes WHERE SECONDS PARALLEL KEY CERT   full handshakes up to the first kind 18 byte; prints
                                                           COUNT-A-SECOND P50-MICROSECONDS
     tls-load connects WHERE SECONDS PAUSE KEY CERT        the same one after the other, PAUSE milliseconds between two;
                                                           prints COUNT P50-MICROSECONDS P99-MICROSECONDS
     tls-load relay WHERE SECONDS SESSIONS KEY CERT        reads what comes; prints BYTES-A-SECOND
     tls-load latency WHERE ROUNDS KEY CERT                1 KiB there and back; prints P50 P99 in microseconds
     tls-load plain WHERE ROUNDS                           the same without TLS, straight to the backend
     tls-load hold WHERE SESSIONS KEY CERT                 opens sessions, prints "ready", holds them until EOF on stdin
     tls-load pair WHERE                                   reads lines "SECRET HOST-FINGERPRINT" (hex), pairs a new key
                                                           by link each time; prints MICROSECONDS a line
     tls-load ages WHERE SECONDS KEY CERT                  watches Scripts/sample-host --video after a second; prints the
                                                           frames' age P50 P99 LONGEST-PAUSE in milliseconds, and
                                                           FRAMES-A-SECOND
   Every thread dials from a loopback address of its own, as devices do, where the door is there too. SPDX-License-Identifier: Apache-2.0 */
#include "common.h"
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <pthread.h>

static const char *where;
static double seconds;
static SSL_CTX *context;

static SSL_CTX *make_context(const char *key, const char *certificate) {
    SSL_CTX *c = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION);
    SSL_CTX_set_verify(c, SSL_VERIFY_NONE, NULL);
    if (key && (SSL_CTX_use_PrivateKey_file(c, key, SSL_FILETYPE_PEM) != 1 ||
                SSL_CTX_use_certificate_file(c, certificate, SSL_FILETYPE_PEM) != 1)) {
        fprintf(stderr, "cannot load %s or %s\n", key, certificate);
        exit(1);
    }
    return c;
}

static int dial_from(int source) {
    struct sockaddr_in to = {.sin_family = AF_INET}, from = {.sin_family = AF_INET};
    const char *colon = strrchr(where, ':');
    char host[64];
    if (!colon) { fprintf(stderr, "WHERE is HOST:PORT\n"); exit(64); }
    snprintf(host, sizeof host, "%.*s", (int)(colon - where), where);
    inet_pton(AF_INET, host, &to.sin_addr);
    to.sin_port = htons((uint16_t)atoi(colon + 1));
    from.sin_addr.s_addr = htonl(0x7f000000u + 1000u + (unsigned)source);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    int is_loopback = ntohl(to.sin_addr.s_addr) >> 24 == 127;
    if ((is_loopback && bind(fd, (struct sockaddr *)&from, sizeof from)) || connect(fd, (struct sockaddr *)&to, sizeof to)) die(where);
    return fd;
}

static void hang_up(SSL *ssl, int fd) {
    /* A reset leaves no TIME_WAIT behind, so that ports never run out. */
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    if (ssl) SSL_free(ssl);
    close(fd);
}

static SSL *handshake(SSL_CTX *c, int fd, const char *alpn) {
    unsigned char wire[32];
    SSL *ssl = SSL_new(c);
    wire[0] = (unsigned char)strlen(alpn);
    memcpy(wire + 1, alpn, wire[0]);
    SSL_set_alpn_protos(ssl, wire, wire[0] + 1u);
    SSL_set_tlsext_host_name(ssl, "sill");
    SSL_set_fd(ssl, fd);
    if (SSL_connect(ssl) != 1) { fprintf(stderr, "handshake failed\n"); exit(1); }
    return ssl;
}

static void read_exactly(SSL *ssl, unsigned char *into, size_t count) {
    for (size_t have = 0; have < count;) {
        int r = SSL_read(ssl, into + have, (int)(count - have));
        if (r <= 0) { fprintf(stderr, "the session ended early\n"); exit(1); }
        have += (size_t)r;
    }
}

/* Reads messages until the header of one of `kind` was seen; its payload too, into `payload`. */
static size_t read_until(SSL *ssl, unsigned kind, unsigned char *payload, size_t capacity) {
    for (;;) {
        unsigned char header[HEADER];
        read_exactly(ssl, header, HEADER);
        size_t length = header_length(header);
        if (length > capacity) { fprintf(stderr, "a message of %zu bytes\n", length); exit(1); }
        read_exactly(ssl, payload, length);
        if (header[0] == kind) return length;
    }
}

struct worker {
    pthread_t thread;
    int number;
    size_t count;
    uint64_t bytes;
    double *times;
    size_t capacity;
};

/* One session up to the first kind 18 byte; how long it took from the TCP connect on. */
static double connect_once(int source) {
    unsigned char payload[65536];
    double begin = now_seconds();
    int fd = dial_from(source);
    SSL *ssl = handshake(context, fd, "sill/1");
    unsigned char hello[HEADER + 2];
    put_header(hello, 23, 2);
    memcpy(hello + HEADER, "{}", 2);
    SSL_write(ssl, hello, sizeof hello);
    read_until(ssl, 18, payload, sizeof payload);
    double took = now_seconds() - begin;
    hang_up(ssl, fd);
    return took;
}

static void *handshakes(void *argument) {
    struct worker *w = argument;
    double end = now_seconds() + seconds;
    while (now_seconds() < end) {
        double took = connect_once(w->number);
        if (w->count < w->capacity) w->times[w->count] = took;
        w->count++;
    }
    return NULL;
}

static void connects(int pause) {
    static double times[1 << 16];
    size_t count = 0;
    double end = now_seconds() + seconds;
    while (now_seconds() < end && count < sizeof times / sizeof *times) {
        times[count++] = connect_once(0);
        usleep((useconds_t)pause * 1000);
    }
    double p50 = quantile(times, count, 0.5), p99 = quantile(times, count, 0.99);
    printf("%zu %.1f %.1f\n", count, p50 * 1e6, p99 * 1e6);
}

static void *relay(void *argument) {
    struct worker *w = argument;
    unsigned char *buffer = malloc(1 << 18);
    int fd = dial_from(w->number);
    SSL *ssl = handshake(context, fd, "sill/1");
    double end = now_seconds() + seconds;
    while (now_seconds() < end) {
        int r = SSL_read(ssl, buffer, 1 << 18);
        if (r <= 0) { fprintf(stderr, "the session ended early\n"); exit(1); }
        w->bytes += (uint64_t)r;
    }
    hang_up(ssl, fd);
    free(buffer);
    return NULL;
}

static void latency(SSL *ssl, int fd, int rounds) {
    enum { SIZE = 1024 };
    unsigned char message[HEADER + SIZE] = {0}, payload[65536];
    double *times = calloc((size_t)rounds, sizeof *times);
    put_header(message, 8, SIZE);
    for (int i = -rounds / 10; i < rounds; i++) {
        double begin = now_seconds();
        if (ssl) {
            SSL_write(ssl, message, sizeof message);
            read_until(ssl, 3, payload, sizeof payload);
        } else {
            if (write(fd, message, sizeof message) != sizeof message) die("write");
            for (;;) {
                unsigned char header[HEADER];
                if (recv(fd, header, HEADER, MSG_WAITALL) != HEADER) die("read");
                size_t n = header_length(header);
                if (recv(fd, payload, n, MSG_WAITALL) != (ssize_t)n) die("read");
                if (header[0] == 3) break;
            }
        }
        if (i >= 0) times[i] = now_seconds() - begin;
    }
    double p50 = quantile(times, (size_t)rounds, 0.5), p99 = quantile(times, (size_t)rounds, 0.99);
    printf("%.2f %.2f\n", p50 * 1e6, p99 * 1e6);
}

/* As read_exactly, with a ping every quarter second. */
static void read_alive(SSL *ssl, int fd, unsigned char *into, size_t count) {
    static double pinged;
    for (size_t have = 0; have < count;) {
        if (now_seconds() - pinged >= 0.25) {
            unsigned char ping[HEADER + 8] = {0};
            put_header(ping, 10, 8);
            SSL_write(ssl, ping, sizeof ping);
            pinged = now_seconds();
        }
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (!SSL_pending(ssl) && poll(&wait, 1, 250) == 0) continue;
        int r = SSL_read(ssl, into + have, (int)(count - have));
        if (r <= 0) { fprintf(stderr, "the session ended early\n"); exit(1); }
        have += (size_t)r;
    }
}

/* A frame begins with the time it was captured, by the clock that is now_seconds's too. */
static void ages(SSL *ssl, int fd) {
    enum { CAPACITY = 4 << 20 };
    static double times[1 << 16];
    unsigned char header[HEADER], *payload = malloc(CAPACITY);
    size_t count = 0;
    double begin = now_seconds() + 1, last = 0, pause = 0;
    while (now_seconds() < begin + seconds && count < sizeof times / sizeof *times) {
        read_alive(ssl, fd, header, HEADER);
        size_t length = header_length(header);
        if (length > CAPACITY) { fprintf(stderr, "a message of %zu bytes\n", length); exit(1); }
        read_alive(ssl, fd, payload, length);
        double now = now_seconds(), captured;
        if (header[0] != 1 || length < 8 || now < begin) continue;
        uint64_t bits = 0;
        for (int i = 0; i < 8; i++) bits = bits << 8 | payload[i];
        memcpy(&captured, &bits, 8);
        if (last && now - last > pause) pause = now - last;
        last = now;
        times[count++] = now - captured;
    }
    double took = now_seconds() - begin, p50 = quantile(times, count, 0.5), p99 = quantile(times, count, 0.99);
    printf("%.1f %.1f %.1f %.2f\n", p50 * 1e3, p99 * 1e3, pause * 1e3, (double)count / took);
    free(payload);
}

static void unhex(const char *text, unsigned char *out, size_t count) {
    for (size_t i = 0; i < count; i++) {
        unsigned v;
        if (sscanf(text + 2 * i, "%2x", &v) != 1) { fprintf(stderr, "bad line\n"); exit(64); }
        out[i] = (unsigned char)v;
    }
}

static size_t base64url(const unsigned char *in, size_t count, char *out) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t n = 0;
    uint32_t bits = 0;
    int have = 0;
    for (size_t i = 0; i < count; i++) {
        bits = bits << 8 | in[i];
        for (have += 8; have >= 6; have -= 6) out[n++] = alphabet[bits >> (have - 6) & 63];
    }
    if (have) out[n++] = alphabet[bits << (6 - have) & 63];
    out[n] = 0;
    return n;
}

/* One pairing by link with a key made for it; the clock runs from the TCP connect to the whole kind 20. */
static void pair(const char *secret_hex, const char *host_hex, int source) {
    unsigned char secret[16], proof_text[84], digest[32], payload[4096], *spki = NULL;
    unhex(secret_hex, secret, sizeof secret);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC, (unsigned char *)"b", -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    SSL_CTX *c = make_context(NULL, NULL);
    SSL_CTX_use_certificate(c, certificate);
    SSL_CTX_use_PrivateKey(c, key);
    int spki_length = i2d_PUBKEY(key, &spki);
    memcpy(proof_text, "sill-pair-v1 device", 20);
    EVP_Digest(spki, (size_t)spki_length, proof_text + 20, NULL, EVP_sha256(), NULL);
    unhex(host_hex, proof_text + 52, 32);
    HMAC(EVP_sha256(), secret, sizeof secret, proof_text, sizeof proof_text, digest, NULL);
    char proof[64];
    base64url(digest, sizeof digest, proof);
    unsigned char message[512];
    int length = snprintf((char *)message + HEADER, sizeof message - HEADER,
                          "{\"v\":1,\"method\":\"qr\",\"proof\":\"%s\",\"name\":\"Bench\"}", proof);
    put_header(message, 19, (uint32_t)length);

    double begin = now_seconds();
    int fd = dial_from(source);
    SSL *ssl = handshake(c, fd, "sill-pair/1");
    SSL_write(ssl, message, HEADER + length);
    size_t n = read_until(ssl, 20, payload, sizeof payload - 1);
    double took = now_seconds() - begin;
    payload[n] = 0;
    if (!strstr((char *)payload, "\"ok\":true")) { fprintf(stderr, "refused: %s\n", payload); exit(1); }
    printf("%.1f\n", took * 1e6);
    fflush(stdout);
    hang_up(ssl, fd);
    OPENSSL_free(spki);
    X509_free(certificate);
    EVP_PKEY_free(key);
    SSL_CTX_free(c);
}

static void run(struct worker *workers, int count, void *(*body)(void *)) {
    for (int i = 0; i < count; i++) {
        workers[i].number = i;
        workers[i].capacity = 1 << 20;
        workers[i].times = body == handshakes ? calloc(workers[i].capacity, sizeof(double)) : NULL;
        if (pthread_create(&workers[i].thread, NULL, body, &workers[i])) die("thread");
    }
    for (int i = 0; i < count; i++) pthread_join(workers[i].thread, NULL);
}

int main(int argc, char **argv) {
    static struct worker workers[256];
    signal(SIGPIPE, SIG_IGN);
    if (argc < 3) { fprintf(stderr, "see the head of tls-load.c\n"); return 64; }
    const char *mode = argv[1];
    where = argv[2];
    if (!strcmp(mode, "pair")) {
        char secret[64], host[128];
        for (int i = 0; scanf("%63s %127s", secret, host) == 2; i++) pair(secret, host, i % 4000);
        return 0;
    }
    if (!strcmp(mode, "plain") && argc == 4) {
        int fd = dial(where);
        if (fd < 0) die(where);
        latency(NULL, fd, atoi(argv[3]));
        return 0;
    }
    if (!strcmp(mode, "latency") && argc == 6) {
        context = make_context(argv[4], argv[5]);
        int fd = dial_from(0);
        latency(handshake(context, fd, "sill/1"), fd, atoi(argv[3]));
        return 0;
    }
    if (!strcmp(mode, "hold") && argc == 6) {
        context = make_context(argv[4], argv[5]);
        int count = atoi(argv[3]);
        unsigned char payload[65536];
        for (int i = 0; i < count; i++) read_until(handshake(context, dial_from(i % 200), "sill/1"), 18, payload, sizeof payload);
        printf("ready\n");
        fflush(stdout);
        while (getchar() != EOF) {}
        return 0;
    }
    if (!strcmp(mode, "ages") && argc == 6) {
        unsigned char hello[HEADER + 2];
        seconds = atof(argv[3]);
        if (seconds <= 0 || seconds > 60) { fprintf(stderr, "out of range\n"); return 64; }
        context = make_context(argv[4], argv[5]);
        int fd = dial_from(0);
        SSL *ssl = handshake(context, fd, "sill/1");
        put_header(hello, 23, 2);
        memcpy(hello + HEADER, "{}", 2);
        SSL_write(ssl, hello, sizeof hello);
        ages(ssl, fd);
        hang_up(ssl, fd);
        return 0;
    }
    if (argc != 7) { fprintf(stderr, "see the head of tls-load.c\n"); return 64; }
    seconds = atof(argv[3]);
    int count = atoi(argv[4]);
    context = make_context(argv[5], argv[6]);
    if (!strcmp(mode, "connects") && count >= 0 && count <= 1000 && seconds > 0 && seconds <= 60) {
        connects(count);
        return 0;
    }
    if (count < 1 || count > 256 || seconds <= 0 || seconds > 60) { fprintf(stderr, "out of range\n"); return 64; }
    double begin = now_seconds();
    if (!strcmp(mode, "handshakes")) {
        run(workers, count, handshakes);
        double took = now_seconds() - begin;
        size_t total = 0, kept = 0;
        double *times = calloc(1 << 22, sizeof *times);
        for (int i = 0; i < count; i++) {
            total += workers[i].count;
            for (size_t j = 0; j < workers[i].count && j < workers[i].capacity && kept < 1 << 22; j++)
                times[kept++] = workers[i].times[j];
        }
        printf("%.1f %.1f\n", (double)total / took, quantile(times, kept, 0.5) * 1e6);
    } else if (!strcmp(mode, "relay")) {
        run(workers, count, relay);
        uint64_t total = 0;
        for (int i = 0; i < count; i++) total += workers[i].bytes;
        printf("%.0f\n", (double)total / (now_seconds() - begin));
    } else {
        fprintf(stderr, "see the head of tls-load.c\n");
        return 64;
    }
    return 0;
}
