# SPDX-License-Identifier: Apache-2.0
"""Measures Latchkey beside its references, A B A B, and prints medians (spec 10). Run through Scripts/bench/run."""

import argparse
import base64
import contextlib
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

import quality
from rig import (
    alternate, Bench, connects, cpu_seconds, free_port, LOAD_CORE, pinned, report, ROUNDS, rss, SERVER_CORE, sh, wait_for,
)


def http_load(bench, where, request, seconds=2):
    return float(sh(*pinned(LOAD_CORE, bench.tools / "http-load", where, 16, seconds, request)))


def p1(bench):
    port = free_port()
    bench.start(pinned(SERVER_CORE, bench.tools / "mhd-reference", port))
    service = bench.latchkey()
    wait_for(lambda: connects(port))
    request = service.request()
    a, b, ratio = alternate(lambda: http_load(bench, service.tcp, request),
                            lambda: http_load(bench, f"127.0.0.1:{port}", request))
    report("P1", a, "requests/s", b, ratio)


def p1b(bench):
    many, few = bench.latchkey(devices=100_000), bench.latchkey(devices=10)
    a, b, ratio = alternate(lambda: http_load(bench, many.tcp, many.request()),
                            lambda: http_load(bench, few.tcp, few.request()))
    report("P1b", a, "requests/s", b, ratio)


def p1c(bench):
    service = bench.latchkey()
    unix = "unix:" + service.endpoints["api"]["unix"]
    a, b, ratio = alternate(lambda: http_load(bench, unix, service.request(unix=True)),
                            lambda: http_load(bench, service.tcp, service.request()))
    report("P1c", a, "requests/s", b, ratio)


def doors(bench, mode):
    """A Latchkey and a HAProxy in front of the same kind of backend: (pid, where) each."""
    service = bench.latchkey(backend=bench.backend(mode, "--proxy"))
    haproxy = bench.haproxy(bench.backend(mode, "--proxy", "--host-info"))
    return (service.process.pid, service.home), haproxy


def handshake_rate(bench, pid, where, parallel=4, seconds=2):
    """Handshakes a second by the clock, and a second of the server's own CPU."""
    before = cpu_seconds(pid)
    rate, _ = map(float, bench.load("handshakes", where, seconds, parallel, bench.key, bench.cert).split())
    return rate, rate * seconds / max(cpu_seconds(pid) - before, 0.01)


def p2(bench):
    ours, theirs = doors(bench, "idle")
    runs = [(handshake_rate(bench, *ours), handshake_rate(bench, *theirs)) for _ in range(ROUNDS)]
    for at, name, unit in ((0, "P2", "handshakes/s"), (1, "P2.cpu", "handshakes per server CPU second")):
        a = statistics.median(r[0][at] for r in runs)
        b = statistics.median(r[1][at] for r in runs)
        report(name, a, unit, b, statistics.median(r[0][at] / r[1][at] for r in runs))


def relay(bench, pid, where, sessions, seconds=3):
    before = cpu_seconds(pid)
    rate = float(bench.load("relay", where, seconds, sessions, bench.key, bench.cert))
    return rate, rate * seconds / 1e9 / max(cpu_seconds(pid) - before, 0.01)


def p3(bench):
    ours, theirs = doors(bench, "flood")
    for sessions in (1, 16):
        runs = [(relay(bench, *ours, sessions), relay(bench, *theirs, sessions)) for _ in range(ROUNDS)]
        for at, name, unit in ((0, f"P3.{sessions}", "bytes/s"), (1, f"P3.{sessions}.cpu", "GB per server CPU second")):
            a = statistics.median(r[0][at] for r in runs)
            b = statistics.median(r[1][at] for r in runs)
            report(name, a, unit, b, statistics.median(r[0][at] / r[1][at] for r in runs))


