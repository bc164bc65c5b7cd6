/* SPDX-License-Identifier: Apache-2.0

   A streaming process that ends its own TLS and never holds the key: the smallest one that uses delegated mode.

   It listens at both doors, asks Latchkey's local API for every decision, lets it sign each handshake, registers the
   sessions, says every goodbye it is told to say, and answers pings. In place of a stream it sends ticks. Read it
   beside docs/integrate.md; Scripts/sample-delegated-host builds and runs it. One thread a connection, one for events;
   main accepts. Nothing a device sends is trusted: every wait has an end, every length a cap, and its JSON is read
   before it goes into a request. */

#define _GNU_SOURCE
#define OPENSSL_SUPPRESS_DEPRECATED /* EC_KEY_METHOD is the short way to a key that lives elsewhere */
#include <getopt.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

enum { /* kinds of messages */
    WINDOW_LIST = 2, PING = 10, PONG = 11, TICK = 13, SETTINGS = 16, HOST_INFO = 18, PAIR_REQUEST = 19,
    PAIR_RESULT = 20, PAIRING_WANTED = 21, GOODBYE = 22, HELLO = 23,
};
enum { HEADER = 14, CAP_DEVICE = 1048576, CAP_PAIRING = 4096, CONNECTIONS = 256 };
enum { /* milliseconds */
    ADMISSION_MS = 10000, GATE_MS = 2000, TICK_MS = 30, SILENCE_MS = 8000, DRAIN_MS = 15000, GOODBYE_MS = 100,
    LEAVE_SESSION_MS = 250, LEAVE_MS = 1000, START_MS = 5000,
};
enum door { HOME, REMOTE };
static const char *const door_names[] = {"home", "remote"};

struct connection {
    int fd;
    int wake;             /* raised when the session is told to end */
    enum door door;
    SSL *tls;
    json_t *facts;        /* door, remote, local, interface: what every call says */
    char fingerprint[48]; /* of its key, once it showed one */
    char decision[16];    /* what the admission in the handshake said */
    json_t *goodbye;      /* what kind 22 says, if it ends with one; of a session only once it is told */
    char session[64];     /* its ID, once it is one */
    atomic_bool is_told;
    int64_t sent, heard;
    struct connection *next;
};

static const char *api_path = "/run/latchkey/api.sock", *listen_address = "::";
static SSL_CTX *tls_context; /* under `lock` */
static int main_wake = -1; /* raised when main has to look up: another wish for the remote door, or the end */
static volatile sig_atomic_t stopping;
static atomic_int connection_count;
static atomic_bool has_events;   /* without the stream no goodbye would reach a device */
static atomic_bool wants_remote; /* whether the remote door is to be open */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct connection *_Atomic sessions; /* changed under `lock` */

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void die(const char *what) {
    fprintf(stderr, "sample-delegated-host: %s\n", what);
    exit(1);
}

/* -------------------------------------------------------------------------------------------------------------- API */
/* Over the Unix socket no token is needed: the service knows the user. seconds: how long nothing may come. */
static int api_connect(int seconds) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval limit = {.tv_sec = seconds};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    strncpy(address.sun_path, api_path, sizeof address.sun_path - 1);
    if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit)
        && !connect(fd, (struct sockaddr *)&address, sizeof address)) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* One call on a connection of its own. Takes the body, which may be NULL. The answer is NULL when there is none. */
static json_t *api(const char *method, const char *path, json_t *body, int *status) {
    char *sent = body ? json_dumps(body, JSON_COMPACT) : NULL, *text = NULL, block[4096];
    int fd = api_connect(60), code = 0;
    size_t room = 0;
    ssize_t count;
    json_decref(body);
    FILE *out = open_memstream(&text, &room);
    if (fd >= 0 && out) {
        dprintf(fd, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
                "Content-Length: %zu\r\n\r\n%s", method, path, sent ? strlen(sent) : 0, sent ? sent : "");
        while ((count = read(fd, block, sizeof block)) > 0) fwrite(block, 1, (size_t)count, out);
    }
    if (out) fclose(out);
    if (fd >= 0) close(fd);
    char *head = text ? strstr(text, "\r\n\r\n") : NULL;
    json_t *answer = head && sscanf(text, "HTTP/1.1 %d", &code) == 1 ? json_loads(head + 4, 0, NULL) : NULL;
    if (status) *status = code;
    free(text);
    free(sent);
    return answer;
}

