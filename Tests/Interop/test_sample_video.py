# SPDX-License-Identifier: Apache-2.0
"""Scripts/sample-host --video: an encoder's stream, paced for each client, at the quality that the local API says."""

import http.server
import json
import queue
import socketserver
import struct
import threading

import harness
import pytest
import sill_client as sill
from test_sample_host import WHO, dial, header, read, sample, tlv  # noqa: F401

STAMP = struct.Struct("!dI")
AWAY = WHO | {"door": "remote", "origin": "vpn", "away": True}
# 100 frames of 100 kB a second on the average, a keyframe being 800 kB.
VIDEO = ["--video", "100:80", "--json"]
KEYFRAME = 800_000 + 14
# What may wait by the rule when no keyframe is under way, and what the kernel holds of it twice.
BACKLOG = 256 * 1024 + 100_000 * 2


def join(host, who=AWAY, **ids):
    connection = dial(host)
    connection.sendall(header(tlvs=tlv(0x01, b"sill/1") + tlv(0xE0, json.dumps(who | ids).encode())))
    return connection


def frame(connection):
    """(number, whether it is a keyframe, bytes) of the next frame."""
    while True:
        kind, _, keyframe, payload = read(connection)
        if kind == 1:
            return STAMP.unpack_from(payload)[1], keyframe == 1, 14 + len(payload)


def seconds(host, session="S1"):
    return [item for item in host.find("second") if item["session"] == session]


def test_the_first_frame_is_a_keyframe_and_none_is_left_out(sample):
    host = sample("--video", "100:2", "--json")
    with join(host) as connection:
        frames = [frame(connection) for _ in range(120)]
    assert frames[0][1] and not any(is_key for _, is_key, _ in frames[1:])
    first = frames[0][0]
    assert [number for number, _, _ in frames] == list(range(first, first + 120))
    # As long as the bitrate says: 2500 bytes each on the average, the keyframe's excess being saved on the others.
    assert 120 * 2000 < sum(size for _, _, size in frames) < 120 * 3000
    harness.eventually(lambda: host.find("ended"))
    assert host.find("ended")[0]["withheld"] == 0


@pytest.mark.parametrize("who", [AWAY, WHO], ids=["away", "home"])
def test_what_waits_for_a_slow_reader_is_bounded(sample, who):
    host = sample(*VIDEO)
    with join(host, who) as connection:
        last, is_key, _ = frame(connection)
        assert is_key
        # It reads nothing until frames have been left out for three of the host's seconds.
        harness.eventually(lambda: sum(second["withheld"] > 0 for second in seconds(host)) >= 3)
        waited, left_out = 0, 0
        while left_out < 30:
            number, is_key, size = frame(connection)
            left_out, last = number - last - 1, number
            waited += size
        # All that was older than what is shown now.
        assert is_key and waited <= BACKLOG + 2 * KEYFRAME
        assert max(second["waiting"] for second in seconds(host)) <= 2 * (BACKLOG + KEYFRAME)
        # And it goes on.
        assert frame(connection)[0] == last + 1


def test_without_the_rule_it_waits_ever_longer(sample):
    host = sample(*VIDEO, "--pace", "off")
    with join(host) as connection:
        first, is_key, _ = frame(connection)
        assert is_key
        harness.eventually(lambda: any(second["waiting"] > 8_000_000 for second in seconds(host)))
        waited, count = 0, 0
        while waited < 8_000_000:
            number, _, size = frame(connection)
            count += 1
            waited += size
            assert number == first + count
    assert all(second["withheld"] == 0 for second in seconds(host))


def test_a_slow_client_is_nobody_elses_trouble(sample):
    host = sample("--video", "100:8", "--json")
    with join(host) as slow, join(host, session="S2") as other:
        frame(slow)
        frames = []
        while sum(second["withheld"] > 0 for second in seconds(host)) < 2:
            frames.append(frame(other))
        assert len(frames) > 30
        # The one that reads misses nothing but what a busy machine makes it miss.
        assert sum(second["withheld"] for second in seconds(host, "S2")) < len(frames)


def test_who_asks_and_never_reads_is_let_go(sample):
    host = sample("--video", "60:1", "--json")
    with join(host) as connection:
        pings = sill.message(10, b"12345678") * 1000
        with pytest.raises(OSError):
            while True:
                connection.sendall(pings)
    assert "does not read" in harness.eventually(lambda: host.find("ended"))[0]["reason"]


def test_through_the_relay(start):
    """A device that reads nothing for a while: the relay's hold fills, then the host's socket, then frames are left out.
    When it reads again, a keyframe follows what waited, and the stream goes on."""
    host = start.sample(*VIDEO)
    service = start(backend=host.address)
    service.settings(remoteAccess=True)
    # Read frame by frame, with the catalog passed over.
    with service.session(service.pair_device(), door="remote", served=False) as session:
        def next_frame():
            while True:
                kind, _, is_key, payload = session.channel.read_message()
                if kind == 1:
                    return STAMP.unpack_from(payload)[1], is_key

        def frames_are_left_out():
            # It is slow, not silent.
            session.ping()
            return sum(second["withheld"] > 0 for second in host.find("second")) >= 2

        last, is_key = next_frame()
        assert is_key
        harness.eventually(frames_are_left_out, pause=0.25)
        gap = 0
        while gap < 30:
            number, is_key = next_frame()
            gap, last = number - last - 1, number
        assert is_key and next_frame() == (last + 1, False)


