# SPDX-License-Identifier: Apache-2.0
"""What must be said in each scenario of the lab, and of each router that is played (05 B7, B9, B11)."""

import dataclasses

PUBLIC, OTHER_PUBLIC = "11.22.33.44", "55.66.77.88"
ETHERNET = ("192.168.1.20", "lan", "Ethernet")
ROUTER = (PUBLIC, "internet", "Router")
IPV6 = ("2001:db8:1::20", "internet", "IPv6")
# A WireGuard link where the kernel has them, else a tun of the same name.
WG_VIA = ("WireGuard", "VPN (wg0)")
TAILNET = [
    ("desk.tail5678.ts.net", "vpn", "Tailscale"), ("100.88.123.45", "vpn", "Tailscale"),
    ("fd7a:115c:a1e0::abcd:ef01", "vpn", "Tailscale")]
EXIT = {"ok": 0, "maybe": 10, "blocked": 11}


@dataclasses.dataclass(frozen=True)
class Seen:
    """What the report must say; None: nothing is required."""

    code: str
    verdict: str = "awayBlocked"
    severity: str = "blocked"
    addresses: tuple = (ETHERNET,)
    natpmp: object = None  # state, or (state, address)
    igd: object = None
    mapping: object = None  # state, or (state, target)
    ipv6: str = "v6None"
    notes: frozenset = frozenset()
    gateway: str = "192.168.1.1"
    # What the lab's own questions must find: NAT-PMP's (code, address), "closed" or None, then UPnP's address or None.
    asked: tuple = None


def seen(code, verdict="awayBlocked", addresses=(ETHERNET,), **more):
    severity = {"awayVPN": "ok", "awayInternet": "ok", "awayMaybe": "maybe"}.get(verdict, "blocked")
    more["notes"] = frozenset(more.get("notes", ()))
    return Seen(code, verdict, severity, tuple(addresses), **more)


ANSWERED, CONNECTED = ("answered", PUBLIC), ("connected", PUBLIC)
WITHHELD = dict(natpmp="withheld", igd="withheld", mapping="none", asked=((3, "0.0.0.0"), ""))
GOOD = dict(natpmp=ANSWERED, igd=CONNECTED, asked=((0, PUBLIC), PUBLIC))
SILENT = dict(natpmp="silent", igd="none", mapping="unreadable", asked=(None, None))

