# Scenario "away-home": one host, one device, and two ways between them. Sourced by Scripts/lab.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The home network's router is named and not there: nothing else makes eth0 a home network rather than a container's.
#
#   host 192.168.1.20 eth0 ───── home network ───── eth0 192.168.1.23 home
#        100.88.123.45 tailscale0 ─── tunnel ─── tailscale0 100.84.3.2
#
# Take the home network away and give it back: Scripts/lab exec home -- ip link set eth0 down

away_home_about() { printf '%s\n' "a host and a device, with a home network that can be cut and a tunnel that stays"; }

away_home_up() {
    ns host home
    cable host eth0 home eth0
    tunnel host tailscale0 home tailscale0
    at host <<'LINES'
address add 192.168.1.20/24 dev eth0
route add default via 192.168.1.1
address add 100.88.123.45/32 dev tailscale0
route add 100.64.0.0/10 dev tailscale0
LINES
    at home <<'LINES'
address add 192.168.1.23/24 dev eth0
route add default via 192.168.1.1
address add 100.84.3.2/32 dev tailscale0
route add 100.64.0.0/10 dev tailscale0
LINES
}

away_home_try() {
    cat <<TRY
Try:  Scripts/lab exec host -- ip -brief address
      Scripts/lab exec home -- ip link set eth0 down     (away)
      Scripts/lab exec home -- ip link set eth0 up       (home again)
TRY
}
