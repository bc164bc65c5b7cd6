# SPDX-License-Identifier: Apache-2.0
"""Away quality: what judging links costs, and how old a frame is behind a slow link, paced and not."""

import contextlib
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from rig import LOAD_CORE, ROUNDS, SERVER_CORE, pinned, report, sh, wait_for

SESSIONS = 10_000


def q1(bench, rounds=100):
    """One second of 10,000 sessions judged, in processor time of one core; beside only reading the same counts."""
    runs = [list(map(float, sh(*pinned(SERVER_CORE, bench.bin / "bench-judge", SESSIONS, rounds)).split()))
            for _ in range(ROUNDS)]
    closing, slowest, reading = (statistics.median(run[at] for run in runs) for at in range(3))
    report("Q1", closing, f"CPU microseconds a second for {SESSIONS} sessions", reading,
           statistics.median(run[0] / run[2] for run in runs))
    report("Q1.slowest", slowest, "CPU microseconds, the slowest of the seconds")
    report("Q1.share", closing / 1e4, "% of one core")
    report("Q1.sessions", SESSIONS * 1e6 / closing, "sessions a second that one core would judge")


class NotHere(Exception):
    """This machine cannot shape a link of its own."""


class ShapedLink:
    """A host and a device in network namespaces of their own, and between them a link that carries so many bits a second
    towards the device, with 64 KiB of them waiting at most."""

    def __init__(self, bench, rate):
        if os.geteuid() != 0:
            raise NotHere("no root")
        self.host, self.device = f"lkq{os.getpid()}-host", f"lkq{os.getpid()}-device"
        for name in (self.host, self.device):
            sh("ip", "netns", "add", name)
            bench.stack.callback(subprocess.run, ["ip", "netns", "delete", name], check=False)
            sh("ip", "-n", name, "link", "set", "lo", "up")
        sh("ip", "link", "add", "name", "wan", "netns", self.host, "type", "veth", "peer", "name", "wan", "netns", self.device)
        for name, address in ((self.host, "10.213.7.1"), (self.device, "10.213.7.2")):
            sh("ip", "-n", name, "address", "add", f"{address}/24", "dev", "wan")
            sh("ip", "-n", name, "link", "set", "wan", "up")
        shaped = subprocess.run(["tc", "-n", self.host, "qdisc", "add", "dev", "wan", "root", "tbf", "rate", str(rate),
                                 "burst", "16kb", "limit", "64kb"], capture_output=True, text=True, check=False)
        if shaped.returncode:
            raise NotHere(shaped.stderr.strip())
        self.on_device = ["ip", "netns", "exec", self.device]

    def to(self, port):
        """Where the device dials a door."""
        return f"10.213.7.1:{port}"


class PacingRelay:
    """The same in user space, on the loopback: bytes towards the device go on at the rate, 4 KiB at a time."""

    host, on_device = None, []

    def __init__(self, rate):
        self.rate = rate

    def to(self, port):
        server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.serve, args=(server, port), daemon=True).start()
        return f"127.0.0.1:{server.getsockname()[1]}"

    def serve(self, server, port):
        while True:
            device, _ = server.accept()
            door = socket.socket()
            # Small, or the kernel would be the link's queue.
            door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 10)
            device.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32 << 10)
            door.connect(("127.0.0.1", port))
            for source, sink, rate in ((door, device, self.rate), (device, door, None)):
                threading.Thread(target=self.carry, args=(source, sink, rate), daemon=True).start()

    @staticmethod
    def carry(source, sink, rate):
        due = time.monotonic()
        try:
            while data := source.recv(4096):
                if rate:
                    due = max(due, time.monotonic() - 0.02) + len(data) * 8 / rate
                    time.sleep(max(due - time.monotonic(), 0))
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def slow_link(bench, rate):
    try:
        return ShapedLink(bench, rate)
    except NotHere as why:
        print(f"Q2: measured over a pacing relay, since no link can be shaped here ({why})", file=sys.stderr)
        return PacingRelay(rate)


def q2(bench, seconds=15):
    """A stream of 8 Mbit/s at 60 fps over a link that carries 4, from Scripts/sample-host through the relay."""
    link = slow_link(bench, 4_000_000)
    sample = Path(__file__).resolve().parents[1] / "sample-host"

    def service(pace):
        backend = bench.dir / f"video-{pace}.sock"
        bench.start(pinned(LOAD_CORE, sample, "--unix", backend, "--quiet", "--video", "60:8", "--pace", pace))
        wait_for(lambda: backend.exists())
        running = bench.latchkey(backend=backend, options=["--remote-port", "0"], namespace=link.host)
        running.api("PATCH", "/v1/settings", {"remoteAccess": True})
        wait_for(lambda: "remote" in running.read_endpoints()["doors"])
        return link.to(running.endpoints["doors"]["remote"])

    def watch(where):
        return list(map(float, sh(*link.on_device, *pinned(
            LOAD_CORE, bench.tools / "tls-load", "ages", where, seconds, bench.key, bench.cert)).split()))

    paced, unpaced = service("on"), service("off")
    runs = [(watch(paced), watch(unpaced)) for _ in range(ROUNDS)]
    for at, name, unit in ((0, "Q2.p50", "milliseconds of age"), (1, "Q2.p99", "milliseconds of age"),
                           (2, "Q2.pause", "milliseconds, the longest without a frame"), (3, "Q2.fps", "frames/s shown")):
        report(name, statistics.median(a[at] for a, _ in runs), unit, statistics.median(b[at] for _, b in runs),
               statistics.median(a[at] / b[at] for a, b in runs))