/* A call about one session. */
static json_t *api_session(struct connection *c, const char *method, const char *what, json_t *body, int *status) {
    char path[128];
    snprintf(path, sizeof path, "/v1/sessions/%s%s", c->session, what);
    return api(method, path, body, status);
}

/* A call about a connection: its facts and `more`, which is taken. */
static json_t *ask(struct connection *c, const char *path, json_t *more, int *status) {
    json_t *body = json_copy(c->facts);
    json_object_update(body, more);
    json_decref(more);
    return api("POST", path, body, status);
}

static void report(struct connection *c, const char *failure) {
    json_decref(ask(c, "/v1/admissions/failures", json_pack("{s:s}", "failure", failure), NULL));
}

/* A text in an object; "" when there is none. */
static const char *text_of(json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* An object in an object; NULL when it is absent or null. */
static json_t *object_of(json_t *object, const char *name) {
    json_t *found = json_object_get(object, name);
    return json_is_object(found) ? found : NULL;
}

/* -------------------------------------------------------------------------------------------------------------- TLS */
static void to_base64url(const unsigned char *bytes, size_t count, char *out) {
    int length = EVP_EncodeBlock((unsigned char *)out, bytes, (int)count);
    while (length > 0 && out[length - 1] == '=') length--;
    out[length] = 0;
    for (char *c = out; *c; c++) *c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
}

/* The bytes of a base64url text of at most 2,048 characters; -1 when it is none. */
static int from_base64url(const char *text, unsigned char out[2048]) {
    char padded[2052] = "";
    size_t length = strlen(text), missing = (4 - length % 4) % 4;
    if (length > 2048) return -1;
    for (size_t i = 0; i < length; i++) padded[i] = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
    memset(padded + length, '=', missing);
    int count = EVP_DecodeBlock(out, (unsigned char *)padded, (int)(length + missing));
    return count < 0 ? -1 : count - (int)missing;
}

/* What OpenSSL calls for the one signature of a handshake: the service's key makes it. */
static ECDSA_SIG *sign(const unsigned char *digest, int length, const BIGNUM *a, const BIGNUM *b, EC_KEY *key) {
    char text[64];
    unsigned char der[2048];
    const unsigned char *at = der;
    if (length != 32) return NULL;
    to_base64url(digest, 32, text);
    json_t *answer = api("POST", "/v1/identity/signatures",
                         json_pack("{s:s, s:s}", "algorithm", "ecdsa-p256-sha256", "digest", text), NULL);
    int count = from_base64url(text_of(answer, "signature"), der);
    json_decref(answer);
    return count > 0 ? d2i_ECDSA_SIG(NULL, &at, count) : NULL;
}

static int choose_alpn(SSL *tls, const unsigned char **out, unsigned char *length, const unsigned char *offered,
                       unsigned int count, void *unused) {
    static const unsigned char ours[] = "\6sill/1\13sill-pair/1";
    int result = SSL_select_next_proto((unsigned char **)out, length, ours, sizeof ours - 1, offered, count);
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* The question inside the handshake: this key, this protocol name. Nothing else in the certificate is looked at. A key
   that is turned away here gets alert 42, by which its device knows. */
static int verify(X509_STORE_CTX *store, void *unused) {
    static const unsigned char p256[] = { /* the SubjectPublicKeyInfo of an uncompressed P-256 point begins so */
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04};
    SSL *tls = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct connection *c = SSL_get_app_data(tls);
    unsigned char *key = NULL, digest[32];
    const unsigned char *alpn;
    unsigned int count;
    int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(X509_STORE_CTX_get0_cert(store)), &key);
    if (length == 91 && !memcmp(key, p256, sizeof p256) && EVP_Digest(key, 91, digest, NULL, EVP_sha256(), NULL))
        to_base64url(digest, 32, c->fingerprint);
    OPENSSL_free(key);
    SSL_get0_alpn_selected(tls, &alpn, &count);
    json_t *answer = ask(c, "/v1/admissions", json_pack("{s:s%, s:s}", "alpn", alpn ? (const char *)alpn : "",
                                                        (size_t)count, "fingerprint", c->fingerprint), NULL);
    snprintf(c->decision, sizeof c->decision, "%s", answer ? text_of(answer, "decision") : "refuse");
    c->goodbye = json_incref(object_of(answer, "goodbye"));
    json_decref(answer);
    if (strcmp(c->decision, "refuse")) return 1;
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
    return 0;
}

/* TLS 1.3 alone, a client certificate required, no tickets; the certificate is the service's, the key a name for it. */
static void renew_context(void) {
    unsigned char der[2048];
    const unsigned char *at = der;
    json_t *identity = api("GET", "/v1/identity", NULL, NULL);
    if (!identity) die("the service does not answer (is latchkeyd running, and is --api its socket?)");
    int count = from_base64url(text_of(identity, "certificate"), der);
    X509 *certificate = count > 0 ? d2i_X509(NULL, &at, count) : NULL;
    EC_KEY *key = certificate ? EVP_PKEY_get1_EC_KEY(X509_get0_pubkey(certificate)) : NULL;
    EC_KEY_METHOD *method = EC_KEY_METHOD_new(EC_KEY_OpenSSL());
    EVP_PKEY *named = EVP_PKEY_new();
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    int (*whole)(int, const uint8_t *, int, uint8_t *, unsigned *, const BIGNUM *, const BIGNUM *, EC_KEY *);
    int (*setup)(EC_KEY *, BN_CTX *, BIGNUM **, BIGNUM **);
    if (!key || !method || !named || !context) die("the identity of the service cannot be used");
    EC_KEY_METHOD_get_sign(method, &whole, &setup, NULL);
    EC_KEY_METHOD_set_sign(method, whole, setup, sign);
    if (!EC_KEY_set_method(key, method) || !EVP_PKEY_assign_EC_KEY(named, key)
        || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION)
        || !SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) || !SSL_CTX_set_num_tickets(context, 0)
        || SSL_CTX_use_certificate(context, certificate) != 1 || SSL_CTX_use_PrivateKey(context, named) != 1)
        die("the identity of the service cannot be used");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(context, verify, NULL);
    SSL_CTX_set_alpn_select_cb(context, choose_alpn, NULL);
    X509_free(certificate);
    EVP_PKEY_free(named);
    json_decref(identity);
    pthread_mutex_lock(&lock);
    SSL_CTX_free(tls_context);
    tls_context = context;
    pthread_mutex_unlock(&lock);
}

