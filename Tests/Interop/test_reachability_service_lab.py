# SPDX-License-Identifier: Apache-2.0
"""The running service in networks of every kind (05 B8 to B13): one report by every way, port mapping and pinholes on
real routers and played ones, and where its packets go."""

import contextlib
import json
import signal
import struct

import capture
import harness
import pytest
import reachability_table as table
import router_lab
import sill_client as sill
from router_lab import GATEWAY, LAN, NEIGHBOUR, igd

MAPPING = "/v1/reachability/port-mapping"
QUIET = {"stunServer": "", "addressName": "", "permanentMappings": False, "ipv6Pinhole": False, "portMapping": "off"}


# A router that misses one question on a busy machine is asked again after a minute.
AGAIN = 100


class Hosts:
    """A service on the host of each scenario that is asked for, started once."""

    def __init__(self, places, backend):
        self.places, self.backend, self.made, self.ends = places, backend, {}, contextlib.ExitStack()

    def __getitem__(self, at):
        if at not in self.made:
            directory = self.ends.enter_context(harness.scratch())
            service = self.places[at].service(
                directory, backend=self.backend, remote_port=None, namespace="host1" if at == "street" else "host")
            self.ends.callback(service.stop)
            self.made[at] = service.start()
        return self.made[at]


@pytest.fixture(scope="module")
def hosts(places, lab_backend):
    if not harness.have_programs():
        pytest.skip(f"no latchkeyd in {harness.BIN}")
    made = Hosts(places, lab_backend.address)
    with made.ends:
        yield made


@pytest.fixture
def service(hosts, at):
    """It, with both switches on and everything else as it comes."""
    service = hosts[at]
    if service.process.poll() is not None:
        service.start()
    service.settings(remoteAccess=True, internetAccess=True, **QUIET)
    yield service
    if service.process.poll() is None:
        service.settings(**QUIET)


def fresh(service):
    return service.get("/v1/reachability?refresh=true")


@contextlib.contextmanager
def playing(service, behaviour):
    """The router of the street's first house plays this, and the service has heard it: a question that was under way when
    it came up may still end in silence."""
    with router_lab.Scripted(service.lab, "router1", behaviour) as router:
        harness.eventually(lambda: fresh(service)["router"]["code"].startswith("public"), harness.START_LIMIT)
        yield router


def told(service, *arguments):
    """`latchkey …` to the running service: (exit code, what it printed)."""
    done = service.lab.run(
        service.namespace, harness.BIN / "latchkey", "--socket", service.runtime / "api.sock", *arguments, check=False)
    return done.returncode, done.stdout + done.stderr


def lasting(report):
    """What does not change from one moment to the next: ages do, and the end of a mapping that is told in seconds."""
    kept = {key: value for key, value in report.items() if key not in ("at", "tookMs", "facts")}
    mapping = {key: value for key, value in report["router"]["mapping"].items() if key != "expiresAt"}
    return kept | {"router": report["router"] | {"mapping": mapping}}


# ---------------------------------------------------------------------------------------------------- one report


@pytest.mark.parametrize("at", ["router-mapped", "router-elsewhere", "ipv6", "tailnet", "carrier-nat"])
def test_every_way_tells_the_same(service, at):
    expected = table.SCENARIOS[at]
    report = fresh(service)
    assert report["router"]["code"] == expected.code
    assert (report["verdict"], report["severity"]) == (expected.verdict, expected.severity)
    assert report["listener"] == {"state": "open", "port": 7455}
    assert [item["host"] for item in report["addresses"]] == [host for host, _, _ in expected.addresses]
    assert "serviceNotRunning" not in report["notes"]
    # Without `refresh` it is the last one, at once.
    assert lasting(service.get("/v1/reachability")) == lasting(report)
    status, text = told(service, "reachability", "--json", "--check")
    assert status == table.EXIT[expected.severity]
    assert lasting(json.loads(text)) == lasting(report)
    # What a person runs beside it, which asks by itself.
    status, text = told(service, "--state-dir", service.state, "print-reachability", "--json", "--check")
    alone = json.loads(text)
    assert alone["router"]["code"] == expected.code and status == table.EXIT[expected.severity]
    assert alone["addresses"] == report["addresses"] and alone["listener"]["state"] == "open"
    # A device learns it from the link, and again with every session.
    link = sill.parse_link(service.window()["url"])
    assert [sill.split_address(text)[0] for text in link["addresses"]] == [
        item["host"] for item in report["addresses"]][:5]
    identity = service.pair_device()
    with service.lab.inside(service.namespace):
        session = service.session(identity)
    with session:
        session.follow(harness.FRIENDLY, until=lambda s: s.infos)
        assert session.infos[-1]["addresses"] == report["addresses"]
        assert session.infos[-1]["internet"] is True


