#ifndef LATCHKEY_CMINIUPNPC_SHIM_H
#define LATCHKEY_CMINIUPNPC_SHIM_H
// SPDX-License-Identifier: Apache-2.0
#pragma clang module import SwiftGlibc  // docs/architecture.md, "C modules"
#include <miniupnpc/igd_desc_parse.h>
#include <miniupnpc/miniupnpc.h>
#include <miniupnpc/upnpcommands.h>
#include <miniupnpc/upnperrors.h>
#include <miniupnpc/upnpreplyparse.h>
#endif
