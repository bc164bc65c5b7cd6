// SPDX-License-Identifier: Apache-2.0

package import Wire

/// What the router is asked to do for the remote door (05 B8).
package struct MappingWish: Sendable, Hashable {
    /// The gateway that is asked.
    package var gateway: IPAddress
    /// This machine's LAN IPv4, where the mapping leads.
    package var lan: IPAddress
    /// The port outside: the address name's, else the remote port.
    package var outsidePort: Int
    /// The remote port.
    package var insidePort: Int
    /// Whether a mapping without an end is allowed.
    package var allowsPermanent = false
    /// LAN addresses of this machine that a mapping of ours may still lead to.
    package var formerLANs: [IPAddress] = []

    package init(gateway: IPAddress, lan: IPAddress, outsidePort: Int, insidePort: Int) {
        self.gateway = gateway
        self.lan = lan
        self.outsidePort = outsidePort
        self.insidePort = insidePort
    }

    /// Whether one stands for the other: what may differ is only permission and history.
    package func isSame(as other: MappingWish) -> Bool {
        gateway == other.gateway && lan == other.lan && outsidePort == other.outsidePort
            && insidePort == other.insidePort
    }
}

/// A mapping that the router granted.
package struct MappingGrant: Sendable, Hashable {
    /// How it was asked for.
    package enum Way: String, Sendable, Hashable {
        case upnp
        case natpmp
    }

    package var wish: MappingWish
    package var way: Way
    /// Seconds; 0 for ever.
    package var lease: Int
    /// The router was asked again and shows it.
    package var isSeen: Bool

    package init(wish: MappingWish, way: Way, lease: Int, isSeen: Bool) {
        self.wish = wish
        self.way = way
        self.lease = lease
        self.isSeen = isSeen
    }
}

/// How a request for a mapping ended (05 B8, 09.42).
package enum MappingOutcome: Sendable, Hashable {
    case active(MappingGrant)
    /// No word from the router in time: the next probe tells.
    case pending
    /// In the router's words, made readable.
    case refused(String)
    /// NAT-PMP granted another outside port, which was given back.
    case portDiffers(Int)
    /// The port leads elsewhere: `host:port`, or "another machine".
    case conflict(String)
    case notPossible(String)
    case permanentOnly
    /// The user's own entry already does it; nothing was changed.
    case toThisHost

    package static let activeCode = "mappingActive"

    /// As the API names it.
    package var code: String {
        switch self {
        case .active: Self.activeCode
        case .pending: "mappingPending"
        case .refused: "mappingRefused"
        case .portDiffers: "mappingPortDiffers"
        case .conflict: "mappingConflict"
        case .notPossible: "mappingNotPossible"
        case .permanentOnly: "mappingPermanentOnly"
        case .toThisHost: "toThisHost"
        }
    }
}

/// How the removal of a mapping ended.
package enum UnmappingOutcome: Sendable, Hashable {
    case removed
    /// There was none any more.
    case wasGone
    /// What is there now is not ours, and stays.
    case leftAlone
    /// No word in time: it ends by itself with its lease.
    case pending
    case refused(String)

    /// Whether there is nothing of ours left to look after.
    package var isDone: Bool {
        switch self {
        case .removed, .wasGone, .leftAlone: true
        case .pending, .refused: false
        }
    }
}