SCENARIOS = {
    "router": seen("publicUnmapped", "awayMaybe", (ETHERNET, ROUTER), mapping="none", notes=["hairpin"], **GOOD),
    "router-mapped": seen(
        "publicMapped", "awayInternet", (ETHERNET, ROUTER), mapping=("toThisHost", "192.168.1.20:7455"),
        notes=["hairpin"], **GOOD),
    "router-elsewhere": seen(
        "publicMappedElsewhere", addresses=(ETHERNET, ROUTER), mapping=("elsewhere", "192.168.1.23:7455"), **GOOD),
    "natpmp-only": seen(
        "publicMappingUnknown", "awayMaybe", (ETHERNET, ROUTER), natpmp=ANSWERED, igd="none", mapping="unreadable",
        asked=((0, PUBLIC), None)),
    "upnp-only": seen(
        "publicUnmapped", "awayMaybe", (ETHERNET, ROUTER), natpmp="unsupported", igd=CONNECTED, mapping="none",
        asked=("closed", PUBLIC)),
    "no-wan": seen("noWAN", natpmp="withheld", igd="disconnected", asked=((3, "0.0.0.0"), "")),
    "double-nat": seen("wanHidden", **WITHHELD),
    "double-nat-shown": seen(
        "doubleNAT", natpmp=("answered", "192.168.0.2"), igd=("connected", "192.168.0.2"),
        asked=((0, "192.168.0.2"), "192.168.0.2")),
    "carrier-nat": seen("wanHidden", **WITHHELD),
    "carrier-nat-shown": seen(
        "carrierNAT", natpmp=("answered", "100.72.x.x"), igd=("connected", "100.72.x.x"),
        asked=((0, "100.72.14.3"), "100.72.14.3")),
    "carrier-private": seen("wanHidden", **WITHHELD),
    "carrier-private-shown": seen(
        "doubleNAT", natpmp="unsupported", igd=("connected", "10.20.30.40"), asked=("closed", "10.20.30.40")),
    "nat-above": seen("publicUnmapped", "awayMaybe", (ETHERNET, ROUTER), mapping="none", **GOOD),
    "firewall": seen(
        "publicMapped", "firewallDrops", (ETHERNET, ROUTER), mapping=("toThisHost", "192.168.1.20:7455"), **GOOD),
    "no-daemon": seen("noAnswer", natpmp="unsupported", igd="none", mapping="unreadable", asked=("closed", None)),
    "silent-router": seen("noAnswer", **SILENT),
    "no-router": seen("noAnswer", igd="none", mapping="unreadable", gateway=None),
    "mapping-off": seen("routerMappingOff", natpmp="refused", igd="none", asked=((2, "0.0.0.0"), None)),
    "permanent-only": seen("publicUnmapped", "awayMaybe", (ETHERNET, ROUTER), mapping="none", **GOOD),
    "garbage": seen("noAnswer", mapping="unreadable"),
    "direct": seen("directPublic", "awayInternet", ((PUBLIC, "lan", "Ethernet"),), gateway="11.22.33.1"),
    "vpn-exit": seen(
        "publicUnmapped", "awayVPN", (("10.99.0.2", "vpn", WG_VIA), ETHERNET, ROUTER), mapping="none", **GOOD),
    "vpn-only-default": seen(
        "publicUnmapped", "awayVPN", (("10.99.0.2", "vpn", WG_VIA), ETHERNET, ROUTER), mapping="none", **GOOD),
    # There is no LAN, so no router is asked.
    "tailnet-carrier": seen("directCarrier", "awayVPN", TAILNET, gateway="100.72.x.x"),
    "tailnet": seen("carrierNAT", "awayVPN", [*TAILNET, ETHERNET], natpmp=("answered", "100.72.x.x")),
    "ipv6": seen(
        "publicUnmapped", "awayMaybe", (ETHERNET, ROUTER, IPV6), ipv6="v6PinholePossible", mapping="none", **GOOD),
    "ipv6-no-service": seen(
        "publicUnmapped", "awayMaybe", (ETHERNET, ROUTER, IPV6), ipv6="v6Unknown", mapping="none", **GOOD),
}

# Words that a person can act on must be in the advice of these.
ADVICE = {
    "router": ["7455", "192.168.1.20"], "router-elsewhere": ["192.168.1.23:7455"],
    "double-nat-shown": ["192.168.1.1", "192.168.0.2"], "carrier-nat-shown": ["100.72.x.x", "VPN"],
    "double-nat": ["VPN"], "mapping-off": ["switched off"], "firewall": ["7455", "firewall"], "tailnet": ["Tailscale"],
}


@dataclasses.dataclass(frozen=True)
class Odd:
    """What must be said of a router that is played."""

    codes: tuple
    natpmp: object = None
    igd: object = None
    mapping: object = None
    notes: frozenset = frozenset()
    ipv6: str = None
    second: str = None  # what another machine of the network plays, at `second_at`
    second_at: str = "192.168.1.23"
    plays: str = None  # if it is not the behaviour's own name


def odd(codes, natpmp=None, igd=None, mapping=None, notes=(), **more):
    return Odd((codes,) if isinstance(codes, str) else tuple(codes), natpmp, igd, mapping, frozenset(notes), **more)


