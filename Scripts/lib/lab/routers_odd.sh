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

street_about() { printf '%s\n' "eight households whose routers are played as you say, for trying many at once"; }
street_up() {
    local n
    for n in 1 2 3 4 5 6 7 8; do
        ns "host$n" "router$n"
        machine "host$n" "router$n"
        cable "router$n" lan0 "host$n" eth0
        # Further machines of that network, and a stranger, are addresses of the router's namespace.
        at "router$n" <<'LINES'
address add 192.168.1.1/24 dev lan0
address add 192.168.1.23/24 dev lan0
address add 203.0.113.7/32 dev lan0
address add 2001:db8:1::1/64 dev lan0
address add fe80::1/64 dev lan0
LINES
        at "host$n" <<'LINES'
address add 192.168.1.20/24 dev eth0
address add 2001:db8:1::20/64 dev eth0
route add default via 192.168.1.1
route add default via fe80::1 dev eth0
LINES
    done
}
street_try() {
    local here="Scripts/lab" bin=$lab_bin
    [ "$lab" = lk ] || here="LATCHKEY_LAB=$lab Scripts/lab"
    cat <<TRY

Lab "$lab" is up: host1 behind router1, host2 behind router2, and so on. Nothing runs on the routers yet:

  $here exec router1 -- python3 Scripts/lib/lab/router.py --list
  $here exec router1 -- python3 Scripts/lib/lab/router.py redirect
  $here exec host1 -- $bin/latchkey print-reachability

  $here down    takes it all away
TRY
}
