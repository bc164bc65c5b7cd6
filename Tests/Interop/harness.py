# SPDX-License-Identifier: Apache-2.0
"""Starts the real programs in a directory of their own, on ports of their own, and talks to them as others would."""

import http.client
import itertools
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import sill_client as sill

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("LATCHKEY_BIN") or ROOT / ".build" / "debug")
SAMPLE_HOST = ROOT / "Scripts" / "sample-host"
DELEGATED_HOST = ROOT / "Scripts" / "sample-delegated-host"
START_LIMIT = 60.0  # seconds until a program must be ready; only ever waited for in full when it hangs
# Seconds until something that should happen at once counts as not happening: journeys run beside each other, on machines
# that may have other work to do.
FRIENDLY = sill.PATIENCE


def have_programs():
    return (BIN / "latchkeyd").exists()


def eventually(check, limit=FRIENDLY, pause=0.02):
    """Waits until `check` gives something true and returns it; fails after `limit` seconds."""
    deadline = time.monotonic() + limit
    while True:
        value = check()
        if value:
            return value
        assert time.monotonic() < deadline, f"did not come about in {limit} s"
        time.sleep(pause)


class UnixHTTP(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=FRIENDLY)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(FRIENDLY)
        self.sock.connect(self.path)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:300]!r}"


# Its own mounts, in which /run/dbus is the directory given, or empty.
OWN_BUS = """
[ -d /run/dbus ] || { mount -t tmpfs tmpfs /run && mkdir /run/dbus; } || exit 1
if [ -n "$1" ]; then mount --bind "$1" /run/dbus; else mount -t tmpfs tmpfs /run/dbus; fi || exit 1
shift
exec "$@"
"""


def with_bus(directory, command):
    """The command line of a service whose system bus lies in `directory`; by default it has none.

    The machine's own logind would have a say in the lock: a screen that is locked, or a server, fails half the journeys.
    """
    if directory is None and (os.geteuid() != 0 or not os.path.exists("/run/dbus/system_bus_socket")):
        return command
    return ["unshare", "-m", "--propagation", "private", "sh", "-c", OWN_BUS, "sh", str(directory or ""), *command]


