# SPDX-License-Identifier: Apache-2.0
"""Away quality: what judging links costs, and how old a frame is behind a slow link, paced and not."""

import os
import statistics
import subprocess
import sys
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


class ShapedLink:
    """A host and a device in network namespaces of their own, and between them a link that carries `rate` towards the
    device, with 64 KiB of it waiting at most."""

    def __init__(self, bench, rate):
        if os.geteuid() != 0:
            sys.exit("Q2 needs root: it measures between two network namespaces")
        self.host, self.device, self.address = f"lkq{os.getpid()}-host", f"lkq{os.getpid()}-device", "10.213.7.1"
        for name in (self.host, self.device):
            sh("ip", "netns", "add", name)
            bench.stack.callback(subprocess.run, ["ip", "netns", "delete", name], check=False)
            sh("ip", "-n", name, "link", "set", "lo", "up")
        sh("ip", "link", "add", "name", "wan", "netns", self.host, "type", "veth", "peer", "name", "wan", "netns", self.device)
        for name, address in ((self.host, self.address), (self.device, "10.213.7.2")):
            sh("ip", "-n", name, "address", "add", f"{address}/24", "dev", "wan")
            sh("ip", "-n", name, "link", "set", "wan", "up")
        shaped = subprocess.run(["tc", "-n", self.host, "qdisc", "add", "dev", "wan", "root", "tbf", "rate", rate, "burst",
                                 "16kb", "limit", "64kb"], capture_output=True, text=True, check=False)
        if shaped.returncode:
            sys.exit(f"Q2: this kernel cannot shape a link ({shaped.stderr.strip()})")


def q2(bench, seconds=15):
    """A stream of 8 Mbit/s at 60 fps over a link that carries 4, from Scripts/sample-host through the relay."""
    link = ShapedLink(bench, "4mbit")
    sample = Path(__file__).resolve().parents[1] / "sample-host"

    def service(pace):
        backend = bench.dir / f"video-{pace}.sock"
        bench.start(pinned(LOAD_CORE, sample, "--unix", backend, "--quiet", "--video", "60:8", "--pace", pace))
        wait_for(lambda: backend.exists())
        running = bench.latchkey(backend=backend, options=["--remote-port", "0"], namespace=link.host)
        running.api("PATCH", "/v1/settings", {"remoteAccess": True})
        wait_for(lambda: "remote" in running.read_endpoints()["doors"])
        return f"{link.address}:{running.endpoints['doors']['remote']}"

    def watch(where):
        return list(map(float, sh("ip", "netns", "exec", link.device, *pinned(
            LOAD_CORE, bench.tools / "tls-load", "ages", where, seconds, bench.key, bench.cert)).split()))

    paced, unpaced = service("on"), service("off")
    runs = [(watch(paced), watch(unpaced)) for _ in range(ROUNDS)]
    for at, name, unit in ((0, "Q2.p50", "milliseconds of age"), (1, "Q2.p99", "milliseconds of age"),
                           (2, "Q2.pause", "milliseconds, the longest without a frame"), (3, "Q2.fps", "frames/s shown")):
        report(name, statistics.median(a[at] for a, _ in runs), unit, statistics.median(b[at] for _, b in runs),
               statistics.median(a[at] / b[at] for a, b in runs))
