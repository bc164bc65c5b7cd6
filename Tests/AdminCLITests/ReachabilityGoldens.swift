// SPDX-License-Identifier: Apache-2.0

/// Screens of ``ReachabilityTextTests``; without the table of the evidence but in two of them.
enum ReachabilityGoldens {
    static let vpnReady = """
        OK: a device away from home can reach this host through a VPN (awayVPN, verified)
        Ready: a device in the same VPN (Tailscale) can dial this host.
        Remote access on: Tailscale

        Addresses, in the order devices dial them
        Tailscale   lab.tail5678.ts.net  vpn       from a device in the same VPN
        Tailscale   100.88.123.45        vpn       from a device in the same VPN
        Ethernet    192.168.1.5          lan       at home, or through a VPN into the home network

        Router    not asked (off)
        IPv6      no address that the internet can dial (v6None)

        """
    static let carrierNAT = """
        BLOCKED: a device away from home cannot reach this host (awayBlocked, verified)
        The provider shares one address (100.72.x.x) among many homes, so a forward cannot reach this machine: use a VPN.
        Remote access on: the internet

        Addresses, in the order devices dial them
        Ethernet    192.168.1.5     lan       at home, or through a VPN into the home network
        No VPN on this host.

        Router    192.168.1.1: internet address 100.72.x.x, NAT-PMP answered, UPnP withholds the address, no forward of TCP 7455 to be seen (carrierNAT)
        IPv6      no address that the internet can dial (v6None)

        """
    static let tailnetAndCarrier = """
        OK: a device away from home can reach this host through a VPN (awayVPN, verified)
        Ready: a device in the same VPN (Tailscale) can dial this host.
        Remote access on: Tailscale and the internet

        Addresses, in the order devices dial them
        Tailscale   lab.tail5678.ts.net  vpn       from a device in the same VPN
        Tailscale   100.88.123.45        vpn       from a device in the same VPN
        Ethernet    192.168.1.5          lan       at home, or through a VPN into the home network

        Router    192.168.1.1: internet address 100.72.x.x, NAT-PMP answered, UPnP not found (carrierNAT)
                  The provider shares one address (100.72.x.x) among many homes, so a forward cannot reach this machine: use a VPN.
        IPv6      no address that the internet can dial (v6None)

        EVIDENCE       FROM                            STATE     TOOK   AGE
        interfaces     rtnetlink                       answered  1 ms   12 seconds
        vpn.tailscale  /run/tailscale/tailscaled.sock  answered  3 ms   12 seconds
        router.natpmp  NAT-PMP at 192.168.1.1          answered  3 ms   12 seconds
        router.upnp    UPnP at 192.168.1.1             silent    60 ms  12 seconds
        firewall       nftables                        answered  3 ms   12 seconds

        """
    static let doubleNAT = """
        BLOCKED: a device away from home cannot reach this host (awayBlocked, verified)
        A second router stands between the router 192.168.1.1 (its outside address is 192.168.0.2) and the internet: forward TCP 7455 on both, put the second in bridge mode, or use a VPN.
        Remote access on: the internet

        Addresses, in the order devices dial them
        Ethernet    192.168.1.5     lan       at home, or through a VPN into the home network
        No VPN on this host.

        Router    192.168.1.1: internet address 192.168.0.2, NAT-PMP answered, UPnP connected, no forward of TCP 7455 to be seen (doubleNAT)
        IPv6      no address that the internet can dial (v6None)

        """
    static let mapped = """
        OK: a device away from home can reach this host over the internet (awayInternet, verified)
        Ready: a device away from home can dial this host over the internet.
        Remote access on: the internet

        Addresses, in the order devices dial them
        Ethernet      192.168.1.5       lan       at home, or through a VPN into the home network
        Address name  home.example.net  internet  from anywhere
        Router        11.22.33.44       internet  from anywhere
        No VPN on this host.

        Router    192.168.1.1: internet address 11.22.33.44, NAT-PMP answered, UPnP connected, TCP 7455 forwarded here by this service until 2026-11-30 09:00Z (publicMapped)
                  Ready: a device away can dial 11.22.33.44.
        IPv6      no address that the internet can dial (v6None)
        Name      home.example.net: It leads here. (nameMatches)
        Note      Do not test this from the home network: many routers do not lead a connection back in. Use mobile data. (hairpin)

        EVIDENCE       FROM                        STATE     TOOK   AGE
        interfaces     rtnetlink                   answered  1 ms   12 seconds
        router.natpmp  NAT-PMP at 192.168.1.1      answered  3 ms   12 seconds
        router.upnp    UPnP at 192.168.1.1         answered  60 ms  12 seconds
        name           resolver, home.example.net  answered  20 ms  12 seconds
        firewall       nftables                    answered  3 ms   12 seconds

        """
    static let elsewhere = """
        BLOCKED: a device away from home cannot reach this host (awayBlocked, verified)
        The router already sends port 7455 to another place (192.168.1.20:7455): change that rule, or use another outside port.
        Remote access on: the internet

        Addresses, in the order devices dial them
        Ethernet    192.168.1.5     lan       at home, or through a VPN into the home network
        Router      11.22.33.44     internet  not now: the router sends the port elsewhere
        No VPN on this host.

        Router    192.168.1.1: internet address 11.22.33.44, NAT-PMP answered, UPnP connected, the port forwarded to 192.168.1.20:7455 (publicMappedElsewhere)
        IPv6      no address that the internet can dial (v6None)
        Note      Do not test this from the home network: many routers do not lead a connection back in. Use mobile data. (hairpin)

        """
    static let unmapped = """
        MAYBE: a device away from home may reach this host over the internet (awayMaybe, inferred)
        No mapping is visible; one made by hand in the router's own pages often does not show here. Forward TCP 7455 to 192.168.1.5 on the router and reserve that address for this machine.
        Remote access on: the internet

        Addresses, in the order devices dial them
        Ethernet    192.168.1.5     lan       at home, or through a VPN into the home network
        Router      11.22.33.44     internet  if the router forwards TCP 7455 to this machine
        No VPN on this host.

        Router    192.168.1.1: internet address 11.22.33.44, NAT-PMP answered, UPnP connected, no forward of TCP 7455 to be seen (publicUnmapped)
        IPv6      no address that the internet can dial (v6None)
        Note      Do not test this from the home network: many routers do not lead a connection back in. Use mobile data. (hairpin)

        """
    static let silent = """
        BLOCKED: a device away from home cannot reach this host (awayBlocked, inferred)
        The router did not say its internet address: look it up in its settings. If it is a public one, forward TCP 7455 to 192.168.1.5 there; if not, use a VPN.
        Remote access on: the internet

        Addresses, in the order devices dial them
        Ethernet    192.168.1.5     lan       at home, or through a VPN into the home network
        No VPN on this host.

        Router    192.168.1.1: NAT-PMP silent, UPnP not found (noAnswer)
        IPv6      no address that the internet can dial (v6None)

        """
    static let remoteOff = """
        BLOCKED: remote access is off (remoteOff, verified)
        Remote access is off: latchkey set remote-access on.

        Addresses, in the order devices dial them
        Ethernet    192.168.1.5     lan       at home, or through a VPN into the home network
        No VPN on this host.

        Router    not asked (off)
        IPv6      no address that the internet can dial (v6None)

        """
    static let unreadable = """
        BLOCKED: remote access is off (remoteOff, inferred)
        Remote access is off: latchkey set remote-access on.

        Addresses, in the order devices dial them
        Ethernet    192.168.1.5     lan       at home, or through a VPN into the home network
        No VPN on this host.

        Router    192.168.1.1: internet address 11.22.33.44, NAT-PMP answered, UPnP connected, no forward of TCP 7455 to be seen (off; with internet access on: publicUnmapped)
                  No mapping is visible; one made by hand in the router's own pages often does not show here. Forward TCP 7455 to 192.168.1.5 on the router and reserve that address for this machine.
        IPv6      no address that the internet can dial (v6None)
        Note      The service is not running: start it with systemctl start latchkeyd. (serviceNotRunning)
        Note      No settings were read, so the defaults are assumed. Before the first start there are none; else run this as root or the service's user. (settingsUnreadable)
        Note      Do not test this from the home network: many routers do not lead a connection back in. Use mobile data. (hairpin)
        Note      This machine's firewall rules were not read: see nft list ruleset as root. (firewallUnread)

        """
    static let firewall = """
        BLOCKED: this machine's firewall drops the port (firewallDrops, verified)
        This machine's own firewall drops TCP port 7455: add a rule that accepts it.
        Remote access on: Tailscale

        Addresses, in the order devices dial them
        Tailscale   lab.tail5678.ts.net  vpn       from a device in the same VPN
        Tailscale   100.88.123.45        vpn       from a device in the same VPN
        Ethernet    192.168.1.5          lan       at home, or through a VPN into the home network

        Router    not asked (off)
        IPv6      no address that the internet can dial (v6None)

        """
    static let stale = """
        MAYBE: a device away from home may reach this host over the internet (awayMaybe, inferred)
        No mapping is visible; one made by hand in the router's own pages often does not show here. Forward TCP 7455 to 192.168.1.5 on the router and reserve that address for this machine.
        Remote access on: the internet

        Addresses, in the order devices dial them
        Ethernet      192.168.1.5             lan       at home, or through a VPN into the home network
        Address name  home.example.net:17455  internet  not now: it leads to another address
        Router        11.22.33.44             internet  if the router forwards TCP 7455 to this machine
        No VPN on this host.

        Router    192.168.1.1: internet address 11.22.33.44, NAT-PMP answered, UPnP connected, no forward of TCP 7455 to be seen (publicUnmapped)
        IPv6      no address that the internet can dial (v6None)
        Name      home.example.net:17455: It leads to another address than the router's: have the dynamic DNS client update it. (nameStale)
        Note      Do not test this from the home network: many routers do not lead a connection back in. Use mobile data. (hairpin)

        """
    static let userspace = """
        OK: a device away from home can reach this host through a VPN (awayVPN, verified)
        Ready: a device in the same VPN (Tailscale) can dial this host.
        Remote access on: Tailscale

        Addresses, in the order devices dial them
        Tailscale   lab.tail5678.ts.net  vpn       from a device in the same VPN
        Tailscale   100.88.123.45        vpn       from a device in the same VPN
        Ethernet    192.168.1.5          lan       at home, or through a VPN into the home network

        VPN       Tailscale runs without a network interface: its devices reach this host, but seem to come from it. (vpnUserspace)
        Router    not asked (off)
        IPv6      no address that the internet can dial (v6None)

        """
    static let loggedOut = """
        BLOCKED: a device away from home cannot reach this host (awayNone, verified)
        Tailscale is not logged in: log in, and devices can use it.
        Remote access on, no VPN

        Addresses, in the order devices dial them
        Ethernet    192.168.1.5     lan       at home, or through a VPN into the home network

        VPN       Tailscale is not logged in: log in, and devices can use it. (vpnNeedsLogin)
        Router    not asked (off)
        IPv6      no address that the internet can dial (v6None)

        """
    static let portInUse = """
        BLOCKED: port 7455 is in use (doorPortInUse, verified)
        Another program holds port 7455: stop it, or choose another with latchkey set remote-port.

        Addresses, in the order devices dial them
        Ethernet    192.168.1.5     lan       at home, or through a VPN into the home network
        No VPN on this host.

        Router    not asked (off)
        IPv6      no address that the internet can dial (v6None)

        """
}