/// What may be asked of a router for a mapping, and what its answers mean (05 B8). It never takes or removes what is not
/// ours.
package enum MappingPolicy {
    /// What our entries are called.
    package static let description = "Latchkey"
    /// Seconds asked for.
    package static let lease = 3600

    /// The router's outside port: the address name's own, else the remote port (05 B6, B8).
    package static func outsidePort(addressName: String?, remotePort: Int) -> Int {
        addressName.flatMap { try? DialAddress.parse($0) }?.port ?? remotePort
    }

    /// Why nothing may be asked at all; nil when it may. `mapping` names the other target.
    package static func obstacle(_ code: RouterCode, mapping: MappingAnswer, advice: String)
        -> MappingOutcome?
    {
        switch code {
        case .publicMapped, .publicUnmapped, .publicMappingUnknown: return nil
        case .publicMappedElsewhere:
            guard case .entry(let entry) = mapping else { return .conflict("another machine") }
            return .conflict(entry.target)
        default: return .notPossible(advice)
        }
    }

    /// What to do about what is there before anything is added.
    package enum Before: Sendable, Hashable {
        case add
        /// Ours, but it leads to where this machine no longer listens: take it away first.
        case replace
        case stop(MappingOutcome)
    }

    /// From the entry that the router shows for the outside port.
    package static func before(_ wish: MappingWish, existing: MappingAnswer) -> Before {
        guard case .entry(let entry) = existing else { return .add }
        let isOurs = entry.description == description
        if entry.client == wish.lan {
            if isOurs { return entry.port == wish.insidePort ? .add : .replace }
            guard entry.port == wish.insidePort else { return .stop(.conflict(entry.target)) }
            if entry.isEnabled { return .stop(.toThisHost) }
            return .stop(
                .notPossible("The router has a rule for this port already, but disabled: enable it there."))
        }
        return isOurs && wish.formerLANs.contains(entry.client) ? .replace : .stop(.conflict(entry.target))
    }

    /// What to do after the router refused to add.
    package enum AfterError: Sendable, Hashable {
        /// Ask once more, with this lease.
        case again(lease: Int)
        case stop(MappingOutcome)
    }

    /// From its error number. `lease` was asked for; `hasTriedAgain`: this was the second try.
    package static func afterError(
        _ error: Int, _ wish: MappingWish, lease: Int, hasTriedAgain: Bool
    ) -> AfterError {
        switch error {
        case 718: return .stop(.conflict("another machine"))
        case 725:
            guard wish.allowsPermanent else { return .stop(.permanentOnly) }
            return lease == 0 ? .stop(.refused(words(error))) : .again(lease: 0)
        case 724:
            guard wish.outsidePort == wish.insidePort, !hasTriedAgain else {
                return .stop(.refused(words(error)))
            }
            return .again(lease: lease)
        default: return .stop(.refused(words(error)))
        }
    }

    /// What the router shows after it said that it added.
    package static func after(
        _ wish: MappingWish, lease: Int, shown: MappingAnswer
    ) -> MappingOutcome {
        var grant = MappingGrant(wish: wish, way: .upnp, lease: lease, isSeen: false)
        guard case .entry(let entry) = shown else { return .active(grant) }
        guard entry.client == wish.lan, entry.port == wish.insidePort else {
            return .conflict(entry.target)
        }
        grant.isSeen = true
        // A router that shows less than was asked for ends it sooner; one that shows 0 often keeps no count.
        if lease > 0, (1..<lease).contains(entry.lease) { grant.lease = entry.lease }
        return .active(grant)
    }

    /// Whether the entry may be taken away: it still leads to this machine, and carries our name.
    package static func mayRemove(_ wish: MappingWish, existing: MappingAnswer) -> Bool {
        guard case .entry(let entry) = existing else { return false }
        return entry.description == description
            && (entry.client == wish.lan || wish.formerLANs.contains(entry.client))
    }

    /// NAT-PMP's grant, when the outside port is the one that was asked for.
    package static func granted(_ wish: MappingWish, outsidePort: Int, lifetime: Int) -> MappingOutcome {
        guard lifetime > 0 else { return .refused("the router grants no time") }
        guard outsidePort == wish.outsidePort else { return .portDiffers(outsidePort) }
        return .active(MappingGrant(wish: wish, way: .natpmp, lease: lifetime, isSeen: false))
    }

    /// NAT-PMP's result codes (RFC 6886 section 3.5).
    package static func afterResult(_ result: Int) -> MappingOutcome {
        switch result {
        case 2: .refused("port mapping is switched off on the router")
        case 3: .refused("the router has no internet address")
        case 4: .refused("the router has no room for another mapping")
        case 1, 5: .notPossible("The router takes no requests for mappings.")
        default: .refused("the router answers with result \(result)")
        }
    }

    /// A router's error number in words.
    package static func words(_ error: Int) -> String {
        switch error {
        case 401: "the router does not know this request (401)"
        case 402: "the router does not take these values (402)"
        case 501: "the router could not do it; often it has no public address itself (501)"
        case 606: "the router does not allow it (606)"
        case 701: "the router has no room for another pinhole (701)"
        case 702: "the router's IPv6 firewall is off (702)"
        case 703: "the router takes no requests for pinholes (703)"
        case 704: "the router does not know this pinhole (704)"
        case 714: "the router has no such mapping (714)"
        case 715: "the router needs a named remote host (715)"
        case 716: "the router needs a named outside port (716)"
        case 718: "the port leads to another machine (718)"
        case 724: "the router wants the same port inside and outside (724)"
        case 725: "the router makes only permanent mappings (725)"
        case 726: "the router takes no remote host (726)"
        case 727: "the router takes no outside port (727)"
        case 728: "the router has no room for another mapping (728)"
        case 729: "the port is taken by a rule of the router's own (729)"
        default: "the router answers with error \(error)"
        }
    }
}
