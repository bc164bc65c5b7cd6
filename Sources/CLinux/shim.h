#ifndef LATCHKEY_CLINUX_SHIM_H
#define LATCHKEY_CLINUX_SHIM_H
// Kernel headers that Glibc's module does not carry, and the socket calls that Swift cannot spell: control messages
// are walked with macros, and socket address structures are cast into each other. SPDX-License-Identifier: Apache-2.0
#pragma clang module import SwiftGlibc  // docs/architecture.md, "C modules"
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

// IPV6_2292PKTOPTIONS: in <linux/in6.h>, which clashes with <netinet/in.h>.
enum { shim_ipv6_2292pktoptions = 6 };
// SO_PEERCRED's answer, asked for by address so that Swift needs no struct ucred (hidden without _GNU_SOURCE).
struct shim_credentials { int32_t pid; uint32_t uid; uint32_t gid; };
// struct in_pktinfo and in6_pktinfo are also hidden without _GNU_SOURCE; the kernel fixes their layout.
struct shim_pktinfo4 { int32_t index; uint32_t specific; uint32_t destination; };
struct shim_pktinfo6 { uint8_t destination[16]; uint32_t index; };

// The interface index a connection was received on (spec 03 section 3.3 step 2), 0 when the kernel does not say.
// In C because CMSG_FIRSTHDR and CMSG_NXTHDR are macros.
static inline uint32_t shim_arrival_index(int fd, int family) {
    union { struct cmsghdr align; unsigned char bytes[256]; } buffer;
    socklen_t length = sizeof buffer.bytes;
    int level = family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
    int option = family == AF_INET ? IP_PKTOPTIONS : shim_ipv6_2292pktoptions;
    if (getsockopt(fd, level, option, buffer.bytes, &length) != 0) return 0;
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_control = buffer.bytes;
    message.msg_controllen = length;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO
            && c->cmsg_len >= CMSG_LEN(sizeof(struct shim_pktinfo4))) {
            struct shim_pktinfo4 info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            return (uint32_t)info.index;
        }
        // IPV6_PKTINFO is 50, IPV6_2292PKTINFO is 2; the kernel answers with either.
        if (c->cmsg_level == IPPROTO_IPV6 && (c->cmsg_type == 50 || c->cmsg_type == 2)
            && c->cmsg_len >= CMSG_LEN(sizeof(struct shim_pktinfo6))) {
            struct shim_pktinfo6 info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            return info.index;
        }
    }
    return 0;
}

// Fills `out` with a TCP address; returns its length. `bytes` holds 4 or 16.
static inline socklen_t shim_fill_inet(
    struct sockaddr_storage *out, const uint8_t *bytes, int count, uint16_t port, uint32_t scope) {
    memset(out, 0, sizeof *out);
    if (count == 4) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)out;
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        memcpy(&v4->sin_addr, bytes, 4);
        return sizeof *v4;
    }
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    v6->sin6_scope_id = scope;
    memcpy(&v6->sin6_addr, bytes, 16);
    return sizeof *v6;
}

// Reads a TCP address: bytes into `out` (16), port and scope; returns 4 or 16, or 0 for any other family.
static inline int shim_read_inet(
    const struct sockaddr *from, uint8_t *out, uint16_t *port, uint32_t *scope) {
    if (from->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;
        memcpy(out, &v4->sin_addr, 4);
        *port = ntohs(v4->sin_port);
        *scope = 0;
        return 4;
    }
    if (from->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;
        memcpy(out, &v6->sin6_addr, 16);
        *port = ntohs(v6->sin6_port);
        *scope = v6->sin6_scope_id;
        return 16;
    }
    return 0;
}

// Fills `out` with a Unix path; returns the length, or 0 when the path does not fit. sun_path is a 108-element tuple
// in Swift.
static inline socklen_t shim_fill_unix(struct sockaddr_storage *out, const char *path) {
    struct sockaddr_un *un = (struct sockaddr_un *)out;
    size_t length = strlen(path);
    memset(out, 0, sizeof *out);
    if (length == 0 || length >= sizeof un->sun_path) return 0;
    un->sun_family = AF_UNIX;
    memcpy(un->sun_path, path, length + 1);
    return (socklen_t)sizeof *un;
}