@pytest.mark.parametrize("at", ["router-mapped"])
def test_internet_access_off_asks_only_for_a_report(service, at):
    service.settings(internetAccess=False)
    report = fresh(service)
    assert report["router"]["code"] == "off" and report["router"]["ifOn"] == "publicMapped"
    assert report["verdict"] == "awayNone"
    assert [item["kind"] for item in report["addresses"]] == ["lan"]


@pytest.mark.parametrize("at", ["street"])
def test_a_changed_address_reaches_devices_that_are_connected(service, at):
    """Whoever looks next finds out, and everybody is told. (The router's own word for it asks again, no sooner than 30 s
    after the last time: 09.36.)"""
    with playing(service, "good") as router:
        assert service.get("/v1/reachability")["router"]["address"] == table.PUBLIC
        identity = service.pair_device()
        with service.lab.inside(service.namespace):
            session = service.session(identity)
        with session:
            session.follow(harness.FRIENDLY, until=lambda s: s.infos)
            router.signal(signal.SIGUSR1)
            harness.eventually(lambda: any("changed" in item for item in router.requests))
            assert fresh(service)["router"]["address"] == table.OTHER_PUBLIC
            session.follow(harness.FRIENDLY, until=lambda s: any(
                item["host"] == table.OTHER_PUBLIC for item in s.infos[-1]["addresses"]))
            hosts = [item["host"] for item in session.infos[-1]["addresses"]]
        assert table.OTHER_PUBLIC in hosts and table.PUBLIC not in hosts


@pytest.mark.parametrize("at", ["nat-above"])
def test_a_stun_server_that_the_owner_names_sees_the_nat_above(service, at):
    assert fresh(service)["router"]["code"] == "publicUnmapped"
    service.settings(stunServer="55.66.77.1:3478")
    report = fresh(service)
    assert report["router"]["code"] == "natAboveRouter" and report["router"]["stun"] == "55.66.77.88"
    assert report["verdict"] == "awayBlocked"
    assert [item["kind"] for item in report["addresses"]] == ["lan"]


@pytest.mark.parametrize("at", ["nat-above"])
@pytest.mark.parametrize("name, code", [
    ("home.example.net", "nameMatches"), ("stale.example.net", "nameStale"), ("private.example.net", "namePrivate"),
    ("missing.example.net", "nameUnresolved"),
])
def test_an_address_name_is_checked_and_stays_listed(service, at, name, code):
    service.settings(addressName=f"{name}:17455")
    report = fresh(service)
    assert report["addressName"] == {"text": f"{name}:17455", "code": code}
    assert {"host": name, "port": 17455, "kind": "internet", "via": "Address name"} in report["addresses"]


# ---------------------------------------------------------------------------------------------------- port mapping


def entry(service, outside=7455):
    return router_lab.mapping(service.lab, service.namespace, outside)


def asks_for_mapping(service, status=200):
    answer = service.api("POST", MAPPING)
    assert answer.status == status, answer
    return answer.json


def gives_back(service):
    answer = service.api("DELETE", MAPPING)
    assert answer.status in (200, 204), answer


