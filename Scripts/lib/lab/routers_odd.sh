# Scenarios with routers that say little or nonsense. Sourced by Scripts/lab. SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

no_daemon_about() { printf '%s\n' "a router that speaks neither UPnP nor NAT-PMP: its ports are closed"; }
no_daemon_up() {
    household 11.22.33.44/24 11.22.33.1
    neighbour
}
no_daemon_try() {
    local here="Scripts/lab"
    [ "$lab" = lk ] || here="LATCHKEY_LAB=$lab Scripts/lab"
    try_report noAnswer "Make it say what you like, in a second terminal (--list names what there is):" \
        "$here exec router -- python3 Scripts/lib/lab/router.py BEHAVIOUR"
}

silent_router_about() { printf '%s\n' "a router that forwards and says nothing at all"; }
silent_router_up() {
    household 11.22.33.44/24 11.22.33.1
    filter router <<'RULES'
table inet silent {
    chain input { type filter hook input priority 0; policy accept; udp dport { 1900, 5351 } drop; tcp flags syn drop; }
}
RULES
}
silent_router_try() { try_report noAnswer; }

no_router_about() { printf '%s\n' "a network without a router"; }
no_router_up() {
    ns host home
    machine host
    cable host eth0 home eth0
    at host <<'LINES'
address add 192.168.1.20/24 dev eth0
route add default dev eth0
LINES
    at home <<'LINES'
address add 192.168.1.23/24 dev eth0
LINES
}
no_router_try() { try_report noAnswer; }

mapping_off_about() { printf '%s\n' "a router on which port mapping is switched off"; }
mapping_off_up() {
    household 11.22.33.44/24 11.22.33.1
    scripted router natpmp-2
}
mapping_off_try() { try_report routerMappingOff; }

permanent_only_about() { printf '%s\n' "a router that takes permanent mappings only"; }
permanent_only_up() {
    household 11.22.33.44/24 11.22.33.1
    scripted router permanent-only
}
permanent_only_try() { try_report publicUnmapped "latchkey map-port   must say mappingPermanentOnly, and work after: latchkey set permanent-mappings on"; }

garbage_about() { printf '%s\n' "a router that answers everything with garbage"; }
garbage_up() {
    household 11.22.33.44/24 11.22.33.1
    scripted router garbage
}
garbage_try() { try_report noAnswer; }

direct_about() { printf '%s\n' "a host with a public address of its own and no router"; }
direct_up() {
    ns host internet
    machine host
    cable host eth0 internet eth0
    at host <<'LINES'
address add 11.22.33.44/24 dev eth0
route add default via 11.22.33.1
LINES
    at internet <<'LINES'
address add 11.22.33.1/24 dev eth0
LINES
}
direct_try() { try_report directPublic; }
