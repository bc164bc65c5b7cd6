# SPDX-License-Identifier: Apache-2.0
"""What the relay does inside a session, and what it leaves alone (08, "The backend header"; 09 points 4, 7, 9 to 11)."""

import json
import os
import threading
import time

import harness
import sill_client as sill
from harness import WINDOW_LIST, read_exactly


def connect(start, backend):
    service = start(backend=backend.address)
    identity = service.pair_device()
    return service, identity


def test_the_header_says_who_it_is(service, sample):
    identity = service.pair_device(name="Tablet")
    with service.session(identity) as session:
        port = session.channel.local[1]
        header = harness.eventually(lambda: sample.find("connected"))[0]["header"]
        assert header["source"] == f"127.0.0.1:{port}"
        assert header["target"] == f"127.0.0.1:{service.door('home')[1]}"
        assert header["alpn"] == "sill/1" and header["authority"] == "sill"
        assert header["ssl"] == {"client": 7, "verify": 0, "0x21": "TLSv1.3"}
        item = service.sessions()[0]
        assert header["uniqueID"] == item["id"]
        assert header["session"] == {
            "session": item["id"], "device": identity.id, "name": "Tablet",
            "fingerprint": sill.b64u(identity.fingerprint), "door": "home", "origin": "loopback", "cable": False,
            "route": item["route"], "away": False, "paired": True,
        }
        assert set(header) == {"source", "target", "alpn", "authority", "uniqueID", "ssl", "session"}


def test_everything_passes_in_order(start):
    """Both ways, odd sizes, unknown kinds, kinds that make no sense: nothing is changed, dropped or reordered."""
    sizes = [0, 1, 13, 14, 15, 16383, 16384, 16385, 65536, 300_000, 1_048_576, 0, 5]
    kinds = [30, 200, 254, 6, 9, 19, 20, 23, 12, 5, 28, 2, 11]
    to_device = b"".join(
        sill.message(k, os.urandom(s), float(i)) for i, (k, s) in enumerate(zip(kinds, sizes)) if k != 18)
    to_host = b"".join(
        sill.message(k, os.urandom(s), float(i)) for i, (k, s) in enumerate(zip([23] + kinds[:-1], sizes)))
    seen = {}

    def script(connection):
        connection.sendall(WINDOW_LIST)
        thread = threading.Thread(target=connection.sendall, args=(to_device,), daemon=True)
        thread.start()
        seen["got"] = read_exactly(connection, len(to_host))
        thread.join()  # two senders on one socket would splice their bytes
        connection.sendall(sill.message(77, b"end"))
        connection.recv(1)

    service, identity = connect(start, start.scripted(script))
    with service.session(identity, hello=False, served=False) as session:
        channel = session.channel
        channel.send(to_host, timeout=30)
        got, ends = b"", False
        while not ends:
            kind, stamp, keyframe, payload = channel.read_message(20)
            if kind == 18:
                continue
            ends = kind == 77
            if not ends:
                got += sill.message(kind, payload, stamp, 1 if keyframe else 0)
        assert got == WINDOW_LIST + to_device
    assert seen["got"] == to_host


def test_host_info_follows_the_first_settings(start):
    def script(connection):
        connection.sendall(WINDOW_LIST + sill.message(5, {}))
        time.sleep(0.1)
        # A backend's own host info never reaches a device.
        connection.sendall(sill.message(18, b"forged") + sill.message(16, {}) + sill.message(16, {}) + sill.message(14))
        connection.recv(1 << 20)
        time.sleep(1)

    service, identity = connect(start, start.scripted(script))
    with service.session(identity) as session:
        session.follow(until=lambda s: 14 in s.kinds)
        assert session.order == [2, 5, 16, 18, 16, 14]
        assert session.bad_infos == 0 and len(session.infos) == 1


def test_host_info_does_not_wait_for_ever(start):
    """A backend that never sends kind 16: half a second after its first message."""

    def script(connection):
        connection.sendall(WINDOW_LIST)
        while connection.recv(65536):
            pass

    service, identity = connect(start, start.scripted(script))
    with service.session(identity) as session:
        before = time.monotonic()
        session.follow(until=lambda s: s.infos)
        assert session.infos and time.monotonic() - before > 0.2