@pytest.mark.parametrize("at", ["router"])
def test_a_mapping_on_a_real_router(service, at):
    """Asked for, seen on the router by another client, given back; nothing of it by itself."""
    fresh(service)
    assert entry(service) is None
    mapping = asks_for_mapping(service)
    assert mapping["state"] == "ours" and mapping["target"] == f"{LAN}:7455" and mapping["expiresAt"]
    there = entry(service)
    assert (there["NewInternalClient"], there["NewInternalPort"], there["NewEnabled"]) == (LAN, "7455", "1")
    assert there["NewPortMappingDescription"] == "Latchkey" and 0 < int(there["NewLeaseDuration"]) <= 3600
    assert service.get("/v1/settings")["portMapping"] == "upnp"
    report = fresh(service)
    assert report["router"]["code"] == "publicMapped" and report["router"]["mapping"]["state"] == "ours"
    assert report["verdict"] == "awayInternet"
    # Once more changes nothing.
    assert asks_for_mapping(service)["state"] == "ours"
    gives_back(service)
    assert entry(service) is None
    assert service.get("/v1/settings")["portMapping"] == "off"


@pytest.mark.parametrize("at", ["router"])
def test_a_mapping_from_the_command_line(service, at):
    def code():
        """As the service has it, with nobody asking anew."""
        return service.get("/v1/reachability")["router"]["code"]

    status, text = told(service, "map-port")
    assert status == 0, text
    assert entry(service)["NewInternalClient"] == LAN
    harness.eventually(lambda: code() == "publicMapped", AGAIN)
    status, text = told(service, "unmap-port")
    assert status == 0, text
    assert entry(service) is None
    harness.eventually(lambda: code() == "publicUnmapped", AGAIN)


@pytest.mark.parametrize("at", ["router"])
@pytest.mark.parametrize("switch", ["internetAccess", "remoteAccess"])
def test_a_mapping_goes_with_the_switch(service, at, switch):
    asks_for_mapping(service)
    service.settings(**{switch: False})
    harness.eventually(lambda: entry(service) is None, AGAIN)
    service.settings(**{switch: True})
    # The owner's wish outlives the switch.
    harness.eventually(lambda: entry(service) is not None, AGAIN)
    gives_back(service)


@pytest.mark.parametrize("at", ["router"])
def test_a_mapping_goes_with_the_service_and_comes_back_with_it(service, at):
    asks_for_mapping(service)
    assert service.stop() == 0
    assert entry(service) is None
    service.start()
    harness.eventually(lambda: entry(service) is not None, AGAIN)
    gives_back(service)


@pytest.mark.parametrize("at", ["router"])
def test_a_mapping_that_a_killed_service_left_is_its_own_again(service, at):
    asks_for_mapping(service)
    service.stop(signal.SIGKILL)
    assert entry(service)["NewPortMappingDescription"] == "Latchkey"
    service.start()
    harness.eventually(lambda: fresh(service)["router"]["mapping"]["state"] == "ours", AGAIN)
    gives_back(service)
    assert entry(service) is None


@pytest.mark.parametrize("at", ["router"])
def test_an_entry_that_somebody_made_in_its_place_stays(service, at):
    """Removed only while it still carries our name (B8)."""
    asks_for_mapping(service)
    with service.lab.inside(service.namespace):
        router = igd.Router(GATEWAY)
        router.unmap(7455)
        router.map(7455, LAN, 7455, text="mine")
    try:
        service.api("DELETE", MAPPING)
        service.settings(internetAccess=False)
        fresh(service)
        assert entry(service)["NewPortMappingDescription"] == "mine"
    finally:
        with service.lab.inside(service.namespace):
            router.unmap(7455)


