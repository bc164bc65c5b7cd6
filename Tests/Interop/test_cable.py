# SPDX-License-Identifier: Apache-2.0
"""The USB cable (04): a virtual link in namespaces of their own, and a tree bound over /sys that makes it one."""

import json
import os
import subprocess
import sys
import threading

import harness
import lab as labs
import pytest
import sill_client as sill

sys.path.insert(0, str(harness.ROOT / "Scripts" / "lib" / "lab"))
import sysfs  # noqa: E402

SCENARIO = "cable"
HOST, PHONE = "fe80::20%usb0", "fe80::23%usb0"
SERIAL, DEVICE = "00008110001A2B3C4D5E6F70", "9thvTr8MQMHWVzL83q51yQ"


def beneath(tree, *command):
    """The command with the tree in the place of /sys; for a mount namespace of its own. Nor is there a system bus: the
    desktop that somebody uses this machine by has no say here."""
    script = 'mount --bind "$0" /sys && { [ ! -d /run/dbus ] || mount -t tmpfs none /run/dbus; } && exec "$@"'
    return ["sh", "-c", script, str(tree.root), *map(str, command)]


class CableService(labs.LabService):
    """The service in the lab's host, with a tree over its /sys."""

    tree = None

    def command(self, *more):
        return self.lab.command(self.namespace, *beneath(self.tree, *harness.Service.command(self, *more)))

    def reasons(self):
        """Why connections were not the cable, as the debug log has it."""
        lines = [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]
        return [line["why"] for line in lines if line.get("message") == "not the cable"]


@pytest.fixture(scope="module")
def host(lab, lab_backend):
    if not harness.have_programs():
        pytest.skip(f"no latchkeyd in {harness.BIN}")
    with harness.scratch() as directory:
        service = CableService(lab, "host", directory, backend=lab_backend.address)
        service.tree = sysfs.Tree(f"{directory}/sys").reset()
        try:
            yield service.start()
        finally:
            service.stop()


@pytest.fixture
def tree(host):
    """Tree C, an unlocked desktop, an empty list, and nobody held back."""
    host.tree.reset()
    for device in host.devices():
        host.api("DELETE", f"/v1/devices/{device}")
    free(host)
    host.settings(requirePairing=True)
    assert host.api("PUT", "/v1/lock", {"locked": False}).json == {"locked": False}
    # The kernel's own entry, however the test before left it.
    host.lab.run("host", "ip", "neigh", "flush", "dev", "usb0", check=False)
    return host.tree


def ask(host, identity=None, claimed=True, at=HOST, source=None, namespace="phone"):
    """One ask at the home door; the answer. A host that has no fresh secrets yet for the next window is asked again."""
    identity = identity or sill.Identity()
    extra = {"cable": True} if claimed else {}

    def once():
        with host.lab.inside(namespace):
            channel = sill.Channel((at, host.port("home")), identity, alpn=(sill.PAIRING,), source=source)
        with channel:
            return sill.exchange(channel, sill.pair_request("ask", "", **extra))

    return harness.judged(once)


def free(host):
    """Nobody is held back, and no window stands open."""
    host.api("DELETE", "/v1/pairing/window")
    host.api("DELETE", "/v1/lockouts")


def pair(host, identity=None):
    """An ask that must pair. The rule has 250 ms by the clock, which a busy machine may use up: then it is asked again."""
    for _ in range(5):
        answer, why = verdict(host, lambda: ask(host, identity))
        if why != "unreadable":
            break
        free(host)
    assert answer["ok"] is True, answer
    return answer


def session(host, identity, at=HOST):
    with host.lab.inside("phone"):
        return sill.Session((at, host.port("home")), identity, host.pin)


def verdict(host, act):
    """What `act` returns, and why its connection was not the cable (None: it was, or nobody looked)."""
    before = len(host.reasons())
    result = act()
    # Lines are written in order: whatever was said comes before this one.
    mark = f"{os.urandom(4).hex()}.example"
    host.settings(addressName=mark)
    harness.eventually(lambda: mark in host.log())
    after = host.reasons()[before:]
    return result, after[0] if after else None


def pairings(host):
    """The audit rows about pairing."""
    return [row for row in host.get("/v1/audit?limit=1000")["items"] if "pair" in row["action"]]


