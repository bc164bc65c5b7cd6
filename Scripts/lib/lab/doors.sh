# Scenario "doors": a streaming host with every kind of interface, and somebody behind each. Sourced by Scripts/lab.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
#   home 192.168.1.23 ─┐                                    ┌─ internet 203.0.113.9, 198.51.100.4, 172.15.0.1, 100.72.1.1
#                     lan ── router 192.168.1.1 ── wan ─────┤
#   host 192.168.1.20 ─┘                                    └─ office 10.1.2.3, 172.31.255.1 (private, routed)
#
#   host's interface  what it is                  host has                        behind it
#   eth0              home LAN, default route     192.168.1.20, IPv6              home, router
#   br0               a second LAN (a bridge)     192.168.77.20, 203.0.113.20,    annex 192.168.77.23, 203.0.113.50, 100.72.1.1,
#                                                 100.72.0.20                     and 192.168.1.23 once more
#   wg0               VPN                         10.99.0.2                       vpn 10.99.0.7, and 192.168.1.23 again
#   tailscale0        VPN on carrier addresses    100.88.123.45, IPv6             tailnet 100.84.3.2
#   usb0              a cable, link-local only    169.254.172.122, IPv6           cable 169.254.1.2
#   awdl0             peer-to-peer Wi-Fi          192.168.49.1, IPv6 link-local   nearby 192.168.49.23
#   docker0           a container bridge          172.17.0.1                      container 172.17.0.2
#   wwan0             a modem, to the provider    10.170.1.2                      carrier 10.170.1.1
#   vrf-eth           a member of a VRF, where    192.168.88.20                   tenant 192.168.88.23
#                     the kernel has them
#
# The host answers through the network that its own address belongs to, so that the same peer address can be behind
# three interfaces at once.

doors_about() { printf '%s\n' "one host with home LAN, VPN, internet, cable, containers, peer-to-peer Wi-Fi and a modem"; }

doors_up() {
    ns host router home office internet annex vpn tailnet cable nearby container carrier
    forwards router
    doors_home_and_internet
    doors_second_lan
    doors_vpns
    doors_links
    doors_vrf
}

doors_home_and_internet() {
    bridge router lan
    plug router lan1 lan host eth0
    plug router lan2 lan home eth0
    cable router wan internet eth0
    cable router office office eth0
    at router <<'LINES'
address add 192.168.1.1/24 dev lan
address add fd4e:4f6b:37dc:4a0f::1/64 dev lan
address add 2001:db8:1::1/64 dev lan
address add 192.0.2.1/24 dev wan
address add 2001:db8:ffff::1/64 dev wan
address add 10.1.2.1/24 dev office
route add default via 192.0.2.2
route add 172.31.255.0/24 via 10.1.2.3
route add 2001:db8:2::/64 via 2001:db8:ffff::2
LINES
    at host <<'LINES'
address add 192.168.1.20/24 dev eth0
address add fd4e:4f6b:37dc:4a0f::20/64 dev eth0
address add 2001:db8:1::20/64 dev eth0
route add default via 192.168.1.1
route add default via 2001:db8:1::1
route add 192.168.1.0/24 dev eth0 table 101
route add 10.99.0.0/24 dev lo table 101
route add default via 192.168.1.1 table 101
rule add from 192.168.1.20 lookup 101
LINES
    at home <<'LINES'
address add 192.168.1.23/24 dev eth0
address add fd4e:4f6b:37dc:4a0f::99/64 dev eth0
address add 2001:db8:1::99/64 dev eth0
route add default via 192.168.1.1
LINES
    answers home 192.168.1.128/25
    at internet <<'LINES'
address add 192.0.2.2/24 dev eth0
address add 2001:db8:ffff::2/64 dev eth0
address add 2001:db8:2::77/128 dev lo
route add default via 192.0.2.1
route add default via 2001:db8:ffff::1
LINES
    answers internet 203.0.113.0/24 198.51.100.0/24 172.15.0.1/32 100.72.1.1/32
    at office <<'LINES'
address add 10.1.2.3/24 dev eth0
route add default via 10.1.2.1
LINES
    answers office 172.31.255.1/32
}

doors_second_lan() {
    bridge host br0
    plug host br0port br0 annex eth0
    at host <<'LINES'
address add 192.168.77.20/24 dev br0
address add 203.0.113.20/24 dev br0
address add 100.72.0.20/16 dev br0
route add 192.168.77.0/24 dev br0 table 102
route add 203.0.113.0/24 dev br0 table 102
route add 100.72.0.0/16 dev br0 table 102
route add 192.168.1.0/24 dev br0 table 102
rule add from 192.168.77.20 lookup 102
rule add from 203.0.113.20 lookup 102
rule add from 100.72.0.20 lookup 102
LINES
    at annex <<'LINES'
address add 192.168.77.23/24 dev eth0
address add 203.0.113.50/24 dev eth0
address add 100.72.1.1/16 dev eth0
address add 192.168.1.23/32 dev eth0
LINES
}

