// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// How one attempt of a dial ended (06 B3).
enum AttemptEnd: Sendable, Equatable {
    /// Another key than the pin answered.
    case pinMismatch
    /// The peer turned our key away, before or right after the handshake was over.
    case keyRefused
    /// A goodbye came, for this reason.
    case goodbye(String)
    /// Refused, reset, aborted, a broken pipe, closed during TLS.
    case closed
    /// There is no such name, or it has no record.
    case noSuchName
    /// The look-up was denied by a policy of this device.
    case nameDenied
    /// The look-up failed otherwise.
    case nameFailed
    /// Another TLS error, another protocol, something that cannot be read.
    case notTLS
    /// It took too long, was unreachable, the network was down, no window list came.
    case silent
    /// Any other error of the socket.
    case other
}

extension AttemptEnd {
    /// What an attempt ended with.
    init(_ error: DeviceError) {
        if let end = error.attemptEnd {
            self = end
        } else if let goodbye = error.goodbye {
            self = .goodbye(goodbye.reason)
        } else {
            self =
                switch error.code {
                case .wrongHost: .pinMismatch
                case .revoked, .notPairing: .keyRefused
                case .refused, .lost, .closed: .closed
                case .nameNotFound: .noSuchName
                case .notSill, .protocolError: .notTLS
                case .noAnswer: .silent
                default: .other
                }
        }
    }
}

/// Why a dial failed, the most telling first (06 B3). Pure.
enum DialFailure: Int, Sendable, CaseIterable, Comparable {
    case wrongHost, revoked, remoteOff, busy, refused, vpnOff, nameNotFound, localNetwork, notSill, noAnswer

    static func < (left: DialFailure, right: DialFailure) -> Bool { left.rawValue < right.rawValue }

    /// What an attempt at an address says about the host; nil when it does not count. `usedTunnel` is nil when nobody
    /// knows whether the path used a VPN.
    init?(_ end: AttemptEnd, at address: SavedAddress, usedTunnel: Bool?) {
        let isTailscale = SavedAddress.isTailscaleShape(address.host)
        switch end {
        case .pinMismatch:
            // Another machine has that address on another network.
            if address.kind == "lan", !isTailscale { return nil }
            self = .wrongHost
        case .keyRefused, .goodbye("removed"): self = .revoked
        case .goodbye("remoteOff"): self = .remoteOff
        case .goodbye("busy"): self = .busy
        case .goodbye, .closed: self = .refused
        case .noSuchName: self = isTailscale && IPAddress(address.host) == nil ? .vpnOff : .nameNotFound
        case .nameDenied: self = address.kind == "lan" ? .localNetwork : .noAnswer
        case .nameFailed: self = .nameNotFound
        case .notTLS: self = .notSill
        case .silent:
            let needsVPN = address.kind == "vpn" || isTailscale
            self = needsVPN && usedTunnel == false ? .vpnOff : .noAnswer
        case .other: self = .noAnswer
        }
    }

    /// The most telling of several; nothing to tell is no answer.
    static func worst(of failures: [DialFailure?]) -> DialFailure {
        failures.compactMap { $0 }.min() ?? .noAnswer
    }

    /// The code of the error that a dial throws.
    var code: DeviceError.Code {
        switch self {
        case .wrongHost: .wrongHost
        case .revoked: .revoked
        case .remoteOff: .remoteOff
        case .busy: .busy
        case .refused: .refused
        case .vpnOff: .vpnOff
        case .nameNotFound: .nameNotFound
        case .localNetwork: .localNetwork
        case .notSill: .notSill
        case .noAnswer: .noAnswer
        }
    }

    /// Whether it stops the remote dials after a session (06 B4).
    var stopsRemoteDials: Bool { self == .revoked || self == .wrongHost || self == .remoteOff }
}