def test_an_ask_over_the_cable_pairs_at_once(host, tree):
    identity = sill.Identity()
    answer = pair(host, identity)
    assert answer["method"] == "cable" and "proof" not in answer
    assert answer["macID"] == host.host_id and len(sill.unb64u(answer["recognitionKey"])) == 32
    device = host.devices()[identity.id]
    assert device["pairedHow"] == "cable" and device["cableBound"] is True
    assert host.get("/v1/status")["window"]["open"] is False
    # The same key again: the same ok, and nothing new.
    before = pairings(host)
    again = pair(host, identity)
    assert again["recognitionKey"] == answer["recognitionKey"]
    assert list(host.devices()) == [identity.id] and pairings(host) == before


def test_a_session_over_the_cable(host, tree):
    identity = sill.Identity()
    pair(host, identity)
    for _ in range(5):
        with session(host, identity):
            [item] = host.sessions()
        harness.eventually(lambda: not host.sessions())
        # As in `pair`.
        if item["cable"]:
            break
    assert item["cable"] is True and item["route"] == "over the USB cable"


def test_a_session_teaches_whose_cable_it_is(host, tree):
    identity = host.pair_device()
    assert host.devices()[identity.id]["cableBound"] is False
    tree.write(f"{tree.usb}/product", "Mac")
    with session(host, identity):
        assert host.sessions()[0]["cable"] is False
    assert host.devices()[identity.id]["cableBound"] is False
    tree.reset()
    for _ in range(5):
        with session(host, identity):
            if host.sessions()[0]["cable"]:
                harness.eventually(lambda: host.devices()[identity.id]["cableBound"])
                break
    assert host.devices()[identity.id]["cableBound"] is True
    # Another key on the same phone now needs the code.
    assert ask(host)["reason"] == "shown"


def test_one_key_per_device(host, tree):
    first, second = sill.Identity(), sill.Identity()
    pair(host, first)
    assert ask(host, second)["reason"] == "shown"
    assert list(host.devices()) == [first.id]
    free(host)
    # Another phone in the same port.
    tree.write(f"{tree.usb}/serial", "00008101000C11E2D3F4A5B6")
    pair(host, second)
    assert set(host.devices()) == {first.id, second.id}
    # The first phone again; with its key removed it is free.
    tree.reset()
    assert ask(host, sill.Identity())["reason"] == "shown"
    host.api("DELETE", f"/v1/devices/{first.id}")
    pair(host)


def test_without_the_claim_it_is_a_plain_ask(host, tree):
    answer, why = verdict(host, lambda: ask(host, claimed=False))
    assert answer["reason"] == "shown" and why is None and not host.devices()


def test_a_locked_host_answers_locked(host, tree):
    host.api("PUT", "/v1/lock", {"locked": True})
    assert ask(host)["reason"] == "locked"
    assert not host.devices() and host.get("/v1/status")["window"]["open"] is False
    host.api("PUT", "/v1/lock", {"locked": False})
    pair(host)


def test_pairing_over_the_cable_withdraws_the_window_the_ask_opened(host, tree):
    identity = sill.Identity()
    assert ask(host, identity, claimed=False)["reason"] == "shown"
    pair(host, identity)
    assert host.get("/v1/status")["window"]["open"] is False
    assert host.api("GET", "/v1/pairing/window").json["last"]["outcome"] == "withdrawn"


def by_mkfifo(tree):
    tree.remove(f"{tree.usb}/serial")
    os.mkfifo(tree.root / tree.usb / "serial")


