# SPDX-License-Identifier: Apache-2.0
"""The home door's record as devices hear it, through a real Avahi on a bus of the test's own (02 sections 7.3 and 11)."""

import json
import signal

import avahi_lab
import harness
import pytest
import sill_client as sill

SCENARIO = "doors"

# The lab's networks: who listens there by which address, and whether the home door's record is for them.
HOME, ANNEX = ("home", "192.168.1.23"), ("annex", "192.168.77.23")
NEARBY = ("nearby", "192.168.49.23")
OTHERS = [
    ("container", "172.17.0.2"), ("carrier", "10.170.1.1"), ("vpn", "10.99.0.7"), ("tailnet", "100.84.3.2"),
    ("cable", "169.254.1.2"),
]


@pytest.fixture
def host(lab, scratch):
    """A machine whose bus runs; its Avahi is started by the journey."""
    avahi_lab.require()
    if not harness.have_programs():
        pytest.skip(f"no latchkeyd in {harness.BIN}")
    there = avahi_lab.Host(lab, scratch)
    try:
        yield there.start_bus()
    finally:
        there.stop()


@pytest.fixture
def service(host):
    """A service that is announced."""
    host.start_avahi()
    service = host.service().start()
    service.until("on")
    return service


def recognition_key(service):
    """What a paired device knows the host by."""
    with service.lab.inside("host"):
        link = sill.parse_link(service.window(remote=False)["url"])
        answer = harness.judged(
            lambda: sill.pair_link(link, sill.Identity(), ("127.0.0.1", service.port("home"))))
    return sill.unb64u(answer["recognitionKey"])


def test_the_record_and_where_it_is_heard(host, service):
    key = recognition_key(service)
    for place in (HOME, ANNEX):
        row = host.device(*place).until()
        assert row["port"] == service.port("home")
        assert set(row["txt"]) == {"r", "p"} and row["txt"]["p"] == "1"
        assert sill.is_tag_of(row["txt"]["r"], key)
        assert not sill.is_tag_of(row["txt"]["r"], bytes(32))
        assert "192.168.1.20" in row["addresses"] or "192.168.77.20" in row["addresses"]
    others = [host.device(*place) for place in [*OTHERS, NEARBY]]
    # What is published on every network is heard on these too, and the home door's record was out long before it.
    host.publish("Marker")
    for device in others:
        device.until(name="Marker")
        assert not device.heard("added", "Desk"), device.namespace
    assert sill.b64u(key) not in service.log() and key.hex() not in service.log()


def test_a_device_finds_the_door_by_the_record(host, service):
    row = host.device(*HOME).until()
    with service.lab.inside("home"):
        address = next(text for text in row["addresses"] if text.startswith("192.168.1."))
        link = sill.parse_link(service.window(remote=False)["url"])
        identity = sill.Identity()
        assert harness.judged(lambda: sill.pair_link(link, identity, (address, row["port"])))["ok"]
        with sill.Session((address, row["port"]), identity, service.pin) as session:
            assert session.channel.peer_fingerprint == service.pin


def test_p_changes_in_place(host, service):
    device = host.device(*HOME)
    first = device.until()
    service.settings(requirePairing=False)
    assert device.until(lambda row: row["txt"]["p"] == "0")["txt"]["r"] == first["txt"]["r"]
    service.settings(requirePairing=True)
    # To somebody who comes now: python-zeroconf tells of no record that it had a moment ago.
    later = host.device(*HOME).until(lambda row: row["txt"]["p"] == "1")
    assert later["txt"]["r"] == first["txt"]["r"]
    assert not device.heard("removed") and len(device.heard("added")) == 1
    assert service.advertising == "on"


def test_the_setting_withdraws_and_announces_anew(host, service):
    # Avahi by itself says goodbye on one of the networks alone.
    devices = [host.device(*place) for place in (HOME, ANNEX)]
    first = [device.until() for device in devices]
    assert first[0]["txt"] == first[1]["txt"]
    service.settings(advertise=False)
    for device in devices:
        device.until_gone()
    assert service.advertising == "off"
    service.settings(advertise=True)
    old = first[0]["txt"]["r"]
    # A device may still hold the old texts for a moment: the record's end is told a second ahead.
    again = [device.until(lambda row: row["txt"]["r"] != old) for device in devices]
    assert again[0]["port"] == first[0]["port"]
    service.until("on")


