# SPDX-License-Identifier: Apache-2.0
"""The doors in a network of their own: who may come by which interface, and what they are told (03 sections 3 to 7)."""

import collections
import contextlib
import itertools
import json
import pathlib
import sys

import door_oracle as oracle
import harness
import lab_devices as devices
import pytest
import sill_client as sill
from OpenSSL import SSL

SCENARIO = "doors"
HERE = pathlib.Path(__file__).parent

# 03 section 3.5 on real links: namespace, source, the host's address it dials, origin.
WORKED = [
    ("host", "127.0.0.1", "127.0.0.1", "loopback"),
    ("host", "::1", "::1", "loopback"),
    ("nearby", "fe80::23%awdl0", "fe80::20%awdl0", "direct"),
    ("nearby", "192.168.49.23", "192.168.49.1", "direct"),
    ("tailnet", "100.84.3.2", "100.88.123.45", "vpn"),
    ("tailnet", "fd7a:115c:a1e0::77", "fd7a:115c:a1e0::abcd:ef01", "vpn"),
    ("home", "192.168.1.23", "192.168.1.20", "lan"),
    ("office", "10.1.2.3", "192.168.1.20", "lan"),
    ("office", "172.31.255.1", "192.168.1.20", "lan"),
    ("internet", "172.15.0.1", "192.168.1.20", "internet"),
    ("internet", "203.0.113.9", "192.168.1.20", "internet"),
    ("internet", "198.51.100.4", "192.168.1.20", "internet"),
    ("internet", "100.72.1.1", "192.168.1.20", "internet"),
    ("annex", "203.0.113.50", "203.0.113.20", "lan"),
    ("annex", "100.72.1.1", "100.72.0.20", "lan"),
    ("home", "fd4e:4f6b:37dc:4a0f::99", "fd4e:4f6b:37dc:4a0f::20", "lan"),
    ("home", "2001:db8:1::99", "2001:db8:1::20", "lan"),
    ("internet", "2001:db8:2::77", "2001:db8:1::20", "internet"),
    ("cable", "169.254.1.2", "169.254.172.122", "lan"),
    ("cable", "fe80::23%usb0", "fe80::20%usb0", "lan"),
    ("vpn", "10.99.0.7", "10.99.0.2", "vpn"),
    ("container", "172.17.0.2", "172.17.0.1", "lan"),
    ("carrier", "10.170.1.1", "10.170.1.2", "internet"),
    # The kernel takes a packet for any of its addresses on any interface: where it came in is what counts.
    ("vpn", "10.99.0.7", "192.168.1.20", "vpn"),
    # The same peer address behind three interfaces.
    ("vpn", "192.168.1.23", "10.99.0.2", "vpn"),
    ("annex", "192.168.1.23", "192.168.77.20", "lan"),
    ("tenant", "192.168.88.23", "192.168.88.20", "lan"),
]

# 03 section 3.7. Whether wg0 is known to be WireGuard depends on what this kernel could make.
ROUTES = {
    ("home", "loopback"): ["on this host"], ("home", "direct"): ["directly"], ("home", "lan"): ["on this network"],
    ("remote", "lan"): ["by address"], ("remote", "loopback"): ["by address"],
    ("remote", "vpn"): ["through Tailscale", "through WireGuard", "through your VPN"],
}


@pytest.fixture(scope="module")
def keys(lab_service):
    """An identity for each word of the oracle's."""
    made = {"none": None, "unpaired": sill.Identity(), "paired": sill.Identity(), "removed": sill.Identity()}
    for word in ("paired", "removed"):
        lab_service.pair_device(made[word], source=f"127.0.8.{len(word)}")
    assert lab_service.api("DELETE", f"/v1/devices/{made['removed'].id}").status == 200
    return made


