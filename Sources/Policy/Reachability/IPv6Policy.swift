// SPDX-License-Identifier: Apache-2.0

package import Wire

/// What IPv6 from the internet finds at this host (05 B9).
package enum IPv6Policy {
    /// `stable` is the address that would be listed; `hasGlobal`: a LAN link has any address of 2000::/3; the firewall's
    /// word is the gateway's alone. First match wins.
    package static func judge(
        stable: IPAddress?, hasGlobal: Bool, firewall: IPv6Firewall?
    ) -> IPv6Code {
        if stable == nil { return hasGlobal ? .v6TemporaryOnly : .v6None }
        guard let firewall else { return .v6Unknown }
        if !firewall.isOn { return .v6Open }
        if firewall.hasOurPinhole { return .v6PinholeActive }
        return firewall.allowsPinholes ? .v6PinholePossible : .v6Blocked
    }
}

/// What the user's address name leads to (05 B10); nil while nothing can be said.
package enum NamePolicy {
    /// `wan` is the router's address when it is public, `stable` the listed IPv6.
    package static func judge(_ name: NameEvidence, wan: IPAddress?, stable: IPAddress?) -> NameCode? {
        guard let addresses = name.addresses, !addresses.isEmpty else { return .nameUnresolved }
        if addresses.contains(where: { $0 == wan || $0 == stable }) { return .nameMatches }
        let outside = addresses.filter { !$0.isPrivate && !$0.isCarrier && !$0.isLoopback && !$0.isLinkLocal }
        if outside.isEmpty { return .namePrivate }
        // Without the router's address nobody knows whether it is an old one.
        return wan == nil ? nil : .nameStale
    }
}