class Service:
    """One latchkeyd. Options given here come after those of the harness."""

    mode = "relay"

    def __init__(self, directory, *options, backend=None, remote_port=0, advertises=False, env=None, bus=None):
        self.directory = pathlib.Path(directory)
        self.bus = bus
        self.state, self.runtime = self.directory / "state", self.directory / "run"
        self.log_path = self.directory / "latchkeyd.log"
        self.backend = backend
        self.options = list(options)
        self.remote_port = remote_port
        self.advertises = advertises
        self.env = env or {}
        self.process = None

    def command(self, *more):
        line = [
            str(BIN / "latchkeyd"), "--state-dir", str(self.state), "--runtime-dir", str(self.runtime),
            "--api-port", "0", "--log-format", "json", "--log-level", "debug", "--name", "Desk",
        ]
        if not self.advertises:
            line.append("--no-advertise")
        if self.remote_port is not None:
            line += ["--remote-port", str(self.remote_port)]
        if self.backend:
            line += ["--backend", self.backend]
        return with_bus(self.bus, line + self.options + list(more))

    def start(self, *more):
        self.runtime.mkdir(parents=True, exist_ok=True)
        (self.runtime / "endpoints.json").unlink(missing_ok=True)
        log = open(self.log_path, "ab")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("LATCHKEY_")} | self.env
        self.process = subprocess.Popen(
            self.command(*more), stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment)
        log.close()
        eventually(self.is_ready, START_LIMIT)
        return self

    def is_ready(self):
        assert self.process.poll() is None, f"latchkeyd ended with {self.process.returncode}: {self.log()[-2000:]}"
        if not (self.runtime / "endpoints.json").exists():
            return False
        try:
            if self.api("GET", "/v1/status").status != 200:
                return False
            # Open, or known not to open: then everything has been started.
            return self.get("/v1/status")["doors"]["home"]["state"] != "closed" or "off" in self.options
        except (OSError, http.client.HTTPException):
            return False

    def fails(self, *more, limit=START_LIMIT):
        """Starts it expecting it to end by itself; returns (exit code, what it said)."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("LATCHKEY_")} | self.env
        done = subprocess.run(
            self.command(*more), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit, env=environment)
        return done.returncode, done.stdout + done.stderr

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(START_LIMIT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise
        return self.process.returncode if self.process else None

    def restart(self, how=signal.SIGTERM):
        self.stop(how)
        return self.start()

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    # -- the local API

    def api(self, method, path, body=None, headers=None):
        connection = UnixHTTP(str(self.runtime / "api.sock"))
        data = None if body is None else json.dumps(body)
        sent = dict(headers or {})
        if data is not None:
            sent["Content-Type"] = "application/json"
        connection.request(method, path, data, sent)
        answer = connection.getresponse()
        result = Answer(answer.status, dict(answer.getheaders()), answer.read())
        connection.close()
        return result

    def get(self, path):
        answer = self.api("GET", path)
        assert answer.status == 200, answer
        return answer.json

    def settings(self, **values):
        answer = self.api("PATCH", "/v1/settings", values)
        assert answer.status == 200, answer
        return answer.json

    def window(self, **values):
        answer = self.api("POST", "/v1/pairing/window?replace=true", values)
        assert answer.status == 201, answer
        return answer.json

    def devices(self):
        return {item["id"]: item for item in self.get("/v1/devices?limit=1000")["items"]}

    def sessions(self):
        return self.get("/v1/sessions")["items"]

    @property
    def doors(self):
        return json.loads((self.runtime / "endpoints.json").read_text())["doors"]

    def door(self, name):
        return "127.0.0.1", eventually(lambda: self.doors.get(name))

    @property
    def host_id(self):
        return self.get("/v1/status")["hostID"]

    @property
    def pin(self):
        return sill.unb64u(self.get("/v1/identity")["fingerprint"])

    # -- shortcuts for journeys that are about something else

    def pair_device(self, identity=None, name="Interop", source=None):
        """A paired device, by link at the home door."""
        identity = identity or sill.Identity()
        link = sill.parse_link(self.window(remote=False)["url"])
        answer = judged(lambda: sill.pair_link(link, identity, self.door("home"), name=name, source=source))
        assert answer["ok"], answer
        return identity

    def session(self, identity, door="home", **options):
        return sill.Session(self.door(door), identity, self.pin, **options)


def judged(attempt, tries=20):
    """Repeats a pairing attempt for as long as the window says busy, waiting as told."""
    for _ in range(tries):
        answer = attempt()
        if answer.get("reason") != "busy":
            return answer
        time.sleep(answer["retryAfter"])
    raise AssertionError("busy for ever")


class SampleHost:
    """One Scripts/sample-host with its log read as JSON lines."""

    def __init__(self, directory, *options, name="backend"):
        self.path = str(pathlib.Path(directory) / f"{name}.sock")
        self.options = list(options)
        self.events = []
        self.process = None

    @property
    def address(self):
        return f"unix:{self.path}"

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, str(SAMPLE_HOST), "--unix", self.path, "--json", *self.options], stdout=subprocess.PIPE,
            text=True)
        threading.Thread(target=self._read, daemon=True).start()
        eventually(lambda: self.find("listening"), START_LIMIT)
        return self

    def _read(self):
        for line in self.process.stdout:
            self.events.append(json.loads(line))

    def find(self, event):
        return [item for item in self.events if item["event"] == event]

    def stop(self, how=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(START_LIMIT)


class DelegatedService(Service):
    """A latchkeyd without doors of its own, and the sample of a streaming process that has them.

    To a device both ways look the same, so to a journey they do too: `door` and `doors` are the process's.
    """

    mode = "delegated"

    def __init__(self, directory, *options, env=None):
        super().__init__(
            directory, "--home-port", "off", "--remote-port", "off", *options, remote_port=None, env=env)
        self.streaming = None
        self.printed = []

    def start(self, *more):
        before = self.printed.count("ready")
        super().start(*more)
        if self.get("/v1/settings")["remotePort"] == 7455:
            self.settings(remotePort=free_port())
        if self.streaming is None or self.streaming.poll() is not None:
            self.start_streaming()
        eventually(lambda: self.printed.count("ready") > before and "home" in self.doors, START_LIMIT)
        return self

    def streaming_command(self):
        return [str(DELEGATED_HOST), "--api", str(self.runtime / "api.sock"), "--remote-port",
                str(self.get("/v1/settings")["remotePort"])]

    def start_streaming(self):
        # Whatever ended took its doors along; the next one opens its own some time after it says that it is ready.
        self.printed += ["home closed", "remote closed"]
        self.streaming = subprocess.Popen(self.streaming_command(), stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, args=(self.streaming.stdout,), daemon=True).start()

    def _read(self, lines):
        for line in lines:
            self.printed.append(line.strip())

    def stop(self, how=signal.SIGTERM):
        """The service; the streaming process stays, as another program would."""
        return super().stop(how)

    def stop_all(self):
        if self.streaming and self.streaming.poll() is None:
            self.streaming.terminate()
            self.streaming.wait(START_LIMIT)
        self.stop()

    @property
    def doors(self):
        found = {}
        for line in self.printed:
            door, _, port = line.partition(" ")
            if port == "closed":
                found.pop(door, None)
            elif port:
                found[door] = int(port)
        return found


# Below those that the kernel gives out by itself: a port that is free now would be another's in a moment.
PORTS = range(20000, 30000)
_port_numbers = itertools.count(os.getpid() * 1009)


def free_port():
    """A port that nobody listens on, and that no other process of these tests is likely to try next."""
    for _ in PORTS:
        port = PORTS[next(_port_numbers) % len(PORTS)]
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")


class ScriptedBackend:
    """A backend that does what a test says: each connection is handed to `script(connection, header)` on a thread."""

    def __init__(self, directory, script, name="scripted"):
        self.path = str(pathlib.Path(directory) / f"{name}.sock")
        self.script = script
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(self.path)
        self.server.listen(64)
        self.headers = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self):
        return f"unix:{self.path}"

    def _accept(self):
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            head = read_exactly(connection, 16)
            body = read_exactly(connection, int.from_bytes(head[14:16], "big"))
            self.headers.append(head + body)
            self.script(connection)
        except (OSError, EOFError):
            pass
        finally:
            connection.close()

    def stop(self):
        self.server.close()


def is_open(connection):
    """Whether the other side has left a connection open on which it has said nothing."""
    return not select.select([connection], [], [], 0)[0]


def read_exactly(connection, count):
    data = b""
    while len(data) < count:
        chunk = connection.recv(count - len(data))
        if not chunk:
            raise EOFError
        data += chunk
    return data


WINDOW_LIST = sill.message(2, {"macName": "Desk", "windows": [], "active": {"none": {}}})


def run(program, *arguments, env=None, limit=120, text=None):
    """Runs one of our programs to its end."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LATCHKEY_")} | (env or {})
    return subprocess.run(
        [str(BIN / program), *map(str, arguments)], capture_output=True, text=True, timeout=limit, env=environment,
        input=text)


class Terminal:
    """A command with a person before it: answers each question, and keeps all that the screen showed."""

    def __init__(self, *command):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [str(part) for part in command], stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        self.shown = ""

    def read(self, until, limit=START_LIMIT):
        deadline = time.monotonic() + limit
        while until not in self.shown:
            assert select.select([self.master], [], [], max(0, deadline - time.monotonic()))[0], self.shown
            try:
                data = os.read(self.master, 4096)
            except OSError:  # the other side is closed: all is said
                data = b""
            assert data, self.shown
            self.shown += data.decode()

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self):
        deadline = time.monotonic() + START_LIMIT
        while select.select([self.master], [], [], max(0, deadline - time.monotonic()))[0]:
            try:
                data = os.read(self.master, 4096)
            except OSError:
                break
            self.shown += data.decode()
        os.close(self.master)
        return self.process.wait(START_LIMIT)


def resident_bytes(pid):
    fields = re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())
    return int(fields[1]) * 1024


def scratch():
    return tempfile.TemporaryDirectory(prefix="latchkey-interop-")
