# SPDX-License-Identifier: Apache-2.0
"""Delegated mode (03 section 6): what is its own, and what needs a network to be told apart.

The journeys of test_pairing and test_doors are made with it too; here are asks, origins and the cases in which the
streaming process, not the device, is the one that misbehaves.
"""

import json
import signal
import struct
import time

import door_oracle as oracle
import harness
import pytest
import sill_client as sill
import test_doors_lab
from harness import judged

SCENARIO = "doors"


class LabDelegated(harness.DelegatedService):
    """A delegated host in the lab's namespace `host`."""

    def __init__(self, lab, directory, *options):
        super().__init__(directory, *options)
        self.lab = lab

    def command(self, *more):
        return self.lab.command("host", *super().command(*more))

    def streaming_command(self):
        return self.lab.command("host", *super().streaming_command())

    def port(self, door):
        return self.door(door)[1]

    def pair_device(self, identity=None, name="Interop", source=None):
        with self.lab.inside("host"):
            return super().pair_device(identity, name, source)


@pytest.fixture(params=["relay", "delegated"])
def either(request, lab, lab_backend):
    """A fresh service in the lab, of either kind."""
    if not harness.have_programs():
        pytest.skip(f"no latchkeyd in {harness.BIN}")
    with harness.scratch() as directory:
        if request.param == "relay":
            service = lab.service(directory, backend=lab_backend.address)
        else:
            service = LabDelegated(lab, directory)
        try:
            yield service.start()
        finally:
            getattr(service, "stop_all", service.stop)()


@pytest.fixture(scope="module")
def lab_delegated(lab):
    if not harness.have_programs():
        pytest.skip(f"no latchkeyd in {harness.BIN}")
    with harness.scratch() as directory:
        service = LabDelegated(lab, directory)
        try:
            yield service.start()
        finally:
            service.stop_all()


class Home:
    """A device on the host's own network."""

    def __init__(self, lab, service, source="192.168.1.23"):
        self.lab, self.service, self.source = lab, service, source
        self.identity = sill.Identity()

    def channel(self, alpn=sill.PAIRING):
        with self.lab.inside("home"):
            return sill.Channel(
                ("192.168.1.20", self.service.port("home")), self.identity, alpn=(alpn,), source=self.source)

    def say(self, method, **more):
        with self.channel() as channel:
            return sill.exchange(channel, sill.pair_request(method, "", name="Tablet", **more))

    def pair(self, code):
        # Before it connects: this takes a while, and the host waits 10 s.
        key = sill.code_key(code, self.service.pin)
        with self.channel() as channel:
            proof = sill.device_proof(key, self.identity.fingerprint, channel.peer_fingerprint)
            return sill.exchange(channel, sill.pair_request("code", sill.b64u(proof), name="Tablet"))

    def session(self, **options):
        with self.lab.inside("home"):
            return sill.Session(
                ("192.168.1.20", self.service.port("home")), self.identity, self.service.pin, source=self.source, **options)


def last_window(service):
    answer = service.api("GET", "/v1/pairing/window")
    assert answer.status == 404
    return answer.json["last"]["outcome"]


def test_asks_as_a_device_hears_them(lab, either):
    """Shown, paired; cancelled by the device, and not quiet for it; cancelled by a person, and quiet; too often; locked."""
    service = either
    first, second, third = (Home(lab, service, f"192.168.1.{n}") for n in (131, 132, 133))
    assert service.api("PUT", "/v1/lock", {"locked": True}).status == 200
    assert first.say("ask")["reason"] == "locked"
    service.api("PUT", "/v1/lock", {"locked": False})
    assert first.say("ask") == {"ok": False, "reason": "shown", "_end": "Closed"}
    window = service.get("/v1/pairing/window")
    assert window["openedBy"] == "device" and window["askedBy"]["id"] == first.identity.id
    assert window["remote"] is False and window["addresses"] == [] and "remote" not in service.doors
    assert second.say("ask")["reason"] == "shown"
    assert second.say("cancel")["reason"] == "closed"  # not its own: nothing happens
    assert judged(lambda: first.pair(window["code"]))["ok"]
    with first.session() as session:
        assert session.window_list
    # 2
    assert second.say("ask")["reason"] == "shown"
    assert second.say("cancel")["reason"] == "closed" and last_window(service) == "withdrawn"
    # 3
    assert second.say("ask")["reason"] == "shown"
    assert service.api("DELETE", "/v1/pairing/window").json["closed"]
    assert second.say("ask")["reason"] == "openOnMac"
    assert third.say("ask")["reason"] == "openOnMac"  # three windows in ten minutes
    assert service.api("DELETE", "/v1/pairing/quiet").status == 200
    assert third.say("ask")["reason"] == "shown"
    wanted = service.get("/v1/status")["request"]
    assert wanted["name"] == "Tablet" and wanted["place"] == "on this network"


