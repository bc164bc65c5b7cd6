/* SPDX-License-Identifier: Apache-2.0

   A streaming process that ends its own TLS and never holds the key: the smallest one that uses delegated mode.

   It listens at both doors, asks Latchkey's local API for every decision, lets it sign each handshake, registers the
   sessions, says every goodbye it is told to say, and answers pings. In place of a stream it sends ticks. Read it beside
   docs/integrate.md; Scripts/sample-delegated-host builds and runs it.

   One thread a connection, one more for events; main accepts. Nothing a device sends is trusted: every wait has an end,
   every length a cap, and its JSON is checked before it goes into a request. */

#define _GNU_SOURCE
#define OPENSSL_SUPPRESS_DEPRECATED /* EC_KEY_METHOD is the short way to a key that lives elsewhere */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

enum { /* kinds of messages */
    WINDOW_LIST = 2, PING = 10, PONG = 11, TICK = 13, SETTINGS = 16, HOST_INFO = 18, PAIR_REQUEST = 19,
    PAIR_RESULT = 20, PAIRING_WANTED = 21, GOODBYE = 22, HELLO = 23,
};
enum { HEADER = 14, CAP_DEVICE = 1048576, CAP_PAIRING = 4096, CONNECTIONS = 256 };
enum { /* milliseconds */
    ADMISSION_MS = 10000, GATE_MS = 2000, TICK_MS = 30, SILENCE_MS = 8000, DRAIN_MS = 15000, WRITE_GOODBYE_MS = 100,
    LEAVE_SESSION_MS = 250, LEAVE_MS = 1000,
};
enum door { HOME, REMOTE };
static const char *const door_names[] = {"home", "remote"};

static const char *api_path = "/run/latchkey/api.sock";
static const char *listen_address = "::";
static SSL_CTX *tls_context;
static int main_wake = -1; /* raised when main has to look up: another wish for the remote door, or the end */
static volatile sig_atomic_t stopping;

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void raise_flag(int event) {
    uint64_t one = 1;
    if (write(event, &one, sizeof one) < 0) { /* full: it is up */ }
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    flockfile(stdout);
    vprintf(format, arguments);
    putchar('\n');
    fflush(stdout);
    funlockfile(stdout);
    va_end(arguments);
}

static void die(const char *what) {
    fprintf(stderr, "sample-delegated-host: %s\n", what);
    exit(1);
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

struct span { const char *begin, *end; };

static const char *json_space(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
    return at;
}

static const char *json_string(const char *at, const char *end) {
    if (at == end || *at++ != '"') return NULL;
    for (; at < end; at++) {
        if (*at == '"') return at + 1;
        if ((unsigned char)*at < 0x20) return NULL;
        if (*at != '\\') continue;
        if (++at == end || !*at || !strchr("\"\\/bfnrtu", *at)) return NULL;
        if (*at != 'u') continue;
        for (int digit = 0; digit < 4; digit++)
            if (++at == end || !isxdigit((unsigned char)*at)) return NULL;
    }
    return NULL;
}

static const char *json_digits(const char *at, const char *end) {
    const char *start = at;
    while (at < end && isdigit((unsigned char)*at)) at++;
    return at > start ? at : NULL;
}

static const char *json_number(const char *at, const char *end) {
    if (at < end && *at == '-') at++;
    if (at < end && *at == '0') at++;
    else if (!(at = json_digits(at, end))) return NULL;
    if (at < end && *at == '.' && !(at = json_digits(at + 1, end))) return NULL;
    if (at == end || (*at != 'e' && *at != 'E')) return at;
    if (++at < end && (*at == '+' || *at == '-')) at++;
    return json_digits(at, end);
}

/* Passes over one value; NULL when there is none. Strict: what a device sends goes into requests as it is, and must not
   be able to add members of its own there. */
static const char *json_value(const char *at, const char *end, int depth) {
    if ((at = json_space(at, end)) == end || depth > 16) return NULL;
    if (*at == '"') return json_string(at, end);
    if (*at != '{' && *at != '[') {
        static const char *const words[] = {"true", "false", "null"};
        for (int i = 0; i < 3; i++) {
            size_t length = strlen(words[i]);
            if ((size_t)(end - at) >= length && !memcmp(at, words[i], length)) return at + length;
        }
        return json_number(at, end);
    }
    char close = *at == '{' ? '}' : ']';
    at = json_space(at + 1, end);
    if (at < end && *at == close) return at + 1;
    while (at < end) {
        if (close == '}') {
            if (!(at = json_string(json_space(at, end), end))) return NULL;
            if ((at = json_space(at, end)) == end || *at++ != ':') return NULL;
        }
        if (!(at = json_value(at, end, depth + 1))) return NULL;
        if ((at = json_space(at, end)) == end) return NULL;
        if (*at == close) return at + 1;
        if (*at++ != ',') return NULL;
    }
    return NULL;
}

/* Whether the bytes are one object and nothing else. */
static bool json_is_object(const char *bytes, size_t length) {
    const char *end = bytes + length, *at = json_space(bytes, end);
    if (at == end || *at != '{') return false;
    return (at = json_value(at, end, 0)) && json_space(at, end) == end;
}

/* A member of an object from the service, as it stands there; false when it is absent or null. */
static bool json_member(struct span object, const char *name, struct span *value) {
    const char *at = json_space(object.begin, object.end), *end = object.end;
    if (at == end || *at != '{') return false;
    for (at++; at < end; at++) {
        const char *key = json_space(at, end), *after = json_string(key, end);
        if (!after) return false;
        bool found = (size_t)(after - key) == strlen(name) + 2 && !memcmp(key + 1, name, strlen(name));
        at = json_space(after, end);
        if (at == end || *at != ':') return false;
        value->begin = json_space(at + 1, end);
        if (!(value->end = json_value(value->begin, end, 0))) return false;
        if (found) return *value->begin != 'n';
        at = json_space(value->end, end);
        if (at == end || *at != ',') return false;
    }
    return false;
}

/* A member that is a text of the service's own words, which need no escapes. */
static bool json_word(struct span object, const char *name, char *out, size_t size) {
    struct span value;
    if (!json_member(object, name, &value) || *value.begin != '"') return false;
    size_t length = (size_t)(value.end - value.begin) - 2;
    if (length >= size || memchr(value.begin, '\\', length)) return false;
    memcpy(out, value.begin + 1, length);
    out[length] = 0;
    return true;
}

static bool json_true(struct span object, const char *name) {
    struct span value;
    return json_member(object, name, &value) && *value.begin == 't';
}

/* Writes a text; an interface may have any name. */
static void json_write(FILE *out, const char *text) {
    putc('"', out);
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == '"' || *text == '\\') fprintf(out, "\\u%04x", (unsigned char)*text);
        else putc(*text, out);
    putc('"', out);
}

