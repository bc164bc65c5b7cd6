# Scenario "cable": a streaming host and an iPhone on its USB cable. Sourced by Scripts/lab. SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
#   host usb0 (index 9)  fe80::20, 169.254.172.122  ──  usb0 phone  fe80::23, 169.254.1.2
#
# The link is a virtual one. What makes it the cable is a tree that is bound over /sys: LAB/host-sys for the host, in
# which usb0 is the network function of an iPhone, and LAB/phone-sys for the other end, in which it is a wired device.

cable_about() { printf '%s\n' "one host and an iPhone on its USB cable"; }

cable_up() {
    ns host phone
    ip link add name usb0 index 9 netns "$lab-host" type veth peer name usb0 index 9 netns "$lab-phone"
    at host <<'LINES'
link set usb0 address 02:11:22:33:44:55 up
address add 169.254.172.122/16 dev usb0
address add fe80::20/64 dev usb0
LINES
    at phone <<'LINES'
link set usb0 address 3a:00:00:00:00:01 up
address add 169.254.1.2/16 dev usb0
address add fe80::23/64 dev usb0
LINES
    python3 "$root/Scripts/lib/lab/sysfs.py" "$lab_dir/host-sys" usb0 9
    python3 "$root/Scripts/lib/lab/sysfs.py" "$lab_dir/phone-sys" usb0 9
}

cable_try() {
    local here="Scripts/lab" bin=$lab_bin work=/tmp/latchkey-lab-$lab
    [ "$lab" = lk ] || here="LATCHKEY_LAB=$lab Scripts/lab"
    cat <<TRY

Lab "$lab" is up: namespaces host and phone, joined by what a bound /sys makes a USB cable. Start a service in it:

  $here exec host -- sh -c 'mount --bind $lab_dir/host-sys /sys && exec $bin/latchkeyd --state-dir $work/state --runtime-dir $work/run --home-port 7400 --no-advertise'

In a second terminal, see what the rule finds, and say that the desktop is unlocked (for 90 s):

  $here exec host -- sh -c 'mount --bind $lab_dir/host-sys /sys && exec $bin/latchkey print-cable'
  curl --unix-socket $work/run/api.sock -X PUT -H 'Content-Type: application/json' -d '{"locked":false}' http://localhost/v1/lock

and be the phone: it pairs by itself, once.

  $here exec phone -- sh -c 'mount --bind $lab_dir/phone-sys /sys && exec $bin/latchkey-device --dir $work/device ask --cable --host "[fe80::20%usb0]:7400"'

Then break it: change a file of $lab_dir/host-sys, give the phone another address, ask with another --dir.

  $here down    takes it all away
TRY
}