def test_no_advertise(host):
    host.start_avahi()
    service = host.service(advertises=False).start()
    device = host.device(*HOME)
    service.settings(advertise=False)
    service.settings(advertise=True)
    host.publish("Marker")
    device.until(name="Marker")
    assert not device.heard("added", "Desk") and service.advertising == "off"
    assert "advertise" not in service.get("/v1/settings")["overridden"]


def test_withdrawn_when_the_service_ends(host, service):
    devices = [host.device(*place) for place in (HOME, ANNEX)]
    for device in devices:
        device.until()
    assert service.stop() == 0
    for device in devices:
        device.until_gone()
    service.start()
    for device in devices:
        device.until()


def test_a_door_at_one_address_killed(host):
    host.start_avahi()
    service = host.service("--home-listen", "192.168.1.20").start()
    service.until("on")
    device, elsewhere = host.device(*HOME), host.device(*ANNEX)
    device.until()
    host.publish("Marker")
    elsewhere.until(name="Marker")
    assert not elsewhere.heard("added", "Desk")
    # Nobody withdraws it but Avahi, which sees its client go.
    service.stop(signal.SIGKILL)
    device.until_gone()


def test_another_name(host):
    host.start_avahi()
    service = host.service(named=False).start()
    service.settings(name="Desk")
    device, elsewhere = host.device(*HOME), host.device(*ANNEX)
    first = device.until()
    elsewhere.until()
    # At most 63 bytes of whole characters, nothing that is not shown.
    long = "Ada\u0000\u202e's " + "é" * 40
    service.settings(name=long)
    row = device.until(name="Ada's " + "é" * 28)
    device.until_gone("Desk")
    elsewhere.until(name="Ada's " + "é" * 28)
    elsewhere.until_gone("Desk")
    assert row["txt"]["r"] != first["txt"]["r"]
    service.settings(name="a.b\\c: d")
    device.until(name="a.b\\c: d")
    assert service.advertising == "on"


def test_an_interface_that_comes_and_goes(host, service, lab):
    device = host.device(*HOME)
    first = device.until()
    lab.ip("host", "link add name br7 type bridge")
    lab.ip("host", "address add 192.168.70.1/24 dev br7")
    lab.ip("host", "link set br7 up")
    try:
        index = json.loads(lab.ip("host", "-json link show br7"))[0]["ifindex"]
        harness.eventually(
            lambda: [line for line in service.lines("advertised") if "br7" in line["interfaces"].split(",")])
        # Its registration takes another tag, which the others carry too, in place.
        second = device.until(lambda row: row["txt"]["r"] != first["txt"]["r"])
    finally:
        lab.ip("host", "link delete br7")
    harness.eventually(lambda: "br7" not in service.lines("advertised")[-1]["interfaces"].split(","))
    assert index and not device.heard("removed")
    assert device.row()["txt"] == second["txt"]


def test_another_identity_takes_another_tag(host, service):
    old = recognition_key(service)
    device = host.device(*HOME)
    assert sill.is_tag_of(device.until()["txt"]["r"], old)
    answer = service.api("POST", "/v1/identity/rotate", {"confirm": service.host_id})
    assert answer.status == 200, answer
    new = recognition_key(service)
    row = device.until(lambda row: sill.is_tag_of(row["txt"]["r"], new))
    assert new != old and not sill.is_tag_of(row["txt"]["r"], old)
    assert not device.heard("removed")


def test_direct_belongs_to_peer_to_peer_wifi(host, service):
    home, nearby = host.device(*HOME), host.device(*NEARBY)
    home.until()
    service.settings(direct=True)
    row = nearby.until()
    home.until(lambda heard: heard["txt"] == row["txt"])
    service.settings(direct=False)
    nearby.until_gone()
    assert not home.heard("removed")


