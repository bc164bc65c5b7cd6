// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import COpenSSL

/// Where OpenSSL reads and writes ciphertext: a pair of byte buffers that outlive the BIO made for them.
///
/// Not a pair of memory BIOs, because those copy every byte once more and never give memory back.
final class CiphertextBuffers {
    /// From the peer, not decrypted yet.
    let inbound = ByteBuffer()
    /// For the peer, not sent yet. Its owner bounds it by bounding what it writes.
    let outbound = ByteBuffer()
    /// The transport will bring no more.
    var inboundEnded = false

    /// `BIO_FLAGS_RWS | BIO_FLAGS_SHOULD_RETRY`; the first is a macro of macros.
    private static let retryFlags =
        BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_IO_SPECIAL | BIO_FLAGS_SHOULD_RETRY

    /// A new BIO over these buffers, with one reference for the caller; nil when memory is short.
    @unsafe func makeBIO() -> OpaquePointer? {
        guard let method = unsafe BIOMethod.shared.raw, let bio = unsafe BIO_new(method) else { return nil }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    /// The buffers behind a BIO; nil for one that is not ours.
    fileprivate static func behind(_ bio: OpaquePointer?) -> CiphertextBuffers? {
        guard let data = unsafe BIO_get_data(bio) else { return nil }
        return unsafe Unmanaged<CiphertextBuffers>.fromOpaque(data).takeUnretainedValue()
    }

    /// `BIO_read`: how many bytes were copied out, 0 at the end, -1 to be asked again.
    fileprivate func read(_ bio: OpaquePointer?, _ out: UnsafeMutablePointer<CChar>?, _ length: Int32)
        -> Int32
    {
        unsafe BIO_clear_flags(bio, Self.retryFlags)
        guard let out = unsafe out, length > 0 else { return 0 }
        if inbound.isEmpty {
            if inboundEnded { return 0 }
            unsafe BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
            return -1
        }
        let taken = unsafe inbound.withReadable { readable in
            let target = unsafe UnsafeMutableRawBufferPointer(start: out, count: Int(length))
            let part = unsafe UnsafeRawBufferPointer(rebasing: readable.prefix(target.count))
            unsafe target.copyMemory(from: part)
            return part.count
        }
        inbound.consume(taken)
        return Int32(taken)
    }

    /// `BIO_write`: takes everything.
    fileprivate func write(_ bytes: UnsafePointer<CChar>?, _ length: Int32) -> Int32 {
        guard let bytes = unsafe bytes, length > 0 else { return 0 }
        unsafe outbound.append(Span(_unsafeBytes: UnsafeRawBufferPointer(start: bytes, count: Int(length))))
        return length
    }

    /// `BIO_ctrl`: 1 for the controls OpenSSL's TLS needs to succeed, else 0 ("not supported").
    fileprivate func control(_ command: Int32) -> Int {
        switch command {
        case BIO_CTRL_FLUSH: 1
        case BIO_CTRL_EOF: inbound.isEmpty && inboundEnded ? 1 : 0
        case BIO_CTRL_PENDING: inbound.count
        case BIO_CTRL_WPENDING: outbound.count
        default: 0
        }
    }
}

/// The callbacks of all our BIOs, made once for the life of the process.
@safe private final class BIOMethod: @unchecked Sendable {
    // Sendable: made in init under the once-lock of a static let and never changed or freed; OpenSSL only reads it.
    static let shared = BIOMethod()

    /// `BIO_METHOD *`; nil when memory was short.
    let raw: OpaquePointer?

    private init() {
        let kind = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK
        unsafe raw = BIO_meth_new(kind, "byte buffers")
        guard let method = unsafe raw else { return }
        unsafe BIO_meth_set_read(method) { bio, out, length in
            unsafe CiphertextBuffers.behind(bio)?.read(bio, out, length) ?? -1
        }
        unsafe BIO_meth_set_write(method) { bio, bytes, length in
            unsafe CiphertextBuffers.behind(bio)?.write(bytes, length) ?? -1
        }
        unsafe BIO_meth_set_ctrl(method) { bio, command, _, _ in
            unsafe CiphertextBuffers.behind(bio)?.control(command) ?? 0
        }
    }
}