ODD = {
    "good": odd("publicUnmapped", ANSWERED, CONNECTED, "none"),
    "shows-private": odd("doubleNAT", ("answered", "192.168.0.2"), ("connected", "192.168.0.2")),
    "shows-carrier": odd("carrierNAT", ("answered", "100.72.x.x"), ("connected", "100.72.x.x")),
    "shows-ds-lite": odd("carrierNATDSLite"),
    "shows-zero": odd("wanHidden", "withheld", "withheld"),
    "shows-link-local": odd("noWAN"),
    "shows-text": odd("wanHidden", "unsupported", "withheld"),
    "upnp-shows-private": odd("doubleNAT", "unsupported", ("connected", "10.20.30.40")),
    "upnp-private-natpmp-3": odd("doubleNAT", "withheld", ("connected", "10.20.30.40")),
    "hides": odd("wanHidden", "withheld", "withheld"),
    "address-501": odd("wanHidden", "unsupported", "withheld"),
    "disconnected": odd("noWAN", "withheld", "disconnected"),
    "disconnected-natpmp-knows": odd("publicUnmapped", ANSWERED, "disconnected", notes=["igdDisconnected"]),
    "up": odd("publicUnmapped", igd=CONNECTED),
    "bridged": odd("publicUnmapped", notes=["igdNotRouting"]),
    "differs": odd("publicUnmapped", ("answered", OTHER_PUBLIC), CONNECTED, notes=["wanWitnessesDiffer"]),
    "natpmp-2": odd("routerMappingOff", "refused", "none"),
    "natpmp-3": odd("wanHidden", "withheld", "none"),
    "natpmp-garbage": odd("noAnswer", igd="none"),
    "pcp-only": odd("noAnswer", "unsupported", "none", notes=["pcpPresent"]),
    "silent": odd("noAnswer", "silent", "none"),
    "mapped-disabled": odd("publicMappingDisabled", mapping="disabled"),
    "mapped-other-port": odd("publicMappedElsewhere", mapping=("elsewhere", "192.168.1.20:7000")),
    "mapped-strange-text": odd("publicMappedElsewhere", mapping=("elsewhere", "192.168.1.23:7455")),
    "mapping-unreadable": odd("publicMappingUnknown", mapping="unreadable"),
    "firewall-off": odd("publicUnmapped", ipv6="v6Open"),
    "no-pinholes": odd("publicUnmapped", ipv6="v6Blocked"),
    "pinholes": odd("publicUnmapped", ipv6="v6PinholePossible"),
    "endless": odd("noAnswer"), "trickle": odd("noAnswer"), "mute": odd("noAnswer"), "big": odd("noAnswer"),
    "chunked": odd("publicUnmapped", ANSWERED, CONNECTED, "none"),
    "redirect": odd("noAnswer", second="trap"),
    "malformed": odd("noAnswer"),
    # 60 KB of open elements: a reader may make sense of what follows, or not.
    "nested": odd(("noAnswer", "publicUnmapped")),
    "cut": odd("noAnswer"), "huge-head": odd("noAnswer"),
    "wrong-service": odd("noAnswer"), "no-common-config": odd("noAnswer"),
    "control-elsewhere": odd("noAnswer", second="trap"),
    "ppp": odd("publicUnmapped", ANSWERED, CONNECTED),
    "two-connections": odd("publicUnmapped", "unsupported", CONNECTED, "none"),
    "soap-endless": odd("noAnswer"), "soap-trickle": odd("noAnswer"), "soap-garbage": odd("noAnswer"),
    "location-elsewhere": odd("noAnswer", second="trap"),
    "location-by-name": odd("noAnswer"), "location-https": odd("noAnswer"),
    "stranger": odd("noAnswer", second="trap", second_at="203.0.113.7"),
    "media-server-too": odd("publicUnmapped", ANSWERED, CONNECTED),
    "only-rootdevice": odd("publicUnmapped", ANSWERED, CONNECTED),
    "many-answers": odd("noAnswer"), "long-answer": odd("noAnswer"), "garbage": odd("noAnswer"),
    # Two IGDs: the gateway's own counts, whoever is first.
    "two-igds": odd("publicUnmapped", ANSWERED, CONNECTED, plays="good", second="shows-private"),
    # Another machine is one, and the gateway says nothing: its address is used, with a note.
    "not-the-gateway": odd(
        "publicUnmapped", "silent", notes=["igdNotGateway"], plays="silent", second="upnp-only"),
    # "Unsupported" is not silence.
    "not-the-gateway-closed": odd("noAnswer", "unsupported", notes=["igdNotGateway"], plays="trap", second="upnp-only"),
}