def test_quiet_after_five_wrong_codes(lab, either):
    service = either
    device = Home(lab, service)
    service.api("PUT", "/v1/lock", {"locked": False})
    assert device.say("ask")["reason"] == "shown"
    code = service.get("/v1/pairing/window")["code"]
    wrong = sill.wrong_code(code)
    heard = []
    for number in range(5):
        # Another address each time: one alone would have to wait longer (02 section 6.2).
        device.source = f"192.168.1.{140 + number}"
        heard.append(judged(lambda: device.pair(wrong))["reason"])
    assert heard == ["code"] * 4 + ["stopped"]
    assert device.pair(code)["reason"] == "closed"
    assert device.say("ask")["reason"] == "openOnMac"


def test_kind_21_shows_the_code(lab, either):
    service = either
    service.settings(requirePairing=False)
    service.api("PUT", "/v1/lock", {"locked": False})
    device = Home(lab, service)
    with device.session(hello={"appVersion": "1", "device": "iPad (iPad14,1)"}) as session:
        harness.eventually(lambda: service.sessions()[0]["hello"])
        session.send(21)
        window = harness.eventually(
            lambda: service.api("GET", "/v1/pairing/window").status == 200 and service.get("/v1/pairing/window"))
        assert window["askedBy"]["id"] == device.identity.id and window["remote"] is False
        assert judged(lambda: device.pair(window["code"]))["ok"]
        # Paired now, also in the session that runs.
        assert harness.eventually(lambda: service.sessions()[0]["paired"])
        service.settings(requirePairing=True)
        session.follow(0.5)
        assert session.goodbye is None


@pytest.mark.parametrize("namespace, source, local, origin", test_doors_lab.WORKED)
def test_worked_origins(lab, lab_delegated, delegated_device, namespace, source, local, origin):
    """As at the service's own doors, received-on interface included."""
    if not lab.has(namespace):
        pytest.skip("this kernel has no VRF links")
    service = lab_delegated
    switches = oracle.Switches(remote_access=True)
    service.settings(remoteAccess=True, internetAccess=False, requirePairing=True, direct=True)
    service.api("DELETE", "/v1/lockouts")
    for door in oracle.DOORS:
        expected = oracle.answer(door, origin, "sill/1", "paired", switches).what
        port = service.port(door)
        with lab.inside(namespace):
            try:
                session = sill.Session((local, port), delegated_device, service.pin, source=source)
            except (sill.Closed, ConnectionResetError):
                assert expected == "closed", (door, origin)
                continue
        with session:
            assert expected == "session", (door, origin)
            item = next(
                s for s in service.sessions()
                if s["door"] == door and s["remote"].endswith(f":{session.channel.local[1]}"))
            assert item["origin"] == origin and item["mode"] == "delegated"
            # By the address that the list shows, whatever zone it came with.
            assert service.get(f"/v1/whois?remote={item['remote']}")["session"]["id"] == item["id"]


@pytest.fixture(scope="module")
def delegated_device(lab_delegated):
    return lab_delegated.pair_device()


# -------------------------------------------------------------------------------------------- the streaming process


@pytest.fixture
def delegated(start):
    return start.delegated()


