# SPDX-License-Identifier: Apache-2.0
"""Machines of the lab with a system bus and an Avahi of their own: the namespace `host`, where the service is, or another;
and devices that listen elsewhere."""

import contextlib
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import threading

import harness
import lab as labs
import pytest

HERE = pathlib.Path(__file__).parent
# Its own /run, with the test's bus where everybody looks for the system's.
OWN_RUN = (
    'mount -t tmpfs run /run && mkdir /run/dbus /run/avahi-daemon && mount --bind "$0" /run/dbus && exec "$@"')

BUS = """<busconfig>
  <type>system</type><listen>unix:path=/run/dbus/system_bus_socket</listen><auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/>
  </policy>
</busconfig>
"""

AVAHI = """[server]
host-name={name}
use-ipv4=yes
use-ipv6=yes
enable-dbus=yes
allow-point-to-point=yes
{server}
[publish]
publish-hinfo=no
publish-workstation=no
{publish}
[wide-area]
enable-wide-area=no
"""


def require():
    for program, package in (("dbus-daemon", "dbus-daemon"), ("avahi-daemon", "avahi-daemon"),
                             ("avahi-publish", "avahi-utils")):
        if shutil.which(program) is None:
            pytest.skip(f"needs {package}: Scripts/setup --test")


class Program:
    """One program of a test, with its log; gone when the test ends."""

    def __init__(self, name, command, log):
        self.name, self.command, self.log_path = name, command, pathlib.Path(log)
        self.process = None

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def until_it_says(self, words, times=1):
        def said():
            assert self.process.poll() is None, f"{self.name} ended: {self.log()[-2000:]}"
            return self.log().count(words) >= times
        harness.eventually(said, harness.START_LIMIT)

    def send(self, number):
        self.process.send_signal(number)

    def stop(self, how=signal.SIGTERM):
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(how)
            try:
                self.process.wait(harness.START_LIMIT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None


class AvahiService(labs.LabService):
    """A latchkeyd that sees the host's own bus at the system's place."""

    def __init__(self, host, directory, *options, named=True, **more):
        super().__init__(host.lab, host.namespace, directory, *options, **{"advertises": True} | more)
        self.host = host
        self.named = named

    def command(self, *more):
        line = harness.Service.command(self, *more)
        if not self.named:
            # The name is then the setting's.
            at = line.index("--name")
            del line[at:at + 2]
        return self.host.command(*line)

    @property
    def advertising(self):
        return self.get("/v1/status")["advertising"]

    def until(self, state):
        harness.eventually(lambda: self.advertising == state, harness.START_LIMIT)

    def lines(self, message):
        """What the log says in lines that begin so."""
        found = (json.loads(line) for line in self.log().splitlines() if line.startswith("{"))
        return [line for line in found if line["message"].startswith(message)]


class Host:
    """The machine: its bus, its Avahi, its service."""

    def __init__(self, lab, directory, namespace="host"):
        self.lab, self.directory, self.namespace = lab, pathlib.Path(directory), namespace
        self.bus_directory = self.directory / "bus"
        self.bus_directory.mkdir()
        self.programs = []
        (self.directory / "bus.conf").write_text(BUS)
        self.configure()
        self.bus = self._program(
            "bus", "dbus-daemon", "--nofork", "--nopidfile", "--print-address=1", "--config-file",
            self.directory / "bus.conf")
        self.avahi = self._program(
            "avahi", "avahi-daemon", "--no-drop-root", "--no-rlimits", "--no-chroot", "--file",
            self.directory / "avahi.conf")

    def configure(self, server="", publish=""):
        (self.directory / "avahi.conf").write_text(AVAHI.format(
            name=f"lab-{self.namespace}", server=server, publish=publish))

    def command(self, *command):
        """A command line in the machine's namespace, with the machine's own /run."""
        return self.lab.command(
            self.namespace, "unshare", "--mount", "sh", "-c", OWN_RUN, self.bus_directory, *command)

    def _program(self, name, *command):
        program = Program(name, self.command(*command), self.directory / f"{name}.log")
        self.programs.append(program)
        return program

    def start_bus(self):
        return self._start(self.bus, "unix:path=")

    def start_avahi(self):
        return self._start(self.avahi, "Server startup complete")

    def _start(self, program, ready):
        times = program.log().count(ready) + 1
        program.start()
        program.until_it_says(ready, times)
        return self

    def service(self, *options, name="one", **more):
        service = AvahiService(self, self.directory / name, *options, **more)
        self.programs.append(service)
        return service

    def publish(self, name, port=9, *texts, kind="_sill._tcp"):
        """Another program on this machine that announces something, on every network."""
        program = self._program(f"publish-{name}", "avahi-publish", "-s", name, kind, port, *texts)
        program.start()
        program.until_it_says("Established")
        return program

    def device(self, namespace, address, *more):
        """Somebody who listens on a network, and may publish there."""
        device = Device(self.lab, namespace, address, *more)
        self.programs.append(device)
        return device.start()

    def stop(self):
        for program in reversed(self.programs):
            program.stop()


class Device:
    """A browser in a namespace (browse_mdns.py), with everything it heard."""

    def __init__(self, lab, namespace, address, *more):
        self.command = lab.command(namespace, sys.executable, "-u", HERE / "browse_mdns.py", address, *more)
        self.namespace = namespace
        self.events = []
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, args=(self.process,), daemon=True).start()
        harness.eventually(lambda: self.heard("browsing"), harness.START_LIMIT)
        return self

    def _read(self, process):
        for line in process.stdout:
            self.events.append(json.loads(line))

    def heard(self, event, name=None):
        return [item for item in list(self.events) if item["event"] == event and name in (None, item.get("name"))]

    def row(self, name="Desk"):
        """The record as it stands; None when there is none."""
        found = [item for item in list(self.events) if item.get("name") == name and item["event"] != "published"]
        return found[-1] if found and found[-1]["event"] != "removed" else None

    def until(self, check=lambda row: True, name="Desk"):
        """The record when it fits."""
        def fits():
            row = self.row(name)
            return row if row and check(row) else None
        return harness.eventually(fits, harness.START_LIMIT)

    def until_gone(self, name="Desk"):
        harness.eventually(lambda: self.heard("removed", name) and not self.row(name), harness.START_LIMIT)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(harness.START_LIMIT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


@contextlib.contextmanager
def machines(lab, scratch, *namespaces):
    """Machines side by side, each with a bus that runs and an Avahi that does not yet."""
    require()
    if not harness.have_programs():
        pytest.skip(f"no latchkeyd in {harness.BIN}")
    with contextlib.ExitStack() as ends:
        made = []
        for namespace in namespaces:
            directory = pathlib.Path(scratch) / namespace
            directory.mkdir()
            made.append(Host(lab, directory, namespace))
            ends.callback(made[-1].stop)
            made[-1].start_bus()
        yield made