# What is changed, and why it is the cable no more.
NOT_THE_CABLE = [
    ("ipheth", lambda t: (t.drive("ipheth"), t.write(f"{t.function}/bInterfaceClass", "ff")), "personalHotspot"),
    ("an iPod", lambda t: t.write(f"{t.usb}/product", "iPod"), "wrongProduct"),
    ("a second computer", lambda t: (t.write(f"{t.usb}/product", "Mac"), t.write(f"{t.usb}/idProduct", "1905")),
     "wrongProduct"),
    ("another vendor", lambda t: t.write(f"{t.usb}/idVendor", "18d1"), "wrongVendor"),
    ("a gadget on an emulated host", lambda t: t.reset(bus="platform/dummy_hcd.0/usb5/5-1"), "virtualBus"),
    ("a phone over the network", lambda t: t.reset(bus="platform/vhci_hcd.0/usb5/5-1"), "virtualBus"),
    ("another driver", lambda t: t.drive("cdc_ether"), "wrongDriver"),
    ("another function", lambda t: t.write(f"{t.function}/bInterfaceSubClass", "06"), "wrongFunction"),
    ("another interface of that name", lambda t: t.write(f"{t.interface}/ifindex", "10"), "indexChanged"),
    ("a bridge on it", lambda t: t.link(f"{t.interface}/master", "bus/usb"), "stacked"),
    ("no serial", lambda t: t.remove(f"{t.usb}/serial"), "noSerial"),
    ("not authorized", lambda t: t.write(f"{t.usb}/authorized", "0"), "unauthorized"),
    ("a virtual link", lambda t: t.remove(f"{t.interface}/device"), "notUSB"),
    ("unplugged", lambda t: t.remove("devices"), "unreadable"),
    ("nothing in /sys", lambda t: [t.remove(name) for name in ("class", "devices", "bus")], "unreadable"),
    ("a FIFO in a file's place", by_mkfifo, "unreadable"),
]


@pytest.mark.parametrize("what, change, reason", NOT_THE_CABLE, ids=[row[0] for row in NOT_THE_CABLE])
def test_what_is_not_the_cable_is_a_plain_ask(host, tree, what, change, reason):
    change(tree)
    for _ in range(5):
        answer, why = verdict(host, lambda: ask(host))
        # As in `pair`.
        if why != "unreadable" or reason == "unreadable":
            break
        free(host)
    assert answer["reason"] == "shown" and why == reason
    assert not host.devices()
    # And a person who types the code pairs as always.
    assert host.get("/v1/pairing/window")["openedBy"] == "device"


def test_the_host_itself_is_not_the_cable(host, tree):
    answer, why = verdict(host, lambda: ask(host, namespace="host"))
    assert answer["reason"] == "openOnMac" and why == "ownAddress"


def test_ipv4_is_never_the_cable(host, tree):
    answer, why = verdict(host, lambda: ask(host, at="169.254.172.122"))
    # Nobody even looks.
    assert answer["reason"] == "shown" and why is None and not host.devices()


def test_an_address_pinned_by_hand_is_not_the_cable(host, tree):
    host.lab.ip("host", "neigh replace fe80::23 lladdr 3a:00:00:00:00:01 dev usb0 nud permanent")
    try:
        answer, why = verdict(host, lambda: ask(host))
    finally:
        host.lab.ip("host", "neigh del fe80::23 dev usb0")
    assert answer["reason"] == "shown" and why == "neighbour"


def test_pulling_the_plug_while_it_asks(host, tree):
    """The tree goes and comes all the time: whatever an ask meets, it is the cable as a whole or not at all."""
    stop = threading.Event()

    def pull():
        here, away = tree.root / "devices", tree.root / "away"
        while not stop.is_set():
            here.rename(away)
            away.rename(here)

    puller = threading.Thread(target=pull)
    puller.start()
    try:
        for _ in range(25):
            identity = sill.Identity()
            answer = ask(host, identity)
            assert answer["ok"] is True or answer["reason"] == "shown"
            assert answer["ok"] is (identity.id in host.devices())
            free(host)
            if answer["ok"]:
                host.api("DELETE", f"/v1/devices/{identity.id}")
    finally:
        stop.set()
        puller.join()
    assert host.process.poll() is None
    tree.reset()
    pair(host)


# -- the programs


def print_cable(host, *options):
    return host.lab.run("host", *beneath(host.tree, harness.BIN / "latchkey", "print-cable", *options), check=False)


def test_print_cable(host, tree):
    ask(host, claimed=False)
    done = print_cable(host, "--json")
    assert done.returncode == 0 and done.stderr == ""
    items = {item["interface"]: item for item in json.loads(done.stdout)}
    assert items["usb0"] == {
        "interface": "usb0", "index": 9, "driver": "cdc_ncm", "vendor": "05ac", "productID": "12a8", "product": "iPhone",
        "cable": True, "reason": None, "linkLocal": True, "neighbours": 1, "plug": "3:17/9"}
    assert items["lo"]["cable"] is False and items["lo"]["reason"] == "unreadable"
    table = print_cable(host).stdout.splitlines()
    assert table[0].split() == ["INTERFACE", "DRIVER", "PRODUCT", "CABLE", "WHY"]
    assert next(line for line in table if line.startswith("usb0")).split() == ["usb0", "cdc_ncm", "iPhone", "yes"]
    tree.write(f"{tree.usb}/product", "Mac")
    done = print_cable(host)
    assert done.returncode == 1 and "Mac" in done.stdout and "wrongProduct" in done.stdout