/* -------------------------------------------------------------------------------------------------------------- API */

struct answer { int status; char *text; struct span body; }; /* status 0: none came */

/* Over the Unix socket no token is needed: the service knows the user. seconds: how long nothing may come. */
static int api_connect(int seconds) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval limit = {.tv_sec = seconds};
    strncpy(address.sun_path, api_path, sizeof address.sun_path - 1);
    if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit)
        && !connect(fd, (struct sockaddr *)&address, sizeof address)) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* One call on a connection of its own. body may be NULL. Free `text` of the answer. */
static struct answer api(const char *method, const char *path, const char *body) {
    struct answer answer = {0};
    int fd = api_connect(60);
    if (fd < 0) return answer;
    size_t room = 0, length = body ? strlen(body) : 0;
    dprintf(fd, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
            "Content-Length: %zu\r\n\r\n%s", method, path, length, body ? body : "");
    FILE *out = open_memstream(&answer.text, &room);
    char block[4096];
    ssize_t count;
    while (out && (count = read(fd, block, sizeof block)) > 0) fwrite(block, 1, (size_t)count, out);
    if (out) fclose(out);
    close(fd);
    char *head = answer.text ? strstr(answer.text, "\r\n\r\n") : NULL;
    if (!head || sscanf(answer.text, "HTTP/1.1 %d", &answer.status) != 1) answer.status = 0;
    else answer.body = (struct span){head + 4, answer.text + room};
    return answer;
}

/* A call whose answer says nothing. */
static void api_tell(const char *method, const char *path, const char *body) { free(api(method, path, body).text); }

/* -------------------------------------------------------------------------------------------------------------- key */

static void to_base64url(const unsigned char *bytes, size_t count, char *out) {
    int length = EVP_EncodeBlock((unsigned char *)out, bytes, (int)count);
    while (length > 0 && out[length - 1] == '=') length--;
    out[length] = 0;
    for (char *c = out; *c; c++) *c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
}

/* The bytes of a base64url text; -1 when it is none, or longer than 4,096 characters. */
static int from_base64url(const char *text, unsigned char *out) {
    char padded[4100];
    size_t length = strlen(text);
    if (length > 4096) return -1;
    for (size_t i = 0; i < length; i++) padded[i] = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
    size_t missing = (4 - length % 4) % 4;
    memset(padded + length, '=', missing);
    int count = EVP_DecodeBlock(out, (unsigned char *)padded, (int)(length + missing));
    return count < 0 ? -1 : count - (int)missing;
}

/* What OpenSSL calls for the one signature of a handshake: the service's key makes it. */
static ECDSA_SIG *sign(const unsigned char *digest, int length, const BIGNUM *a, const BIGNUM *b, EC_KEY *key) {
    (void)a, (void)b, (void)key;
    char encoded[64], body[160], text[160];
    unsigned char der[128];
    if (length != 32) return NULL;
    to_base64url(digest, 32, encoded);
    snprintf(body, sizeof body, "{\"algorithm\":\"ecdsa-p256-sha256\",\"digest\":\"%s\"}", encoded);
    struct answer answer = api("POST", "/v1/identity/signatures", body);
    int count = answer.status == 200 && json_word(answer.body, "signature", text, sizeof text)
        ? from_base64url(text, der) : -1;
    free(answer.text);
    const unsigned char *at = der;
    return count > 0 ? d2i_ECDSA_SIG(NULL, &at, count) : NULL;
}

