#ifndef LATCHKEY_CNATPMP_SHIM_H
#define LATCHKEY_CNATPMP_SHIM_H
// SPDX-License-Identifier: Apache-2.0
#pragma clang module import SwiftGlibc  // docs/architecture.md, "C modules"
#include <natpmp.h>
#endif
