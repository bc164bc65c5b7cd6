# Scenarios about what routers do, played by miniupnpd. Sourced by Scripts/lab. SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

router_about() { printf '%s\n' "a good router: public address, UPnP and NAT-PMP, nothing forwarded"; }
router_up() {
    household 11.22.33.44/24 11.22.33.1
    upnpd router
}
router_try() { try_report publicUnmapped; }

router_mapped_about() { printf '%s\n' "a router that forwards the port to this host"; }
router_mapped_up() {
    router_up
    asks host map 192.168.1.1 7455 192.168.1.20:7455
}
router_mapped_try() { try_report publicMapped; }

router_elsewhere_about() { printf '%s\n' "a router that forwards the port to another machine"; }
router_elsewhere_up() {
    router_up
    neighbour
    asks home map 192.168.1.1 7455 192.168.1.23:7455
}
router_elsewhere_try() { try_report publicMappedElsewhere; }

natpmp_only_about() { printf '%s\n' "a router with UPnP off: NAT-PMP alone"; }
natpmp_only_up() {
    household 11.22.33.44/24 11.22.33.1
    upnpd router enable_upnp=no
}
natpmp_only_try() { try_report publicMappingUnknown; }

upnp_only_about() { printf '%s\n' "a router with NAT-PMP off: UPnP alone"; }
upnp_only_up() {
    household 11.22.33.44/24 11.22.33.1
    upnpd router enable_natpmp=no
}
upnp_only_try() { try_report publicUnmapped; }

no_wan_about() { printf '%s\n' "a router that has no internet connection"; }
no_wan_up() {
    household none
    upnpd router
}
no_wan_try() { try_report noWAN; }

double_nat_about() { printf '%s\n' "two routers in a row; the inner one hides its private address"; }
double_nat_up() {
    double_nat_routers
    upnpd router
}
double_nat_try() { try_report wanHidden; }

double_nat_shown_about() { printf '%s\n' "two routers in a row; the inner one shows its private address"; }
double_nat_shown_up() {
    double_nat_routers
    scripted router shows-private
}
double_nat_shown_try() { try_report doubleNAT; }

# The outer router is a good one.
double_nat_routers() {
    ns host router outer internet
    machine host router outer
    bridge router lan0
    plug router lan1 lan0 host eth0
    cable router wan0 outer lan0
    cable outer wan0 internet eth0
    box outer 192.168.0.1/24 11.22.33.44/24 11.22.33.1
    box router 192.168.1.1/24 192.168.0.2/24 192.168.0.1
    at host <<'LINES'
address add 192.168.1.20/24 dev eth0
route add default via 192.168.1.1
LINES
    at internet <<'LINES'
address add 11.22.33.1/24 dev eth0
LINES
    upnpd outer uuid=00000000-0000-4000-8000-000000000002
}

carrier_nat_about() { printf '%s\n' "a provider's shared address (100.64/10); the router hides it"; }
carrier_nat_up() {
    household 100.64.3.4/24 100.64.3.1
    upnpd router
}
carrier_nat_try() { try_report wanHidden; }

carrier_nat_shown_about() { printf '%s\n' "a provider's shared address (100.64/10); the router shows it"; }
carrier_nat_shown_up() {
    household 100.72.14.3/24 100.72.14.1
    scripted router shows-carrier
}
carrier_nat_shown_try() { try_report carrierNAT; }

carrier_private_about() { printf '%s\n' "a provider that shares addresses by RFC 1918; the router hides its own"; }
carrier_private_up() {
    household 10.20.30.40/24 10.20.30.1
    upnpd router
}
carrier_private_try() { try_report wanHidden; }

carrier_private_shown_about() { printf '%s\n' "a provider that shares addresses by RFC 1918; the router shows its own"; }
carrier_private_shown_up() {
    household 10.20.30.40/24 10.20.30.1
    scripted router upnp-shows-private
}
carrier_private_shown_try() { try_report doubleNAT; }

nat_above_about() { printf '%s\n' "a router whose address looks public, under another NAT; a STUN server sees that"; }
nat_above_up() {
    household 11.22.33.44/24 11.22.33.1
    upnpd router
    # The internet's own side of it: everything of 11.22.33.0/24 is 55.66.77.88 to the server.
    ns server
    cable internet wan0 server eth0
    forwards internet
    at internet <<'LINES'
address add 55.66.77.88/24 dev wan0
LINES
    at server <<'LINES'
address add 55.66.77.1/24 dev eth0
LINES
    filter internet <<'RULES'
table ip nat {
    chain postrouting { type nat hook postrouting priority 100; oifname "wan0" masquerade; }
}
RULES
    keeps server stun '^ready' python3 "$root/Scripts/lib/lab/servers.py" stun 55.66.77.1
    # An address name leads here when it is asked for.
    keeps router dns '^ready' python3 "$root/Scripts/lib/lab/servers.py" dns 192.168.1.1 \
        home.example.net=11.22.33.44 stale.example.net=55.66.77.99 private.example.net=192.168.7.7
    resolver host 192.168.1.1
}
nat_above_try() {
    try_report publicUnmapped "latchkey set stun-server 55.66.77.1:3478     then: natAboveRouter" \
        "latchkey set address-name home.example.net   (or stale., private., missing.) gives that name's code"
}

firewall_about() { printf '%s\n' "a good router that forwards the port, and a host whose own firewall drops it"; }
firewall_up() {
    router_mapped_up
    filter host <<'RULES'
table inet own {
    chain input { type filter hook input priority 0; policy accept; tcp dport 7455 drop; }
}
RULES
}
firewall_try() { try_report publicMapped "The verdict must be firewallDrops."; }