static int choose_alpn(
    SSL *tls, const unsigned char **out, unsigned char *length, const unsigned char *offered, unsigned int count,
    void *unused) {
    static const unsigned char ours[] = "\6sill/1\13sill-pair/1";
    (void)tls, (void)unused;
    int result = SSL_select_next_proto((unsigned char **)out, length, ours, sizeof ours - 1, offered, count);
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static int verify(X509_STORE_CTX *store, void *unused);

/* TLS 1.3 alone, a client certificate required, no tickets; the certificate is the service's, the key a name for it. */
static SSL_CTX *make_context(void) {
    static char text[4100];
    static unsigned char der[4100];
    struct answer identity = api("GET", "/v1/identity", NULL);
    if (identity.status != 200) die("the service does not answer (is latchkeyd running, and is --api its socket?)");
    int count = json_word(identity.body, "certificate", text, sizeof text) ? from_base64url(text, der) : -1;
    free(identity.text);
    const unsigned char *at = der;
    X509 *certificate = count > 0 ? d2i_X509(NULL, &at, count) : NULL;
    EC_KEY *key = certificate ? EVP_PKEY_get1_EC_KEY(X509_get0_pubkey(certificate)) : NULL;
    EC_KEY_METHOD *method = EC_KEY_METHOD_new(EC_KEY_OpenSSL());
    EVP_PKEY *wrapped = EVP_PKEY_new();
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!key || !method || !wrapped || !context) die("the identity of the service cannot be used");
    int (*whole)(int, const unsigned char *, int, unsigned char *, unsigned int *, const BIGNUM *, const BIGNUM *,
                 EC_KEY *);
    int (*setup)(EC_KEY *, BN_CTX *, BIGNUM **, BIGNUM **);
    EC_KEY_METHOD_get_sign(method, &whole, &setup, NULL);
    EC_KEY_METHOD_set_sign(method, whole, setup, sign);
    if (!EC_KEY_set_method(key, method) || !EVP_PKEY_assign_EC_KEY(wrapped, key)
        || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION)
        || !SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) || !SSL_CTX_set_num_tickets(context, 0)
        || SSL_CTX_use_certificate(context, certificate) != 1 || SSL_CTX_use_PrivateKey(context, wrapped) != 1)
        die("the identity of the service cannot be used");
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(context, verify, NULL);
    SSL_CTX_set_alpn_select_cb(context, choose_alpn, NULL);
    X509_free(certificate);
    EVP_PKEY_free(wrapped);
    return context;
}

/* ------------------------------------------------------------------------------------------------------ connections */

struct connection {
    int fd;
    int wake;           /* raised when the session is told to end */
    enum door door;
    SSL *tls;
    char *facts;        /* "door":…,"remote":…,"local":…,"interface":… as every call begins */
    char fingerprint[48];
    char decision[16];  /* what the admission in the handshake said */
    char *goodbye;      /* with decision "goodbye", and once a session was told to end: the payload of kind 22 */
    char session[64];   /* its ID, once it is one */
    bool is_told;       /* under `lock` */
    int64_t sent, heard;
    struct connection *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct connection *sessions; /* under `lock` */
static int connection_count;        /* under `lock` */
static bool has_events;             /* under `lock`: without the stream no goodbye would reach a device */

static char *format(const char *text, ...) __attribute__((format(printf, 1, 2)));
static char *format(const char *text, ...) {
    va_list arguments;
    char *out = NULL;
    va_start(arguments, text);
    if (vasprintf(&out, text, arguments) < 0) die("out of memory");
    va_end(arguments);
    return out;
}

/* An address with port as the API reads it, an IPv6 zone by name included. */
static void name_address(const struct sockaddr *address, socklen_t length, char *out, size_t size) {
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getnameinfo(address, length, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV))
        snprintf(out, size, "?");
    else snprintf(out, size, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

/* The interface the connection was received on, so that a tunnel's peer cannot pass for a neighbour by dialling another
   address of this machine. False when the kernel does not say. */
static bool arrival(int fd, int family, char name[IF_NAMESIZE]) {
    union { struct cmsghdr align; unsigned char bytes[256]; } control;
    socklen_t length = sizeof control.bytes;
    int ipv6_2292pktoptions = 6;
    bool is_v4 = family == AF_INET;
    if (getsockopt(fd, is_v4 ? IPPROTO_IP : IPPROTO_IPV6, is_v4 ? IP_PKTOPTIONS : ipv6_2292pktoptions, control.bytes,
                   &length)) return false;
    struct msghdr message = {.msg_control = control.bytes, .msg_controllen = length};
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        struct in_pktinfo v4;
        struct in6_pktinfo v6;
        unsigned int index = 0;
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO && c->cmsg_len >= CMSG_LEN(sizeof v4)) {
            memcpy(&v4, CMSG_DATA(c), sizeof v4);
            index = (unsigned int)v4.ipi_ifindex;
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_len >= CMSG_LEN(sizeof v6)) {
            memcpy(&v6, CMSG_DATA(c), sizeof v6);
            index = v6.ipi6_ifindex;
        }
        if (index) return if_indextoname(index, name) != NULL;
    }
    return false;
}