/* Why a handshake failed, in the API's words; the first error is the cause. */
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

/* --------------------------------------------------------------------------------------------------------- messages */
/* Waits for what an OpenSSL call asked for; false when it asked for nothing, when the time is over, or when the session
   is told to end meanwhile. */
static bool wait_for(struct connection *c, int result, int64_t deadline) {
    int error = SSL_get_error(c->tls, result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return false;
    struct pollfd watched[] = {{c->fd, error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, 0}, {c->wake, POLLIN, 0}};
    int64_t left = deadline - now_ms();
    return left > 0 && poll(watched, 2, (int)left) > 0 && watched[0].revents;
}

/* stamp 0: now. */
static bool send_message(struct connection *c, int kind, uint64_t stamp, const void *payload, size_t count,
                         int64_t deadline) {
    unsigned char *bytes = malloc(HEADER + count);
    int result;
    if (!bytes) return false;
    double seconds = (double)time(NULL);
    if (!stamp) memcpy(&stamp, &seconds, sizeof stamp);
    bytes[0] = (unsigned char)kind;
    for (int i = 0; i < 8; i++) bytes[1 + i] = (unsigned char)(stamp >> (56 - 8 * i));
    bytes[9] = 0;
    for (int i = 0; i < 4; i++) bytes[10 + i] = (unsigned char)(count >> (24 - 8 * i));
    if (count) memcpy(bytes + HEADER, payload, count);
    ERR_clear_error();
    while ((result = SSL_write(c->tls, bytes, (int)(HEADER + count))) <= 0 && wait_for(c, result, deadline)) {}
    free(bytes);
    c->sent = now_ms();
    return result > 0;
}

static bool send_json(struct connection *c, int kind, json_t *payload, int milliseconds) {
    char *text = json_dumps(payload, JSON_COMPACT);
    bool is_sent = text && send_message(c, kind, 0, text, strlen(text), now_ms() + milliseconds);
    free(text);
    return is_sent;
}

/* A message of the device, collected over as many reads as it takes. */
struct message { unsigned char header[HEADER], *payload; size_t got, length; uint64_t stamp; };

enum progress { PARTIAL, WHOLE, ENDED, TOO_LONG };

/* deadline 0 takes what is there. */
static enum progress read_message(struct connection *c, struct message *m, size_t cap, int64_t deadline) {
    while (m->got < HEADER + m->length) {
        bool in_header = m->got < HEADER;
        unsigned char *to = in_header ? m->header + m->got : m->payload + m->got - HEADER;
        ERR_clear_error();
        int count = SSL_read(c->tls, to, (int)(HEADER + (in_header ? 0 : m->length) - m->got));
        if (count <= 0) {
            if (wait_for(c, count, deadline)) continue;
            return SSL_get_error(c->tls, count) == SSL_ERROR_WANT_READ ? PARTIAL : ENDED;
        }
        c->heard = now_ms();
        m->got += (size_t)count;
        if (!in_header || m->got < HEADER) continue;
        for (int i = 0; i < 8; i++) m->stamp = m->stamp << 8 | m->header[1 + i];
        for (int i = 0; i < 4; i++) m->length = m->length << 8 | m->header[10 + i];
        if (m->length > cap || (m->length && !(m->payload = malloc(m->length)))) return TOO_LONG;
    }
    return WHOLE;
}

/* Its payload if it is of this kind and an object; else NULL. */
static json_t *object_in(struct message *m, int kind) {
    json_t *json = m->header[0] == kind ? json_loadb((char *)m->payload, m->length, 0, NULL) : NULL;
    if (!json_is_object(json)) json_decref(json), json = NULL;
    return json;
}

/* Ends our side and drops what still comes: closing over unread bytes makes a reset that overtakes our last word. */
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

/* ---------------------------------------------------------------------------------------------- what a device hears */
/* One kind 19, one kind 20. */
static void serve_pairing(struct connection *c, int64_t deadline) {
    struct message m = {0};
    enum progress progress = read_message(c, &m, CAP_PAIRING, deadline);
    json_t *payload = progress == WHOLE ? object_in(&m, PAIR_REQUEST) : NULL, *answer = NULL, *result;
    if (payload) {
        answer = ask(c, "/v1/pairing/requests",
                     json_pack("{s:s, s:o}", "fingerprint", c->fingerprint, "payload", payload), NULL);
        if ((result = object_of(answer, "payload"))) send_json(c, PAIR_RESULT, result, LEAVE_SESSION_MS);
    } else report(c, progress == PARTIAL ? "deadline" : progress == ENDED ? "peerLeft" : "badMessage");
    json_decref(answer);
    free(m.payload);
    leave(c, LEAVE_SESSION_MS);
}

/* By events, by main, or by the session itself; goodbye NULL: it is closed without a word. With `lock`. */
static void tell(struct connection *c, json_t *goodbye) {
    if (c->is_told) return;
    c->goodbye = json_incref(goodbye);
    c->is_told = true;
    eventfd_write(c->wake, 1);
}

/* Every session, or the one with this ID. */
static void tell_session(const char *id, json_t *goodbye) {
    pthread_mutex_lock(&lock);
    for (struct connection *c = sessions; c; c = c->next)
        if (!id || !strcmp(c->session, id)) tell(c, goodbye);
    pthread_mutex_unlock(&lock);
}

/* From here on events find the session. What they said about it before is asked for once. */
static void enter(struct connection *c) {
    int status;
    pthread_mutex_lock(&lock);
    c->next = sessions;
    sessions = c;
    pthread_mutex_unlock(&lock);
    json_t *answer = api_session(c, "GET", "", NULL, &status), *goodbye = object_of(answer, "goodbye");
    pthread_mutex_lock(&lock);
    if (!has_events || status != 200 || goodbye) tell(c, goodbye);
    pthread_mutex_unlock(&lock);
    json_decref(answer);
}

static void exit_session(struct connection *c) {
    json_decref(api_session(c, "DELETE", "", NULL, NULL));
    pthread_mutex_lock(&lock);
    if (sessions == c) sessions = c->next;
    else for (struct connection *at = sessions; at; at = at->next) if (at->next == c) at->next = c->next;
    pthread_mutex_unlock(&lock);
}

/* What a device says, as far as it concerns Latchkey or shows that we live. */
static bool take(struct connection *c, struct message *m, bool *has_hello) {
    json_t *hello;
    switch (m->header[0]) {
    case PING: return send_message(c, PONG, m->stamp, m->payload, m->length, now_ms() + DRAIN_MS);
    case PAIRING_WANTED: json_decref(api_session(c, "POST", "/pairing-wanted", NULL, NULL)); break;
    case HELLO:
        if (!*has_hello && (hello = object_in(m, HELLO))) json_decref(api_session(c, "POST", "/hello", hello, NULL));
        *has_hello = true;
    }
    return true;
}

static void run_session(struct connection *c, bool has_hello) {
    struct message m = {0};
    c->heard = now_ms();
    while (!c->is_told) {
        enum progress progress = read_message(c, &m, CAP_DEVICE, 0);
        if (progress == WHOLE) {
            bool goes_on = take(c, &m, &has_hello);
            free(m.payload);
            m = (struct message){0};
            if (goes_on) continue;
        }
        int64_t now = now_ms();
        if (progress != PARTIAL || (c->door == REMOTE && now - c->heard > SILENCE_MS)) break;
        if (now - c->sent >= TICK_MS && !send_message(c, TICK, 0, NULL, 0, now + DRAIN_MS)) break;
        struct pollfd watched[] = {{c->fd, POLLIN, 0}, {c->wake, POLLIN, 0}};
        poll(watched, 2, TICK_MS);
    }
    free(m.payload);
    eventfd_t raised;
    if (c->is_told && c->goodbye && !eventfd_read(c->wake, &raised)) send_json(c, GOODBYE, c->goodbye, GOODBYE_MS);
}

/* Says why not, as to a connection that never was a session. */
static void say_goodbye(struct connection *c, json_t *goodbye) {
    if (goodbye) send_json(c, GOODBYE, goodbye, LEAVE_MS);
    leave(c, LEAVE_MS);
}

/* Registers it, then the catalog, then whatever comes. */
static void serve_session(struct connection *c) {
    struct message first = {0};
    json_t *settings = api("GET", "/v1/settings", NULL, NULL), *hello = NULL;
    /* The gate: with a floor a hello comes first, or the device is too old. The service compares. */
    if (strcmp(text_of(settings, "minimumDeviceVersion"), "0")
        && read_message(c, &first, CAP_DEVICE, now_ms() + GATE_MS) == WHOLE) hello = object_in(&first, HELLO);
    bool has_hello = hello != NULL;
    free(first.payload);
    json_t *answer = ask(c, "/v1/sessions",
                         json_pack("{s:s, s:o?}", "fingerprint", c->fingerprint, "hello", hello), NULL);
    snprintf(c->session, sizeof c->session, "%s", text_of(answer, "id"));
    if (*c->session) {
        enter(c);
        json_t *windows = json_pack("{s:s, s:[], s:{s:{}}, s:i}", "macName", text_of(settings, "name"), "windows",
                                    "active", "none", "protocol", 1);
        if (send_json(c, WINDOW_LIST, windows, DRAIN_MS)
            && send_message(c, SETTINGS, 0, "{}", 2, now_ms() + DRAIN_MS))
            send_json(c, HOST_INFO, object_of(answer, "hostInfo"), DRAIN_MS);
        json_decref(windows);
        run_session(c, has_hello);
        exit_session(c);
        leave(c, LEAVE_SESSION_MS);
    } else {
        usleep((useconds_t)(json_number_value(json_object_get(answer, "delay")) * 1e6));
        say_goodbye(c, object_of(answer, "goodbye"));
    }
    json_decref(settings);
    json_decref(answer);
}

static void serve(struct connection *c) {
    int64_t deadline = now_ms() + ADMISSION_MS;
    int result;
    json_t *answer = ask(c, "/v1/admissions", NULL, NULL);
    bool goes_on = !strcmp(text_of(answer, "decision"), "continue");
    json_decref(answer);
    if (!goes_on) return; /* closed without a byte */
    ERR_clear_error();
    while ((result = SSL_accept(c->tls)) <= 0 && wait_for(c, result, deadline)) {}
    if (result <= 0) {
        /* What the verify step said no to was counted by its own call. */
        if (strcmp(c->decision, "refuse")) report(c, now_ms() >= deadline ? "deadline" : failure_word());
        leave(c, LEAVE_MS);
    } else if (!strcmp(c->decision, "session")) serve_session(c);
    else if (!strcmp(c->decision, "pairing")) serve_pairing(c, deadline);
    else say_goodbye(c, c->goodbye);
}

static void *serve_thread(void *argument) {
    struct connection *c = argument;
    serve(c);
    SSL_free(c->tls);
    close(c->fd);
    close(c->wake);
    json_decref(c->facts), json_decref(c->goodbye);
    free(c);
    connection_count--;
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------------- events */
/* The remote door is open while remote access is on or a pairing window is for it. */
static void look_at_remote(void) {
    json_t *settings = api("GET", "/v1/settings", NULL, NULL), *status = api("GET", "/v1/status", NULL, NULL);
    wants_remote = json_is_true(json_object_get(settings, "remoteAccess"))
        || json_is_true(json_object_get(json_object_get(status, "window"), "remote"));
    json_decref(settings);
    json_decref(status);
    eventfd_write(main_wake, 1);
}

/* Follows the stream until it ends. */
static void follow_events(void) {
    int fd = api_connect(40); /* a comment comes every 15 s */
    FILE *stream = fd >= 0 ? fdopen(fd, "r+") : NULL;
    char *line = NULL, type[64] = "";
    size_t room = 0;
    bool in_head = true;
    if (!stream) return;
    fputs("GET /v1/events HTTP/1.0\r\nHost: localhost\r\n\r\n", stream); /* 1.0: as it comes, without chunks */
    fflush(stream);
    while (getline(&line, &room, stream) > 0) {
        line[strcspn(line, "\r\n")] = 0;
        if (in_head && !*line) {
            in_head = false;
            json_decref(api("DELETE", "/v1/sessions", NULL, NULL)); /* whatever a former run left */
            renew_context();
            has_events = true;
            puts("ready");
            look_at_remote();
        } else if (sscanf(line, "event: %63s", type) == 1) {
            /* Events are missing, or everything is to begin with another key: as if the stream had ended. */
            if (!strcmp(type, "reset") || !strcmp(type, "identity.rotated")) break;
        } else if (!strncmp(line, "data:", 5)) {
            json_t *data = json_loads(line + 5, 0, NULL);
            if (!strcmp(type, "settings.changed") || !strncmp(type, "pairing.", 8)) look_at_remote();
            if (!strcmp(type, "session.closing") || !strcmp(type, "session.closed"))
                tell_session(text_of(data, "id"), object_of(data, "goodbye"));
            json_decref(data);
        }
    }
    free(line);
    fclose(stream);
    /* Nobody would tell us now that a device was removed. They come back by themselves. */
    has_events = false;
    tell_session(NULL, NULL);
}

static void *events_thread(void *unused) {
    for (;; sleep(1)) follow_events();
    return unused;
}

/* -------------------------------------------------------------------------------------------------------- listeners */
/* An address with port as the API reads it, an IPv6 zone by name included. */
static void name_address(struct sockaddr_storage *address, socklen_t length, char out[NI_MAXHOST + 16]) {
    char host[NI_MAXHOST] = "?", port[16] = "0";
    getnameinfo((struct sockaddr *)address, length, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(out, NI_MAXHOST + 16, strchr(host, ':') ? "[%s]:%.8s" : "%s:%.8s", host, port);
}

/* The interface the kernel received the connection on, so that a tunnel's peer cannot pass for a neighbour by dialling
   another address of this machine. NULL when the kernel does not say. */
static const char *arrival(int fd, int family, char name[IF_NAMESIZE]) {
    enum { IPV6_2292PKTOPTIONS_ = 6 }; /* <linux/in6.h>, which clashes with <netinet/in.h> */
    union { struct cmsghdr align; unsigned char bytes[256]; } control;
    socklen_t length = sizeof control.bytes;
    bool is_v4 = family == AF_INET;
    if (getsockopt(fd, is_v4 ? IPPROTO_IP : IPPROTO_IPV6, is_v4 ? IP_PKTOPTIONS : IPV6_2292PKTOPTIONS_,
                   control.bytes, &length)) return NULL;
    struct msghdr message = {.msg_control = control.bytes, .msg_controllen = length};
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        struct in_pktinfo v4 = {0};
        struct in6_pktinfo v6 = {0};
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO && c->cmsg_len >= CMSG_LEN(sizeof v4))
            memcpy(&v4, CMSG_DATA(c), sizeof v4);
        else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_len >= CMSG_LEN(sizeof v6))
            memcpy(&v6, CMSG_DATA(c), sizeof v6);
        unsigned int index = (unsigned int)v4.ipi_ifindex | v6.ipi6_ifindex;
        if (index) return if_indextoname(index, name);
    }
    return NULL;
}