// Casts sockaddr_storage for the calls that take sockaddr, which Swift can only do through a rebinding closure.
static inline int shim_bind(int fd, const struct sockaddr_storage *a, socklen_t n) {
    return bind(fd, (const struct sockaddr *)a, n);
}
static inline int shim_connect(int fd, const struct sockaddr_storage *a, socklen_t n) {
    return connect(fd, (const struct sockaddr *)a, n);
}
int accept4(int, struct sockaddr *, socklen_t *, int);
static inline int shim_accept(int fd, struct sockaddr_storage *a, socklen_t *n) {
    return accept4(fd, (struct sockaddr *)a, n, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
static inline int shim_getsockname(int fd, struct sockaddr_storage *a, socklen_t *n) {
    return getsockname(fd, (struct sockaddr *)a, n);
}
static inline int shim_getpeername(int fd, struct sockaddr_storage *a, socklen_t *n) {
    return getpeername(fd, (struct sockaddr *)a, n);
}
static inline int shim_read_storage(
    const struct sockaddr_storage *a, uint8_t *out, uint16_t *port, uint32_t *scope) {
    return shim_read_inet((const struct sockaddr *)a, out, port, scope);
}

// Datagrams: the same casts. An address length of 0 sends to the peer of a connected socket. MSG_TRUNC gives the whole
// length of a datagram that does not fit.
static inline ssize_t shim_sendto(
    int fd, const void *bytes, size_t count, const struct sockaddr_storage *a, socklen_t n) {
    return sendto(fd, bytes, count, MSG_NOSIGNAL, n == 0 ? NULL : (const struct sockaddr *)a, n);
}
static inline ssize_t shim_recvfrom(
    int fd, void *room, size_t count, int flags, struct sockaddr_storage *a, socklen_t *n) {
    return recvfrom(fd, room, count, flags | MSG_TRUNC, (struct sockaddr *)a, n);
}
// Where a socket's multicasts leave from, and which ones it takes: `struct ip_mreqn`, by interface index.
static inline int shim_multicast_from(int fd, uint32_t index, const uint8_t *address, int ttl) {
    struct ip_mreqn request;
    memset(&request, 0, sizeof request);
    memcpy(&request.imr_address, address, 4);
    request.imr_ifindex = (int)index;
    if (setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request) != 0) return -1;
    return setsockopt(fd, IPPROTO_IP, IP_MULTICAST_TTL, &ttl, sizeof ttl);
}
static inline int shim_multicast_join(int fd, uint32_t index, const uint8_t *group) {
    struct ip_mreqn request;
    int none = 0;
    memset(&request, 0, sizeof request);
    memcpy(&request.imr_multiaddr, group, 4);
    request.imr_ifindex = (int)index;
    // Without this the socket would also take what other programs joined on other interfaces.
    (void)setsockopt(fd, IPPROTO_IP, IP_MULTICAST_ALL, &none, sizeof none);
    return setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request);
}

// Swift imports `flock` as the struct of fcntl locks, not as this function.
static inline int shim_flock_exclusive_now(int fd) { return flock(fd, LOCK_EX | LOCK_NB); }

// <sys/eventfd.h> and its enum of flags are not in Glibc's module.
static inline int shim_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

// ioctl is variadic. Bytes that wait to be read; bytes written that TCP has not sent yet. -1 with errno.
static inline int shim_bytes_ready(int fd) {
    int count = 0;
    return ioctl(fd, FIONREAD, &count) == 0 ? count : -1;
}
static inline int shim_unsent_bytes(int fd) {
    int count = 0;
    return ioctl(fd, SIOCOUTQNSD, &count) == 0 ? count : -1;
}

// A pipe whose ends children do not inherit; the reading end never waits.
int pipe2(int *, int);
static inline int shim_pipe(int *ends) {
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return 0;
}

// A descriptor that is readable once the process has ended; -1 with errno. glibc has a call for it from 2.36 on only.
static inline int shim_pidfd_open(int pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

// Hidden without _GNU_SOURCE.
int pthread_setname_np(pthread_t, const char *);
static inline void shim_name_this_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
#endif