static char *describe(int fd, enum door door) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char peer[NI_MAXHOST + 16], local[NI_MAXHOST + 16], interface[IF_NAMESIZE], *out = NULL;
    size_t room;
    if (getpeername(fd, (struct sockaddr *)&address, &length)) return NULL;
    name_address((struct sockaddr *)&address, length, peer, sizeof peer);
    length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length)) return NULL;
    name_address((struct sockaddr *)&address, length, local, sizeof local);
    FILE *text = open_memstream(&out, &room);
    if (!text) return NULL;
    fprintf(text, "\"door\":\"%s\",\"remote\":", door_names[door]);
    json_write(text, peer);
    fputs(",\"local\":", text);
    json_write(text, local);
    if (arrival(fd, address.ss_family, interface)) {
        fputs(",\"interface\":", text);
        json_write(text, interface);
    }
    fclose(text);
    return out;
}

/* POSTs the facts with more members. */
static struct answer ask(struct connection *c, const char *path, const char *more) {
    char *body = format("{%s%s}", c->facts, more);
    struct answer answer = api("POST", path, body);
    free(body);
    return answer;
}

static void report(struct connection *c, const char *failure) {
    char *more = format(",\"failure\":\"%s\"", failure);
    free(ask(c, "/v1/admissions/failures", more).text);
    free(more);
}

/* The question inside the handshake: this key, this protocol name. No other rule looks at the certificate. What is said
   no to here gets alert 42, by which a device knows that its key was turned away. */
static int verify(X509_STORE_CTX *store, void *unused) {
    static const unsigned char p256[] = { /* the SubjectPublicKeyInfo of an uncompressed P-256 point begins so */
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04};
    (void)unused;
    SSL *tls = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct connection *c = SSL_get_app_data(tls);
    unsigned char *key = NULL, digest[32];
    int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(X509_STORE_CTX_get0_cert(store)), &key);
    if (length == 91 && !memcmp(key, p256, sizeof p256)
        && EVP_Digest(key, 91, digest, NULL, EVP_sha256(), NULL)) to_base64url(digest, 32, c->fingerprint);
    OPENSSL_free(key);
    const unsigned char *alpn;
    unsigned int count;
    SSL_get0_alpn_selected(tls, &alpn, &count);
    char *more = format(",\"alpn\":\"%.*s\",\"fingerprint\":\"%s\"", (int)count, alpn ? (const char *)alpn : "",
                        c->fingerprint);
    struct answer answer = ask(c, "/v1/admissions", more);
    free(more);
    struct span goodbye;
    bool is_known = answer.status == 200 && json_word(answer.body, "decision", c->decision, sizeof c->decision);
    if (is_known && json_member(answer.body, "goodbye", &goodbye))
        c->goodbye = format("%.*s", (int)(goodbye.end - goodbye.begin), goodbye.begin);
    free(answer.text);
    if (is_known && strcmp(c->decision, "refuse")) return 1;
    strcpy(c->decision, "refuse");
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
    return 0;
}

/* Waits for what an OpenSSL call asked for; false when there is nothing to wait for, or the time is over, or the
   session was told to end meanwhile. */
static bool wait_for(struct connection *c, int result, int64_t deadline) {
    int error = SSL_get_error(c->tls, result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return false;
    struct pollfd watched[] = {{c->fd, error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, 0}, {c->wake, POLLIN, 0}};
    int64_t left = deadline - now_ms();
    return left > 0 && poll(watched, c->is_told ? 1 : 2, (int)left) > 0 && watched[0].revents;
}

static bool send_message(struct connection *c, int kind, uint64_t stamp, const void *payload, size_t count,
                         int64_t deadline) {
    unsigned char *bytes = malloc(HEADER + count);
    if (!bytes) return false;
    if (!stamp) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        double seconds = (double)t.tv_sec + (double)t.tv_nsec / 1e9;
        memcpy(&stamp, &seconds, sizeof stamp);
    }
    bytes[0] = (unsigned char)kind;
    for (int i = 0; i < 8; i++) bytes[1 + i] = (unsigned char)(stamp >> (56 - 8 * i));
    bytes[9] = 0;
    for (int i = 0; i < 4; i++) bytes[10 + i] = (unsigned char)(count >> (24 - 8 * i));
    if (count) memcpy(bytes + HEADER, payload, count);
    int result;
    ERR_clear_error();
    while ((result = SSL_write(c->tls, bytes, (int)(HEADER + count))) <= 0)
        if (!wait_for(c, result, deadline)) break;
    free(bytes);
    c->sent = now_ms();
    return result > 0;
}

