# SPDX-License-Identifier: Apache-2.0
"""latchkey-device and latchkey beside each other, as the README has a person use them (08, 09 points 27 to 32)."""

import json
import os
import pathlib
import signal
import subprocess
import threading
import time

import harness
import pytest
import sill_client as sill
from harness import run


@pytest.fixture
def device(scratch):
    class Tool:
        directory = f"{scratch}/device"

        def __call__(self, *arguments, **options):
            return run("latchkey-device", *arguments, "--dir", self.directory, **options)

        def json(self, *arguments, **options):
            done = self(*arguments, "--json", **options)
            return done.returncode, json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else None

    return Tool()


@pytest.fixture
def admin(service):
    def call(*arguments, **options):
        return run("latchkey", "--socket", service.runtime / "api.sock", *arguments, **options)

    return call


def place(service, door):
    return "127.0.0.1:%d" % service.door(door)[1]


@pytest.mark.parametrize("door", ["home", "remote"])
@pytest.mark.parametrize("way", ["link", "code"])
def test_pair_connect_forget(service, device, door, way):
    service.settings(remoteAccess=True)
    window = service.window()
    if way == "link":
        done = device("pair", window["url"], "--host", place(service, door), "--name", "Shell")
    else:
        done = harness.eventually(lambda: paired_by_code(device, window, place(service, door)), limit=harness.START_LIMIT)
    assert done.returncode == 0, done.stderr
    assert service.host_id in done.stdout
    assert [d["name"] for d in service.devices().values()] == ["Shell"]
    code, report = device.json("connect", service.host_id, "--host", place(service, door), "--door", door,
                               "--seconds", "1.5")
    assert code == 0
    assert report["hostID"] == service.host_id and report["door"] == door and report["tls"] == "TLSv1.3"
    assert report["hostInfo"] == "verified" and report["goodbye"] is None and report["ended"] == "seconds"
    assert report["kinds"]["2"] == 1 and report["kinds"]["18"] >= 1 and report["kinds"]["11"] >= 2
    assert report["bytes"] > 1000 and report["rttMs"]["p50"] <= report["rttMs"]["p99"]
    # With one saved host its ID may be left out; the human form says the same.
    done = device("connect", place(service, door), "--seconds", "0.5")
    assert done.returncode == 0 and "verified" in done.stdout and "TLSv1.3" in done.stdout
    code, hosts = device.json("hosts")
    assert code == 0 and [h["hostID"] for h in hosts["items"]] == [service.host_id]
    assert hosts["items"][0]["name"] == "Desk"
    assert device("forget", service.host_id).returncode == 0
    assert device("forget", service.host_id).returncode == 4
    assert device("connect", service.host_id).returncode == 4


def paired_by_code(device, window, where):
    done = device("pair", "--code", window["groupedCode"], "--host", where, "--name", "Shell")
    return done if done.returncode != 1 or "try again" not in done.stderr else None


def test_wrong_codes_and_typing_mistakes(service, device):
    window = service.window(remote=False)
    where = place(service, "home")
    digits = window["code"]
    typo = digits[:-1] + str((int(digits[-1]) + 1) % 10)
    code, report = device.json("pair", "--code", typo, "--host", where)
    assert code == 2 and service.get("/v1/pairing/window")["triesLeft"] == 5

    def wrong():
        return device.json("pair", "--code", sill.wrong_code(digits), "--host", where)

    code, report = harness.eventually(lambda: (r := wrong())[1]["reason"] != "busy" and r, limit=harness.START_LIMIT)
    assert code == 1 and report["reason"] == "code" and report["triesLeft"] == 4 and report["ok"] is False
    assert device.json("hosts")[1]["items"] == []


def test_other_answers(service, device, start):
    window = service.window()
    other = start(name="two")
    assert device.json("pair", window["url"], "--host", place(other, "home"))[0] == 5
    assert device.json("hosts")[1]["items"] == []
    assert device("pair", window["url"], "--host", place(service, "home")).returncode == 0
    assert device.json("connect", service.host_id, "--host", place(other, "home"))[0] == 5
    assert device.json("connect", service.host_id, "--host", "127.0.0.1:1")[0] == 3
    assert device("pair", "https://example.net").returncode == 2
    assert device("pair", "--code", window["code"]).returncode == 2
    assert device("fly").returncode == 2
    # The window is used; the next device hears closed.
    code, report = device.json("pair", window["url"], "--host", place(service, "home"), "--dir", device.directory + "2")
    assert code in (1, 2)


def test_a_home_only_link_needs_a_place(service, device):
    window = service.window(remote=False)
    done = device("pair", window["url"])
    assert done.returncode == 2 and "--host" in done.stderr or "host:port" in done.stderr
    assert device("pair", window["url"], "--host", place(service, "home")).returncode == 0
    # A host on this machine is found by its endpoints.json.
    code, report = device.json("connect", service.host_id, "--door", "home", "--runtime-dir", service.runtime,
                               "--seconds", "0.5")
    assert code == 0 and report["door"] == "home"


