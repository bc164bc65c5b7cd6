#ifndef LATCHKEY_CNATPMP_SHIM_H
#define LATCHKEY_CNATPMP_SHIM_H
// SPDX-License-Identifier: Apache-2.0
#include <natpmp.h>
#endif