def p4(bench, rounds=10_000):
    ours, theirs = doors(bench, "echo")
    direct = bench.backend("echo")
    runs = []
    for _ in range(ROUNDS):
        base = list(map(float, bench.load("plain", f"unix:{direct}", rounds).split()))
        a = list(map(float, bench.load("latency", ours[1], rounds, bench.key, bench.cert).split()))
        b = list(map(float, bench.load("latency", theirs[1], rounds, bench.key, bench.cert).split()))
        runs.append([(a[i] - base[i], b[i] - base[i]) for i in (0, 1)])
    for at, name in ((0, "P4.p50"), (1, "P4.p99")):
        a = statistics.median(r[at][0] for r in runs)
        b = statistics.median(r[at][1] for r in runs)
        report(name, a, "added microseconds", b, statistics.median(r[at][0] / r[at][1] for r in runs))


def p5(bench, seconds=10, keys=2000, silent=2000):
    """A paired device beside a crowd: keys nobody paired, which the door locks out one source after the other, and
    connections that say nothing. The crowd is a new one each time: nobody of it is locked out yet."""
    backend = bench.backend("idle", "--proxy")
    service, idle = bench.latchkey(backend=backend), bench.latchkey(backend=backend)
    key, cert = bench.dir / "stranger-key.pem", bench.dir / "stranger.pem"
    bench.make_certificate(key, cert)

    def connects(where):
        # The crowd and the device share a processor; only the door's part is to be measured.
        count, p50, p99 = map(float, sh(*first, *pinned(
            LOAD_CORE, bench.tools / "tls-load", "connects", where, seconds, 10, bench.key, bench.cert)).split())
        return p50, p99

    def crowded():
        service.api("DELETE", "/v1/lockouts")
        crowd = subprocess.Popen(
            pinned(LOAD_CORE, bench.tools / "door-flood", service.home, seconds + 1, keys, silent, key, cert), text=True,
            stdout=subprocess.PIPE)
        try:
            crowd.stdout.readline()
            times = connects(service.home)
            dialled = list(map(int, crowd.communicate(timeout=30)[0].split()))
        finally:
            bench.end(crowd)
        if dialled[3] * 20 > dialled[0] + dialled[2]:
            sys.exit(f"P5: the crowd could not dial as it should ({dialled})")
        return times

    first = ["nice", "-n", "-10"] if os.geteuid() == 0 else []
    runs = [(crowded(), connects(idle.home)) for _ in range(ROUNDS)]
    for at, name in ((0, "P5.p50"), (1, "P5.p99")):
        report(name, statistics.median(a[at] for a, _ in runs), "microseconds", statistics.median(b[at] for _, b in runs),
               statistics.median(a[at] / b[at] for a, b in runs))


