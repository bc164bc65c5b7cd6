/* Posts one request over and over on N keep-alive connections and prints requests a second.
   Usage: http-load WHERE CONNECTIONS SECONDS REQUEST-FILE   (WHERE: 127.0.0.1:PORT or unix:PATH)
   The file holds the whole request, head and body. Ends with 1 when any answer is not 200.
   SPDX-License-Identifier: Apache-2.0 */
#include "common.h"

struct client {
    int fd;
    size_t got;
    char in[4096];
};

int main(int argc, char **argv) {
    if (argc != 5) { fprintf(stderr, "usage: http-load WHERE CONNECTIONS SECONDS REQUEST-FILE\n"); return 64; }
    int count = atoi(argv[2]);
    double seconds = atof(argv[3]);
    static char request[65536];
    FILE *file = fopen(argv[4], "rb");
    if (!file) die(argv[4]);
    size_t length = fread(request, 1, sizeof request, file);
    fclose(file);
    if (count < 1 || count > 1024 || seconds <= 0 || seconds > 60) { fprintf(stderr, "out of range\n"); return 64; }

    struct client *clients = calloc((size_t)count, sizeof *clients);
    int loop = epoll_create1(0);
    for (int i = 0; i < count; i++) {
        if ((clients[i].fd = dial(argv[1])) < 0) die(argv[1]);
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &clients[i]};
        epoll_ctl(loop, EPOLL_CTL_ADD, clients[i].fd, &e);
        if (write(clients[i].fd, request, length) != (ssize_t)length) die("write");
    }
    unsigned long answers = 0;
    double begin = now_seconds(), end = begin + seconds;
    while (now_seconds() < end) {
        struct epoll_event events[64];
        int n = epoll_wait(loop, events, 64, 100);
        for (int i = 0; i < n; i++) {
            struct client *c = events[i].data.ptr;
            ssize_t r = read(c->fd, c->in + c->got, sizeof c->in - 1 - c->got);
            if (r <= 0) { fprintf(stderr, "connection ended\n"); return 1; }
            c->got += (size_t)r;
            c->in[c->got] = 0;
            char *head = strstr(c->in, "\r\n\r\n");
            if (!head) continue;
            char *size = strcasestr(c->in, "content-length:");
            size_t whole = (size_t)(head + 4 - c->in) + (size > head || !size ? 0 : strtoul(size + 15, NULL, 10));
            if (c->got < whole) continue;
            if (strncmp(c->in, "HTTP/1.1 200", 12)) { fprintf(stderr, "%.200s\n", c->in); return 1; }
            answers++;
            c->got = 0;
            if (write(c->fd, request, length) != (ssize_t)length) die("write");
        }
    }
    printf("%.0f\n", (double)answers / (now_seconds() - begin));
    return 0;
}