static bool send_text(struct connection *c, int kind, const char *payload, int64_t deadline) {
    return send_message(c, kind, 0, payload, strlen(payload), deadline);
}

/* One message of the device, collected over as many reads as it takes. */
struct message {
    unsigned char header[HEADER];
    unsigned char *payload;
    size_t got, length; /* got: of header and payload together */
    int kind;
    uint64_t stamp;
};

enum progress { PARTIAL, WHOLE, ENDED, TOO_LONG };

static enum progress read_message(struct connection *c, struct message *m, size_t cap) {
    for (;;) {
        bool in_header = m->got < HEADER;
        unsigned char *to = in_header ? m->header + m->got : m->payload + m->got - HEADER;
        size_t wanted = in_header ? HEADER - m->got : HEADER + m->length - m->got;
        if (!in_header && !wanted) return WHOLE;
        ERR_clear_error();
        int count = SSL_read(c->tls, to, (int)wanted);
        if (count <= 0) {
            int error = SSL_get_error(c->tls, count);
            return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? PARTIAL : ENDED;
        }
        c->heard = now_ms();
        m->got += (size_t)count;
        if (!in_header || m->got < HEADER) continue;
        m->kind = m->header[0];
        m->stamp = m->length = 0;
        for (int i = 0; i < 8; i++) m->stamp = m->stamp << 8 | m->header[1 + i];
        for (int i = 0; i < 4; i++) m->length = m->length << 8 | m->header[10 + i];
        if (m->length > cap) return TOO_LONG;
        if (m->length && !(m->payload = malloc(m->length))) return TOO_LONG;
    }
}

static void next_message(struct message *m) {
    free(m->payload);
    memset(m, 0, sizeof *m);
}

/* The same, waiting for a whole one; PARTIAL when the time is over. */
static enum progress await_message(struct connection *c, struct message *m, size_t cap, int64_t deadline) {
    enum progress progress;
    while ((progress = read_message(c, m, cap)) == PARTIAL)
        if (!wait_for(c, -1, deadline)) break;
    return progress;
}

/* Ends our side and drops what still comes: closing over unread bytes would make a reset that overtakes our last word. */
static void leave(struct connection *c, int milliseconds) {
    char dropped[4096];
    int64_t deadline = now_ms() + milliseconds, left;
    SSL_shutdown(c->tls);
    shutdown(c->fd, SHUT_WR);
    while ((left = deadline - now_ms()) > 0) {
        struct pollfd watched = {c->fd, POLLIN, 0};
        if (poll(&watched, 1, (int)left) <= 0 || read(c->fd, dropped, sizeof dropped) <= 0) break;
    }
}

/* ---------------------------------------------------------------------------------------------------------- pairing */

/* One kind 19, one kind 20. */
static void serve_pairing(struct connection *c, int64_t deadline) {
    struct message m = {0};
    struct span payload;
    switch (await_message(c, &m, CAP_PAIRING, deadline)) {
    case PARTIAL: report(c, "deadline"); break;
    case ENDED: report(c, "peerLeft"); break;
    case TOO_LONG: report(c, "badMessage"); break;
    case WHOLE:
        if (m.kind != PAIR_REQUEST || !json_is_object((char *)m.payload, m.length)) {
            report(c, "badMessage");
            break;
        }
        char *more = format(",\"fingerprint\":\"%s\",\"payload\":%.*s", c->fingerprint, (int)m.length, m.payload);
        struct answer answer = ask(c, "/v1/pairing/requests", more);
        free(more);
        if (answer.status == 200 && json_member(answer.body, "payload", &payload))
            send_message(c, PAIR_RESULT, 0, payload.begin, (size_t)(payload.end - payload.begin),
                         now_ms() + LEAVE_SESSION_MS);
        else if (answer.status == 400) report(c, "badMessage"); /* JSON to us and not to the service: bad UTF-8 */
        free(answer.text);
    }
    free(m.payload);
    leave(c, LEAVE_SESSION_MS);
}

/* --------------------------------------------------------------------------------------------------------- sessions */

/* Told by events, by main at the end, or by itself. goodbye NULL: closed without a word. Call it with `lock`. */
static void tell(struct connection *c, struct span goodbye) {
    if (c->is_told) return;
    c->is_told = true;
    if (goodbye.begin) c->goodbye = format("%.*s", (int)(goodbye.end - goodbye.begin), goodbye.begin);
    raise_flag(c->wake);
}

static void tell_all(const char *goodbye) {
    struct span text = {goodbye, goodbye ? goodbye + strlen(goodbye) : NULL};
    pthread_mutex_lock(&lock);
    for (struct connection *c = sessions; c; c = c->next) tell(c, text);
    pthread_mutex_unlock(&lock);
}

static bool is_told(struct connection *c) {
    pthread_mutex_lock(&lock);
    bool told = c->is_told;
    pthread_mutex_unlock(&lock);
    return told;
}

