#ifndef LATCHKEY_CEVENT_SHIM_H
#define LATCHKEY_CEVENT_SHIM_H
// libevent's core. Its headers define _GNU_SOURCE, so <features.h> comes first, or its fd_set clashes with Glibc's.
// SPDX-License-Identifier: Apache-2.0
#include <features.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

// libevent ends the whole process when it finds no descriptor for a base's own signal pipe. While a base is being made on a
// thread, this is where that thread goes on instead.
static _Thread_local jmp_buf *shim_way_out;

static inline void shim_fatal(int code) {
    if (shim_way_out) longjmp(*shim_way_out, 1);
    exit(code);
}

// What a base takes, as a pair or alone, and one to spare: whether that many descriptors are to be had.
static inline int shim_has_descriptors(void) {
    int held[5], count = 0;
    while (count < 5 && (held[count] = eventfd(0, EFD_CLOEXEC)) >= 0) count++;
    int error = errno;
    for (int index = 0; index < count; index++) close(held[index]);
    errno = error;
    return count == 5;
}

// A base for one thread: no locks, no look at the environment, and epoll changes collected until the next wait, so
// that switching a watch off and on again within one round costs no system call. Null when descriptors or memory have run
// out.
static inline struct event_base *shim_new_base(void) {
    // Asked first, so that no half-made base is left behind; only when others take what was free just now, one is.
    if (!shim_has_descriptors()) return 0;
    struct event_config *config = event_config_new();
    if (!config) return 0;
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV
        | EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
    event_set_fatal_callback(shim_fatal);
    jmp_buf way_out;
    struct event_base *volatile base = 0;
    shim_way_out = &way_out;
    if (setjmp(way_out) == 0) base = event_base_new_with_config(config);
    shim_way_out = 0;
    event_config_free(config);
    return base;
}
#endif
