// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Wire

/// What every server connection shares: key, certificate and the rules of file 01 section 4.1. Any thread.
///
/// TLS 1.3 only; a client certificate is required, and judged by each connection's own closure; both application
/// protocols; no tickets, no resumption, no early data, because a resumed handshake carries no certificate and would let
/// a removed device back in.
package final class TLSServerContext: Sendable {
    let handle: ContextHandle

    /// Throws `openssl` when the certificate is not DER or not of this key.
    package init(key: HostKey, certificateDER: [UInt8]) throws(CryptoError) {
        handle = try unsafe ContextHandle(
            method: TLS_server_method(), key: key, certificateDER: certificateDER)
        unsafe handle.withRaw { context in
            unsafe SSL_CTX_set_options(context, shim_op_cipher_server_preference())
            unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            unsafe SSL_CTX_set_client_hello_cb(
                context, { ssl, _, _ in unsafe TLSCallbacks.noteClientHello(ssl) }, nil)
            unsafe SSL_CTX_set_alpn_select_cb(
                context,
                { ssl, chosen, chosenLength, offered, offeredLength, _ in
                    unsafe TLSCallbacks.selectProtocol(ssl, chosen, chosenLength, offered, offeredLength)
                }, nil)
        }
    }
}

/// What every client connection of one identity shares. Any thread.
package final class TLSClientContext: Sendable {
    let handle: ContextHandle

    /// Throws `openssl` when the certificate is not DER or not of this key.
    package init(key: HostKey, certificateDER: [UInt8]) throws(CryptoError) {
        handle = try unsafe ContextHandle(
            method: TLS_client_method(), key: key, certificateDER: certificateDER)
        unsafe handle.withRaw { unsafe SSL_CTX_set_verify($0, SSL_VERIFY_PEER, nil) }
    }
}

/// The owner of one `SSL_CTX`, with what both sides have in common.
@safe final class ContextHandle: @unchecked Sendable {
    // Sendable: an SSL_CTX is reference-counted with atomics and locks its own caches; OpenSSL documents making
    // connections from one context on several threads as safe once it is no longer configured, and only the inits of
    // the two context classes configure it.
    private let raw: OpaquePointer

    /// Aes-128-GCM first: the fastest with AES instructions, and strong enough; the others for who lacks it.
    private static let cipherSuites =
        "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

    /// Bytes of a peer's Certificate message. Somebody unknown may make us hold this much; one leaf takes 300 to 2,000.
    private static let largestCertificateMessage = 32 * 1024

    @unsafe init(method: OpaquePointer?, key: HostKey, certificateDER: [UInt8]) throws(CryptoError) {
        ErrorQueue.clear()
        guard let raw = unsafe SSL_CTX_new_ex(LeanLibrary.shared.raw, nil, method) else {
            throw .failed("SSL_CTX_new_ex")
        }
        unsafe self.raw = raw
        let version = Int(TLS1_3_VERSION)
        guard unsafe SSL_CTX_ctrl(raw, SSL_CTRL_SET_MIN_PROTO_VERSION, version, nil) == 1,
            unsafe SSL_CTX_ctrl(raw, SSL_CTRL_SET_MAX_PROTO_VERSION, version, nil) == 1
        else { throw .failed("SSL_CTX_set_min_proto_version") }
        guard unsafe SSL_CTX_set_ciphersuites(raw, Self.cipherSuites) == 1 else {
            throw .failed("SSL_CTX_set_ciphersuites")
        }
        unsafe SSL_CTX_set_options(raw, shim_op_no_ticket())
        guard unsafe SSL_CTX_set_num_tickets(raw, 0) == 1 else { throw .failed("SSL_CTX_set_num_tickets") }
        unsafe SSL_CTX_ctrl(raw, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        unsafe SSL_CTX_ctrl(raw, SSL_CTRL_SET_MAX_CERT_LIST, Self.largestCertificateMessage, nil)
        // An idle connection then keeps no record buffers, which is two thirds of what it would cost.
        unsafe SSL_CTX_ctrl(raw, SSL_CTRL_MODE, Int(SSL_MODE_RELEASE_BUFFERS), nil)
        // In place of chain building: only the leaf's key is ever judged.
        unsafe SSL_CTX_set_cert_verify_callback(
            raw, { store, _ in unsafe TLSCallbacks.judgePeer(store) }, nil)
        let certificateLoaded = unsafe certificateDER.withUnsafeBufferPointer { bytes in
            unsafe SSL_CTX_use_certificate_ASN1(raw, Int32(clamping: bytes.count), bytes.baseAddress)
        }
        guard certificateLoaded == 1 else { throw .failed("SSL_CTX_use_certificate_ASN1") }
        guard unsafe key.handle.withRaw({ unsafe SSL_CTX_use_PrivateKey(raw, $0) }) == 1 else {
            throw .failed("SSL_CTX_use_PrivateKey")
        }
    }

    deinit { unsafe SSL_CTX_free(raw) }

    /// Lends the `SSL_CTX *`; it dies with the call.
    @unsafe func withRaw<R>(_ body: (OpaquePointer) -> R) -> R { unsafe body(raw) }
}
