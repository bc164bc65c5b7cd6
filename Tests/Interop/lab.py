# SPDX-License-Identifier: Apache-2.0
"""The namespaces of Scripts/lab for journeys: a lab per module, a service in it, sockets and programs anywhere in it.

A test module says what it wants with `SCENARIO = "doors"`, and thereby that its journeys stay in one process when they are
made beside others. They take the fixture `lab`:

    def test_a_vpn_peer(lab, lab_service):
        with lab.inside("vpn"):
            channel = sill.Channel(("10.99.0.2", lab_service.port("remote")), identity)

A socket belongs to the namespace it was made in, for good: only making it needs `inside`.
"""

import contextlib
import ctypes
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys

import harness
import pytest

LAB = harness.ROOT / "Scripts" / "lab"
TOOLS = LAB.parent / "lib" / "lab"
CLONE_NEWNET = 0x40000000
# Labs of tests carry the process that made them, so that what a killed run left is known and taken away.
OURS = re.compile(r"t(\d+)n\d+")
_numbers = itertools.count()


def require():
    """Skips where no namespace can be made."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    if shutil.which("ip") is None:
        pytest.skip("network namespaces need iproute2: Scripts/setup --test")
    probe = subprocess.run(["unshare", "--net", "true"], capture_output=True, text=True)
    if probe.returncode != 0:
        pytest.skip(f"no network namespace can be made here: {probe.stderr.strip()}")


def _call(name, *arguments):
    done = subprocess.run(
        [str(LAB), *arguments], env=os.environ | {"LATCHKEY_LAB": name}, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=300)
    assert done.returncode == 0, f"Scripts/lab {' '.join(arguments)}: {done.stderr[-2000:]}"
    return done.stdout


def _take_dead_labs_away():
    directory = pathlib.Path("/run/latchkey-lab")
    for entry in directory.iterdir() if directory.is_dir() else ():
        match = OURS.fullmatch(entry.name)
        if entry.is_dir() and match and not pathlib.Path(f"/proc/{match[1]}").exists():
            _call(entry.name, "down")


class Lab:
    """One lab that is up. Namespaces go by their short names: host, home, vpn and so on."""

    def __init__(self, scenario):
        self.scenario = scenario
        self.name = f"t{os.getpid()}n{next(_numbers)}"

    def up(self):
        _take_dead_labs_away()
        _call(self.name, "up", self.scenario)
        return self

    def down(self):
        _call(self.name, "down")

    def has(self, namespace):
        return pathlib.Path(f"/run/netns/{self.name}-{namespace}").exists()

    @contextlib.contextmanager
    def inside(self, namespace):
        """This thread is in the namespace for the length of the block: sockets it makes stay there for good."""
        libc = ctypes.CDLL(None, use_errno=True)
        with open("/proc/thread-self/ns/net", "rb") as before, open(
                f"/run/netns/{self.name}-{namespace}", "rb") as wanted:
            if libc.setns(wanted.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")
            try:
                yield
            finally:
                # A thread that cannot come back must not go on in the wrong place.
                if libc.setns(before.fileno(), CLONE_NEWNET) != 0:
                    os.abort()

    def command(self, namespace, *command):
        """The command line that runs a command there, with a /sys that shows that namespace alone, and with a /run of its
        own where the scenario made a machine of it."""
        run = pathlib.Path(f"/run/latchkey-lab/{self.name}/{namespace}-run")
        own = [TOOLS / "inside", run] if run.exists() else []
        return ["ip", "netns", "exec", f"{self.name}-{namespace}", *map(str, [*own, *command])]

    def run(self, namespace, *command, check=True, **options):
        options = {"timeout": 120, "input": ""} | options
        done = subprocess.run(self.command(namespace, *command), capture_output=True, text=True, **options)
        if check:
            assert done.returncode == 0, f"{command} in {namespace}: {done.stderr[-2000:]}"
        return done

    def python(self, namespace, snippet, *arguments, **options):
        """Runs a Python snippet there, with this interpreter and the modules of these tests; returns what it printed."""
        environment = os.environ | {"PYTHONPATH": str(pathlib.Path(__file__).parent)}
        return self.run(
            namespace, sys.executable, "-c", snippet, *arguments, env=environment, **options).stdout

    def ip(self, namespace, line):
        """One ip command there, as typed."""
        return self.run(namespace, "ip", *line.split()).stdout

    def service(self, directory, *options, namespace="host", **more):
        """A latchkeyd there, not started yet."""
        return LabService(self, namespace, directory, *options, **more)


class LabService(harness.Service):
    """A service in a namespace; its Unix socket is reached from everywhere."""

    def __init__(self, lab, namespace, directory, *options, **more):
        super().__init__(directory, *options, **more)
        self.lab, self.namespace = lab, namespace

    def command(self, *more):
        return self.lab.command(self.namespace, *super().command(*more))

    def port(self, door):
        """The port a door listens on, as soon as it does."""
        return harness.eventually(lambda: self.doors.get(door))

    def pair_device(self, identity=None, name="Interop", source=None):
        with self.lab.inside(self.namespace):
            return super().pair_device(identity, name, source)
