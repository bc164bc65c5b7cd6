# Scenarios about VPNs, carriers and IPv6 beside a router. Sourced by Scripts/lab. SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

vpn_exit_about() { printf '%s\n' "a good router, and a VPN that everything goes through (as wg-quick makes it)"; }
vpn_exit_up() {
    vpn_household
    # The table of its own, and the main one for all but its default route.
    at host <<'LINES'
route add default dev wg0 table 51820
rule add not fwmark 0xca6c lookup 51820
rule add lookup main suppress_prefixlength 0
LINES
}
vpn_exit_try() { try_report publicUnmapped "The gateway must be 192.168.1.1, and the VPN's address the first of the list."; }

vpn_only_default_about() { printf '%s\n' "a good router, and a VPN that took the default route (as OpenVPN's redirect-gateway)"; }
vpn_only_default_up() {
    local bridged=true
    vpn_household
    at host <<'LINES'
route add 11.22.33.1/32 via 192.168.1.1
route replace default dev wg0
LINES
}
vpn_only_default_try() { try_report publicUnmapped "The gateway must be 192.168.1.1."; }

# A VPN's other end looks like a router, too, and must not be asked.
vpn_household() {
    router_up
    ns vpn
    machine vpn
    wireguard host wg0 vpn wg0 internet
    at host <<'LINES'
address add 10.99.0.2/24 dev wg0
LINES
    at vpn <<'LINES'
address add 10.99.0.1/24 dev wg0
route add default dev wg0
LINES
    scripted vpn good --lan 10.99.0.1
}

tailnet_carrier_about() { printf '%s\n' "a tailnet on a network that is a carrier's own (100.64/10)"; }
tailnet_carrier_up() {
    ns host carrier
    machine host
    cable host eth0 carrier eth0
    at host <<'LINES'
address add 100.72.1.20/16 dev eth0
route add default via 100.72.0.1
LINES
    at carrier <<'LINES'
address add 100.72.0.1/16 dev eth0
LINES
    tailnet_member
    keeps carrier dns '^ready' python3 "$root/Scripts/lib/lab/servers.py" dns 100.72.0.1 \
        desk.tail5678.ts.net=100.88.123.45
    resolver host 100.72.0.1
}
tailnet_carrier_try() { try_report directCarrier "${tailnet_hint[@]}"; }

tailnet_about() { printf '%s\n' "a tailnet behind a router of a carrier network that shows its shared address"; }
tailnet_up() {
    carrier_nat_shown_up
    tailnet_member
    keeps router dns '^ready' python3 "$root/Scripts/lib/lab/servers.py" dns 192.168.1.1 \
        desk.tail5678.ts.net=100.88.123.45
    resolver host 192.168.1.1
}
tailnet_try() { try_report carrierNAT "${tailnet_hint[@]}"; }

tailnet_hint=(
    "The verdict must be awayVPN, with desk.tail5678.ts.net first of the list."
    "Then edit /run/tailscale/state.json there: BackendState Stopped, ShieldsUp true, TUN false, Online false."
)

# A Tailscale that runs, with the stand-in for its LocalAPI where tailscaled has it.
tailnet_member() {
    ns peer
    tunnel host tailscale0 peer tailscale0
    at host <<'LINES'
address add 100.88.123.45/32 dev tailscale0
address add fd7a:115c:a1e0::abcd:ef01/128 dev tailscale0
route add 100.64.0.0/10 dev tailscale0 table 52
rule add lookup 52 priority 5270
LINES
    at peer <<'LINES'
address add 100.84.3.2/32 dev tailscale0
route add default dev tailscale0
LINES
    mkdir -p "$lab_dir/host-run/tailscale"
    cat >"$lab_dir/host-run/tailscale/state.json" <<'JSON'
{
  "status": {
    "Version": "1.80.0", "TUN": true, "BackendState": "Running", "HaveNodeKey": true, "AuthURL": "",
    "TailscaleIPs": ["100.88.123.45", "fd7a:115c:a1e0::abcd:ef01"],
    "Self": {
      "ID": "n1CNTRL", "PublicKey": "nodekey:0000000000000000000000000000000000000000000000000000000000000001",
      "HostName": "Desk", "DNSName": "Desk.tail5678.ts.net.", "OS": "linux", "UserID": 1,
      "TailscaleIPs": ["100.88.123.45", "fd7a:115c:a1e0::abcd:ef01"], "Online": true, "ExitNode": false,
      "ExitNodeOption": false, "Active": false, "InNetworkMap": true, "InMagicSock": false, "InEngine": false
    },
    "Health": [], "MagicDNSSuffix": "tail5678.ts.net",
    "CurrentTailnet": {"Name": "someone@example.net", "MagicDNSSuffix": "tail5678.ts.net", "MagicDNSEnabled": true},
    "CertDomains": null, "Peer": {}, "User": {}, "ClientVersion": {"RunningLatest": true}
  },
  "prefs": {
    "ControlURL": "https://controlplane.tailscale.com", "RouteAll": false, "ExitNodeID": "", "ExitNodeIP": "",
    "ExitNodeAllowLANAccess": false, "CorpDNS": true, "WantRunning": true, "LoggedOut": false, "ShieldsUp": false,
    "AdvertiseRoutes": null, "Hostname": "", "NetfilterMode": 2, "OperatorUser": ""
  }
}
JSON
    keeps host localapi '^ready' python3 "$root/Scripts/lib/lab/localapi.py" /run/tailscale/tailscaled.sock /run/tailscale/state.json
}

ipv6_about() { printf '%s\n' "IPv6, and a router whose firewall takes requests for pinholes"; }
ipv6_up() {
    household 11.22.33.44/24 11.22.33.1
    ipv6_addresses
    upnpd router
}
# This daemon takes a request for a pinhole only by IPv6, from the very address that it is for; by IPv4 it says 606.
ipv6_try() { try_report publicUnmapped "IPv6 must be v6PinholePossible."; }

ipv6_no_service_about() { printf '%s\n' "IPv6, and a router that does not speak of its firewall"; }
ipv6_no_service_up() {
    household 11.22.33.44/24 11.22.33.1
    ipv6_addresses
    upnpd router force_igd_desc_v1=yes
}
ipv6_no_service_try() { try_report publicUnmapped "IPv6 must be v6Unknown."; }

ipv6_addresses() {
    at router <<'LINES'
address add 2001:db8:1::1/64 dev lan0
address add fe80::1/64 dev lan0
address add 2001:db8:ffff::1/64 dev wan0
LINES
    at host <<'LINES'
address add 2001:db8:1::20/64 dev eth0
route add default via fe80::1 dev eth0
LINES
}
