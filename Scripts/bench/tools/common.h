/* What the benchmark's tools share: time, sockets, exact reads, message headers. SPDX-License-Identifier: Apache-2.0 */
#ifndef LATCHKEY_BENCH_COMMON_H
#define LATCHKEY_BENCH_COMMON_H

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 14 };

static inline double now_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static inline void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

/* A header of the framing (timestamp 0): kind, then eight zero bytes, keyframe 0, length. */
static inline void put_header(unsigned char *at, unsigned kind, uint32_t length) {
    memset(at, 0, HEADER);
    at[0] = (unsigned char)kind;
    at[10] = (unsigned char)(length >> 24);
    at[11] = (unsigned char)(length >> 16);
    at[12] = (unsigned char)(length >> 8);
    at[13] = (unsigned char)length;
}

static inline uint32_t header_length(const unsigned char *at) {
    return (uint32_t)at[10] << 24 | (uint32_t)at[11] << 16 | (uint32_t)at[12] << 8 | at[13];
}

/* "127.0.0.1:7455" or "unix:/path"; connected, or -1. */
static inline int dial(const char *where) {
    int fd;
    if (!strncmp(where, "unix:", 5)) {
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        snprintf(a.sun_path, sizeof a.sun_path, "%s", where + 5);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a)) { close(fd); return -1; }
        return fd;
    }
    struct sockaddr_in a = {.sin_family = AF_INET};
    char host[64];
    const char *colon = strrchr(where, ':');
    if (!colon) { errno = EINVAL; return -1; }
    snprintf(host, sizeof host, "%.*s", (int)(colon - where), where);
    a.sin_port = htons((uint16_t)atoi(colon + 1));
    if (inet_pton(AF_INET, host, &a.sin_addr) != 1) { errno = EINVAL; return -1; }
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;
    if (fd < 0) return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (struct sockaddr *)&a, sizeof a)) { close(fd); return -1; }
    return fd;
}

static inline int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Sorts, then the value at fraction f. */
static inline double quantile(double *values, size_t count, double f) {
    if (!count) return 0;
    qsort(values, count, sizeof *values, by_value);
    size_t at = (size_t)(f * (double)count);
    return values[at < count ? at : count - 1];
}

#endif
