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
    local here="Scripts/lab" bin=$lab_bin work=/tmp/latchkey-lab-$lab
    [ "$lab" = lk ] || here="LATCHKEY_LAB=$lab Scripts/lab"
    cat <<TRY

Lab "$lab" is up: namespace host is the host, namespace home its device. Start a stream and a service, each in a terminal:

  Scripts/sample-host --unix /tmp/latchkey-lab-$lab.sock --video 60:8 --api $work/run/api.sock
  $here exec host -- $bin/latchkeyd --state-dir $work/state --runtime-dir $work/run --home-port 7400 --no-advertise --backend unix:/tmp/latchkey-lab-$lab.sock

In another one, let devices come from away, show a code, put it in, and be a device that stays:

  $bin/latchkey --socket $work/run/api.sock set remote-access on
  $bin/latchkey --socket $work/run/api.sock pair --no-wait
  $here exec home -- $bin/latchkey-device --dir $work/device pair --code CODE --host 192.168.1.20:7400
  $here exec home -- $bin/latchkey-device --dir $work/device connect --follow

Leave the house. Some seconds later the session is there again, through the tunnel, and the away quality runs:

  $here exec home -- ip link set eth0 down
  $bin/latchkey --socket $work/run/api.sock quality

Come home again. The session moves by itself only where the device hears the host's record: with avahi-daemon in both
namespaces, and without --no-advertise (Tests/Interop/test_away_lab.py does that). Else it stays in the tunnel:

  $here exec home -- ip link set eth0 up

  $here down    takes it all away
TRY
}
