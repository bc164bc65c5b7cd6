// SPDX-License-Identifier: Apache-2.0

import Bytes
import CryptoEngine
import Wire

/// One end that a test pumps bytes out of and into.
protocol Endpoint: AnyObject {
    func takeOutgoing() -> [UInt8]
    func feed(_ bytes: [UInt8])
}

extension TLSConnection: Endpoint {
    func takeOutgoing() -> [UInt8] { outbound.take(outbound.count) }

    func feed(_ bytes: [UInt8]) {
        let buffer = ByteBuffer()
        buffer.append(bytes)
        receive(ciphertext: buffer)
    }

    /// Everything that can be read now.
    func readAll() -> [UInt8] {
        let plaintext = ByteBuffer()
        while read(into: plaintext, limit: 100_000) > 0 {}
        return plaintext.bytes
    }

    /// Writes all of `bytes`, which must be possible.
    func writeAll(_ bytes: [UInt8]) -> Int {
        let plaintext = ByteBuffer()
        plaintext.append(bytes)
        return write(plaintext, limit: bytes.count)
    }
}

/// Carries bytes both ways, at most `split` at a time, until neither end has any to give.
func pump(_ a: any Endpoint, _ b: any Endpoint, split: Int = .max) {
    var moved = true
    while moved {
        moved = false
        for (from, to) in [(a, b), (b, a)] {
            var rest = from.takeOutgoing()[...]
            while !rest.isEmpty {
                moved = true
                to.feed(Array(rest.prefix(split)))
                rest = rest.dropFirst(split)
            }
        }
    }
}

/// A key with its contexts; made once, because keys are what is slow here.
struct Identity {
    let key: HostKey
    let certificate: [UInt8]

    init() throws {
        key = try HostKey.generate()
        certificate = try key.certificate()
    }

    func server(_ verify: @escaping (TLSVerifyFacts) -> Bool = { _ in true }) throws -> TLSConnection {
        try TLSConnection(
            server: TLSServerContext(key: key, certificateDER: certificate), verify: verify)
    }

    func client(
        _ alpn: String = ALPN.session.rawValue, _ verify: @escaping (TLSVerifyFacts) -> Bool = { _ in true }
    ) throws -> TLSConnection {
        try TLSConnection(
            client: TLSClientContext(key: key, certificateDER: certificate), alpn: alpn, verify: verify)
    }
}

/// Collects what verify closures were asked.
final class Asked {
    var facts: [TLSVerifyFacts] = []
}
