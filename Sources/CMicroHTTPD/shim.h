#ifndef LATCHKEY_CMICROHTTPD_SHIM_H
#define LATCHKEY_CMICROHTTPD_SHIM_H
// SPDX-License-Identifier: Apache-2.0
#pragma clang module import SwiftGlibc  // docs/architecture.md, "C modules"
#include <features.h>
#include <microhttpd.h>
#include <sys/socket.h>
#include <sys/types.h>

// MHD_start_daemon is variadic. No listener of its own: connections are handed over with MHD_add_connection, so
// that one thread serves all listeners and the limits count over all of them.
static inline struct MHD_Daemon *shim_start_daemon(
    MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback notified,
    size_t (*unescape)(void *, struct MHD_Connection *, char *), void *context,
    unsigned connections, unsigned per_address, unsigned idle_seconds, size_t memory) {
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, handler, context,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context, MHD_OPTION_NOTIFY_CONNECTION, notified, context,
        MHD_OPTION_UNESCAPE_CALLBACK, unescape, context, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, per_address, MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}

// The next three are variadic and answer with a union.
static inline int shim_daemon_descriptor(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

static inline int shim_connection_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline size_t shim_header_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

static inline void *shim_socket_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

// MHD_SIZE_UNKNOWN and the reader's two ends are macros with casts.
static inline struct MHD_Response *shim_stream_response(
    size_t block, MHD_ContentReaderCallback reader, void *context, MHD_ContentReaderFreeCallback release) {
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, block, reader, context, release);
}

static inline ssize_t shim_stream_error(void) { return MHD_CONTENT_READER_END_WITH_ERROR; }
static inline ssize_t shim_stream_end(void) { return MHD_CONTENT_READER_END_OF_STREAM; }

// The peer's supplementary groups (Linux 4.13): SO_PEERGROUPS is in a kernel header Glibc's module does not carry.
static inline int shim_peer_groups(int descriptor, gid_t *groups, socklen_t *length) {
    return getsockopt(descriptor, SOL_SOCKET, 59, groups, length);
}
#endif