def test_its_end_is_said_and_a_new_run_begins_with_nothing(delegated):
    service = delegated
    service.settings(remoteAccess=True)
    identity = service.pair_device()
    with service.session(identity) as session:
        service.streaming.terminate()
        session.follow(until=lambda s: s.end)
        assert session.goodbye["reason"] == "noHost" and session.goodbye["reconnect"] is True
    assert service.streaming.wait(harness.START_LIMIT) == 0
    harness.eventually(lambda: not service.sessions())
    # Killed, it says nothing, and its sessions stay where they were until its next run.
    service.start_streaming()
    harness.eventually(lambda: service.printed.count("ready") == 2)
    for _ in range(8):
        service.session(identity, "remote")
    service.streaming.kill()
    service.streaming.wait()
    assert len(service.sessions()) == 8
    service.printed.clear()
    service.start_streaming()
    with service.session(identity, "remote") as session:
        assert session.window_list and len(service.sessions()) == 1


def test_without_the_service_nobody_is_served(delegated):
    """A process that cannot hear of a removal must not go on as if there had been none."""
    service = delegated
    identity = service.pair_device()
    with service.session(identity) as session:
        service.stop(signal.SIGKILL)
        session.follow(until=lambda s: s.end)
        assert session.end is not None and session.goodbye is None
    service.start()
    with service.session(identity) as session:
        assert session.window_list


def test_one_that_never_answers_a_goodbye(delegated):
    """Its session is dropped; until then it takes no room from others, and a removed key is out at once."""
    service = delegated
    service.settings(remoteAccess=True)
    identity = service.pair_device()
    facts = {"door": "remote", "remote": "192.168.1.77:50122", "fingerprint": sill.b64u(identity.fingerprint)}
    answer = service.api("POST", "/v1/sessions", facts)
    assert answer.status == 201 and answer.json["hostInfo"]
    assert sill.verify_host_info(json.dumps(answer.json["hostInfo"]), service.pin)["macID"] == service.host_id
    assert service.api("DELETE", f"/v1/devices/{identity.id}").json == {"closedSessions": 1}
    item = service.sessions()[0]
    assert item["goodbye"] == {"reason": "removed"}
    assert service.api("POST", "/v1/sessions", facts).json == {"id": None, "goodbye": None, "reason": "unpaired"}
    harness.eventually(lambda: not service.sessions(), limit=60)


def test_a_flood_of_calls_that_nobody_finishes(delegated):
    """Bounded whatever a lying process says, and the devices of an honest one still connect."""
    service = delegated
    identity = service.pair_device()
    connection = harness.UnixHTTP(str(service.runtime / "api.sock"))
    key = sill.b64u(identity.fingerprint)

    def call(path, body):
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        return answer.status

    def flood(first):
        for number in range(first, first + 6000):
            remote = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}:{1 + number % 60000}"
            facts = {"door": "home", "remote": remote}
            assert call("/v1/admissions", facts) == 200
            assert call("/v1/admissions", facts | {"alpn": "sill/1", "fingerprint": key}) == 200
            assert call("/v1/admissions", facts) == 200
            assert call("/v1/admissions/failures", facts | {"failure": "peerLeft"}) == 204

    flood(0)
    before = harness.resident_bytes(service.process.pid)
    flood(6000)
    assert harness.resident_bytes(service.process.pid) - before < 8 << 20
    connection.close()
    with service.session(identity) as session:
        assert session.window_list


BAD_JSON = [
    b'{"v":1,"method":"ask","proof":"","name":"x"},"fingerprint":"%s"',
    b'{"v":1,"method":"ask","proof":"","name":"x"}{"v":1}',
    b'{"v":1,"method":"ask","proof":"","name":"x"',
    b'{"v":1,"method":"ask","proof":"","name":"\xff\xfe"}',
    b'{"v":1,"method":"ask","proof":"","name":"x"} x', b"[]", b"null", b'"x"', b"{}", b"\0\0",
    b"[" * 4000, b'{"v":1,"method":"ask","proof":"","name":"' + b"x" * 4060 + b'"}',
]


