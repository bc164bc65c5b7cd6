#ifndef LATCHKEY_CEVENT_SHIM_H
#define LATCHKEY_CEVENT_SHIM_H
// libevent's core. Its headers define _GNU_SOURCE, so <features.h> comes first, or its fd_set clashes with Glibc's.
// SPDX-License-Identifier: Apache-2.0
#include <features.h>
#include <event2/event.h>

// A base for one thread: no locks, no look at the environment, and epoll changes collected until the next wait, so
// that switching a watch off and on again within one round costs no system call.
static inline struct event_base *shim_new_base(void) {
    struct event_config *config = event_config_new();
    if (!config) return 0;
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV
        | EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST);
    struct event_base *base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}
#endif
