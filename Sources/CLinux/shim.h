#ifndef LATCHKEY_CLINUX_SHIM_H
#define LATCHKEY_CLINUX_SHIM_H
// Kernel headers that Glibc's module does not carry. SPDX-License-Identifier: Apache-2.0
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#endif
