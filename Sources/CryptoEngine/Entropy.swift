// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Randomness that is fit for keys.
package enum Entropy {
    /// `count` random bytes. Throws `io` when the system's random source fails.
    package static func bytes(_ count: Int) throws(CryptoError) -> [UInt8] {
        guard count > 0 else { return [] }
        ErrorQueue.clear()
        var out = [UInt8](repeating: 0, count: count)
        let done = unsafe out.withUnsafeMutableBufferPointer { output in
            unsafe RAND_bytes(output.baseAddress, Int32(clamping: output.count))
        }
        guard done == 1 else { throw .failed("RAND_bytes", .io) }
        return out
    }

    /// `count` values 0...9, each equally likely. Throws `io` like ``bytes(_:)``.
    package static func digits(_ count: Int) throws(CryptoError) -> [UInt8] {
        var digits: [UInt8] = []
        while digits.count < count {
            // 250...255 are thrown away: with them 0...5 would come up more often.
            for byte in try bytes(count - digits.count) where byte < 250 { digits.append(byte % 10) }
        }
        return digits
    }
}
