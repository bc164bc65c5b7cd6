/* A streaming process without a stream: what the doors are measured with.
   Usage: backend unix:PATH|PORT [--proxy] [--host-info] idle|flood|echo
     --proxy      every connection begins with a PROXY protocol v2 header, which is read first
     --host-info  send kind 18 too (behind the reference, which adds none)
   Every connection gets kinds 2 and 16 at once; then: idle, nothing; flood, kind 1 messages of 64 KiB as fast as they
   are taken; echo, every whole 1 KiB message comes back as kind 3. SPDX-License-Identifier: Apache-2.0 */
#include "common.h"

enum { FRAME = 65536, ECHO = 1024 };
static unsigned char frame[HEADER + FRAME];

struct peer {
    int fd;
    int greeted;
    size_t at;      /* flood: how much of the frame is written */
    size_t have;    /* bytes in `in` */
    unsigned char in[8192];
};

static size_t greeting(unsigned char *out, int host_info) {
    static const char list[] = "{\"macName\":\"Bench\",\"windows\":[],\"active\":{\"none\":{}}}";
    static const char settings[] = "{}";
    size_t n = 0;
    put_header(out, 2, sizeof list - 1);
    memcpy(out + HEADER, list, sizeof list - 1);
    n = HEADER + sizeof list - 1;
    put_header(out + n, 16, sizeof settings - 1);
    memcpy(out + n + HEADER, settings, sizeof settings - 1);
    n += HEADER + sizeof settings - 1;
    if (host_info) {
        put_header(out + n, 18, 2);
        memcpy(out + n + HEADER, "{}", 2);
        n += HEADER + 2;
    }
    return n;
}

int main(int argc, char **argv) {
    int proxy = 0, host_info = 0;
    const char *mode = NULL, *where = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--proxy")) proxy = 1;
        else if (!strcmp(argv[i], "--host-info")) host_info = 1;
        else if (!where) where = argv[i];
        else mode = argv[i];
    }
    if (!mode) { fprintf(stderr, "usage: backend unix:PATH|PORT [--proxy] [--host-info] idle|flood|echo\n"); return 64; }
    int flood = !strcmp(mode, "flood"), echo = !strcmp(mode, "echo");
    signal(SIGPIPE, SIG_IGN);
    put_header(frame, 1, FRAME);

    int listener;
    if (!strncmp(where, "unix:", 5)) {
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        snprintf(a.sun_path, sizeof a.sun_path, "%s", where + 5);
        unlink(a.sun_path);
        listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (bind(listener, (struct sockaddr *)&a, sizeof a)) die("bind");
    } else {
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(where))};
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        int one = 1;
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (bind(listener, (struct sockaddr *)&a, sizeof a)) die("bind");
    }
    if (listen(listener, 1024)) die("listen");
    int loop = epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
    epoll_ctl(loop, EPOLL_CTL_ADD, listener, &e);
    unsigned char hello[512];
    size_t hello_length = greeting(hello, host_info);

    for (;;) {
        struct epoll_event events[256];
        int n = epoll_wait(loop, events, 256, -1);
        for (int i = 0; i < n; i++) {
            struct peer *p = events[i].data.ptr;
            if (!p) {
                int fd;
                while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                    p = calloc(1, sizeof *p);
                    p->fd = fd;
                    if (!proxy) {
                        if (write(fd, hello, hello_length) < 0) { close(fd); free(p); continue; }
                        p->greeted = 1;
                    }
                    e = (struct epoll_event){.events = EPOLLIN | (flood && p->greeted ? EPOLLOUT : 0), .data.ptr = p};
                    epoll_ctl(loop, EPOLL_CTL_ADD, fd, &e);
                }
                continue;
            }
            int over = 0;
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
                ssize_t r = read(p->fd, p->in + p->have, sizeof p->in - p->have);
                if (r == 0 || (r < 0 && errno != EAGAIN)) over = 1;
                if (r > 0) p->have += (size_t)r;
                if (!p->greeted && p->have >= 16) {
                    size_t whole = 16u + ((size_t)p->in[14] << 8 | p->in[15]);
                    if (p->have >= whole) {
                        memmove(p->in, p->in + whole, p->have -= whole);
                        p->greeted = 1;
                        if (write(p->fd, hello, hello_length) < 0) over = 1;
                        e = (struct epoll_event){.events = EPOLLIN | (flood ? EPOLLOUT : 0), .data.ptr = p};
                        epoll_ctl(loop, EPOLL_CTL_MOD, p->fd, &e);
                    }
                }
                while (p->greeted && p->have >= HEADER) {
                    size_t whole = HEADER + header_length(p->in);
                    if (whole > sizeof p->in) { over = 1; break; }
                    if (p->have < whole) break;
                    if (echo && whole == HEADER + ECHO) {
                        p->in[0] = 3;
                        if (write(p->fd, p->in, whole) != (ssize_t)whole) over = 1;
                    }
                    memmove(p->in, p->in + whole, p->have -= whole);
                }
            }
            if (!over && flood && p->greeted && events[i].events & EPOLLOUT) {
                for (int turn = 0; turn < 16; turn++) {
                    ssize_t w = write(p->fd, frame + p->at, sizeof frame - p->at);
                    if (w < 0) { over = errno != EAGAIN; break; }
                    p->at = (p->at + (size_t)w) % sizeof frame;
                    if (p->at) break;
                }
            }
            if (over) { close(p->fd); free(p); }
        }
    }
}