static json_t *describe(int fd, enum door door) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char peer[NI_MAXHOST + 16], local[NI_MAXHOST + 16], interface[IF_NAMESIZE];
    if (getpeername(fd, (struct sockaddr *)&address, &length)) return NULL;
    name_address(&address, length, peer);
    length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length)) return NULL;
    name_address(&address, length, local);
    return json_pack("{s:s, s:s, s:s, s:s?}", "door", door_names[door], "remote", peer, "local", local, "interface",
                     arrival(fd, address.ss_family, interface));
}

static int open_listener(enum door door, int port) {
    char service[16], name[NI_MAXHOST + 16];
    int on = 1, off = 0;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICHOST}, *found;
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    snprintf(service, sizeof service, "%d", port);
    if (getaddrinfo(listen_address, service, &hints, &found)) die("--listen takes an address");
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
    if (bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, 128)) die("a port is taken; give another");
    getsockname(fd, (struct sockaddr *)&bound, &length);
    name_address(&bound, length, name);
    printf("%s %s\n", door_names[door], strrchr(name, ':') + 1);
    freeaddrinfo(found);
    return fd;
}

static void accept_one(int listener, enum door door) {
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    const int options[][3] = {
        {IPPROTO_TCP, TCP_NODELAY, 1}, {SOL_SOCKET, SO_KEEPALIVE, 1}, {IPPROTO_TCP, TCP_KEEPIDLE, 5},
        {IPPROTO_TCP, TCP_KEEPINTVL, 2}, {IPPROTO_TCP, TCP_KEEPCNT, 3},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, door == REMOTE ? DRAIN_MS : 0}};
    pthread_t thread;
    if (fd < 0) return;
    if (!has_events || connection_count >= CONNECTIONS) {
        close(fd);
        return;
    }
    connection_count++;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(fd, options[i][0], options[i][1], &options[i][2], sizeof(int));
    struct connection *c = calloc(1, sizeof *c);
    pthread_mutex_lock(&lock);
    if (!c || (c->wake = eventfd(0, EFD_CLOEXEC)) < 0 || !(c->tls = SSL_new(tls_context))) die("out of memory");
    pthread_mutex_unlock(&lock);
    c->fd = fd;
    c->door = door;
    c->facts = describe(fd, door); /* NULL when it is gone already: then the service refuses it */
    SSL_set_fd(c->tls, fd);
    SSL_set_app_data(c->tls, c);
    if (pthread_create(&thread, NULL, serve_thread, c)) die("no more threads");
    pthread_detach(thread);
}