@pytest.mark.parametrize("namespace, source, local, origin", WORKED)
def test_worked_origins(lab, lab_service, keys, namespace, source, local, origin):
    """Through both doors; the session says where it comes from and by which way."""
    if not lab.has(namespace):
        pytest.skip("this kernel has no VRF links")
    switches = oracle.Switches(remote_access=True)
    devices.arrange(lab_service, switches)
    for door in oracle.DOORS:
        expected = oracle.answer(door, origin, "sill/1", "paired", switches).what
        with lab.inside(namespace):
            try:
                session = sill.Session(
                    (local, lab_service.port(door)), keys["paired"], lab_service.pin, source=source)
            except (sill.Closed, ConnectionResetError):
                assert expected == "closed", door
                continue
        with session:
            assert expected == "session", door
            item = next(
                s for s in lab_service.sessions() if s["door"] == door and s["remote"].endswith(
                    f":{session.channel.local[1]}"))
            assert item["origin"] == origin
            assert item["away"] == (door == "remote" and origin in ("vpn", "internet"))
            assert item["route"] in ROUTES[door, origin]
            assert namespace != "tailnet" or item["route"] == "through Tailscale"


# ------------------------------------------------------------------------------------------------- the whole table

CELLS = list(itertools.product(oracle.PROTOCOLS, oracle.KEYS))


def test_every_answer_through_the_doors(lab, lab_service, keys):
    """Every origin, door, switch, key and protocol by a connection of its own, and the refusals counted with it."""
    pin = lab_service.pin
    served = 0
    for switches in oracle.all_switches():
        devices.arrange(lab_service, switches)
        before, expected_counts = devices.refusals(lab_service), collections.Counter()
        for door, origin in itertools.product(oracle.DOORS, oracle.ORIGINS):
            if door == "remote" and not switches.remote_listens:
                with pytest.raises(ConnectionRefusedError):
                    with lab.inside(devices.PLACES[origin].namespace):
                        sill.Channel((devices.PLACES[origin].local, devices.REMOTE_PORT), None)
                continue
            for number, (protocol, key) in enumerate(CELLS):
                expected = oracle.answer(door, origin, protocol, key, switches)
                what, detail = devices.dial(
                    lab, lab_service, origin, door, protocol, keys[key], number // devices.TRIES_OF_A_SOURCE,
                    pin)
                cell = f"{door} {origin} {protocol or 'no protocol'} {key} {switches}: {what} {detail}"
                assert what == expected.what, cell
                if what == "alert":
                    assert detail in oracle.alerts(protocol, key), cell
                elif what == "goodbye":
                    assert detail == expected.reason, cell
                elif what == "pairing":
                    assert detail == "closed", cell
                elif what == "session" and door == "remote":
                    # Eight at most (03 section 7.4): those that are over have to be gone.
                    served += 1
                    if served % 4 == 0:
                        harness.eventually(lambda: lab_service.get("/v1/status")["sessions"] == 0)
                if what in ("closed", "alert") and expected.counted:
                    expected_counts[door, expected.reason] += 1
        assert devices.refusals_since(lab_service, before) == dict(expected_counts), switches