def test_host_info_waits_for_the_end_of_a_message(start):
    """It comes between two messages of the backend, never inside one."""
    release = threading.Event()

    def script(connection):
        connection.sendall(WINDOW_LIST)
        long = sill.message(1, b"x" * 100_000)
        connection.sendall(long[:50_000])
        release.wait(10)
        connection.sendall(long[50_000:])
        while connection.recv(65536):
            pass

    service, identity = connect(start, start.scripted(script))
    with service.session(identity) as session:
        session.follow(1)
        assert not session.infos
        release.set()
        session.follow(until=lambda s: s.infos)
        assert session.order[:3] == [2, 1, 18]


def test_a_change_is_told_to_everybody(service):
    identity = service.pair_device()
    with service.session(identity) as one, service.session(identity) as two:
        for session in (one, two):
            session.follow(until=lambda s: s.infos)
        service.settings(remoteAccess=True)
        for session in (one, two):
            session.follow(until=lambda s: s.infos[-1]["remoteAccess"])
            stamps = [info["issuedAt"] for info in session.infos]
            assert stamps == sorted(set(stamps)) and session.infos[-1]["remoteAccess"] is True
            assert session.bad_infos == 0


def test_no_backend(start):
    service = start()
    identity = service.pair_device()
    with service.session(identity, served=False) as session:
        session.follow(until=lambda s: s.end)
        assert session.goodbye["reason"] == "noHost" and session.goodbye["message"]
        assert session.goodbye["reconnect"] is True and session.order == [22]
    # The relay's own goodbye counts and is told like any other.
    harness.eventually(lambda: not service.sessions())
    assert 'latchkey_goodbyes_total{reason="noHost"} 1' in service.api("GET", "/metrics").body.decode()
    # Lines are written by a thread of their own.
    harness.eventually(lambda: [
        line["message"] for line in map(json.loads, service.log().splitlines()) if "session" in line
    ][-2:] == ["goodbye", "session ended"])


def test_a_backend_that_is_not_there(start):
    service = start(backend=f"unix:{start.directory}/nobody.sock")
    identity = service.pair_device()
    with service.session(identity, served=False) as session:
        session.follow(until=lambda s: s.end)
        assert session.goodbye["reason"] == "noHost" and session.goodbye["reconnect"] is True


def test_a_backend_that_dies(start, service, sample):
    identity = service.pair_device()
    with service.session(identity) as session, service.session(identity) as other:
        sample.stop(9)
        for victim in (session, other):
            victim.follow(until=lambda s: s.end)
            assert victim.goodbye is None or victim.goodbye["reason"] == "noHost"
    # The next one finds the new process.
    fresh = start.sample(name="backend")
    assert fresh.address == sample.address
    with service.session(identity) as session:
        assert session.window_list


def test_a_backend_that_ends_between_messages_is_followed_by_a_goodbye(start):
    def script(connection):
        connection.sendall(WINDOW_LIST + sill.message(16, {}) + sill.message(1, b"x" * 1000))
        time.sleep(0.3)

    service, identity = connect(start, start.scripted(script))
    with service.session(identity) as session:
        session.follow(until=lambda s: s.end)
        assert session.goodbye["reason"] == "noHost" and session.goodbye["reconnect"] is True
        assert session.order[-2:] == [1, 22]


def test_nothing_is_put_into_a_cut_message(start):
    backend = start.sample("--size", "100000", "--fps", "100", "--cut-after", "500000", name="cut")
    service, identity = connect(start, backend)
    with service.session(identity) as session:
        session.follow(until=lambda s: s.end)
        assert session.goodbye is None
        assert isinstance(session.end, sill.Closed) and session.end.partial


def test_nothing_follows_a_backends_own_goodbye(start):
    def script(connection):
        connection.sendall(WINDOW_LIST + sill.message(22, {"reason": "later", "message": "Tea", "reconnect": True}))
        time.sleep(0.2)

    service, identity = connect(start, start.scripted(script))
    with service.session(identity) as session:
        session.follow(until=lambda s: s.end)
        assert session.goodbye == {"reason": "later", "message": "Tea", "reconnect": True}
        assert session.kinds[22] == 1


