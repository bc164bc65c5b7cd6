# SPDX-License-Identifier: Apache-2.0
"""Many scenarios of Scripts/lab at once, and routers that are played on request: for journeys about reachability."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import harness
import lab as labs

sys.path.insert(0, str(labs.TOOLS))
import igd  # noqa: E402,F401 - the lab's own questions to routers

LAN, GATEWAY, NEIGHBOUR, STRANGER = "192.168.1.20", "192.168.1.1", "192.168.1.23", "203.0.113.7"


class Places:
    """The scenarios that a module asks for, each one lab. They come up in the background, in the order wanted."""

    def __init__(self, wanted):
        self.pool = concurrent.futures.ThreadPoolExecutor(1)
        self.labs, self.services = {}, {}
        self.coming = {name: self.pool.submit(self.up, name) for name in dict.fromkeys(wanted)}

    def up(self, name):
        there = labs.Lab(name)
        there.up()
        self.labs[name] = there
        return there

    def __getitem__(self, name):
        if name not in self.coming:
            self.coming[name] = self.pool.submit(self.up, name)
        return self.coming[name].result()

    def close(self):
        self.pool.shutdown(cancel_futures=True)
        with contextlib.ExitStack() as ends:
            for there in self.labs.values():
                ends.callback(there.down)


class Scripted:
    """One router of Scripts/lib/lab/router.py that runs. It writes down what it is asked before it answers."""

    def __init__(self, there, namespace, behaviour, lan=GATEWAY, elsewhere=NEIGHBOUR):
        self.book = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            there.command(
                namespace, sys.executable, labs.TOOLS / "router.py", behaviour, "--lan", lan, "--elsewhere", elsewhere),
            stdout=self.book, stdin=subprocess.DEVNULL)
        harness.eventually(lambda: self._lines() or self.process.poll() is not None)
        assert self._lines()[:1] == ["ready"], f"{behaviour} did not start"

    def _lines(self):
        """The whole ones; the place that the router writes at is left where it is."""
        size = os.fstat(self.book.fileno()).st_size
        return os.pread(self.book.fileno(), size, 0).decode().split("\n")[:-1]

    @property
    def requests(self):
        """All that it was asked so far."""
        return [json.loads(line) for line in self._lines()[1:]]

    def asked(self, action):
        """The values of every SOAP request of this action."""
        return [item["values"] for item in self.requests if item.get("soap") == action]

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        self.process.terminate()
        self.process.wait(harness.FRIENDLY)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def latchkey(there, namespace, *arguments, state=None, **options):
    """Runs `latchkey` there, and returns what subprocess says."""
    where = ["--state-dir", state] if state else []
    return there.run(namespace, harness.BIN / "latchkey", *where, *arguments, check=False, **options)


def report(there, namespace, state=None, check=True):
    """`latchkey print-reachability --json --check`: (report, exit code, text)."""
    done = latchkey(there, namespace, "print-reachability", "--json", *(["--check"] if check else []), state=state)
    assert done.stdout, f"print-reachability said nothing: {done.returncode} {done.stderr}"
    return json.loads(done.stdout), done.returncode, done.stdout


def mapping(there, namespace, outside=7455):
    """The router's mapping of a TCP port, asked for by this client; None without one."""
    with there.inside(namespace):
        return igd.Router(GATEWAY).mapping(outside)


def run_of(there, namespace):
    """The folder that is /run on that machine of the lab."""
    return pathlib.Path(f"/run/latchkey-lab/{there.name}/{namespace}-run")
