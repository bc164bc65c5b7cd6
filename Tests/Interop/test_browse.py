# SPDX-License-Identifier: Apache-2.0
"""latchkey-device lists the hosts around it: a machine with a bus and an Avahi of its own on the home network, where
another one announces its home door (02 sections 7.3 and 11, 06 B7)."""

import json
import signal
import subprocess
import threading

import avahi_lab
import harness
import pytest
import sill_client as sill

SCENARIO = "doors"
HOST = "192.168.1.20"


class Watch:
    """`latchkey-device browse --follow --json`, and what it has said so far."""

    def __init__(self, machine, *options):
        self.lines = []
        self.process = subprocess.Popen(
            machine.command(*tool(machine, "browse", "--json", *options)), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def said(self, event, **values):
        return [line for line in list(self.lines) if line["event"] == event
                and all(line.get(key) == value for key, value in values.items())]

    @property
    def rows(self):
        """What is listed, by ID."""
        rows = {}
        for line in list(self.lines):
            if line["event"] == "listed":
                rows[line["id"]] = line
            elif line["event"] == "gone":
                # Nothing goes that was not there.
                del rows[line["id"]]
        return rows

    def until(self, check=lambda row: True, name="Desk"):
        """The row of that name when it fits, alone of its name."""
        def fits():
            rows = [row for row in self.rows.values() if row["name"] == name]
            return rows[0] if len(rows) == 1 and check(rows[0]) else None
        return harness.eventually(fits, harness.START_LIMIT)

    def until_gone(self, name="Desk"):
        harness.eventually(
            lambda: self.said("gone", name=name) and name not in [row["name"] for row in self.rows.values()],
            harness.START_LIMIT)

    def stop(self):
        """Ctrl-C; what the shell sees."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(harness.START_LIMIT)


def tool(machine, *arguments):
    return [harness.BIN / "latchkey-device", *arguments, "--dir", machine.directory / "identity"]


def run(machine, *arguments):
    return subprocess.run(
        machine.command(*tool(machine, *arguments)), capture_output=True, text=True, stdin=subprocess.DEVNULL,
        timeout=harness.START_LIMIT)


@pytest.fixture
def machines(lab, scratch):
    """The host, and the device's own machine beside it: both have a bus that runs, and an Avahi that does not yet."""
    with avahi_lab.machines(lab, scratch, "host", "home") as made:
        yield made


@pytest.fixture
def watch(machines):
    started = []

    def start(*options):
        started.append(Watch(machines[1], *options))
        return started[-1]

    yield start
    for one in started:
        one.stop()


def pair(service, machine):
    link = service.window(remote=False)["url"]
    done = run(machine, "pair", link, "--host", f"{HOST}:{service.port('home')}", "--name", "Shell")
    assert done.returncode == 0, done.stderr


def test_a_saved_host_comes_changes_and_goes(machines, watch):
    host, device = machines
    host.start_avahi()
    device.start_avahi()
    service = host.service().start()
    service.until("on")
    place = f"{HOST}:{service.port('home')}"

    # A stranger, to somebody who looks once.
    once = run(device, "browse", "--json")
    assert once.returncode == 0, once.stderr
    lines = [json.loads(line) for line in once.stdout.splitlines()]
    stranger = [line for line in lines if line["name"] == "Desk"][-1]
    assert stranger["event"] == "listed" and stranger["hostID"] is None and stranger["tls"]
    assert place in stranger["addresses"]
    # By both protocols it is one row.
    assert len({line["id"] for line in lines}) == 1
    assert any(address.startswith("[") for address in stranger["addresses"])

    # Paired: known by its tag alone.
    pair(service, device)
    seen = watch("--follow")
    first = seen.until(lambda row: row["hostID"] == service.host_id)
    assert first["id"] == stranger["id"] and place in first["addresses"]
    table = run(device, "browse")
    assert table.returncode == 0 and service.host_id in table.stdout and place in table.stdout

    # The record's `p` changes in place: the row is the one it was, and nothing is to be said.
    service.settings(requirePairing=False)
    # Somebody takes another name and the same tag, which is no proof of anything: a row of its own.
    tag = first["id"].split()[1]
    host.publish("Desk too", 12345, f"r={tag}", "p=1")
    replay = seen.until(name="Desk too")
    assert replay["hostID"] == service.host_id and replay["id"] != first["id"]
    # No `p`: plain. No tag: nobody. A tag that is none: nobody.
    host.publish("Plain", 12346)
    host.publish("Wrong", 12347, "r=" + sill.b64u(bytes(12)), "p=0")
    plain, wrong = seen.until(name="Plain"), seen.until(name="Wrong")
    assert not plain["tls"] and plain["hostID"] is None and wrong["tls"] and wrong["hostID"] is None
    assert len(seen.said("listed", name="Desk")) == len(seen.said("listed", id=first["id"]))
    assert not seen.said("gone")

    # Killed, it is gone; started again it has another tag, and is the same host.
    service.stop(signal.SIGKILL)
    seen.until_gone()
    service.start()
    second = seen.until()
    assert second["hostID"] == service.host_id and second["id"].split()[1] != tag
    assert not seen.said("gone", name="Desk too")
    # Another identity changes the tag in place: now it is a stranger.
    assert service.api("POST", "/v1/identity/rotate", {"confirm": service.host_id}).status == 200
    seen.until(lambda row: row["hostID"] is None)

    assert service.stop() == 0
    seen.until_gone()
    assert seen.stop() == 130


def test_the_devices_avahi_comes_goes_and_comes(machines, watch):
    host, device = machines
    host.start_avahi()
    service = host.service().start()
    service.until("on")
    seen = watch("--follow")
    harness.eventually(lambda: seen.said("unavailable", reason="noAvahi"), harness.START_LIMIT)
    device.start_avahi()
    first = seen.until()
    device.avahi.stop(signal.SIGKILL)
    seen.until_gone()
    harness.eventually(lambda: len(seen.said("unavailable", reason="noAvahi")) == 2, harness.START_LIMIT)
    device.start_avahi()
    assert seen.until()["id"] == first["id"]
    # The bus, and Avahi with it.
    device.bus.stop(signal.SIGKILL)
    device.avahi.stop(signal.SIGKILL)
    harness.eventually(lambda: seen.said("unavailable", reason="noBus") and not seen.rows, harness.START_LIMIT)
    device.start_bus()
    device.start_avahi()
    assert seen.until()["id"] == first["id"]
    assert seen.stop() == 130


@pytest.mark.parametrize("missing", ["avahi", "bus"])
def test_nobody_to_ask(machines, missing):
    _, device = machines
    if missing == "bus":
        device.bus.stop()
    done = run(device, "browse")
    assert done.returncode == 3 and done.stdout == ""
    assert ("avahi-daemon" if missing == "avahi" else "system bus") in done.stderr
    done = run(device, "browse", "--seconds", "0.5", "--json")
    assert done.returncode == 3
    assert [json.loads(line)["event"] for line in done.stdout.splitlines()] == ["unavailable"]


def test_an_empty_network(machines):
    _, device = machines
    device.start_avahi()
    done = run(device, "browse")
    assert done.returncode == 0 and "No host" in done.stdout and done.stderr == ""
