// SPDX-License-Identifier: Apache-2.0

package import SystemBus
package import Wire

/// Where the machine keeps what is read about its VPNs. The service always uses these: no option or variable can show it
/// others (03 §10 point 9).
package struct Places: Sendable {
    package static let system = Places()

    /// tailscaled's LocalAPI; the first that is there.
    package var tailscale = ["/run/tailscale/tailscaled.sock", "/var/run/tailscale/tailscaled.sock"]
    /// ZeroTier's local API.
    package var zeroTier = SocketAddress(ip: .loopbackV4, port: 9993)
    /// What opens it. Never logged, and sent nowhere but there.
    package var zeroTierToken = "/var/lib/zerotier-one/authtoken.secret"
    /// For search domains.
    package var resolver = "/etc/resolv.conf"
    /// The processes and TCP sockets of the machine.
    package var processes = "/proc"
    /// The service manager, NetworkManager, systemd-resolved.
    package var bus = BusPlace.system
    /// The program that reads the kernel's packet rules.
    package var nft = "/usr/sbin/nft"

    package init() {}
}

extension IPAddress {
    /// 127.0.0.1
    static let loopbackV4 = IPAddress(v4: 0x7F00_0001)
}