# ------------------------------------------------------------------------------------------------------- the local API


class StubAPI:
    """`GET /v1/quality`, the two posts and the events, as the specification has them (06 C1)."""

    def __init__(self, path):
        self.path = str(path)
        self.view = {
            "runs": "home", "home": {"bitrate": 15_000_000, "captureScale": 2},
            "away": {"bitrate": 4_000_000, "captureScale": 1}, "maxFPS": 120, "sessions": [
                {"id": "S1", "away": True, "settings": {"bitrate": 4_000_000, "captureScale": 1}}]}
        self.calls = []
        self.events = queue.Queue()
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/v1/events":
                    self.send_response(200)
                    self.end_headers()
                    while (event := stub.events.get()) is not None:
                        self.wfile.write(f"event: {event}\ndata: {{}}\n\n".encode())
                        self.wfile.flush()
                elif stub.view is None:
                    self.send_error(503)
                else:
                    self.answer(stub.view)

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                stub.calls.append((self.path, body))
                if self.path.endswith("/settings"):
                    mine = stub.view["sessions"][0]
                    for pair in (stub.view["away"], mine["settings"]):
                        pair.update({k: v for k, v in body.items() if k in pair})
                    stub.view["maxFPS"] = body.get("maxFPS", stub.view["maxFPS"])
                    self.answer({"applied": body, "refused": [], "pair": "away", "limited": False})
                else:
                    self.answer({"state": "fine"})

            def answer(self, body):
                data = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def address_string(self):
                return "local"

            def log_message(self, *_):
                pass

        class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True

        self.server = Server(self.path, Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def posts(self, end):
        return [body for path, body in self.calls if path.endswith(end)]

    def stop(self):
        self.events.put(None)
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def api(scratch):
    stub = StubAPI(f"{scratch}/api.sock")
    yield stub
    stub.stop()


def told(connection, until=lambda said: True):
    """The next kind 16 that fits."""
    while True:
        kind, _, _, payload = read(connection)
        if kind == 16 and until(json.loads(payload)):
            return json.loads(payload)


def test_the_device_is_told_the_quality_and_may_change_it(sample, api):
    host = sample("--video", "60:1", "--json", "--api", api.path)
    with join(host) as connection:
        assert read(connection)[0] == 2
        said = told(connection)
        assert said["settings"] == {
            "maxFPS": 120, "bitrate": 4_000_000, "captureScale": 1, "prioritizeSpeed": False, "virtualDisplay": False}
        assert said["away"] == {
            "homeBitrate": 15_000_000, "homeCaptureScale": 2, "awayBitrate": 4_000_000, "awayCaptureScale": 1,
            "thisConnectionAway": True, "awayRunning": False}
        assert said["stream"]["mbps"] == 15 and "answering" not in said and "link" not in said
        # Something changes: told without being asked, and the encoder follows.
        api.view["runs"] = "away"
        api.events.put("quality.changed")
        said = told(connection)
        assert said["away"]["awayRunning"] and said["stream"]["mbps"] == 4 and "answering" not in said
        harness.eventually(lambda: [e["running"]["bitrate"] for e in host.find("restarted")] == [15_000_000, 4_000_000])
        # The link does not keep up, by a report of this bitrate; one of another is left out.
        report = {"state": "behind", "withheldPerSecond": 12, "bitrate": 4_000_000, "carriedKbps": 2000}
        api.view["sessions"][0]["link"] = report
        api.events.put("link.changed")
        assert told(connection)["link"] == report
        # A pick as it came, its token in the answer, no report of what ran before.
        change = {"token": 7, "bitrate": 25_000_000, "maxFPS": 60, "prioritizeSpeed": True}
        connection.sendall(sill.message(17, change))
        said = told(connection, lambda said: "answering" in said)
        assert api.posts("/sessions/S1/settings") == [change]
        assert said["answering"] == 7 and said["settings"]["bitrate"] == 25_000_000 and "link" not in said
        for nothing in (b"no JSON", b"\xff", b"[" * 100_000, b'{"a":' * 50_000, b'{"bitrate":' + b"9" * 5000 + b"}"):
            connection.sendall(sill.message(17, nothing))
        connection.sendall(sill.message(10, b"12345678"))
        kinds = set()
        while 11 not in kinds:
            kinds.add(read(connection)[0])
        assert 16 not in kinds
        # Half a letter is a token like any other.
        connection.sendall(sill.message(17, b'{"token":"\\ud800"}'))
        assert told(connection, lambda said: "answering" in said)["answering"] == "\ud800"
        # The judge gets its seconds.
        posted = harness.eventually(lambda: api.posts("/sessions/S1/seconds"))[-1]
        assert set(posted["seconds"][0]) == {"sent", "withheld", "taken", "waiting", "heard"}
        assert posted["running"]["captureScale"] == 1


def test_without_an_answer_of_the_api_it_streams_all_the_same(sample, api):
    api.view = None
    host = sample("--video", "60:1", "--json", "--api", api.path)
    with join(host) as connection:
        assert told(connection) == {}
        assert frame(connection)[1]
