// SPDX-License-Identifier: Apache-2.0

/// Why something a device wanted did not come about.
public struct DeviceError: Error, Sendable, CustomStringConvertible {
    /// What a program decides by. Grows with later releases.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code as a word, for logs and JSON.
        public let rawValue: String
        /// A code by its word.
        public init(rawValue: String) { self.rawValue = rawValue }
        private init(_ rawValue: String) { self.rawValue = rawValue }

        // What was asked for makes no sense; nothing was sent.

        /// The text is not an address.
        public static let badAddress = Code("badAddress")
        /// The text is not a pairing link, or one of another version.
        public static let badLink = Code("badLink")
        /// A typed code is not 12 digits.
        public static let codeLength = Code("codeLength")
        /// A typed code's check digit is wrong: a typing mistake, which costs no try.
        public static let codeTypo = Code("codeTypo")
        /// There is nothing to dial.
        public static let noAddress = Code("noAddress")
        /// No saved host has this ID.
        public static let unknownHost = Code("unknownHost")
        /// The device's own directory cannot be used.
        public static let storage = Code("storage")

        // Why a dial failed (06 B3).

        /// Another machine answers there: its key is not the saved one, or not the link's.
        public static let wrongHost = Code("wrongHost")
        /// The host knows this device no longer.
        public static let revoked = Code("revoked")
        /// Remote access is switched off.
        public static let remoteOff = Code("remoteOff")
        /// The host serves as many remote sessions as it can.
        public static let busy = Code("busy")
        /// The host, or whatever is there, closed the connection without a word.
        public static let refused = Code("refused")
        /// Nothing answers at an address that only a VPN leads to, and this device uses none.
        public static let vpnOff = Code("vpnOff")
        /// The name has no address.
        public static let nameNotFound = Code("nameNotFound")
        /// This device may not use its own network.
        public static let localNetwork = Code("localNetwork")
        /// Something answered that does not speak this protocol.
        public static let notSill = Code("notSill")
        /// Nothing answered in time.
        public static let noAnswer = Code("noAnswer")
        /// The host said goodbye for another reason; see ``DeviceError/goodbye``.
        public static let goodbye = Code("goodbye")

        // Pairing.

        /// No pairing window is open at that door.
        public static let notPairing = Code("notPairing")
        /// The host answered with a refusal; see ``DeviceError/refusal``.
        public static let pairingRefused = Code("pairingRefused")
        /// An answer that does not prove it comes from the host whose code this is. Nothing was saved.
        public static let badAnswer = Code("badAnswer")

        // A session that was served.

        /// Nothing was heard for too long, or the network broke off.
        public static let lost = Code("lost")
        /// The peer broke the protocol's limits.
        public static let protocolError = Code("protocolError")
        /// This side closed it.
        public static let closed = Code("closed")
    }

    /// What happened.
    public let code: Code
    /// One sentence for people, never with a secret in it.
    public let message: String
    /// With ``Code/pairingRefused``.
    public var refusal: PairingRefusal?
    /// The goodbye that was received, if any.
    public var goodbye: SessionGoodbye?
    /// What a session had seen when it failed before it was served.
    public var summary: SessionSummary?
    /// How the attempt ended, where the code does not say it.
    var attemptEnd: AttemptEnd?
    /// Whether a TCP connection stood: something is there. False for a port nobody listens on.
    public var reachedPeer = false

    /// A failure; `message` is one sentence.
    public init(_ code: Code, _ message: String, reachedPeer: Bool = false) {
        self.code = code
        self.message = message
        self.reachedPeer = reachedPeer
    }

    /// The message.
    public var description: String { message }

    /// How much this failure tells about the host, smallest first: what to report when several addresses failed (06 B3).
    var rank: Int {
        let order: [Code] = [
            .badAnswer, .pairingRefused, .notPairing, .wrongHost, .revoked, .remoteOff, .busy, .goodbye,
            .refused, .vpnOff, .nameNotFound, .localNetwork, .notSill, .noAnswer,
        ]
        return order.firstIndex(of: code) ?? order.count
    }
}

/// A host's no to a pairing (02 section 5.4).
public struct PairingRefusal: Sendable, Equatable {
    /// `code`, `closed`, `expired`, `stopped`, `busy`, `shown`, `openOnMac`, `locked`, or a later host's word.
    public let reason: String
    /// With `code`: the wrong proofs the window still takes.
    public let triesLeft: Int?
    /// With `busy`: seconds until a try is judged.
    public let retryAfter: Double?
    /// A later host's words for a reason this release does not know.
    public let message: String?
}
