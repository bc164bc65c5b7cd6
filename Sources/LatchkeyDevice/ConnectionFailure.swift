// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Sockets
internal import Wire

/// What an end of a connection means (01 section 4.1, 06 B3). Pure.
enum ConnectionFailure {
    /// What was known when it ended.
    struct Facts: Equatable, Sendable {
        enum Stage: Sendable { case connecting, handshaking, open }

        var alpn: ALPN
        var stage = Stage.connecting
        /// A byte of any kind has come from the peer.
        var heardAnything = false
        /// The host has sent a message: it has judged our key and let us in.
        var heardMessage = false
    }

    /// A TLS engine that gave up. With TLS 1.3 our handshake ends before the host has judged our key, so a refused key
    /// shows as an alert at the first read.
    static func meaning(of reason: HandshakeFailureReason, _ facts: Facts) -> DeviceError {
        switch reason {
        case .pinMismatch, .untrusted:
            return DeviceError(
                .wrongHost, "another machine answers there: its key is not the host's", reachedPeer: true)
        case .alertBadCertificate, .alertCertificateUnknown:
            // Whoever said it before it proved the host's key has seen none of ours: anybody can answer a dial so.
            guard facts.stage == .open else { return meaning(of: .other, facts) }
            if facts.alpn == .pairing {
                return DeviceError(.notPairing, "no pairing window is open at that door", reachedPeer: true)
            }
            return DeviceError(
                .revoked, "the host does not know this device (any more); pair again", reachedPeer: true)
        case .peerLeft, .deadline, .badMessage:
            return ended(facts)
        case .noCertificate, .alpn, .http, .notTLS13, .protocolVersion, .other:
            return DeviceError(.notSill, "what answers there is not a host of this kind", reachedPeer: true)
        }
    }

    /// The stream ended, or broke.
    static func ended(_ facts: Facts) -> DeviceError {
        if facts.heardMessage { return DeviceError(.lost, "the connection broke off", reachedPeer: true) }
        return DeviceError(
            .refused,
            facts.heardAnything
                ? "the host closed the connection without a word"
                : "the connection was closed at once: the host does not take connections from here",
            reachedPeer: true)
    }

    /// A socket call that failed.
    static func meaning(of error: SocketError, _ facts: Facts) -> DeviceError {
        guard facts.stage == .connecting else { return ended(facts) }
        if error.isRefused { return DeviceError(.refused, "nothing listens there: \(error.message)") }
        if error.isBrokenOff {
            return DeviceError(.refused, "the connection was broken off: \(error.message)", reachedPeer: true)
        }
        var failure = DeviceError(.noAnswer, "no answer: \(error.message)")
        failure.attemptEnd = error.isTimedOut || error.isUnreachable ? .silent : .other
        return failure
    }

    /// Nothing came in time.
    static func timedOut(_ facts: Facts) -> DeviceError {
        DeviceError(.noAnswer, "no answer in time", reachedPeer: facts.stage != .connecting)
    }
}
