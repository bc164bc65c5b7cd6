# SPDX-License-Identifier: Apache-2.0
"""A device goes out of the house and comes home again: the session, its quality and its stream (06 A3, B4, B7)."""

import json
import signal
import struct
import subprocess
import threading

import avahi_lab
import harness
import pytest
from test_quality import Events

SCENARIO = "away-home"
HOST, TUNNEL = "192.168.1.20", "100.88.123.45"
# A session notices a dead path after 6 s, dials 3 s later at the earliest; a busy machine takes its time.
PATIENT = 60.0


class Kept:
    """`latchkey-device connect --follow --json --save`, and what it has said so far."""

    def __init__(self, machine, host_id):
        self.lines, self.stream = [], machine.directory / "stream"
        self.process = subprocess.Popen(
            machine.command(
                harness.BIN / "latchkey-device", "connect", host_id, "--follow", "--json", "--save", self.stream,
                "--dir", machine.directory / "identity"),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def changes(self, name):
        return [line for line in list(self.lines) if line.get("change") == name]

    def until(self, name, count=1):
        """The change of that name, when it is the so-manieth."""
        def come():
            assert self.process.poll() is None, (self.lines, self.process.stderr.read())
            found = self.changes(name)
            return found[count - 1] if len(found) >= count else None
        return harness.eventually(come, PATIENT)

    def end(self):
        """Its report."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(harness.START_LIMIT) == 130
        return harness.eventually(lambda: [line for line in self.lines if "ended" in line])[0]

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(harness.START_LIMIT)

    def frames(self):
        """The numbers of the frames that came, in their order, and which were keyframes (Scripts/lib/streaming)."""
        data, at, numbers = self.stream.read_bytes(), 0, []
        while at + 14 <= len(data):
            kind, _, is_key, length = struct.unpack_from("!BdBI", data, at)
            payload = data[at + 14:at + 14 + length]
            assert len(payload) == length, "a message is cut"
            if kind == 1:
                numbers.append((struct.unpack_from("!dI", payload)[1], bool(is_key)))
            at += 14 + length
        return numbers


@pytest.fixture
def house(lab, scratch):
    """The host with its service and streaming process, and the device's own machine beside it; both with an Avahi."""
    with avahi_lab.machines(lab, scratch, "host", "home") as made:
        for machine in made:
            machine.start_avahi()
        yield made
    lab.ip("home", "link set eth0 up")


@pytest.fixture
def streaming(house, start):
    sample = start.sample(
        "--video", "60:1", "--pace", "on", "--json", "--api", str(house[0].directory / "one" / "run" / "api.sock"))
    service = house[0].service(backend=sample.address).start()
    service.settings(remoteAccess=True)
    service.until("on")
    return service, sample


@pytest.fixture
def kept(house):
    started = []

    def start(host_id):
        started.append(Kept(house[1], host_id))
        return started[-1]

    yield start
    for one in started:
        one.kill()


def pair(service, machine):
    link = service.window()["url"]
    done = subprocess.run(
        machine.command(
            harness.BIN / "latchkey-device", "pair", link, "--host", f"{HOST}:{service.port('home')}", "--name", "Shell",
            "--dir", machine.directory / "identity"),
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=harness.START_LIMIT)
    assert done.returncode == 0, done.stderr


def quality(service):
    view = service.get("/v1/quality")
    return view["runs"], view["why"]["home"], view["why"]["away"]


def more_frames(session, count):
    before = len(session.frames())
    harness.eventually(lambda: len(session.frames()) >= before + count, PATIENT)


def lan(lab, state):
    lab.ip("home", f"link set eth0 {state}")


def test_out_of_the_house_and_home_again(lab, house, streaming, kept):
    service, sample = streaming
    pair(service, house[1])
    events = Events(service)
    session = kept(service.host_id)
    first = session.until("connected")
    assert (first["door"], first["route"]) == ("home", "on this network"), first
    assert quality(service) == ("home", 1, 0)
    more_frames(session, 30)

    lan(lab, "down")
    session.until("lost")
    away = session.until("connected", 2)
    assert (away["door"], away["route"]) == ("remote", "through Tailscale"), away
    harness.eventually(lambda: quality(service) == ("away", 0, 1), PATIENT)
    # The encoder runs at the away quality now.
    harness.eventually(lambda: [item["running"]["bitrate"] for item in sample.find("restarted")][-1:] == [4_000_000])
    more_frames(session, 30)

    lan(lab, "up")
    moved = session.until("moved")
    assert (moved["door"], moved["route"]) == ("home", "on this network"), moved
    # One change out, one change home, whatever the order in which its two sessions came and went.
    harness.eventually(lambda: quality(service) == ("home", 1, 0), PATIENT)
    assert [item["runs"] for item in events.of("quality.changed")] == ["away", "home"]
    assert [item["running"]["bitrate"] for item in sample.find("restarted")][-1] == 15_000_000
    # It stays.
    more_frames(session, 60)
    assert session.changes("lost") == session.changes("lost")[:1]
    report = session.end()
    assert report["hostInfo"] == "verified" and report["door"] == "home" and report["kinds"]["2"] == 3
    # Nothing of what a connection carried is missing: each gives its frames one by one, and numbers jump only at the keyframe
    # that a connection begins with. The loss costs frames. So may the moment in which the streaming process has said its
    # window list and not yet begun to stream, once the old connection is closed (06 B7); those were sent to nobody.
    frames = session.frames()
    jumps = [(before, after) for before, after in zip(frames, frames[1:]) if after[0] != before[0] + 1]
    assert all(after[1] for _, after in jumps), jumps
    gaps = [after[0] > before[0] + 1 for before, after in jumps]
    assert gaps[:1] == [True] and gaps.count(True) <= 2, jumps
    # And for people it was where it says.
    assert service.get("/v1/devices")["items"][0]["lastRoute"] == "on this network"
    routes = [item["route"] for item in events.of("session.opened")]
    assert routes == ["on this network", "through Tailscale", "on this network"]
