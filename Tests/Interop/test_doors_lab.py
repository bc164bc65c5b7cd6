# SPDX-License-Identifier: Apache-2.0
"""The doors in a network of their own: who may come by which interface, and what they are told (03 sections 3 to 7)."""

import collections
import contextlib
import itertools
import json

import door_oracle as oracle
import harness
import lab_devices as devices
import pytest
import sill_client as sill

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
            assert item["route"] == {
                ("home", "loopback"): "on this host", ("home", "direct"): "directly",
                ("home", "lan"): "on this network", ("remote", "lan"): "by address",
                ("remote", "loopback"): "by address",
                ("remote", "vpn"): "through Tailscale" if namespace == "tailnet" else item["route"],
            }[door, origin]


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

