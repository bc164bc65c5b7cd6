// SPDX-License-Identifier: Apache-2.0

/// How a dial went: each place in dial order, and what came of it (06 B3).
public struct DialReport: Sendable {
    /// The attempt at one place.
    public struct Attempt: Sendable {
        /// How it ended.
        public enum Outcome: String, Sendable {
            /// The host serves it.
            case connected
            /// It says something about the host; see ``DialReport/Attempt/error``.
            case failed
            /// Another machine has that address here: it says nothing about the host.
            case ignored
            /// Another attempt was ready first, or the dial ended.
            case givenUp
            /// Its turn did not come.
            case notTried
        }

        /// Where.
        public let endpoint: Endpoint
        /// The door it is taken for.
        public let door: HostDoor
        /// `vpn`, `lan` or `internet`.
        public let kind: String
        /// From the start of the dial to the attempt's; nil when its turn did not come.
        public let begunAfter: Duration?
        /// From the start of the dial to the attempt's end, or to the first window list; nil while it was under way.
        public let endedAfter: Duration?
        /// How it ended.
        public let outcome: Outcome
        /// What it says about the host.
        let failure: DialFailure?
        /// Why; nil unless it failed or is ignored.
        public let error: DeviceError?
    }

    /// In dial order.
    public let attempts: [Attempt]
    /// The index of the attempt that the host serves; nil when there is none.
    public let winner: Int?
    /// The whole dial.
    public let took: Duration
    /// The word of 06 B3 for it.
    let failure: DialFailure?
    /// Why none is served, the most telling failure of all; nil when one is.
    public let error: DeviceError?
    /// How the winner's session is named to people.
    public internal(set) var route: String?
    /// The host that answered: another record than the one dialled when it was set up again.
    public internal(set) var host: SavedHost?
}
