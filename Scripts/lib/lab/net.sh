# What scenarios are made of: namespaces, cables, tunnels. Sourced by Scripts/lab. SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Every name of a namespace here is the short one; the lab's own name is put before it. All links are made inside the
# namespaces, so taking those away takes everything away.

# Ends unless a lab can be made here.
require_lab() {
    [ "$(id -u)" -eq 0 ] || die "Scripts/lab needs root: it makes network namespaces. Run it again with sudo."
    command -v ip >/dev/null || die "Scripts/lab needs iproute2. Install it with: Scripts/setup --test"
}

# Runs a function while no other call works on a lab.
lab_locked() {
    require_lab
    mkdir -p /run/latchkey-lab
    exec 9>/run/latchkey-lab/.lock
    flock 9
    "$@"
}

# The short names of this lab's namespaces that exist.
lab_namespaces() { ip netns list | awk '{ print $1 }' | sed -n "s/^$lab-//p" | sort; }

# Whether everything that `up` made is still there.
lab_is_whole() {
    local process
    [ "$(lab_namespaces)" = "$(cat "$lab_dir/namespaces" 2>/dev/null)" ] || return 1
    while read -r process _; do is_ours "$process" || return 1; done < <(lab_processes)
}

# The processes that keep this lab going, one a line: process ID, then when it started.
lab_processes() { cat "$lab_dir/processes" 2>/dev/null || true; }

# When a process that still runs was started, in ticks since boot: with its ID, a name that is never given twice.
started_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" { print $20 }'; }

# Whether the process is the one that was started, and not another that got its number.
is_ours() { [ -n "$(started_at "$1")" ] && grep -qx "$1 $(started_at "$1")" "$lab_dir/processes"; }

# Ends this lab's own processes and takes its namespaces away, whatever of them is there. Never fails half way.
lab_clean() {
    local process name
    while read -r process _; do
        ! is_ours "$process" || kill "$process" 2>/dev/null || true
    done < <(lab_processes)
    for name in $(lab_namespaces); do
        ip netns delete "$lab-$name" 2>/dev/null || say "Namespace $lab-$name cannot be deleted."
    done
    rm -rf "$lab_dir"
}

# Names what still runs inside: it was not started by the lab, so it is not ended by it, and it keeps its network alive.
lab_tell_leftovers() {
    local name process
    for name in $(lab_namespaces); do
        for process in $(ip netns pids "$lab-$name" 2>/dev/null); do
            ! is_ours "$process" 2>/dev/null || continue
            say "Still running in $name: $(tr '\0' ' ' <"/proc/$process/cmdline" 2>/dev/null | cut -c 1-60)(process $process). End it yourself."
        done
    done
}

# ns NAME…: makes namespaces in which addresses are usable at once.
ns() {
    local name
    for name in "$@"; do
        ip netns add "$lab-$name"
        # No duplicate detection (nobody else is there, and it takes a second); answers may leave by another way than
        # the question came by (a host with several networks is what this is about).
        ip netns exec "$lab-$name" sh -c '
            cd /proc/sys/net
            echo 0 >ipv4/icmp_ratelimit
            for at in all default; do
                echo 0 >ipv4/conf/$at/rp_filter
                [ ! -d ipv6 ] || { echo 0 >ipv6/conf/$at/accept_dad; echo 0 >ipv6/conf/$at/accept_ra; }
            done'
        ip -n "$lab-$name" link set lo up
    done
}

