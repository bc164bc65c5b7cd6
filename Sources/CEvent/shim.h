#ifndef LATCHKEY_CEVENT_SHIM_H
#define LATCHKEY_CEVENT_SHIM_H
// libevent's core. Its headers define _GNU_SOURCE, so <features.h> comes first, or its fd_set clashes with Glibc's.
// SPDX-License-Identifier: Apache-2.0
#pragma clang module import SwiftGlibc  // docs/architecture.md, "C modules"
#include <features.h>
#include <errno.h>
#include <event2/event.h>
#include <sys/eventfd.h>
#include <unistd.h>

// libevent ends the whole process when it finds no descriptor for a base's own signal pipe. What a base takes, and one to
// spare: whether that many are to be had.
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
    // Asked first; when others take what was free just now, it still ends.
    if (!shim_has_descriptors()) return 0;
    struct event_config *config = event_config_new();
    if (!config) return 0;
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV
        | EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
    struct event_base *base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}
#endif
