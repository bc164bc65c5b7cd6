// SPDX-License-Identifier: Apache-2.0

package import Bytes
internal import COpenSSL
package import Wire

/// What a verify closure decides on: the peer's key and the protocol, and nothing else (file 01 section 4.1).
package struct TLSVerifyFacts: Equatable, Sendable {
    /// The negotiated application protocol; nil when none was.
    package var alpn: String?
    /// The fingerprint of the peer's leaf; nil when its key is not on P-256. Then the answer is no, whatever the
    /// closure says.
    package var fingerprint: Fingerprint?

    package init(alpn: String?, fingerprint: Fingerprint?) {
        self.alpn = alpn
        self.fingerprint = fingerprint
    }
}

/// One TLS connection as a byte pump: ciphertext in, ciphertext and plaintext out. It never touches a socket.
///
/// Lives on one thread. Feed it with ``receive(ciphertext:)``, or read the socket into ``inbound`` and call
/// ``advance()``; then take what is for the peer from ``outbound``, and, once ``state`` is `ready`, call
/// ``read(into:limit:)`` until it gives nothing. That the peer has ended, or has turned our key away, shows while reading.
@safe package final class TLSConnection {
    package enum State: Equatable, Sendable {
        case handshaking
        /// Plaintext flows. For a client, the host may still turn its key away: that shows at the first read.
        case ready
        /// The peer sent close_notify after everything it had to say. Writing still works.
        case closedByPeer
        /// Nothing more comes or goes, except what is left in ``TLSConnection/outbound``: often an alert. `detail` is
        /// OpenSSL's, for logs.
        case failed(HandshakeFailureReason, detail: String)
    }

    package private(set) var state = State.handshaking
    /// Server: a complete first ClientHello has been processed, whatever came of it.
    package private(set) var sawClientHello = false
    /// The application protocol; nil before the handshake ended, and when none was negotiated.
    package private(set) var negotiatedALPN: String?
    /// The peer's key as the finished handshake proved it; nil before.
    package private(set) var peerFingerprint: Fingerprint?

    private let ssl: OpaquePointer
    private let isServer: Bool
    private let buffers = CiphertextBuffers()
    /// Gone once the handshake is over, with what it captured.
    private var verify: ((TLSVerifyFacts) -> Bool)?
    private var refusedPeer = false
    private var foundNoProtocol = false
    private var sentCloseNotify = false

    /// The plaintext of a full record, RFC 8446 section 5.1.
    private static let recordSize = 16_384
    /// What a record adds: header, content type, tag.
    private static let recordOverhead = 22

    /// The host's side. `verify` is asked once, on this thread, during ``receive(ciphertext:)``; no sends alert 42
    /// (`bad_certificate`). It must not touch this connection.
    package convenience init(
        server: TLSServerContext, verify: @escaping (TLSVerifyFacts) -> Bool
    ) throws(CryptoError) {
        try self.init(server.handle, isServer: true, verify: verify)
        unsafe SSL_set_accept_state(ssl)
    }

    /// The device's side, which offers `alpn` and the server name `sill`. `verify` is asked before our own certificate
    /// is sent; no ends the connection. The ClientHello waits in ``outbound`` at once.
    package convenience init(
        client: TLSClientContext, alpn: String, verify: @escaping (TLSVerifyFacts) -> Bool
    ) throws(CryptoError) {
        try self.init(client.handle, isServer: false, verify: verify)
        guard let length = UInt8(exactly: alpn.utf8.count), length > 0 else {
            throw CryptoError(.openssl, "a protocol name has 1 to 255 bytes")
        }
        let offer = [length] + Array(alpn.utf8)
        // 0 is success here, unlike everywhere else.
        guard unsafe SSL_set_alpn_protos(ssl, offer, UInt32(offer.count)) == 0 else {
            throw .failed("SSL_set_alpn_protos")
        }
        var name = serverName.utf8CString.map { $0 }
        let named = unsafe name.withUnsafeMutableBytes { bytes in
            unsafe SSL_ctrl(
                ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), bytes.baseAddress)
        }
        guard named == 1 else { throw .failed("SSL_set_tlsext_host_name") }
        unsafe SSL_set_connect_state(ssl)
        advance()
    }

    private init(
        _ context: ContextHandle, isServer: Bool, verify: @escaping (TLSVerifyFacts) -> Bool
    ) throws(CryptoError) {
        ErrorQueue.clear()
        guard let ssl = unsafe context.withRaw({ unsafe SSL_new($0) }) else { throw .failed("SSL_new") }
        unsafe self.ssl = ssl
        self.isServer = isServer
        self.verify = verify
        guard let bio = unsafe buffers.makeBIO() else { throw .failed("BIO_new") }
        // One BIO for both directions; SSL_set_bio takes the one reference there is.
        unsafe SSL_set_bio(ssl, bio, bio)
        // How callbacks find this object. They run only inside calls that this object makes, so it is alive.
        guard unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque()) == 1 else {
            throw .failed("SSL_set_ex_data")
        }
    }

    deinit { unsafe SSL_free(ssl) }

    // MARK: Ciphertext

    /// Ciphertext from the peer that waits to be decrypted. A socket may be read straight into it; call ``advance()``
    /// afterwards, and bound it by reading no more while plaintext is not taken.
    package var inbound: ByteBuffer { buffers.inbound }

    /// Ciphertext for the peer. A socket may be written straight from it.
    package var outbound: ByteBuffer { buffers.outbound }

    /// Takes all of `ciphertext` (without a copy when ``inbound`` is empty) and drives the handshake. What comes after
    /// the peer's end, or after a failure, is thrown away.
    package func receive(ciphertext: ByteBuffer) {
        guard state == .handshaking || state == .ready else { return ciphertext.removeAll() }
        ciphertext.moveAll(to: inbound)
        advance()
    }

    /// The transport brings no more. What has arrived can still be read; then ``state`` says that the peer left.
    package func receiveEnd() {
        buffers.inboundEnded = true
        advance()
    }

    /// Bytes that wait for the peer.
    package var pendingCiphertext: Int { outbound.count }

    /// Drives the handshake with what is in ``inbound``; nothing once it is over.
    package func advance() {
        guard state == .handshaking else { return }
        ErrorQueue.clear()
        let result = unsafe SSL_do_handshake(ssl)
        guard result != 1 else { return finishHandshake() }
        note(failureOf: result)
    }

    // MARK: Plaintext

    /// Decrypts up to `limit` bytes to the end of `plaintext`; how many. 0 means that nothing whole is there now, or
    /// that ``state`` has changed.
    package func read(into plaintext: ByteBuffer, limit: Int) -> Int {
        guard state == .ready else { return 0 }
        ErrorQueue.clear()
        var total = 0
        while total < limit, hasSomethingToRead {
            let wanted = min(limit - total, Self.recordSize)
            var result: Int32 = 0
            total += unsafe plaintext.withWritable(reserving: wanted) { room in
                var count = 0
                result = unsafe SSL_read_ex(ssl, room.baseAddress, wanted, &count)
                return result == 1 ? count : 0
            }
            guard result == 1 else {
                note(failureOf: result)
                break
            }
        }
        return total
    }

    /// Whether a read would do anything: bytes of the peer, or its end.
    package var hasSomethingToRead: Bool {
        if !inbound.isEmpty { return true }
        if unsafe SSL_pending(ssl) > 0 { return true }
        return buffers.inboundEnded && state == .ready
    }

    /// Encrypts up to `limit` bytes from the front of `plaintext`, in full records; how many. 0 before the handshake is
    /// over and after ``shutdown()``.
    package func write(_ plaintext: ByteBuffer, limit: Int) -> Int {
        let wanted = min(limit, plaintext.count)
        guard wanted > 0, canWrite else { return 0 }
        ErrorQueue.clear()
        let records = (wanted + Self.recordSize - 1) / Self.recordSize
        outbound.reserve(wanted + records * Self.recordOverhead)
        var written = 0
        // The BIO takes everything, so one call writes all of it and is never to be repeated.
        let result = unsafe plaintext.withReadable {
            unsafe SSL_write_ex(ssl, $0.baseAddress, wanted, &written)
        }
        guard result == 1 else {
            note(failureOf: result)
            return 0
        }
        plaintext.consume(written)
        return written
    }

    /// Queues close_notify: our half is over, the peer's may go on. Does nothing during a handshake or a second time.
    package func shutdown() {
        guard canWrite else { return }
        sentCloseNotify = true
        ErrorQueue.clear()
        _ = unsafe SSL_shutdown(ssl)
        ErrorQueue.clear()
    }

    private var canWrite: Bool { (state == .ready || state == .closedByPeer) && !sentCloseNotify }

    /// Gives back the memory of buffers that hold nothing; for a connection that has gone quiet.
    package func releaseIdleMemory() {
        if inbound.isEmpty { inbound.releaseStorage() }
        if outbound.isEmpty { outbound.releaseStorage() }
    }

    /// The protocol version in OpenSSL's words: `TLSv1.3`.
    package var tlsVersion: String { unsafe String(cString: SSL_get_version(ssl)) }

    // MARK: Outcomes

    /// What the verify callback asks. The closure is asked about a key without fingerprint too, so that it can count it.
    func accepts(_ facts: TLSVerifyFacts) -> Bool {
        let accepted = verify?(facts) ?? false
        refusedPeer = !(accepted && facts.fingerprint != nil)
        return !refusedPeer
    }

    /// The client hello callback: the first is whole.
    func noteClientHello() { sawClientHello = true }

    /// The selection callback: none of the client's protocols is ours.
    func noteNoProtocol() { foundNoProtocol = true }

    private func finishHandshake() {
        verify = nil
        negotiatedALPN = unsafe TLSCallbacks.selectedProtocol(ssl)
        if let certificate = unsafe SSL_get0_peer_certificate(ssl) {
            peerFingerprint = unsafe SubjectPublicKeyInfo.point(ofX509: certificate)
                .flatMap(SubjectPublicKeyInfo.fingerprint(ofPoint:))
        }
        state = .ready
    }

    private func note(failureOf result: Int32) {
        let code = unsafe SSL_get_error(ssl, result)
        let error = ErrorQueue.drain()
        switch code {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
        case SSL_ERROR_ZERO_RETURN where state == .ready: state = .closedByPeer
        default: fail(error)
        }
    }

    private func fail(_ error: QueuedError?) {
        verify = nil
        inbound.releaseStorage()
        let facts = FailureFacts(
            isServer: isServer, refusedPeer: refusedPeer, foundNoProtocol: foundNoProtocol,
            sawClientHello: sawClientHello, error: error)
        state = .failed(facts.reason(), detail: error?.text ?? "the peer closed the connection")
    }
}