@pytest.mark.parametrize("at", ["router-elsewhere"])
def test_another_machines_entry_is_never_touched(service, at):
    answer = asks_for_mapping(service, 409)
    assert answer["code"] == "mappingConflict" and f"{NEIGHBOUR}:7455" in answer["detail"]
    status, text = told(service, "map-port")
    assert status == 1 and NEIGHBOUR in text
    service.api("DELETE", MAPPING)
    service.settings(remoteAccess=False)
    fresh(service)
    assert entry(service)["NewInternalClient"] == NEIGHBOUR
    assert service.get("/v1/settings")["portMapping"] == "off"


@pytest.mark.parametrize("at", ["router-mapped"])
def test_the_owners_own_entry_is_used_and_never_removed(service, at):
    assert asks_for_mapping(service)["state"] == "toThisHost"
    assert service.get("/v1/settings")["portMapping"] == "off"
    service.api("DELETE", MAPPING)
    service.settings(internetAccess=False)
    fresh(service)
    assert entry(service)["NewPortMappingDescription"] == "by hand"


@pytest.mark.parametrize("at", ["natpmp-only"])
def test_a_mapping_by_nat_pmp(service, at):
    """Seen in the router's own rules: there is no client's way to read it."""
    def rules():
        return service.lab.run("router", "nft", "list", "chain", "inet", "filter", "prerouting_miniupnpd").stdout

    assert "7455" not in rules()
    assert asks_for_mapping(service)["state"] == "ours"
    assert f"dnat ip to {LAN}:7455" in rules()
    gives_back(service)
    assert "7455" not in rules()


@pytest.mark.parametrize("at", ["carrier-nat"])
def test_no_mapping_where_none_can_work(service, at):
    answer = asks_for_mapping(service, 409)
    assert answer["code"] == "mappingNotPossible" and "VPN" in answer["detail"]
    assert entry(service) is None


@pytest.mark.parametrize("at", ["router"])
def test_no_mapping_without_internet_access(service, at):
    service.settings(internetAccess=False)
    assert asks_for_mapping(service, 409)["code"] == "mappingNotPossible"
    assert entry(service) is None


@pytest.mark.parametrize("at", ["street"])
@pytest.mark.parametrize("plays, code", [
    ("add-501", "mappingRefused"), ("add-606", "mappingRefused"), ("add-718", "mappingConflict"),
    ("add-724", "mappingRefused"), ("add-728", "mappingRefused"), ("add-729", "mappingRefused"),
    ("permanent-only", "mappingPermanentOnly"), ("natpmp-other-port", "mappingPortDiffers"),
])
def test_a_router_that_refuses(service, at, plays, code):
    with playing(service, plays) as router:
        answer = asks_for_mapping(service, 409)
        assert answer["code"] == code and answer["detail"]
        assert service.get("/v1/settings")["portMapping"] == "off"
        if plays == "natpmp-other-port":
            asked = [bytes.fromhex(item["data"]) for item in router.requests if item.get("natpmp") == 2]
            asked = [struct.unpack("!HHI", data[4:12]) for data in asked]
            # Asked for, and given back: that port, never "everything".
            assert asked[0][:2] == (7455, 7455) and asked[0][2] > 0
            assert asked[-1][0] == 7455 and asked[-1][2] == 0
        else:
            assert not router.asked("DeletePortMapping")


@pytest.mark.parametrize("at", ["street"])
def test_a_router_that_does_not_say_whether_it_did(service, at):
    """Given up after 6 s; the next probe tells."""
    with playing(service, "add-mute") as router:
        answer = service.api("POST", MAPPING)
        assert answer.status == 202 and b"mappingPending" in answer.body
        assert len(router.asked("AddPortMapping")) == 1
        assert fresh(service)["router"]["mapping"]["state"] == "ours"
        service.api("DELETE", MAPPING)
        harness.eventually(lambda: router.asked("DeletePortMapping"), AGAIN)


@pytest.mark.parametrize("at", ["street"])
def test_a_permanent_mapping_only_where_the_owner_allows_it(service, at):
    with playing(service, "permanent-only") as router:
        service.settings(permanentMappings=True)
        mapping = asks_for_mapping(service)
        assert mapping["state"] == "ours" and "expiresAt" not in mapping
        assert [item["NewLeaseDuration"] for item in router.asked("AddPortMapping")] == ["3600", "0"]
        gives_back(service)
        assert len(router.asked("DeletePortMapping")) == 1