# machine NAME…: makes machines of their own of namespaces: with a /run in which no daemon of this machine is, and a
# resolver that asks nobody until `resolver` says whom.
machine() {
    local name run there
    for name in "$@"; do
        run=$lab_dir/$name-run
        # A bus would be looked for there.
        mkdir -p "$run/lab" "$run/dbus"
        : >"$run/lab/resolv.conf"
        printf 'hosts: files dns\n' >"$run/lab/nsswitch.conf"
        there=$(readlink -f /etc/resolv.conf || true)
        case $there in
        /run/*)
            mkdir -p "$run/$(dirname "${there#/run/}")"
            ln "$run/lab/resolv.conf" "$run/${there#/run/}"
            ;;
        esac
    done
}

# resolver NAME ADDRESS: whom it asks for names.
resolver() { printf 'nameserver %s\noptions timeout:1 attempts:1\n' "$2" >"$lab_dir/$1-run/lab/resolv.conf"; }

# enter NAME COMMAND…: becomes a command that runs there.
enter() {
    local name=$1
    shift
    [ ! -d "$lab_dir/$name-run" ] || set -- "$root/Scripts/lib/lab/inside" "$lab_dir/$name-run" "$@"
    exec ip netns exec "$lab-$name" "$@"
}

# keeps NAME LOG WORD COMMAND…: starts a command there that ends with the lab. It is there when its log has WORD;
# `kept` is its process then.
keeps() {
    local name=$1 log=$lab_dir/$2.log word=$3 process
    shift 3
    # Every step becomes the next one, so that the process is the command itself in the end.
    (enter "$name" setsid "$@") >"$log" 2>&1 </dev/null 9>&- &
    process=$!
    kept=$process
    printf '%s %s\n' "$process" "$(started_at "$process")" >>"$lab_dir/processes"
    until grep -q -- "$word" "$log"; do
        kill -0 "$process" 2>/dev/null || die "$1 did not start in $name: $(tail -n 3 "$log")"
        sleep 0.02
    done
}

# at NAME: runs the lines of ip commands on its standard input there ("link set …"), one process for all.
at() { ip -n "$lab-$1" -batch -; }

# forwards NAME: makes it a router.
forwards() {
    ip netns exec "$lab-$1" sh -c '
        echo 1 >/proc/sys/net/ipv4/ip_forward
        [ ! -d /proc/sys/net/ipv6 ] || echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
}

# cable NAME INTERFACE NAME INTERFACE: joins two namespaces by a pair of Ethernet ends, both up.
cable() {
    ip link add name "$2" netns "$lab-$1" type veth peer name "$4" netns "$lab-$3"
    ip -n "$lab-$1" link set "$2" up
    ip -n "$lab-$3" link set "$4" up
}

# bridge NAME INTERFACE: makes a bridge there.
bridge() {
    ip -n "$lab-$1" link add name "$2" type bridge
    ip -n "$lab-$1" link set "$2" up
}

# plug NAME PORT BRIDGE NAME INTERFACE: joins a namespace to a bridge of another one.
plug() {
    cable "$1" "$2" "$4" "$5"
    ip -n "$lab-$1" link set "$2" master "$3"
}

# tunnel NAME INTERFACE NAME INTERFACE: joins two namespaces by point-to-point links of kind tun, both up. A process of
# ours carries the packets.
tunnel() {
    local log=$lab_dir/tunnel-$2.log process
    setsid python3 "$root/Scripts/lib/lab/tunnel.py" "$lab-$1" "$2" "$lab-$3" "$4" >"$log" 2>&1 </dev/null 9>&- &
    process=$!
    printf '%s %s\n' "$process" "$(started_at "$process")" >>"$lab_dir/processes"
    until grep -q '^ready' "$log"; do
        kill -0 "$process" 2>/dev/null || die "The tunnel $2 did not come up: $(tail -n 1 "$log")"
        sleep 0.02
    done
    ip -n "$lab-$1" link set "$2" up
    ip -n "$lab-$3" link set "$4" up
}

# Whether this machine can make WireGuard links.
has_wireguard() {
    command -v wg >/dev/null || return 1
    ip -n "$lab-$1" link add name probe type wireguard 2>/dev/null || return 1
    ip -n "$lab-$1" link delete probe
}

# wireguard NAME INTERFACE NAME INTERFACE BIRTHPLACE: joins two namespaces by WireGuard links, both up; where the kernel has
# none, by a tunnel. Both are made in BIRTHPLACE, where their UDP sockets stay, and meet there on its loopback.
wireguard() {
    if ! has_wireguard "$5"; then
        tunnel "$1" "$2" "$3" "$4"
        return
    fi
    local here=$lab_dir/wireguard port=51820 side
    (umask 077 && mkdir -p "$here" && for side in 1 2; do wg genkey >"$here/$side"; done)
    for side in 1 2; do
        ip -n "$lab-$5" link add name "wglab$side" type wireguard
        ip netns exec "$lab-$5" wg set "wglab$side" listen-port $((port + side)) private-key "$here/$side" \
            peer "$(wg pubkey <"$here/$((3 - side))")" allowed-ips 0.0.0.0/0,::/0 \
            endpoint "127.0.0.1:$((port + 3 - side))"
    done
    ip -n "$lab-$5" link set wglab1 netns "$lab-$1" name "$2" up
    ip -n "$lab-$5" link set wglab2 netns "$lab-$3" name "$4" up
}

# answers NAME PREFIX…: lets it use every address of the prefixes as its own, without listing them.
answers() {
    local name=$1 prefix
    shift
    for prefix in "$@"; do printf 'route add local %s dev lo\n' "$prefix"; done | at "$name"
}

# Whether the kernel has VRF links.
has_vrf() {
    ip -n "$lab-$1" link add name probe type vrf table 4000 2>/dev/null || return 1
    ip -n "$lab-$1" link delete probe
}