/* From here on the events can find it. What they said before is asked for once. */
static void enter(struct connection *c) {
    pthread_mutex_lock(&lock);
    c->next = sessions;
    sessions = c;
    bool is_deaf = !has_events;
    pthread_mutex_unlock(&lock);
    char *path = format("/v1/sessions/%s", c->session);
    struct answer answer = api("GET", path, NULL);
    free(path);
    struct span goodbye = {0};
    if (is_deaf || answer.status != 200 || json_member(answer.body, "goodbye", &goodbye)) {
        pthread_mutex_lock(&lock);
        tell(c, goodbye);
        pthread_mutex_unlock(&lock);
    }
    free(answer.text);
}

static void say_ended(struct connection *c) {
    char *path = format("/v1/sessions/%s", c->session);
    api_tell("DELETE", path, NULL);
    free(path);
    pthread_mutex_lock(&lock);
    for (struct connection **at = &sessions; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    say("ended %s", c->session);
}

/* What a device says in a session, as far as it concerns Latchkey or shows that we live. */
static bool take(struct connection *c, struct message *m, bool *has_hello) {
    if (m->kind == PING)
        return send_message(c, PONG, m->stamp, m->payload, m->length, now_ms() + DRAIN_MS);
    if (m->kind == PAIRING_WANTED || (m->kind == HELLO && !*has_hello)) {
        bool is_hello = m->kind == HELLO && json_is_object((char *)m->payload, m->length);
        char *path = format("/v1/sessions/%s/%s", c->session, m->kind == HELLO ? "hello" : "pairing-wanted");
        char *body = is_hello ? format("%.*s", (int)m->length, m->payload) : NULL;
        if (is_hello || m->kind == PAIRING_WANTED) api_tell("POST", path, body);
        *has_hello |= m->kind == HELLO;
        free(body);
        free(path);
    }
    return true;
}

static void run_session(struct connection *c, bool has_hello) {
    struct message m = {0};
    c->heard = now_ms();
    while (!is_told(c)) {
        enum progress progress = read_message(c, &m, CAP_DEVICE);
        if (progress == WHOLE) {
            bool goes_on = take(c, &m, &has_hello);
            next_message(&m);
            if (goes_on) continue;
        }
        if (progress != PARTIAL) break;
        int64_t now = now_ms();
        if (c->door == REMOTE && now - c->heard > SILENCE_MS) break;
        if (now - c->sent >= TICK_MS && !send_message(c, TICK, 0, NULL, 0, now + DRAIN_MS)) break;
        struct pollfd watched[] = {{c->fd, POLLIN, 0}, {c->wake, POLLIN, 0}};
        poll(watched, 2, TICK_MS);
    }
    free(m.payload);
    if (is_told(c) && c->goodbye) send_text(c, GOODBYE, c->goodbye, now_ms() + WRITE_GOODBYE_MS);
}

/* Registers it, catalog first, then whatever comes. */
static void serve_session(struct connection *c) {
    struct message first = {0};
    struct answer settings = api("GET", "/v1/settings", NULL), answer;
    struct span info, name;
    char floor[32] = "0";
    json_word(settings.body, "minimumDeviceVersion", floor, sizeof floor);
    bool has_hello = false;
    if (strcmp(floor, "0")) /* the gate: a hello, or it is too old */
        has_hello = await_message(c, &first, CAP_DEVICE, now_ms() + GATE_MS) == WHOLE && first.kind == HELLO
            && json_is_object((char *)first.payload, first.length);
    char *more = has_hello
        ? format(",\"fingerprint\":\"%s\",\"hello\":%.*s", c->fingerprint, (int)first.length, first.payload)
        : format(",\"fingerprint\":\"%s\"", c->fingerprint);
    answer = ask(c, "/v1/sessions", more);
    free(more);
    free(first.payload);
    if (answer.status == 201 && json_word(answer.body, "id", c->session, sizeof c->session)
        && json_member(answer.body, "hostInfo", &info)) {
        say("session %s", c->session);
        enter(c);
        int64_t deadline = now_ms() + DRAIN_MS;
        if (!json_member(settings.body, "name", &name)) name = (struct span){"\"\"", NULL};
        char *list = format("{\"macName\":%.*s,\"windows\":[],\"active\":{\"none\":{}},\"protocol\":1}",
                            name.end ? (int)(name.end - name.begin) : 2, name.begin);
        if (send_text(c, WINDOW_LIST, list, deadline) && send_text(c, SETTINGS, "{}", deadline))
            send_message(c, HOST_INFO, 0, info.begin, (size_t)(info.end - info.begin), deadline);
        free(list);
        run_session(c, has_hello);
        say_ended(c);
        leave(c, LEAVE_SESSION_MS);
    } else {
        struct span goodbye, delay;
        if (answer.status == 200 && json_member(answer.body, "goodbye", &goodbye)) {
            if (json_member(answer.body, "delay", &delay)) usleep((useconds_t)(strtod(delay.begin, NULL) * 1e6));
            send_message(c, GOODBYE, 0, goodbye.begin, (size_t)(goodbye.end - goodbye.begin), now_ms() + LEAVE_MS);
        }
        leave(c, LEAVE_MS);
    }
    free(settings.text);
    free(answer.text);
}

/* Why a handshake failed, in the API's words (the first error is the cause). */
static const char *failure_word(void) {
    unsigned long error = ERR_peek_error();
    switch (ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0) {
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return "noCertificate";
    case SSL_R_NO_APPLICATION_PROTOCOL: return "alpn";
    case SSL_R_HTTP_REQUEST: case SSL_R_HTTPS_PROXY_REQUEST: return "http";
    case SSL_R_WRONG_VERSION_NUMBER: case SSL_R_UNSUPPORTED_PROTOCOL: case SSL_R_UNKNOWN_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW: case SSL_R_PACKET_LENGTH_TOO_LONG: return "notTLS13";
    default: return "peerLeft";
    }
}

static void serve(struct connection *c) {
    int64_t deadline = now_ms() + ADMISSION_MS;
    struct answer answer = ask(c, "/v1/admissions", "");
    bool goes_on = answer.status == 200 && json_word(answer.body, "decision", c->decision, sizeof c->decision)
        && !strcmp(c->decision, "continue");
    free(answer.text);
    if (!goes_on) return; /* closed without a byte */
    int result;
    bool is_late = false;
    ERR_clear_error();
    while ((result = SSL_accept(c->tls)) <= 0) {
        if (wait_for(c, result, deadline)) continue;
        is_late = now_ms() >= deadline;
        break;
    }
    if (result > 0) {
        if (!strcmp(c->decision, "session")) serve_session(c);
        else if (!strcmp(c->decision, "pairing")) serve_pairing(c, deadline);
        else if (c->goodbye) {
            send_text(c, GOODBYE, c->goodbye, now_ms() + LEAVE_MS);
            leave(c, LEAVE_MS);
        }
    } else {
        /* What the verify step said no to was counted by its own call. */
        if (strcmp(c->decision, "refuse")) report(c, is_late ? "deadline" : failure_word());
        leave(c, LEAVE_MS);
    }
}

static void *serve_thread(void *argument) {
    struct connection *c = argument;
    serve(c);
    SSL_free(c->tls);
    close(c->fd);
    close(c->wake);
    free(c->facts);
    free(c->goodbye);
    free(c);
    pthread_mutex_lock(&lock);
    connection_count--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------------- events */

static bool wants_remote; /* under `lock` */

/* The remote door is open while remote access is on or a pairing window is for it. */
static void look_at_remote(void) {
    struct answer settings = api("GET", "/v1/settings", NULL), status = api("GET", "/v1/status", NULL);
    struct span window;
    bool wants = json_true(settings.body, "remoteAccess")
        || (json_member(status.body, "window", &window) && json_true(window, "remote"));
    free(settings.text);
    free(status.text);
    pthread_mutex_lock(&lock);
    wants_remote = wants;
    pthread_mutex_unlock(&lock);
    raise_flag(main_wake);
}

static void take_event(const char *type, struct span data) {
    char id[64];
    struct span goodbye = {0};
    if (!strcmp(type, "settings.changed") || !strncmp(type, "pairing.", 8)) look_at_remote();
    if (strcmp(type, "session.closing") && strcmp(type, "session.closed")) return;
    if (!json_word(data, "id", id, sizeof id)) return;
    json_member(data, "goodbye", &goodbye);
    pthread_mutex_lock(&lock);
    for (struct connection *c = sessions; c; c = c->next)
        if (!strcmp(c->session, id)) tell(c, goodbye.end ? goodbye : (struct span){0});
    pthread_mutex_unlock(&lock);
}

static void listen_to_events(void) {
    int fd = api_connect(40); /* a comment comes every 15 s */
    FILE *stream = fd >= 0 ? fdopen(fd, "r+") : NULL;
    char *line = NULL, type[64] = "";
    size_t room = 0;
    ssize_t length;
    if (!stream) return;
    /* HTTP/1.0: as it comes, without chunks. */
    fputs("GET /v1/events HTTP/1.0\r\nHost: localhost\r\n\r\n", stream);
    fflush(stream);
    bool is_open = false;
    while ((length = getline(&line, &room, stream)) > 0) {
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) line[--length] = 0;
        if (!is_open) { /* the head */
            if (length) continue;
            is_open = true;
            api_tell("DELETE", "/v1/sessions", NULL); /* whatever a former run left */
            pthread_mutex_lock(&lock);
            has_events = true;
            pthread_mutex_unlock(&lock);
            look_at_remote();
            say("ready");
        } else if (!strncmp(line, "event:", 6)) {
            snprintf(type, sizeof type, "%s", line + 6 + strspn(line + 6, " "));
            if (!strcmp(type, "reset")) break; /* events are missing: as if the stream had ended */
        } else if (!strncmp(line, "data:", 5)) {
            take_event(type, (struct span){line + 5, line + length});
        }
    }
    free(line);
    fclose(stream);
    pthread_mutex_lock(&lock);
    has_events = false;
    pthread_mutex_unlock(&lock);
    /* Nobody would tell us now that a device was removed. They come back by themselves. */
    tell_all(NULL);
}

static void *events_thread(void *unused) {
    (void)unused;
    for (;; sleep(1)) listen_to_events();
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------- main */

static int open_listener(enum door door, int port) {
    char service[16], name[NI_MAXHOST + 16];
    int on = 1, off = 0, fd;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICHOST}, *found;
    snprintf(service, sizeof service, "%d", port);
    if (getaddrinfo(listen_address, service, &hints, &found)) die("--listen takes an address");
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) die(strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
    if (bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, 128)) {
        fprintf(stderr, "sample-delegated-host: port %d: %s\n", port, strerror(errno));
        close(fd);
        fd = -1;
    } else {
        struct sockaddr_storage bound;
        socklen_t length = sizeof bound;
        getsockname(fd, (struct sockaddr *)&bound, &length);
        name_address((struct sockaddr *)&bound, length, name, sizeof name);
        say("%s %s", door_names[door], strrchr(name, ':') + 1);
    }
    freeaddrinfo(found);
    return fd;
}