@pytest.mark.parametrize("at", ["street"])
def test_what_is_asked_for_a_pinhole(service, at):
    with playing(service, "pinholes") as router:
        assert fresh(service)["ipv6"]["code"] == "v6PinholePossible"
        service.settings(ipv6Pinhole=True)
        harness.eventually(lambda: fresh(service)["ipv6"]["code"] == "v6PinholeActive", AGAIN)
        assert router.asked("AddPinhole") == [{
            "RemoteHost": "", "RemotePort": "0", "InternalClient": "2001:db8:1::20", "InternalPort": "7455",
            "Protocol": "6", "LeaseTime": "3600"}]
        service.settings(ipv6Pinhole=False)
        harness.eventually(lambda: router.asked("DeletePinhole"), AGAIN)
        assert router.asked("DeletePinhole") == [{"UniqueID": "1"}]


@pytest.mark.parametrize("at", ["ipv6"])
def test_a_pinhole_on_a_real_router(service, at):
    """Asked for and taken away again, seen in the router's own rules. It refuses with 606 whoever asks by IPv4, or from
    another address than the one that the pinhole is for."""
    def rules():
        return service.lab.run("router", "nft", "list", "chain", "inet", "filter", "miniupnpd").stdout

    before = rules()
    assert fresh(service)["ipv6"]["code"] == "v6PinholePossible"
    service.settings(ipv6Pinhole=True)
    harness.eventually(lambda: rules() != before, AGAIN)
    harness.eventually(lambda: fresh(service)["ipv6"]["code"] == "v6PinholeActive", AGAIN)
    assert fresh(service)["verdict"] == "awayInternet"
    service.settings(ipv6Pinhole=False)
    harness.eventually(lambda: rules() == before, AGAIN)


# ---------------------------------------------------------------------------------------------------- who is contacted

NEAR = {
    "ipv6": ["192.168.1.0/24", "2001:db8:1::/64"], "vpn-exit": ["192.168.1.0/24"], "nat-above": ["192.168.1.0/24"],
    "tailnet": ["192.168.1.0/24"],
}


@pytest.mark.parametrize("at", NEAR)
def test_no_packet_leaves_the_hosts_own_network(hosts, places, at):
    """Everything on, by every way there is to ask; no server of anybody's is named, so none hears of it."""
    service = hosts[at]
    service.stop()
    watch = capture.Capture(places[at], "host")
    service.start()
    service.settings(remoteAccess=True, internetAccess=True, ipv6Pinhole=True, permanentMappings=True)
    fresh(service)
    service.api("POST", MAPPING)
    service.pair_device()
    service.window()
    told(service, "reachability", "--json")
    router_lab.report(service.lab, service.namespace, service.state)
    service.api("DELETE", MAPPING)
    service.settings(**QUIET)
    service.stop()
    router_lab.report(service.lab, service.namespace, service.state)
    seen = watch.stop()
    assert any(str(where) == "239.255.255.250" for _, where in seen), "the router was never looked for"
    assert not capture.outside(seen, *NEAR[at])
    service.start()


@pytest.mark.parametrize("at", ["nat-above"])
def test_only_whom_the_owner_names_is_contacted(service, places, at):
    """The same capture does see a packet that leaves; a name is asked of the resolver, and is not dialled."""
    watch = capture.Capture(places[at], "host")
    service.settings(stunServer="55.66.77.1:3478", addressName="stale.example.net")
    fresh(service)
    service.settings(**QUIET)
    seen = watch.stop()
    assert {str(where) for _, where in capture.outside(seen, *NEAR[at])} == {"55.66.77.1"}
    log = (router_lab.run_of(places[at], "host").parent / "dns.log").read_text()
    assert "asked stale.example.net A" in log