def test_avahi_comes_late_goes_and_comes(host):
    service = host.service().start()
    device = host.device(*HOME)
    assert service.advertising == "unavailable"
    harness.eventually(lambda: service.lines("not advertised"))
    host.start_avahi()
    service.until("on")
    first = device.until()
    host.avahi.stop(signal.SIGKILL)
    service.until("unavailable")
    host.start_avahi()
    service.until("on")
    second = device.until(lambda row: row["txt"]["r"] != first["txt"]["r"])
    # A second restart leaves as little in the log as the first: one line, of level info.
    lines = service.lines("not advertised")
    assert len(lines) == 2 and {line["level"] for line in lines} == {"info"}
    assert sill.is_tag_of(second["txt"]["r"], recognition_key(service))


def test_the_bus_dies_and_comes_back(host, service):
    device = host.device(*HOME)
    first = device.until()
    host.bus.stop(signal.SIGKILL)
    host.avahi.stop(signal.SIGKILL)
    service.until("unavailable")
    host.start_bus()
    host.start_avahi()
    service.until("on")
    device.until(lambda row: row["txt"]["r"] != first["txt"]["r"])
    assert service.get("/v1/status")["doors"]["home"]["state"] == "open"


def test_no_bus_at_all(host):
    host.bus.stop()
    service = host.service().start()
    assert service.advertising == "unavailable"
    service.settings(advertise=False)
    assert service.advertising == "off"
    assert service.stop() == 0


def test_the_host_is_renamed(host, service):
    """While Avahi looks for another host name the record is away: it names the host."""
    device = host.device(*HOME)
    assert device.until()["server"] == "lab-host.local."
    done = service.lab.run("host", *host.command("avahi-set-host-name", "lab-other")[4:])
    assert done.returncode == 0
    device.until(lambda row: row["server"] == "lab-other.local.")
    service.until("on")


def test_a_name_taken_on_this_machine(host):
    host.start_avahi()
    host.publish("Desk")
    service = host.service().start()
    service.until("on")
    device = host.device(*HOME)
    row = device.until(name="Desk #2")
    assert row["port"] == service.port("home")
    assert device.until(name="Desk")["port"] == 9
    assert service.lines("advertised")[-1]["name"] == "Desk #2"
    # To people the host is called what it is called.
    assert service.get("/v1/status")["name"] == "Desk"


def test_a_name_taken_by_another_host(host):
    host.start_avahi()
    stranger = host.device(*HOME, "--publish", "Desk", "12345")
    service = host.service().start()
    service.until("on")
    row = stranger.until(name="Desk #2")
    assert row["port"] == service.port("home")
    # One name everywhere, also where nobody else has it.
    annex = host.device(*ANNEX)
    annex.until(name="Desk #2")
    assert not annex.heard("added", "Desk")


def test_avahi_may_not_publish(host):
    host.configure(publish="disable-user-service-publishing=yes")
    host.start_avahi()
    service = host.service().start()
    line = harness.eventually(lambda: service.lines("not advertised"))[0]
    assert line["level"] == "warning" and "ermitted" in line["problem"]
    assert service.advertising == "unavailable"
    # Allowed after all: found out by itself, and nothing more was said meanwhile.
    host.avahi.stop()
    host.configure()
    host.start_avahi()
    service.until("on")
    assert [found["level"] for found in service.lines("not advertised")].count("warning") == 1


def test_an_interface_avahi_leaves_out(host):
    host.configure(server="allow-interfaces=br0")
    host.start_avahi()
    service = host.service().start()
    service.until("on")
    host.device(*ANNEX).until()


def test_avahi_stands_still_while_the_service_ends(host, service):
    device = host.device(*HOME)
    device.until()
    host.avahi.send(signal.SIGSTOP)
    service.settings(requirePairing=False)
    assert service.stop() == 0
    host.avahi.send(signal.SIGCONT)
    device.until_gone()


def test_avahi_stands_still_for_a_while(host, service):
    device = host.device(*HOME)
    device.until()
    host.avahi.send(signal.SIGSTOP)
    service.settings(requirePairing=False)
    service.until("unavailable")
    host.avahi.send(signal.SIGCONT)
    device.until(lambda row: row["txt"]["p"] == "0")
    service.until("on")
