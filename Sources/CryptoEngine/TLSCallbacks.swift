// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Wire

/// What OpenSSL calls. Each runs inside a call that a connection makes, on its thread, and finds that connection through
/// the `SSL`.
enum TLSCallbacks {
    @unsafe private static func behind(_ ssl: OpaquePointer?) -> TLSConnection? {
        guard let data = unsafe SSL_get_ex_data(ssl, 0) else { return nil }
        return unsafe Unmanaged<TLSConnection>.fromOpaque(data).takeUnretainedValue()
    }

    /// The application protocol of a handshake that has come far enough to have one.
    @unsafe static func selectedProtocol(_ ssl: OpaquePointer?) -> String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &name, &length)
        guard let name = unsafe name, length > 0 else { return nil }
        return unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// `SSL_CTX_set_client_hello_cb`: comes once the first ClientHello is whole, before its version is judged.
    @unsafe static func noteClientHello(_ ssl: OpaquePointer?) -> Int32 {
        unsafe behind(ssl)?.noteClientHello()
        return SSL_CLIENT_HELLO_SUCCESS
    }

    /// `SSL_CTX_set_alpn_select_cb`: our preference, not the client's. Not called when the client offers nothing.
    @unsafe static func selectProtocol(
        _ ssl: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
        _ chosenLength: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?,
        _ offeredLength: UInt32
    ) -> Int32 {
        let list = unsafe UnsafeBufferPointer(start: offered, count: Int(offeredLength))
        for wanted in [ALPN.session, ALPN.pairing] {
            let name = wanted.rawValue.utf8
            var start = 0
            while start < list.count {
                let length = unsafe Int(list[start])
                let end = start + 1 + length
                guard end <= list.count else { break }
                if unsafe list[(start + 1)..<end].elementsEqual(name) {
                    // OpenSSL copies it before the offer goes away.
                    unsafe chosen?.pointee = offered?.advanced(by: start + 1)
                    unsafe chosenLength?.pointee = UInt8(length)
                    return SSL_TLSEXT_ERR_OK
                }
                start = end
            }
        }
        unsafe behind(ssl)?.noteNoProtocol()
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }

    /// `SSL_CTX_set_cert_verify_callback`: 1 to go on, 0 to refuse with the alert of the error set.
    @unsafe static func judgePeer(_ store: OpaquePointer?) -> Int32 {
        let index = SSL_get_ex_data_X509_STORE_CTX_idx()
        let ssl = unsafe X509_STORE_CTX_get_ex_data(store, index).map { OpaquePointer($0) }
        guard let connection = unsafe behind(ssl), let leaf = unsafe X509_STORE_CTX_get0_cert(store) else {
            unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
            return 0
        }
        let point = unsafe SubjectPublicKeyInfo.point(ofX509: leaf)
        let facts = TLSVerifyFacts(
            alpn: unsafe selectedProtocol(ssl),
            fingerprint: point.flatMap(SubjectPublicKeyInfo.fingerprint(ofPoint:)))
        guard connection.accepts(facts) else {
            // The one error that becomes alert 42 (bad_certificate), which devices know as "your key is turned away".
            unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
            return 0
        }
        unsafe X509_STORE_CTX_set_error(store, X509_V_OK)
        return 1
    }
}
