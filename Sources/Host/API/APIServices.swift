// SPDX-License-Identifier: Apache-2.0

package import Core
internal import EventLoop
package import LocalAPI
package import Policy
package import ReachabilityFacts
package import Store
package import Wire

/// Everything the API's handlers reach of the service, and nothing else. Filled once, before the server starts.
package struct APIServices: Sendable {
    /// Decides.
    package var core: SharedCore
    /// Reads lists; changes reach it through the core only.
    package var store: Store
    /// Who this host is, and the way to another identity.
    package var identity: IdentityDesk
    /// The current kind 18 payload, signed now. Throws when the key cannot sign.
    package var hostInfo: @Sendable () throws -> [UInt8]
    /// Signs a SHA-256 with the host's key: DER. Throws when the key cannot sign.
    package var sign: @Sendable (_ digest: [UInt8]) throws -> [UInt8]
    /// Fresh secrets for a window. Throws when the system has no randomness.
    package var windowEntropy: @Sendable () throws -> WindowEntropy
    /// Wall-clock and monotonic time, as the core's.
    package var now: @Sendable () -> Moment
    /// When the service started.
    package var started: Moment
    /// Streams of events; `EventWriter` fills it.
    package var events: EventHub
    /// Who waits for a change to be committed. The shell routes effect `changeDone` to it.
    package var changes = ChangeDesk()
    /// Who waits for a window to be ready. The shell routes effect `windowReady` to it.
    package var windows = WindowDesk()
    /// Who waits for the answer to a pairing message. The shell routes effects `answerPairing` and `closeConnection` of
    /// connections that a streaming process holds to it.
    package var pairings = PairingDesk()
    /// Whether a link-local source is the USB cable; answers at once or from another thread.
    package var cable: @Sendable (IPAddress, @escaping @Sendable (CableVerdict) -> Void) -> Void = {
        $1(.not(.unreadable))
    }
    /// Whether a connection from this loopback address is from a peer that a user-space VPN delivers there: at once, or
    /// nil, and then the answer comes from another thread.
    package var loopback: @Sendable (SocketAddress, @escaping @Sendable (Bool) -> Void) -> Bool? = { _, _ in
        false
    }
    /// Looks at the networks anew, the router included, and tells what was found within 7 s (05 B12), after it has
    /// entered the core.
    package var look: @Sendable (@escaping @Sendable (ReachabilityEvidence) -> Void) -> Void = {
        $0(ReachabilityEvidence())
    }
    /// Asks the router for the mapping by the owner's word, and tells what came of it (05 B8).
    package var requestMapping: @Sendable (@escaping @Sendable (MappingRunner.Standing) -> Void) -> Void = {
        $0(MappingRunner.Standing())
    }
    /// Takes the mapping away, and tells what is left of it.
    package var releaseMapping: @Sendable (@escaping @Sendable (MappingRunner.Standing) -> Void) -> Void = {
        $0(MappingRunner.Standing())
    }
    /// Counts answers; more samples come from `moreMetrics`.
    package var metrics = Metrics()
    /// Samples of the doors and the relay.
    package var moreMetrics: @Sendable (inout MetricsText) -> Void = { _ in }
    /// Whether `/metrics` needs no token (`--metrics-open`).
    package var isMetricsOpen = false

    /// The parts that have no stand-in.
    package init(
        core: SharedCore, store: Store, identity: IdentityDesk,
        hostInfo: @escaping @Sendable () throws -> [UInt8],
        sign: @escaping @Sendable (_ digest: [UInt8]) throws -> [UInt8],
        windowEntropy: @escaping @Sendable () throws -> WindowEntropy,
        now: @escaping @Sendable () -> Moment, started: Moment, events: EventHub
    ) {
        self.core = core
        self.store = store
        self.identity = identity
        self.hostInfo = hostInfo
        self.sign = sign
        self.windowEntropy = windowEntropy
        self.now = now
        self.started = started
        self.events = events
    }

    /// Goes on with the question once it says where its connection comes from: at once but for the loopback of a host with
    /// a user-space VPN (spec 03 section 3.4).
    func withOrigin(_ query: AdmissionQuery, _ then: @escaping @Sendable (AdmissionQuery) -> Void) {
        guard query.remote.ip.isLoopback else { return then(query) }
        let known = loopback(query.remote) { isPeer in
            var query = query
            query.isVPNPeer = isPeer
            then(query)
        }
        guard let known else { return }
        var query = query
        query.isVPNPeer = known
        then(query)
    }

    /// Runs something that takes longer than a request should hold the server's thread: a large import or export.
    func aside(_ work: @escaping @Sendable () -> Void) {
        // Without a thread to spare the work is still done, only less politely.
        if (try? runThread(name: "api-aside", work)) == nil { work() }
    }
}