/* ------------------------------------------------------------------------------------------------------------- main */
static void stop(int number) {
    stopping = 1;
    eventfd_write(main_wake, 1);
}

/* Who starts both at once has started this one first, as likely as not. */
static void await_service(void) {
    json_t *identity = NULL;
    for (int64_t deadline = now_ms() + START_MS; !(identity = api("GET", "/v1/identity", NULL, NULL)) && now_ms() < deadline;)
        usleep(50000);
    json_decref(identity);
}

int main(int count, char **arguments) {
    static const struct option options[] = {
        {"api", required_argument, NULL, 'a'}, {"home-port", required_argument, NULL, 'h'},
        {"remote-port", required_argument, NULL, 'r'}, {"listen", required_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'u'}, {0}};
    static const char usage[] = "usage: [--api SOCKET] [--home-port N|off] [--remote-port N|off] [--listen ADDRESS]";
    int option, ports[] = {0, 7455}, listeners[] = {-1, -1};
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) switch (option) {
        case 'a': api_path = optarg; break;
        case 'h': ports[HOME] = strcmp(optarg, "off") ? atoi(optarg) : -1; break;
        case 'r': ports[REMOTE] = strcmp(optarg, "off") ? atoi(optarg) : -1; break;
        case 'l': listen_address = optarg; break;
        case 'u': return puts(usage) < 0;
        default: die(usage);
        }
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    await_service();
    renew_context();
    main_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    pthread_t events;
    if (main_wake < 0 || pthread_create(&events, NULL, events_thread, NULL)) die("no more threads");
    while (!stopping) {
        bool wanted[] = {has_events, has_events && wants_remote};
        for (enum door door = HOME; door <= REMOTE; door++) {
            if (wanted[door] && ports[door] >= 0 && listeners[door] < 0)
                listeners[door] = open_listener(door, ports[door]);
            if (!wanted[door] && listeners[door] >= 0) {
                close(listeners[door]);
                listeners[door] = -1;
                printf("%s closed\n", door_names[door]);
            }
        }
        eventfd_t raised;
        struct pollfd watched[] = {
            {listeners[HOME], POLLIN, 0}, {listeners[REMOTE], POLLIN, 0}, {main_wake, POLLIN, 0}};
        poll(watched, 3, -1);
        if (watched[2].revents) eventfd_read(main_wake, &raised);
        for (enum door door = HOME; door <= REMOTE; door++)
            if (watched[door].revents) accept_one(listeners[door], door);
    }
    tell_session(NULL, json_pack("{s:s, s:s, s:b}", "reason", "noHost", "message", "The streaming program was closed.",
                                 "reconnect", 1));
    for (int64_t deadline = now_ms() + LEAVE_MS; sessions && now_ms() < deadline;) usleep(10000);
    return 0;
}
