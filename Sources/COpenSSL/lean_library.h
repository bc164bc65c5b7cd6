// SPDX-License-Identifier: Apache-2.0
// A library context that offers OpenSSL's default algorithms without those TLS 1.3 never uses.
//
// Why: for every certificate it parses, OpenSSL 3.0 walks all decoders and all key types of the library context to
// find the one for its key, and each pair of decoders once more. That was a third of a whole handshake (290 of
// 710 µs, measured with 3.0.22); with the one decoder that matters it is 60. The algorithms are the default
// provider's own; only the lists it answers with are shortened.
//
// C, because a dispatch table holds functions of many types cast to one, which Swift has no spelling for.
#pragma clang module import SwiftGlibc  // docs/architecture.md, "C modules"
#include <openssl/core_dispatch.h>
#include <openssl/provider.h>
#include <string.h>

// Whether an algorithm's names ("EC:id-ecPublicKey:…") begin with this one.
static inline int lean_is_named(const OSSL_ALGORITHM *algorithm, const char *name) {
    size_t length = strlen(name);
    const char *names = algorithm->algorithm_names;
    return strncmp(names, name, length) == 0 && (names[length] == ':' || names[length] == '\0');
}

// The process's default provider, which does all the work. Loaded once and never unloaded.
static inline OSSL_PROVIDER *lean_default_provider(void) {
    static OSSL_PROVIDER *provider;
    if (provider == NULL) provider = OSSL_PROVIDER_load(NULL, "default");
    return provider;
}

// What TLS 1.3 with certificates uses, whichever suite, group or signature a peer prefers; so what we offer to a peer
// does not change. Keys of kinds without a decoder stay undecoded, and are refused anyway.
static inline const char *const *lean_names(int operation) {
    static const char *const digests[] = {"SHA1", "SHA2-224", "SHA2-256", "SHA2-384", "SHA2-512", NULL};
    static const char *const ciphers[] = {"AES-128-GCM", "AES-256-GCM", "ChaCha20-Poly1305", NULL};
    static const char *const macs[] = {"HMAC", NULL};
    static const char *const kdfs[] = {"HKDF", "TLS13-KDF", NULL};
    static const char *const rands[] = {"CTR-DRBG", "SEED-SRC", NULL};
    static const char *const keys[] = {
        "EC", "RSA", "RSA-PSS", "DH", "X25519", "X448", "ED25519", "ED448", "HMAC", "HKDF", NULL,
    };
    static const char *const exchanges[] = {"ECDH", "DH", "X25519", "X448", "HKDF", NULL};
    static const char *const signatures[] = {"ECDSA", "RSA", "ED25519", "ED448", "HMAC", NULL};
    static const char *const decoders[] = {"EC", NULL};
    switch (operation) {
    case OSSL_OP_DIGEST: return digests;
    case OSSL_OP_CIPHER: return ciphers;
    case OSSL_OP_MAC: return macs;
    case OSSL_OP_KDF: return kdfs;
    case OSSL_OP_RAND: return rands;
    case OSSL_OP_KEYMGMT: return keys;
    case OSSL_OP_KEYEXCH: return exchanges;
    case OSSL_OP_SIGNATURE: return signatures;
    case OSSL_OP_DECODER: return decoders;
    default: return NULL;
    }
}

// Whether an algorithm is one of these. Of the decoders of a key, only that of DER SubjectPublicKeyInfos is.
static inline int lean_keeps(const OSSL_ALGORITHM *algorithm, const char *const *names, int operation) {
    const char *properties = algorithm->property_definition;
    if (operation == OSSL_OP_DECODER
        && (strstr(properties, "input=der") == NULL
            || strstr(properties, "structure=SubjectPublicKeyInfo") == NULL))
        return 0;
    for (; *names != NULL; names++)
        if (lean_is_named(algorithm, *names)) return 1;
    return 0;
}

// The default provider's answer, shortened. OpenSSL keeps the answer, and asks again from any thread: it never changes
// once written, and is written by the first context, in shim_lean_library.
static inline const OSSL_ALGORITHM *lean_query(void *context, int operation, int *no_cache) {
    enum { limit = 16 };
    static OSSL_ALGORITHM kept[OSSL_OP__HIGHEST + 1][limit + 1];
    const OSSL_ALGORITHM *all = OSSL_PROVIDER_query_operation(lean_default_provider(), operation, no_cache);
    const char *const *names = lean_names(operation);
    if (all == NULL || names == NULL) return all;
    OSSL_ALGORITHM *out = kept[operation];
    if (out->algorithm_names == NULL)
        for (size_t count = 0; all->algorithm_names != NULL && count < limit; all++)
            if (lean_keeps(all, names, operation)) out[count++] = *all;
    return out;
}

static inline int lean_capabilities(void *context, const char *capability, OSSL_CALLBACK *each, void *argument) {
    return OSSL_PROVIDER_get_capabilities(lean_default_provider(), capability, each, argument);
}

static inline int lean_init(
    const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in, const OSSL_DISPATCH **out, void **context) {
    static const OSSL_DISPATCH functions[] = {
        {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))lean_query},
        {OSSL_FUNC_PROVIDER_GET_CAPABILITIES, (void (*)(void))lean_capabilities},
        {0, NULL},
    };
    *out = functions;
    *context = OSSL_PROVIDER_get0_provider_ctx(lean_default_provider());
    return 1;
}

// A new library context, or NULL when it cannot be made. To be called once in a process, before any other thread can.
static inline OSSL_LIB_CTX *shim_lean_library(void) {
    if (lean_default_provider() == NULL) return NULL;
    int ignored = 0;
    OSSL_LIB_CTX *library = OSSL_LIB_CTX_new();
    if (library != NULL && OSSL_PROVIDER_add_builtin(library, "lean", lean_init)
        && OSSL_PROVIDER_load(library, "lean") != NULL) {
        for (int operation = 1; operation <= OSSL_OP__HIGHEST; operation++) lean_query(NULL, operation, &ignored);
        return library;
    }
    OSSL_LIB_CTX_free(library);
    return NULL;
}