def test_goodbyes_are_told(service, device):
    window = service.window()
    assert device("pair", window["url"], "--host", place(service, "home")).returncode == 0
    service.window()
    code, report = device.json("connect", service.host_id, "--host", place(service, "remote"))
    assert code == 1 and report["goodbye"] == {"reason": "remoteOff"} and report["ended"] == "goodbye"
    results = {}
    thread = threading.Thread(
        target=lambda: results.update(r=device.json("connect", service.host_id, "--host", place(service, "home"))))
    thread.start()
    session = harness.eventually(service.sessions)[0]
    answer = service.api("DELETE", f"/v1/devices/{session['device']['id']}")
    assert answer.json == {"closedSessions": 1}
    thread.join(harness.START_LIMIT)
    code, report = results["r"]
    assert code == 1 and report["goodbye"] == {"reason": "removed"} and report["ended"] == "goodbye"
    code, report = device.json("connect", service.host_id, "--host", place(service, "home"))
    assert code == 1 and report["reason"] == "revoked" and report["ended"] == "refused"


def test_ctrl_c_ends_a_session_with_its_report(service, device):
    window = service.window(remote=False)
    assert device("pair", window["url"], "--host", place(service, "home")).returncode == 0
    process = subprocess.Popen(
        [str(harness.BIN / "latchkey-device"), "connect", place(service, "home"), "--dir", device.directory],
        stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().startswith("Connected to Desk")
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=harness.START_LIMIT)
    assert process.returncode == 130 and "window list (2) ×1" in said and "closed" in said
    harness.eventually(lambda: not service.sessions())


def blocks(pid, number):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("SigBlk:")[1].split()[0], 16) >> (number - 1) & 1


def test_a_second_ctrl_c_ends_what_hangs_on_a_pipe(service, device, scratch):
    window = service.window(remote=False)
    assert device("pair", window["url"], "--host", place(service, "home")).returncode == 0
    pipe = pathlib.Path(scratch) / "nobody-reads"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [str(harness.BIN / "latchkey-device"), "connect", place(service, "home"), "--save", str(pipe),
         "--dir", device.directory], stdout=subprocess.DEVNULL)
    try:
        # Opening a pipe waits for its reader, and so does the tool, once it takes its signals itself.
        harness.eventually(lambda: blocks(process.pid, signal.SIGINT))
        harness.eventually(lambda: process.poll() is not None or process.send_signal(signal.SIGINT))
        assert process.wait(harness.START_LIMIT) == 130
    finally:
        process.kill()
        process.wait()


def test_the_admin_tool_pairs_lists_renames_removes(service, admin, device):
    lines = {}

    def pairing():
        lines["done"] = admin("pair", "--json")

    thread = threading.Thread(target=pairing)
    thread.start()
    window = harness.eventually(
        lambda: (a := service.api("GET", "/v1/pairing/window")).status == 200 and a.json)
    assert device("pair", window["url"], "--host", place(service, "home"), "--name", "Shell").returncode == 0
    thread.join(harness.START_LIMIT)
    done = lines["done"]
    assert done.returncode == 0, done.stderr
    first, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert first["url"] == window["url"]
    assert last["outcome"] == "paired" and last["device"]["name"] == "Shell"
    ident = last["device"]["id"]
    assert "Shell" in admin("list").stdout
    assert admin("rename", ident[:4], "Lounge").returncode == 0
    assert service.devices()[ident]["name"] == "Lounge"
    assert admin("status").returncode == 0
    assert admin("remove", "nobody-here", "--yes").returncode == 4
    assert admin("remove", "Lounge").returncode == 2
    assert admin("remove", "Lounge", "--yes").returncode == 0
    assert service.devices() == {}
    assert admin("set", "remote-access", "on").returncode == 0
    assert service.get("/v1/settings")["remoteAccess"] is True
    assert admin("set", "no-such-key", "1").returncode == 2
    assert admin("set", "maximum-fps", "1").returncode in (1, 2)
    port = service.runtime / "api.sock"
    service.stop()
    assert run("latchkey", "--socket", port, "sessions").returncode == 3


def test_the_admin_tool_works_while_the_service_is_down(service, scratch):
    identity = service.pair_device(name="Shell")
    service.stop()
    state = ["--state-dir", service.state, "--socket", service.runtime / "api.sock"]
    listed = run("latchkey", *state, "list", "--json")
    assert listed.returncode == 0 and identity.id in listed.stdout and listed.stderr
    assert run("latchkey", *state, "rename", identity.id, "Other").returncode == 0
    assert run("latchkey", *state, "remove", identity.id, "--yes").returncode == 0
    service.start()
    assert service.devices() == {}
    with pytest.raises(sill.Alert):
        sill.Channel(service.door("home"), identity).read_message()