def p6(bench, pairings=20):
    service = bench.latchkey(backend=bench.backend("idle", "--proxy"))
    identity = service.api("GET", "/v1/identity")
    host = base64.urlsafe_b64decode(identity["fingerprint"] + "=").hex()

    def pair():
        process = subprocess.Popen(pinned(LOAD_CORE, bench.tools / "tls-load", "pair", service.home), text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        times = []
        for _ in range(pairings):
            window = service.api("POST", "/v1/pairing/window?replace=true", {"remote": False})
            link = window["url"].split("&s=")[1].split("&")[0]
            process.stdin.write(base64.urlsafe_b64decode(link + "==").hex() + " " + host + "\n")
            process.stdin.flush()
            times.append(float(process.stdout.readline()))
        process.stdin.close()
        process.wait()
        return statistics.median(times)

    def handshake():
        return float(bench.load("handshakes", service.home, 1, 1, bench.key, bench.cert).split()[1])

    a, b, ratio = alternate(pair, handshake)
    report("P6", a, "microseconds", b, ratio)


def p8(bench):
    web = bench.dir / "nginx"
    (web / "logs").mkdir(parents=True)
    port = free_port()
    (web / "nginx.conf").write_text(f"""
daemon off; worker_processes 1; pid {web}/pid; error_log {web}/error.log;
events {{}}
http {{ access_log off; server {{ listen 127.0.0.1:{port}; location / {{ return 200 "ok"; }} }} }}
""")

    def nginx():
        begin = time.monotonic()
        process = subprocess.Popen(["nginx", "-p", str(web), "-c", str(web / "nginx.conf")], stderr=subprocess.DEVNULL)
        while not connects(port):
            pass
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        took = time.monotonic() - begin
        bench.end(process)
        return took * 1e3

    for devices in (10, 100_000):
        service = bench.latchkey(devices=devices)
        service.stop()

        def latchkey():
            path = service.dir / "notify"
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
                notify.bind(str(path))
                begin = time.monotonic()
                # As nginx here: free to use every core.
                process = subprocess.Popen(service.unpinned, env={**os.environ, "NOTIFY_SOCKET": str(path)})
                while b"READY=1" not in notify.recv(4096):
                    pass
                took = time.monotonic() - begin
            bench.end(process)
            return took * 1e3

        a, b, ratio = alternate(latchkey, nginx)
        report(f"P8.{devices}", a, "milliseconds", b, ratio)


def p9(bench, sessions=200):
    for devices in (10, 100_000):
        service = bench.latchkey(devices=devices)
        service.stop()
        service.process = bench.start(service.command)
        service.wait()
        time.sleep(1)
        report(f"P9.{devices}", rss(service.process.pid) / 1e6, "MB resident")
        service.stop()
    service = bench.latchkey(backend=bench.backend("idle", "--proxy"))

    def hold(count):
        process = subprocess.Popen(pinned(LOAD_CORE, bench.tools / "tls-load", "hold", service.home, count, bench.key,
                                          bench.cert), text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(1)
        resident = rss(service.process.pid)
        process.stdin.close()
        process.wait()
        time.sleep(0.5)
        return resident

    # In this order: memory that ended sessions left to the allocator would hide what new ones take.
    few, many = hold(10), hold(10 + sessions)
    report("P9.session", (many - few) / sessions / 1024, "KiB resident")


# Runs a command in the lab's host and prints how long it took: getting in there is not part of it.
TIMED = """
import subprocess, sys, time
begin = time.monotonic()
done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print((time.monotonic() - begin) * 1e3, done.returncode)
"""


def report_time(bench, scenario, name):
    """The whole report of a program that starts for it, beside upnpc, which asks the same router for less."""
    lab = Path(__file__).resolve().parents[1] / "lab"
    named = {"env": os.environ | {"LATCHKEY_LAB": f"b{os.getpid()}"}}
    state = bench.dir / "state"
    service = bench.start([bench.bin / "latchkeyd", "--state-dir", state, "--runtime-dir", bench.dir / "run",
                           "--home-port", "0", "--no-advertise", "--log-level", "warning"])
    endpoints = bench.dir / "run/endpoints.json"
    wait_for(lambda: endpoints.exists() and "home" in json.loads(endpoints.read_text())["doors"])
    bench.end(service)
    sh(bench.bin / "latchkey", "--state-dir", state, "set", "remote-access", "on", "internet-access", "on")
    bench.stack.callback(lambda: subprocess.run([lab, "down"], capture_output=True, **named))
    sh(lab, "up", scenario, **named)

    def timed(*command, fails=False):
        took, status = sh(lab, "exec", "host", "--", sys.executable, "-c", TIMED, *map(str, command), **named).split()
        if (status != "0") != fails:
            sys.exit(f"{name}: {command[0]} ended with {status}")
        return float(took)

    ours = [bench.bin / "latchkey", "--state-dir", state, "print-reachability", "--json"]
    # upnpc fails where it finds no router.
    a, b, ratio = alternate(lambda: timed(*ours), lambda: timed("upnpc", "-s", fails=scenario != "router"))
    report(name, a, "milliseconds", b, ratio)


def p7(bench):
    report_time(bench, "router", "P7")


def p7b(bench):
    report_time(bench, "silent-router", "P7b")


BENCHES = {"P1": p1, "P1b": p1b, "P1c": p1c, "P2": p2, "P3": p3, "P4": p4, "P5": p5, "P6": p6, "P7": p7, "P7b": p7b, "P8": p8, "P9": p9,
           "Q1": quality.q1, "Q2": quality.q2}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--tools", required=True)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(BENCHES)
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}")
    for name in arguments.names or BENCHES:
        bench = Bench(arguments.bin, arguments.tools)
        with bench.stack:
            BENCHES[name](bench)


if __name__ == "__main__":
    main()
