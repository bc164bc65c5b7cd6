/* A crowd at a door, for measuring what it costs a paired device. Usage:
     door-flood WHERE SECONDS KEYS-A-SECOND SILENT-A-SECOND KEY CERT
   Dials so many connections a second with a key that nobody paired (a whole handshake, as far as the door lets it
   come), from 1,000 loopback addresses in turn, and so many that say nothing, from 60,000. Prints "dialling" when it
   begins, and at the end: KEYS-DIALLED HANDSHAKES-ENDED SILENT-DIALLED NOT-DIALLED. SPDX-License-Identifier: Apache-2.0 */
#include "common.h"
#include <openssl/ssl.h>

enum { KEY_SOURCES = 1000, SILENT_SOURCES = 60000, AT_ONCE = 8192, BURST = 64 };

struct connection {
    int fd;
    SSL *ssl; /* NULL: one that says nothing */
    int finished;
};

static struct sockaddr_in target;
static SSL_CTX *context;
static int epoll;
static size_t open_now, keys, ended, silent, missed;

static void close_connection(struct connection *c) {
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    if (c->ssl) SSL_free(c->ssl);
    close(c->fd);
    free(c);
    open_now--;
}

static void dial_one(int with_key) {
    struct sockaddr_in from = {.sin_family = AF_INET};
    /* 127.16.0.0 up for keys, 127.32.0.0 up for the silent: none that a device uses. */
    from.sin_addr.s_addr = htonl(with_key ? 0x7f100001u + (unsigned)(keys % KEY_SOURCES)
                                          : 0x7f200001u + (unsigned)(silent % SILENT_SOURCES));
    if (with_key) keys++; else silent++;
    if (open_now >= AT_ONCE) { missed++; return; }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
    if (fd < 0) { missed++; return; }
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&from, sizeof from) ||
        (connect(fd, (struct sockaddr *)&target, sizeof target) && errno != EINPROGRESS)) {
        close(fd);
        missed++;
        return;
    }
    struct connection *c = calloc(1, sizeof *c);
    c->fd = fd;
    if (with_key) {
        c->ssl = SSL_new(context);
        SSL_set_alpn_protos(c->ssl, (const unsigned char *)"\6sill/1", 7);
        SSL_set_fd(c->ssl, fd);
        SSL_set_connect_state(c->ssl);
    }
    struct epoll_event e = {.events = with_key ? EPOLLOUT : EPOLLIN | EPOLLRDHUP, .data.ptr = c};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
    open_now++;
}

static void serve(struct connection *c, uint32_t events) {
    char drop[4096];
    if (!c->ssl) {
        if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP) || read(c->fd, drop, sizeof drop) == 0) close_connection(c);
        return;
    }
    if (events & (EPOLLERR | EPOLLHUP)) { close_connection(c); return; }
    int r = c->finished ? SSL_read(c->ssl, drop, sizeof drop) : SSL_connect(c->ssl);
    if (!c->finished && r == 1) {
        c->finished = 1;
        ended++;
        r = SSL_read(c->ssl, drop, sizeof drop);
    }
    if (r > 0) return;
    int why = SSL_get_error(c->ssl, r);
    struct epoll_event e = {.events = why == SSL_ERROR_WANT_WRITE ? EPOLLOUT : EPOLLIN, .data.ptr = c};
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) epoll_ctl(epoll, EPOLL_CTL_MOD, c->fd, &e);
    else close_connection(c);
}

int main(int argc, char **argv) {
    if (argc != 7) { fprintf(stderr, "usage: see the head of this file\n"); return 64; }
    const char *colon = strrchr(argv[1], ':');
    char host[64];
    if (!colon) { fprintf(stderr, "WHERE is HOST:PORT\n"); return 64; }
    snprintf(host, sizeof host, "%.*s", (int)(colon - argv[1]), argv[1]);
    target.sin_family = AF_INET;
    target.sin_port = htons((uint16_t)atoi(colon + 1));
    if (inet_pton(AF_INET, host, &target.sin_addr) != 1) { fprintf(stderr, "WHERE is HOST:PORT\n"); return 64; }
    double seconds = atof(argv[2]), key_rate = atof(argv[3]), silent_rate = atof(argv[4]);
    signal(SIGPIPE, SIG_IGN);
    context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
    if (SSL_CTX_use_PrivateKey_file(context, argv[5], SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_certificate_file(context, argv[6], SSL_FILETYPE_PEM) != 1) {
        fprintf(stderr, "cannot load %s or %s\n", argv[5], argv[6]);
        return 1;
    }
    epoll = epoll_create1(EPOLL_CLOEXEC);
    printf("dialling\n");
    fflush(stdout);
    double begin = now_seconds(), now;
    struct epoll_event ready[256];
    while ((now = now_seconds()) - begin < seconds) {
        /* A few at a time, so that those that are open get their turn; behind, it catches up. */
        for (int i = 0; i < BURST && (double)keys < (now - begin) * key_rate; i++) dial_one(1);
        for (int i = 0; i < BURST && (double)silent < (now - begin) * silent_rate; i++) dial_one(0);
        int count = epoll_wait(epoll, ready, 256, 1);
        for (int i = 0; i < count; i++) serve(ready[i].data.ptr, ready[i].events);
    }
    printf("%zu %zu %zu %zu\n", keys, ended, silent, missed);
    return 0;
}