doors_vpns() {
    wireguard host wg0 vpn wg0 router
    tunnel host tailscale0 tailnet tailscale0
    at host <<'LINES'
address add 10.99.0.2/24 dev wg0
route replace 10.99.0.0/24 dev wg0 table 101
route add default dev wg0 table 103
rule add from 10.99.0.2 lookup 103
address add 100.88.123.45/32 dev tailscale0
address add fd7a:115c:a1e0::abcd:ef01/128 dev tailscale0
route add 100.64.0.0/10 dev tailscale0
route add fd7a:115c:a1e0::/48 dev tailscale0
LINES
    at vpn <<'LINES'
address add 10.99.0.7/24 dev wg0
address add 192.168.1.23/32 dev wg0
route add default dev wg0
LINES
    answers vpn 10.99.0.128/25
    at tailnet <<'LINES'
address add 100.84.3.2/32 dev tailscale0
address add fd7a:115c:a1e0::77/128 dev tailscale0
route add default dev tailscale0
route add fd7a:115c:a1e0::/48 dev tailscale0
LINES
}

# The links that have no network of their own behind them.
doors_links() {
    cable host usb0 cable usb0
    cable host awdl0 nearby awdl0
    cable host wwan0 carrier wwan0
    bridge host docker0
    plug host veth1 docker0 container eth0
    at host <<'LINES'
address add 169.254.172.122/16 dev usb0
address add fe80::20/64 dev usb0
address add fe80::20/64 dev awdl0
address add 192.168.49.1/24 dev awdl0
address add 10.170.1.2/30 dev wwan0
address add 172.17.0.1/16 dev docker0
LINES
    at cable <<'LINES'
address add 169.254.1.2/16 dev usb0
address add fe80::23/64 dev usb0
LINES
    at nearby <<'LINES'
address add fe80::23/64 dev awdl0
address add 192.168.49.23/24 dev awdl0
LINES
    answers nearby 192.168.49.128/25
    at carrier <<'LINES'
address add 10.170.1.1/30 dev wwan0
route add default via 10.170.1.2
LINES
    at container <<'LINES'
address add 172.17.0.2/16 dev eth0
route add default via 172.17.0.1
LINES
}

doors_vrf() {
    has_vrf host || return 0
    ns tenant
    cable host vrf-eth tenant eth0
    at host <<'LINES'
link add name vrf1 type vrf table 104
link set vrf1 up
link set vrf-eth master vrf1
address add 192.168.88.20/24 dev vrf-eth
LINES
    # A service that is not bound to a VRF takes its connections only when it is told so.
    ip netns exec "$lab-host" sh -c 'echo 1 >/proc/sys/net/ipv4/tcp_l3mdev_accept'
    at tenant <<'LINES'
address add 192.168.88.23/24 dev eth0
LINES
}

doors_try() {
    local here="Scripts/lab" bin=$lab_bin work=/tmp/latchkey-lab-$lab
    [ "$lab" = lk ] || here="LATCHKEY_LAB=$lab Scripts/lab"
    cat <<TRY

Lab "$lab" is up: namespace host has every kind of interface, and somebody is behind each. Start a service in it:

  $here exec host -- $bin/latchkeyd --state-dir $work/state --runtime-dir $work/run --home-port 7400 --no-advertise

In a second terminal, say who may come, and show a code (root, as all of this):

  $bin/latchkey --socket $work/run/api.sock set remote-access on internet-access on
  $bin/latchkey --socket $work/run/api.sock pair

and be a device in each place. Pair once (put the code in), then connect from everywhere with the same key:

  $here exec home -- $bin/latchkey-device --dir $work/device pair --code CODE --host 192.168.1.20:7400
  $here exec NAMESPACE -- $bin/latchkey-device --dir $work/device connect ADDRESS --door DOOR --seconds 3

Without a --backend the service tells a session that it admitted that nothing streams here; Scripts/sample-host is one.

  NAMESPACE   ADDRESS (home door, then remote)                      arrives as   home    remote
  host        127.0.0.1:7400           127.0.0.1:7455               loopback     yes     yes
  home        192.168.1.20:7400        192.168.1.20:7455            lan          yes     yes
  office      192.168.1.20:7400        192.168.1.20:7455            lan          yes     yes
  annex       203.0.113.20:7400        203.0.113.20:7455            lan          yes     yes
  container   172.17.0.1:7400          172.17.0.1:7455              lan          yes     yes
  cable       169.254.172.122:7400     169.254.172.122:7455         lan          yes     yes
  nearby      192.168.49.1:7400        192.168.49.1:7455            direct       with direct on  never
  vpn         10.99.0.2:7400           10.99.0.2:7455               vpn          no      yes
  vpn         192.168.1.20:7400        192.168.1.20:7455            vpn          no      yes
  tailnet     100.88.123.45:7400       100.88.123.45:7455           vpn          no      yes
  internet    192.168.1.20:7400        192.168.1.20:7455            internet     no      with internet access
  carrier     10.170.1.2:7400          10.170.1.2:7455              internet     no      with internet access

  $here down    takes it all away
TRY
}