def test_every_answer_to_a_streaming_process(lab_service, keys):
    """The same table asked through the API with the same facts."""
    names = {"session": "session", "pairing": "pairing", "goodbye": "goodbye", "closed": "refuse", "alert": "refuse"}
    connection = harness.UnixHTTP(str(lab_service.runtime / "api.sock"))
    ports = itertools.count()

    def ask(door, origin, number, **more):
        place = devices.PLACES[origin]
        question = json.dumps({
            "door": door, "remote": f"{place.source(number)}:{1024 + next(ports) % 60000}",
            "local": f"{place.local}:7455", "interface": place.interface, **more})
        connection.request("POST", "/v1/admissions", question, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 200
        return json.loads(answer.read())

    with contextlib.closing(connection):
        for switches in oracle.all_switches():
            devices.arrange(lab_service, switches)
            before, expected_counts = devices.refusals(lab_service), collections.Counter()
            for door, origin in itertools.product(oracle.DOORS, oracle.ORIGINS):
                for number, (protocol, key) in enumerate(CELLS):
                    expected = oracle.answer(door, origin, protocol, key, switches)
                    fingerprint = sill.b64u(keys[key].fingerprint) if keys[key] else ""
                    answer = ask(
                        door, origin, number // devices.TRIES_OF_A_SOURCE, alpn=protocol, fingerprint=fingerprint)
                    cell = f"{door} {origin} {protocol or 'no protocol'} {key} {switches}: {answer}"
                    assert answer["decision"] == names[expected.what], cell
                    assert answer["origin"] == origin and answer["cable"] is False, cell
                    if answer["decision"] == "goodbye":
                        assert answer["goodbye"] == {"reason": expected.reason}, cell
                    if answer["decision"] == "refuse":
                        assert answer["reason"] == expected.reason, cell
                        if expected.counted:
                            expected_counts[door, expected.reason] += 1
                    known = answer["device"] and answer["device"]["id"]
                    is_named = key == "paired" and expected.what != "closed"
                    assert known == (keys["paired"].id if is_named else None), cell
            assert devices.refusals_since(lab_service, before) == dict(expected_counts), switches


def test_direct_off_counts_nothing(lab, lab_service, keys):
    """03 section 1 and 7.5: peer-to-peer Wi-Fi is the home door's while Direct is on; off is no reason to lock out."""
    pin = lab_service.pin
    for direct in (False, True):
        switches = oracle.Switches(require_pairing=False, remote_access=True, window="remote", direct=direct)
        devices.arrange(lab_service, switches)
        before, expected_counts = devices.refusals(lab_service), collections.Counter()
        for protocol, key in CELLS:
            expected = oracle.answer("home", "direct", protocol, key, switches)
            # One source for all when nothing is to be counted: 16 refusals would be a backoff.
            number = CELLS.index((protocol, key)) // devices.TRIES_OF_A_SOURCE if direct else 20
            what, detail = devices.dial(
                lab, lab_service, "direct", "home", protocol, keys[key], number, pin)
            assert what == expected.what, (direct, protocol, key, detail)
            if what == "alert":
                expected_counts["home", "unpaired"] += 1
        assert devices.refusals_since(lab_service, before) == dict(expected_counts)
    # The source that was closed sixteen times is served at once.
    what, _ = devices.dial(lab, lab_service, "direct", "home", "sill/1", keys["paired"], 20, pin)
    assert what == "session"


def test_direct_off_has_its_reason_in_the_api(lab_service, keys):
    devices.arrange(lab_service, oracle.Switches(remote_access=True, direct=False))
    question = {
        "remote": "[fe80::23%awdl0]:50122", "local": "[fe80::20%awdl0]:7400", "alpn": "sill/1",
        "fingerprint": sill.b64u(keys["paired"].fingerprint)}
    for door, reason in (("home", "direct"), ("remote", "internet")):
        answer = lab_service.api("POST", "/v1/admissions", question | {"door": door}).json
        assert (answer["decision"], answer["reason"], answer["origin"]) == ("refuse", reason, "direct")


# ------------------------------------------------------------------------------------------- interfaces come and go


def only_session(service):
    return harness.eventually(service.sessions)[0]


def test_an_interface_that_just_came_up(lab, lab_service, keys):
    """Its first connection is judged by it, however soon it comes (09 point 34)."""
    devices.arrange(lab_service, oracle.Switches(remote_access=True))
    pin, host = lab_service.pin, f"{lab.name}-host"
    for number in range(12):
        name, network = f"wg{number + 1}", f"10.98.{number}"
        # All in one process, the host's end last: nothing but the kernel is between it and the connection.
        lab.run("vpn", "ip", "-batch", "-", input=(
            f"link add {name} type veth peer name {name} netns {host}\n"
            f"address add {network}.7/24 dev {name}\nlink set {name} up\n"))
        lab.run("host", "ip", "-batch", "-", input=(
            f"address add {network}.1/24 dev {name}\nlink set {name} up\n"))
        for door in oracle.DOORS:
            with lab.inside("vpn"):
                try:
                    session = sill.Session((f"{network}.1", lab_service.port(door)), keys["paired"], pin)
                except (sill.Closed, ConnectionResetError):
                    assert door == "home"
                    continue
            with session:
                assert door == "remote" and only_session(lab_service)["origin"] == "vpn"
            harness.eventually(lambda: not lab_service.sessions())
        lab.ip("host", f"link delete {name}")


@pytest.mark.parametrize("name, network, door, origin", [
    ("ext0", "198.18.5", "home", "lan"), ("wg8", "198.18.6", "remote", "vpn"),
])
def test_an_interface_that_vanishes_in_a_handshake(lab, lab_service, keys, name, network, door, origin):
    """A connection's origin is found once, before it starts: when its packets take another way it is what it was.

    The next connection from the same source comes that other way, and is judged by it: as one from the internet.
    """
    devices.arrange(lab_service, oracle.Switches(remote_access=True))

    def held():
        page = lab_service.api("GET", "/metrics").body.decode()
        return int(page.split("\nlatchkey_connections ")[1].split()[0])

    harness.eventually(lambda: held() == 0)
    lab.run("home", "ip", "-batch", "-", input=(
        f"link add {name} type veth peer name {name} netns {lab.name}-host\n"
        f"link set {name} up\naddress add {network}.23/24 dev {name}\naddress add {network}.23/32 dev lo\n"
        f"rule add from {network}.23 lookup 200\n"))
    lab.run("host", "ip", "-batch", "-", input=(
        f"link set {name} up\naddress add {network}.1/24 dev {name}\n"
        f"route add {network}.23/32 dev {name} metric 10 table 101\n"
        f"route add {network}.23/32 via 192.168.1.23 metric 20 table 101\n"))
    lab.ip("home", f"route add 192.168.1.20 via {network}.1 dev {name} table 200")
    address = "192.168.1.20", lab_service.port(door)
    try:
        with lab.inside("home"):
            channel = sill.Channel(
                address, keys["paired"], pin=lab_service.pin, source=f"{network}.23", handshake=False)
        with channel:
            harness.eventually(lambda: held() == 1)
            with pytest.raises(SSL.WantReadError):
                channel.tls.do_handshake()
            hello = channel.tls.bio_read(65536)
            channel.socket.send(hello[:100])
            lab.ip("host", f"link delete {name}")
            channel.socket.send(hello[100:])
            channel.handshake()
            assert channel.read_message()[0] == 2
            assert only_session(lab_service)["origin"] == origin
        with lab.inside("home"):
            with pytest.raises((sill.Closed, ConnectionResetError)):
                sill.Channel(address, keys["paired"], source=f"{network}.23")
    finally:
        lab.ip("home", f"rule delete from {network}.23 lookup 200")
        lab.ip("home", f"address delete {network}.23/32 dev lo")
        lab.ip("host", f"route delete {network}.23/32 via 192.168.1.23 table 101")


@pytest.mark.parametrize("protocol, most", [("sill/1", 60_000), ("sill-pair/1", 30_000)])
def test_answers_of_tls_itself_are_bounded(lab, lab_service, keys, scratch, protocol, most):
    """A device that asks for new keys without end and reads nothing is not read without end: 27 bytes each wait for it."""
    pem = pathlib.Path(scratch) / "device.pem"
    pem.write_bytes(keys["paired"].pem())
    small = {"net.ipv4.tcp_rmem": "4096 65536 131072", "net.ipv4.tcp_wmem": "4096 16384 65536"}
    before = {name: lab.run("host", "sysctl", "-n", name).stdout.strip() for name in small}
    try:
        for name, value in small.items():
            lab.run("host", "sysctl", "-qw", f"{name}={value}")
        # 192.168.1.20 is the host, as for the others.
        done = lab.run(
            "home", sys.executable, HERE / "key_updates.py", "192.168.1.20", lab_service.port("home"), pem, protocol,
            2 * most)
    finally:
        for name, value in before.items():
            lab.run("host", "sysctl", "-qw", f"{name}={value}")
    assert 100 < int(done.stdout) < most
