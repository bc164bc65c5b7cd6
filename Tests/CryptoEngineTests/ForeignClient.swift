// SPDX-License-Identifier: Apache-2.0

import COpenSSL
import CryptoEngine

/// A TLS client made of plain OpenSSL and memory BIOs, for what our own client would never do.
@safe final class ForeignClient: Endpoint {
    enum Certificate: Sendable { case none, rsa, p384, p256 }
    struct Failed: Error { var call: String }

    private let context: OpaquePointer
    private let ssl: OpaquePointer
    /// Whether the handshake has ended well from this side.
    private(set) var isReady = false
    /// The `SSL_R_…` of the first failure.
    private(set) var failure: Int32?

    init(
        alpn: [String] = [], certificate: Certificate = .none, maxVersion: Int32 = TLS1_3_VERSION
    ) throws {
        ERR_clear_error()
        guard let context = unsafe SSL_CTX_new(TLS_client_method()), let ssl = unsafe SSL_new(context) else {
            throw Failed(call: "SSL_new")
        }
        unsafe self.context = context
        unsafe self.ssl = ssl
        unsafe SSL_set_verify(ssl, SSL_VERIFY_NONE, nil)
        unsafe SSL_ctrl(ssl, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(maxVersion), nil)
        let names = alpn.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        if !names.isEmpty { unsafe SSL_set_alpn_protos(ssl, names, UInt32(names.count)) }
        if certificate != .none { try unsafe Self.load(certificate, into: ssl) }
        unsafe SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
        unsafe SSL_set_connect_state(ssl)
        step()
    }

    deinit {
        unsafe SSL_free(ssl)
        unsafe SSL_CTX_free(context)
    }

    func takeOutgoing() -> [UInt8] {
        let bio = unsafe SSL_get_wbio(ssl)
        var out = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(bio))
        guard !out.isEmpty else { return [] }
        let read = unsafe out.withUnsafeMutableBytes { unsafe BIO_read(bio, $0.baseAddress, Int32($0.count)) }
        return Array(out.prefix(Int(max(0, read))))
    }

    func feed(_ bytes: [UInt8]) {
        _ = unsafe bytes.withUnsafeBytes {
            unsafe BIO_write(SSL_get_rbio(ssl), $0.baseAddress, Int32($0.count))
        }
        step()
    }

    /// Handshakes, then reads one byte to meet what the host says after the handshake.
    private func step() {
        ERR_clear_error()
        guard failure == nil else { return }
        if !isReady {
            guard unsafe SSL_do_handshake(ssl) == 1 else { return noteFailure() }
            isReady = true
        }
        var byte: UInt8 = 0
        if unsafe SSL_read(ssl, &byte, 1) <= 0 { noteFailure() }
    }

    private func noteFailure() {
        let code = ERR_peek_error()
        if code != 0 { failure = ERR_GET_REASON(code) }
    }

    @unsafe private static func load(_ kind: Certificate, into ssl: OpaquePointer) throws {
        let name = kind == .rsa ? "RSA" : "EC"
        guard let maker = unsafe EVP_PKEY_CTX_new_from_name(nil, name, nil) else { throw Failed(call: "ctx") }
        defer { unsafe EVP_PKEY_CTX_free(maker) }
        var key: OpaquePointer?
        defer { unsafe EVP_PKEY_free(key) }
        guard unsafe EVP_PKEY_keygen_init(maker) == 1 else { throw Failed(call: "keygen") }
        if kind != .rsa {
            unsafe EVP_PKEY_CTX_set_group_name(maker, kind == .p384 ? "P-384" : "P-256")
        }
        guard unsafe EVP_PKEY_generate(maker, &key) == 1, let certificate = unsafe X509_new() else {
            throw Failed(call: "generate")
        }
        defer { unsafe X509_free(certificate) }
        // Long expired, no names, a v1 certificate: nothing of it is to matter.
        unsafe ASN1_INTEGER_set(X509_get_serialNumber(certificate), 7)
        unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), -7200)
        unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), -3600)
        unsafe X509_set_pubkey(certificate, key)
        guard unsafe X509_sign(certificate, key, EVP_sha256()) > 0,
            unsafe SSL_use_certificate(ssl, certificate) == 1, unsafe SSL_use_PrivateKey(ssl, key) == 1
        else { throw Failed(call: "use") }
    }
}