static void accept_one(int listener, enum door door) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), on = 1, idle = 5, interval = 2, probes = 3;
    if (fd < 0) return;
    pthread_mutex_lock(&lock);
    bool is_wanted = has_events && connection_count < CONNECTIONS;
    if (is_wanted) connection_count++;
    pthread_mutex_unlock(&lock);
    struct connection *c = is_wanted ? calloc(1, sizeof *c) : NULL;
    if (!is_wanted) {
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    unsigned int unacknowledged = DRAIN_MS;
    if (door == REMOTE) setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged, sizeof unacknowledged);
    pthread_t thread;
    if (!c || !(c->facts = describe(fd, door)) || (c->wake = eventfd(0, EFD_CLOEXEC)) < 0
        || !(c->tls = SSL_new(tls_context))) die("out of memory");
    c->fd = fd;
    c->door = door;
    SSL_set_fd(c->tls, fd);
    SSL_set_app_data(c->tls, c);
    if (pthread_create(&thread, NULL, serve_thread, c)) die("no more threads");
    pthread_detach(thread);
}

static void stop(int number) {
    (void)number;
    stopping = 1;
    raise_flag(main_wake);
}

/* -1: off. */
static int port_number(const char *text) {
    char *end;
    long port = strtol(text, &end, 10);
    if (!strcmp(text, "off")) return -1;
    if (!*text || *end || port < 0 || port > 65535) die("a port is off or 0 to 65535");
    return (int)port;
}

