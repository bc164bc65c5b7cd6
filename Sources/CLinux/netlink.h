#ifndef LATCHKEY_CLINUX_NETLINK_H
#define LATCHKEY_CLINUX_NETLINK_H
// rtnetlink sockets: struct sockaddr_nl is cast to struct sockaddr, which Swift can only do through a rebinding
// closure, and SOCK_* are an enum there. SPDX-License-Identifier: Apache-2.0
#pragma clang module import SwiftGlibc  // docs/architecture.md, "C modules"
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

// An rtnetlink socket; -1 with errno.
static inline int shim_netlink_open(int nonblocking) {
    return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | (nonblocking ? SOCK_NONBLOCK : 0), NETLINK_ROUTE);
}

// Has it hear the groups in `groups`, a bit for each.
static inline int shim_netlink_bind(int fd, uint32_t groups) {
    struct sockaddr_nl own;
    memset(&own, 0, sizeof own);
    own.nl_family = AF_NETLINK;
    own.nl_groups = groups;
    return bind(fd, (struct sockaddr *)&own, sizeof own);
}

// No answer may hang its reader for ever; and room for a burst of notifications.
static inline void shim_netlink_limits(int fd) {
    struct timeval wait = {2, 0};
    int room = 1 << 20;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
}

static inline ssize_t shim_netlink_send(int fd, const void *bytes, size_t count) {
    struct sockaddr_nl kernel;
    memset(&kernel, 0, sizeof kernel);
    kernel.nl_family = AF_NETLINK;
    return sendto(fd, bytes, count, 0, (struct sockaddr *)&kernel, sizeof kernel);
}

// The whole length of the datagram, also when `size` was too small for it; -1 with errno. `*is_kernel` is 0 for a
// datagram that another process sent.
static inline ssize_t shim_netlink_receive(int fd, void *bytes, size_t size, int *is_kernel) {
    struct sockaddr_nl from;
    socklen_t length = sizeof from;
    memset(&from, 0, sizeof from);
    ssize_t count = recvfrom(fd, bytes, size, MSG_TRUNC, (struct sockaddr *)&from, &length);
    *is_kernel = count >= 0 && length == sizeof from && from.nl_pid == 0;
    return count;
}
#endif