def test_the_cap_of_a_device_message(start):
    seen = []

    def script(connection):
        connection.sendall(WINDOW_LIST)
        while chunk := connection.recv(1 << 20):
            seen.append(chunk)

    service, identity = connect(start, start.scripted(script))
    with service.session(identity, hello={}) as session:
        session.channel.send(sill.message(8, b"a" * 1_048_576), timeout=20)
        harness.eventually(lambda: sum(map(len, seen)) >= 1_048_576)
        before = sum(map(len, seen))
        session.channel.send(sill.HEADER.pack(8, 0.0, 0, 1_048_577) + b"never")
        session.follow(until=lambda s: s.end, pings=False)
        assert session.end is not None and session.goodbye is None
    got = b"".join(seen)
    assert b"never" not in got and sill.HEADER.pack(8, 0.0, 0, 1_048_577) not in got
    assert before >= 1_048_576


def test_a_device_that_ends_its_side_still_hears_the_rest(start):
    backend = start.sample("--size", "1000", "--fps", "50", "--linger", "1.5", name="linger")
    service, identity = connect(start, backend)
    with service.session(identity) as session:
        session.channel.half_close()
        before = session.messages
        session.follow(0.8, pings=False)
        assert session.messages > before + 5
        session.follow(until=lambda s: s.end, pings=False)
        assert session.end is not None
    harness.eventually(lambda: backend.find("ended"))


def test_a_slow_device_is_held_back_not_buffered(start):
    """Its stream waits in the backend. Nothing is dropped: every byte arrives once the device reads on."""
    total = 64 << 20
    sent = [0]

    def script(connection):
        connection.sendall(WINDOW_LIST)
        body = bytes(range(256)) * 1024
        for number in range(total // len(body)):
            connection.sendall(sill.message(1, body, float(number)))
            sent[0] += len(body)
        connection.sendall(sill.message(77))
        connection.recv(1)

    service, identity = connect(start, start.scripted(script))
    with service.session(identity) as session:
        before = harness.resident_bytes(service.process.pid)
        harness.eventually(lambda: sent[0] > 0)
        last = -1
        while last != sent[0]:
            last = sent[0]
            time.sleep(0.3)
        # What is on its way: kernel buffers of two sockets and 256 KiB in the service.
        assert sent[0] < total
        assert harness.resident_bytes(service.process.pid) - before < 8 << 20
        number = 0
        while True:
            kind, stamp, _, payload = session.channel.read_message(20)
            if kind == 77:
                break
            if kind == 1:
                assert stamp == float(number) and len(payload) == 262_144
                number += 1
        assert number == total // 262_144


def test_pings_are_answered_while_the_stream_runs(service):
    identity = service.pair_device()
    with service.session(identity) as session:
        session.follow(1.5)
        assert session.kinds[11] >= 3 and session.kinds[1] >= 5
        assert session.bad_infos == 0


def test_many_sessions(service):
    identity = service.pair_device()
    sessions = [service.session(identity) for _ in range(40)]
    try:
        assert all(s.window_list for s in sessions)
        assert len(service.sessions()) == 40
        for session in sessions:
            session.follow(until=lambda s: s.infos)
            assert session.infos
    finally:
        for session in sessions:
            session.close()
    harness.eventually(lambda: not service.sessions())
    assert json.dumps(service.get("/v1/status"))


def test_a_request_to_show_the_code_is_not_for_the_backend(start):
    seen = []

    def script(connection):
        connection.sendall(WINDOW_LIST)
        while chunk := connection.recv(65536):
            seen.append(chunk)

    service, identity = connect(start, start.scripted(script))
    with service.session(identity, hello={}) as session:
        session.send(9, b"before")
        session.send(21)
        session.send(21, b"with a payload")
        session.send(9, b"after")
        harness.eventually(lambda: b"after" in b"".join(seen))
        stream, kinds = b"".join(seen), []
        while stream:
            kind, _, _, length = sill.HEADER.unpack(stream[:14])
            kinds.append(kind)
            stream = stream[14 + length:]
        assert 21 not in kinds and kinds.count(9) == 2
        # A paired device's wish opens nothing.
        assert service.api("GET", "/v1/pairing/window").status == 404
