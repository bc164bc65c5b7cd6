#ifndef LATCHKEY_CSYSTEMD_SHIM_H
#define LATCHKEY_CSYSTEMD_SHIM_H
// SPDX-License-Identifier: Apache-2.0
#pragma clang module import SwiftGlibc  // docs/architecture.md, "C modules"
#include <errno.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>

// sd_listen_fds_with_names hands over malloc'd memory; SystemBus imports no Glibc to free it with.
static inline void shim_free(void *memory) { free(memory); }
#endif