@pytest.mark.parametrize("number", range(len(BAD_JSON)))
def test_nothing_a_device_sends_becomes_part_of_a_call(delegated, number):
    """What could be a member of a request, and what is no JSON at all: closed without an answer, one failure each."""
    service = delegated
    identity, victim = sill.Identity(), service.pair_device()
    payload = BAD_JSON[number]
    payload = payload.replace(b"%s", sill.b64u(victim.fingerprint).encode())
    with sill.Channel(service.door("home"), identity, alpn=(sill.PAIRING,), source="127.0.0.9") as channel:
        channel.send(sill.message(19, payload))
        channel.end_of_host()
        assert channel.bytes_received == 0
    metrics = service.api("GET", "/metrics").body.decode()
    assert 'latchkey_handshake_failures_total{reason="badMessage"} 1\n' in metrics
    assert list(service.devices()) == [victim.id]


def test_hellos_of_every_kind(delegated):
    service = delegated
    identity = service.pair_device()
    for hello in (b'{"appVersion":"9"},"door":"remote"', b"\xff", b"[]", b"{", b""):
        with service.session(identity, hello=hello) as session:
            session.follow(0.2)
            assert session.window_list and session.goodbye is None
            assert service.sessions()[0]["hello"] is None
    with service.session(identity, hello=False) as session:
        session.send(23, {"appVersion": 'quoted " and \\ and \u2028', "device": "iPad"})
        assert harness.eventually(lambda: service.sessions()[0]["hello"])["device"] == "iPad"
        session.send(23, {"appVersion": "2"})
        session.follow(0.2)
        assert service.sessions()[0]["hello"]["appVersion"].startswith("quoted")


def test_messages_above_the_cap_and_pings(delegated):
    service = delegated
    identity = service.pair_device()
    with service.session(identity) as session:
        session.channel.send(sill.HEADER.pack(12, 0, 0, 1_048_576) + bytes(1_048_576))
        session.send(10, struct.pack("!d", 42.5))
        session.follow(until=lambda s: 11 in s.kinds, pings=False)
        assert session.round_trips
        session.channel.send(sill.HEADER.pack(12, 0, 0, 1_048_577))
        session.follow(until=lambda s: s.end, pings=False)
        assert session.end is not None
    harness.eventually(lambda: not service.sessions())


def test_kind_18_follows_the_settings(delegated):
    service = delegated
    stream = harness.UnixHTTP(str(service.runtime / "api.sock"))
    stream.request("GET", "/v1/events")
    answer = stream.getresponse()
    service.settings(remoteAccess=True)
    seen = b""
    while b"event: host-info.changed" not in seen:
        seen += answer.read1(4096)
    stream.close()


def test_pairing_leaves_no_secret_behind(delegated):
    service = delegated
    link = sill.parse_link(service.window(remote=False)["url"])
    identity = sill.Identity()
    answer = judged(lambda: sill.pair_link(link, identity, service.door("home")))
    told = service.log() + service.api("GET", "/metrics").body.decode() + json.dumps(service.get("/v1/audit"))
    for secret in (answer["recognitionKey"], answer["proof"], sill.b64u(link["secret"])):
        assert secret not in told
    rows = [row for row in service.get("/v1/audit")["items"] if row["action"] == "identity.sign"]
    assert rows and all("signature" in row["detail"] for row in rows)


def test_the_signing_call_is_limited(delegated):
    """The most it signs in a burst is a second's worth; the caller hears when to come again."""
    service = delegated
    connection = harness.UnixHTTP(str(service.runtime / "api.sock"))
    body = json.dumps({"algorithm": "ecdsa-p256-sha256", "digest": sill.b64u(bytes(32))})
    signed, deadline = 0, time.monotonic() + 20
    while time.monotonic() < deadline:
        connection.request("POST", "/v1/identity/signatures", body)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status == 429:
            assert json.loads(text)["code"] == "rateLimited" and answer.getheader("Retry-After") == "1"
            assert signed >= 200
            return
        signed += 1
    # A machine that makes fewer than 200 calls a second cannot see it.
    assert signed < 20 * 200 + 200


def test_the_sample_needs_its_service(scratch):
    done = harness.subprocess.run(
        [str(harness.DELEGATED_HOST), "--api", f"{scratch}/nobody.sock"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "latchkeyd" in done.stderr
    assert harness.subprocess.run(
        [str(harness.DELEGATED_HOST), "--what"], capture_output=True, text=True, timeout=60).returncode == 1