def test_ctrl_c_cancels_the_window(service, scratch):
    process = subprocess.Popen(
        [str(harness.BIN / "latchkey"), "--socket", str(service.runtime / "api.sock"), "pair"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    harness.eventually(lambda: service.api("GET", "/v1/pairing/window").status == 200)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=harness.START_LIMIT)
    assert process.returncode == 130
    assert service.api("GET", "/v1/pairing/window").json["last"]["outcome"] == "cancelled"


@pytest.fixture
def away(start, sample, device):
    """A host whose remote door keeps its port, and a device that has paired there."""
    service = start(backend=sample.address, remote_port=harness.free_port())
    service.settings(remoteAccess=True)
    window = service.window()
    assert device("pair", window["url"], "--host", place(service, "remote")).returncode == 0
    return service


def test_dial_shows_each_attempt(away, device, start):
    code, report = device.json("dial", away.host_id)
    assert code == 0 and report["outcome"] == "connected" and report["door"] == "remote"
    first = report["attempts"][0]
    assert first["outcome"] == "connected" and first["endpoint"] == place(away, "remote") and first["begunMs"] == 0
    assert first["endedMs"] <= report["tookMs"]
    assert harness.eventually(lambda: not away.sessions()) is True
    # With one saved host its ID may be left out; people see a table.
    done = device("dial")
    assert done.returncode == 0 and "OUTCOME" in done.stdout and "serves this device by address" in done.stdout
    assert device.json("hosts")[1]["items"][0]["lastRoute"] == "by address"
    assert device("dial", "NOSUCHHOST").returncode == 4
    # A place alone; a port nobody listens on.
    code, report = device.json("dial", away.host_id, "--host", "127.0.0.1:1")
    assert code == 3 and report["outcome"] == "refused" and len(report["attempts"]) == 1
    # Another key at a place that a person named says what it is.
    other = start(name="two")
    code, report = device.json("dial", away.host_id, "--host", place(other, "home"))
    assert code == 5 and report["outcome"] == "wrongHost"
    away.settings(remoteAccess=False)
    away.window()
    code, report = device.json("dial", away.host_id, "--host", place(away, "remote"))
    assert code == 1 and report["outcome"] == "remoteOff" and report["attempts"][0]["reason"] == "remoteOff"
    away.stop()
    code, report = device.json("dial", "--runtime-dir", away.runtime)
    assert code == 3 and report["outcome"] == "refused"
    assert {attempt["outcome"] for attempt in report["attempts"]} == {"failed"}


class Following:
    """`connect --follow --json`, line by line."""

    def __init__(self, device, *arguments):
        self.process = subprocess.Popen(
            [str(harness.BIN / "latchkey-device"), "connect", "--follow", "--json", "--dir", device.directory, *arguments],
            stdout=subprocess.PIPE, text=True)
        self.lines = []

    def until(self, check):
        """Reads on to the first line that fits."""
        for text in self.process.stdout:
            self.lines.append(json.loads(text))
            if check(self.lines[-1]):
                return self.lines[-1]
        pytest.fail(f"ended with {self.lines}")

    def change(self, name):
        return self.until(lambda line: line.get("change") == name)

    def end(self):
        self.process.stdout.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(harness.START_LIMIT)


@pytest.fixture
def following(device):
    started = []

    def start(*arguments):
        started.append(Following(device, *arguments))
        return started[-1]

    yield start
    for process in started:
        process.end()


@pytest.mark.waits
def test_a_session_that_is_kept_comes_back_after_a_restart(away, following):
    session = following(away.host_id, "--host", place(away, "remote"))
    first = session.change("connected")
    assert first["door"] == "remote" and first["route"] == "by address" and first["endpoint"] == place(away, "remote")
    away.restart()
    lost = session.change("lost")
    assert lost["reason"] == "quit"
    # By the saved address, 3 s after the loss; a host that is not ready yet is dialled again.
    again = session.change("connected")
    assert again["door"] == "remote"
    assert [line["change"] for line in session.lines][:3] == ["connected", "lost", "dialling"]
    device_id = harness.eventually(away.sessions)[0]["device"]["id"]
    assert away.api("DELETE", f"/v1/devices/{device_id}").json == {"closedSessions": 1}
    over = session.change("over")
    assert over["reason"] == "removed"
    report = session.until(lambda line: "ended" in line)
    assert report["ended"] == "goodbye" and report["goodbye"] == {"reason": "removed"}
    assert report["kinds"]["2"] == 2 and report["hostInfo"] == "verified"
    assert session.process.wait(harness.START_LIMIT) == 1


def test_a_kept_session_ends_with_its_time_and_at_ctrl_c(away, device, following):
    code, report = device.json("connect", away.host_id, "--host", place(away, "remote"), "--follow", "--seconds", "1")
    assert code == 0 and report["ended"] == "seconds" and report["kinds"]["2"] == 1
    session = following(away.host_id, "--host", place(away, "remote"))
    session.change("connected")
    session.process.send_signal(signal.SIGINT)
    report = session.until(lambda line: "ended" in line)
    assert report["ended"] == "closed" and session.process.wait(harness.START_LIMIT) == 130
    harness.eventually(lambda: not away.sessions())
