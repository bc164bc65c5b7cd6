# What the scenarios about routers are made of. Sourced by Scripts/lab. SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
#   host 192.168.1.20 ─┐
#                    lan0 ── router 192.168.1.1 ── wan0 ── internet
#   home 192.168.1.23 ─┘
#
# The router's outside address is what most scenarios are about. 11.22.33.0/24 stands for public ones: miniupnpd takes
# the ranges kept for documents as private.

# box NAME LAN WAN|none [VIA]: makes a home router of a namespace that has lan0 and wan0: addresses, NAT, and the chains
# that its daemon writes to.
box() {
    printf 'address add %s dev lan0\n' "$2" | at "$1"
    if [ "$3" != none ]; then
        printf 'address add %s dev wan0\nroute add default via %s\n' "$3" "$4" | at "$1"
    fi
    forwards "$1"
    filter "$1" <<'RULES'
table inet filter {
    chain forward { type filter hook forward priority 0; policy accept; jump miniupnpd; }
    chain miniupnpd { }
    chain prerouting { type nat hook prerouting priority -100; jump prerouting_miniupnpd; }
    chain prerouting_miniupnpd { }
    chain postrouting { type nat hook postrouting priority 100; oifname "wan0" masquerade; jump postrouting_miniupnpd; }
    chain postrouting_miniupnpd { }
}
RULES
}

# filter NAME: gives a namespace the nftables rules on its standard input.
filter() {
    command -v nft >/dev/null || die "This scenario needs nftables. Install it with: Scripts/setup --test"
    ip netns exec "$lab-$1" nft -f -
}

# household WAN|none [VIA]: a host behind a router, and beyond that whoever is at VIA. With bridged=true the host's eth0 is
# a bridge, which counts as its LAN even while another interface has the default route; a virtual Ethernet end does not.
household() {
    ns host router internet
    machine host router
    bridge router lan0
    if ${bridged:-false}; then
        bridge host eth0
        plug router lan1 lan0 host port0
        ip -n "$lab-host" link set port0 master eth0
    else
        plug router lan1 lan0 host eth0
    fi
    cable router wan0 internet eth0
    box router 192.168.1.1/24 "$@"
    at host <<'LINES'
address add 192.168.1.20/24 dev eth0
route add default via 192.168.1.1
LINES
    [ -z "${2:-}" ] || printf 'address add %s/24 dev eth0\n' "$2" | at internet
}

# neighbour: another machine of the household.
neighbour() {
    ns home
    plug router lan2 lan0 home eth0
    at home <<'LINES'
address add 192.168.1.23/24 dev eth0
route add default via 192.168.1.1
LINES
}

# upnpd NAME [KEY=VALUE…]: starts miniupnpd there, with these settings instead of what all have.
upnpd() {
    local name=$1 program key
    # A switch that is on cannot be turned off by a later line.
    local -A settings=(
        [ext_ifname]=wan0 [listening_ip]=lan0 [http_port]=5000 [enable_natpmp]=yes [enable_upnp]=yes [secure_mode]=yes
        [system_uptime]=no [uuid]=00000000-0000-4000-8000-000000000001
    )
    program=$(PATH=$PATH:/usr/sbin:/sbin command -v miniupnpd) ||
        die "This scenario needs miniupnpd (Debian and Ubuntu: miniupnpd-nftables). Install it with: Scripts/setup --test"
    shift
    for key in "$@"; do settings[${key%%=*}]=${key#*=}; done
    {
        for key in "${!settings[@]}"; do printf '%s=%s\n' "$key" "${settings[$key]}"; done
        printf 'allow 1024-65535 0.0.0.0/0 1024-65535\ndeny 0-65535 0.0.0.0/0 0-65535\n'
    } >"$lab_dir/$name-run/lab/miniupnpd.conf"
    keeps "$name" "$name-miniupnpd" "starting" "$program" -d -f /run/lab/miniupnpd.conf
    [ "${settings[enable_upnp]}" = no ] || takes 1900
    [ "${settings[enable_natpmp]}" = no ] || takes 5351
}

# takes PORT: waits until the process that `keeps` started last has a UDP port open.
takes() {
    local hex
    hex=$(printf ':%04X ' "$1")
    until grep -q "$hex" "/proc/$kept/net/udp" 2>/dev/null; do
        [ -n "$(started_at "$kept")" ] || die "The router's daemon ended: $(tail -n 3 "$lab_dir"/*-miniupnpd.log)"
        sleep 0.02
    done
}

# scripted NAME BEHAVIOUR [OPTION…]: starts the scripted router there.
scripted() {
    local name=$1
    shift
    keeps "$name" "$name-router" '^ready' python3 "$root/Scripts/lib/lab/router.py" "$@"
}

# asks NAME COMMAND…: asks a router, as that machine (igd.py).
asks() {
    local name=$1
    shift
    ip netns exec "$lab-$name" python3 "$root/Scripts/lib/lab/igd.py" "$@"
}

# try_report CODE [LINE…]: what to type, and the router's code that must come. More lines are shown at the end.
try_report() {
    local here="Scripts/lab" bin=$lab_bin code=$1 state=/tmp/latchkey-lab-$lab/state
    [ "$lab" = lk ] || here="LATCHKEY_LAB=$lab Scripts/lab"
    shift
    cat <<TRY

Lab "$lab" is up. Ask as its host, with no service running (then all switches are off):

  $here exec host -- $bin/latchkey print-reachability --json      must say: "ifOn":"$code"

and with one:

  $here exec host -- $bin/latchkeyd --state-dir $state --no-advertise
  $here exec host -- $bin/latchkey set remote-access on internet-access on
  $here exec host -- $bin/latchkey reachability                   must say: $code
TRY
    [ $# -eq 0 ] || printf '\n'
    [ $# -eq 0 ] || printf '  %s\n' "$@"
    printf '\n  %s down    takes it all away\n' "$here"
}
