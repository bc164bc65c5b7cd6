// SPDX-License-Identifier: Apache-2.0

package import Wire

/// One pairing window's tries, spacing and time (02 §6). It judges proofs and nothing else; who opened it, and what
/// is shown of it, is the core's.
package struct PairingWindow: Sendable {
    /// What one proof gets.
    package enum Verdict: Sendable, Equatable {
        /// The window is used.
        case accept
        /// Wrong, and this many tries are left: 4 to 1.
        case reject(triesLeft: Int)
        /// Not judged and not counted; worth another try after this long.
        case busy(Duration)
        /// The fifth wrong one.
        case stopped
        /// Its time was over.
        case expired
    }

    /// Wrong proofs that stop a window.
    package static let tries = 5
    /// After the 1st to 4th wrong proof, for everybody.
    package static let spacing: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8)]
    /// Between judged tries of one source.
    package static let sourceSpacing: Duration = .seconds(5)
    /// While the code's key is being derived.
    package static let keyWait: Duration = .seconds(1)

    /// When it expires: exactly then, it is over.
    package let expiry: MonotonicTime
    /// 16 bytes: the key of method `qr`.
    private let secret: [UInt8]
    /// The key of method `code`, once it is derived.
    private var codeKey: [UInt8]?
    private var wrong = 0
    private var nextAllowed: MonotonicTime?
    /// Never more than the wrong proofs and one: a source is only recorded when it is judged.
    private var lastTries: [IPAddress: MonotonicTime] = [:]

    package init(secret: [UInt8], expiry: MonotonicTime) {
        self.secret = secret
        self.expiry = expiry
    }

    /// Wrong proofs it still takes.
    package var triesLeft: Int { Self.tries - wrong }

    /// The code's key was derived.
    package mutating func setCodeKey(_ key: [UInt8]) { codeKey = key }

    /// The key of a method; nil for an unknown one, and for `code` before its key is there.
    package func key(for method: String) -> [UInt8]? {
        switch method {
        case "qr": secret
        case "code": codeKey
        default: nil
        }
    }

    /// Judges one proof of an open window, in the order of 02 §6.3: expired; too soon for everybody; too soon for this
    /// source; no key yet; then it is recorded, and right or wrong. `isRight` is asked at most once, with the
    /// method's key, and never for an unknown method.
    package mutating func judge(
        method: String, source: IPAddress, at now: MonotonicTime, isRight: (_ key: [UInt8]) -> Bool
    ) -> Verdict {
        if now >= expiry { return .expired }
        if let nextAllowed, now < nextAllowed { return .busy(nextAllowed - now) }
        if let last = lastTries[source], now - last < Self.sourceSpacing {
            return .busy(Self.sourceSpacing - (now - last))
        }
        if method == "code" && codeKey == nil { return .busy(Self.keyWait) }
        lastTries[source] = now
        if let key = key(for: method), isRight(key) { return .accept }
        wrong += 1
        if wrong >= Self.tries { return .stopped }
        nextAllowed = now + Self.spacing[wrong - 1]
        return .reject(triesLeft: triesLeft)
    }
}
