// SPDX-License-Identifier: Apache-2.0
// The OpenSSL 3 headers CryptoEngine uses, and the few macros Swift cannot import.
#pragma clang module import SwiftGlibc  // docs/architecture.md, "C modules"
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "lean_library.h"

// SSL_OP_BIT(n) is a function-like macro with a cast, so the option has no name in Swift.
static inline uint64_t shim_op_no_ticket(void) { return SSL_OP_NO_TICKET; }
static inline uint64_t shim_op_cipher_server_preference(void) { return SSL_OP_CIPHER_SERVER_PREFERENCE; }