def test_print_cable_names_a_missing_link_local_address(host, tree):
    host.lab.ip("host", "addr del fe80::20/64 dev usb0")
    left = host.lab.ip("host", "-6 -o addr show dev usb0 scope link").split()
    others = [word for word in left if word.startswith("fe80")]
    for address in others:
        host.lab.ip("host", f"addr del {address} dev usb0")
    try:
        done = print_cable(host)
        assert done.returncode == 0
        assert "yes    but no IPv6 link-local address: enable IPv6 on it" in done.stdout
    finally:
        for address in ["fe80::20/64", *others]:
            host.lab.ip("host", f"addr add {address} dev usb0")


def device_tool(host, directory, *options):
    phone = sysfs.Tree(f"{directory}/phone-sys").reset()
    line = [harness.BIN / "latchkey-device", "--dir", f"{directory}/device", "ask", *options, "--json", "--host",
            f"[{HOST}]:{host.port('home')}"]
    return host.lab.run("phone", *beneath(phone, *line), check=False)


def test_the_device_tool_pairs_over_the_cable(host, tree, scratch):
    done = device_tool(host, scratch, "--cable")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["ok"] is True and answer["method"] == "cable" and answer["claimed"] is True
    assert answer["hostID"] == host.host_id and host.devices()[answer["deviceID"]]["pairedHow"] == "cable"
    # A session, by the same address.
    line = [harness.BIN / "latchkey-device", "--dir", f"{scratch}/device", "connect", host.host_id, "--door", "home",
            "--host", f"[{HOST}]:{host.port('home')}", "--seconds", "1", "--json"]
    done = host.lab.run("phone", *line, check=False)
    assert done.returncode == 0 and json.loads(done.stdout)["hostInfo"] == "verified", done.stderr


def test_the_device_tool_does_not_claim_a_network_that_it_shares(host, tree, scratch):
    host.lab.ip("phone", "addr add 172.20.10.4/28 dev usb0")
    try:
        done = device_tool(host, scratch, "--cable")
    finally:
        host.lab.ip("phone", "addr del 172.20.10.4/28 dev usb0")
    answer = json.loads(done.stdout)
    assert done.returncode == 1 and answer["reason"] == "shown"
    assert answer["claimed"] is False and answer["notClaimed"] == "routable"
    assert "not claimed as the cable" in done.stderr and not host.devices()


def test_the_device_tool_claims_nothing_unasked(host, tree, scratch):
    done = device_tool(host, scratch)
    assert done.returncode == 1 and json.loads(done.stdout)["reason"] == "shown"
    assert "claimed" not in done.stdout and not host.devices()


# -- what is kept and what is said


def test_no_serial_and_no_device_leaves(host, tree):
    """After all of the above, and a pairing, a session and every list on top."""
    identity = sill.Identity()
    pair(host, identity)
    with session(host, identity) as one:
        one.follow(0.5)
        said = [host.api("GET", path).body.decode() for path in (
            "/metrics", "/v1/audit?limit=1000", "/v1/status", "/v1/sessions", "/v1/devices", "/v1/settings", "/healthz",
            f"/v1/devices/{identity.id}", "/v1/pairing/window")]
    said += [print_cable(host).stdout, print_cable(host, "--json").stdout]
    events = subprocess.run(
        [str(harness.BIN / "latchkey"), "--socket", str(host.runtime / "api.sock"), "events", "--json"],
        capture_output=True, text=True, timeout=60)
    said += [events.stdout, events.stderr, host.log()]
    everything = "\n".join(said)
    assert identity.id in everything and "3:17/9" in host.log()
    assert SERIAL not in everything and DEVICE not in everything
    # The list keeps whose cable it is; the serial itself is in no page of it.
    pages = b"".join(path.read_bytes() for path in host.state.glob("latchkey.db*"))
    assert SERIAL.encode() not in pages and DEVICE.encode() in pages
