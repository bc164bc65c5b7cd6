# Scenario "crowd": a host, one household, and a thousand strangers at its doors. Sourced by Scripts/lab.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
#   host 192.168.9.1 (br0) ─┬─ home 192.168.9.3
#                           └─ crowd 192.168.9.2, and 10.20.0.0/22 (near by its address), 198.18.0.0/22 (the internet)

crowd_about() { printf '%s\n' "one host, one household, and two times 1,000 strangers' addresses, for floods"; }

crowd_up() {
    ns host home crowd
    bridge host br0
    plug host port1 br0 home eth0
    plug host port2 br0 crowd eth0
    at host <<'LINES'
address add 192.168.9.1/24 dev br0
route add default via 192.168.9.2
LINES
    at home <<'LINES'
address add 192.168.9.3/24 dev eth0
LINES
    at crowd <<'LINES'
address add 192.168.9.2/24 dev eth0
LINES
    answers crowd 10.20.0.0/22 198.18.0.0/22
}

crowd_try() {
    local here="Scripts/lab" bin=$lab_bin work=/tmp/latchkey-lab-$lab
    [ "$lab" = lk ] || here="LATCHKEY_LAB=$lab Scripts/lab"
    cat <<TRY

Lab "$lab" is up. Start a service in it, open its ways in, and let a thousand strangers knock for 20 seconds:

  $here exec host -- $bin/latchkeyd --state-dir $work/state --runtime-dir $work/run --home-port 7400 --no-advertise
  $here exec crowd -- .build/venv/bin/python Tests/Interop/flood.py 192.168.9.1:7400 10.20.0.0/22 --seconds 20

Meanwhile pair and connect from the household, as always:

  $bin/latchkey --socket $work/run/api.sock pair
  $here exec home -- $bin/latchkey-device --dir $work/device pair --code CODE --host 192.168.9.1:7400

  $here down    takes it all away
TRY
}
