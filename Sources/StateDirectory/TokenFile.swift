// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Sockets
internal import Wire

/// A bearer token of the local API as a file: 256 random bits as base64url, and a line end (spec 07).
enum TokenFile {
    private static let length = 32

    /// The token's text. Makes the file when it is not there; throws `unusable` for one that is loose or holds
    /// something else.
    static func open(_ path: String) throws(StateError) -> SecretBytes {
        if let bytes = try PrivateFile.read(path, what: "the token", limit: 4096, wayOut: WayOut.newToken) {
            let text = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            let rest = bytes[text.endIndex...].allSatisfy {
                $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
            }
            let token = Base64URL.decode(String(decoding: text, as: UTF8.self))
            guard rest, let token, token.count >= length else {
                throw StateError(
                    .unusable,
                    "\(path) holds no token (at least \(length) bytes as base64url). \(WayOut.newToken)")
            }
            return SecretBytes(Array(text))
        }
        let token: [UInt8]
        do throws(CryptoError) {
            token = Array(Base64URL.encode(try Entropy.bytes(length)).utf8)
        } catch {
            throw StateError(error)
        }
        do throws(SocketError) {
            try writeFileAtomically(path, token + [UInt8(ascii: "\n")], mode: 0o600)
        } catch {
            throw StateError(making: error)
        }
        return SecretBytes(token)
    }
}