int main(int count, char **arguments) {
    static const struct option options[] = {
        {"api", required_argument, NULL, 'a'}, {"home-port", required_argument, NULL, 'h'},
        {"remote-port", required_argument, NULL, 'r'}, {"listen", required_argument, NULL, 'l'}, {0}};
    int option, ports[] = {0, 7455}, listeners[] = {-1, -1};
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) switch (option) {
        case 'a': api_path = optarg; break;
        case 'h': ports[HOME] = port_number(optarg); break;
        case 'r': ports[REMOTE] = port_number(optarg); break;
        case 'l': listen_address = optarg; break;
        default:
            fprintf(stderr, "usage: sample-delegated-host [--api SOCKET] [--home-port N|off] [--remote-port N|off] "
                            "[--listen ADDRESS]\n");
            return 2;
        }
    signal(SIGPIPE, SIG_IGN);
    tls_context = make_context();
    main_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    pthread_t events;
    if (main_wake < 0 || pthread_create(&events, NULL, events_thread, NULL)) die("no more threads");
    while (!stopping) {
        pthread_mutex_lock(&lock);
        bool wanted[] = {has_events, has_events && wants_remote};
        pthread_mutex_unlock(&lock);
        for (enum door door = HOME; door <= REMOTE; door++) {
            if (ports[door] >= 0 && wanted[door] && listeners[door] < 0) listeners[door] = open_listener(door, ports[door]);
            if (!wanted[door] && listeners[door] >= 0 && door == REMOTE) {
                close(listeners[door]);
                listeners[door] = -1;
                say("remote closed");
            }
        }
        struct pollfd watched[] = {
            {listeners[HOME], POLLIN, 0}, {listeners[REMOTE], POLLIN, 0}, {main_wake, POLLIN, 0}};
        poll(watched, 3, 30000); /* a port that was taken is tried again */
        uint64_t raised;
        if (watched[2].revents && read(main_wake, &raised, sizeof raised) < 0) { /* lowered already */ }
        for (enum door door = HOME; door <= REMOTE; door++)
            if (watched[door].revents) accept_one(listeners[door], door);
    }
    tell_all("{\"reason\":\"noHost\",\"message\":\"The streaming program was closed.\",\"reconnect\":true}");
    for (int64_t deadline = now_ms() + LEAVE_MS; now_ms() < deadline; usleep(10000)) {
        pthread_mutex_lock(&lock);
        bool is_done = !sessions;
        pthread_mutex_unlock(&lock);
        if (is_done) break;
    }
    return 0;
}
