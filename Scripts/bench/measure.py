"""Measures Latchkey beside its references, A B A B, and prints medians (spec 10). Run through Scripts/bench/run."""

import argparse
import base64
import contextlib
import hashlib
import http.client
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 5
SERVER_CORE, LOAD_CORE = ("0", "1") if (os.cpu_count() or 1) > 1 else ("0", "0")


def sh(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def pinned(core, *command):
    return ["taskset", "-c", core, *map(str, command)]


def cpu_seconds(pid):
    """User and system time of all threads of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rss(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def report(name, value, unit, ref=None, ratio=None):
    tail = "" if ref is None else f" (ref {ref:.6g}; ratio {ratio:.2f})"
    print(f"{name} {value:.6g} {unit}{tail}", flush=True)


def alternate(a, b, rounds=ROUNDS):
    """Medians of A and B, and the median of the ratios A/B pair by pair."""
    pairs = [(a(), b()) for _ in range(rounds)]
    return (statistics.median(x for x, _ in pairs), statistics.median(y for _, y in pairs),
            statistics.median(x / y for x, y in pairs))


class UnixHTTP(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class Bench:
    def __init__(self, bin_, tools):
        self.bin, self.tools = Path(bin_), Path(tools)
        self.dir = Path(tempfile.mkdtemp(prefix="latchkey-bench-"))
        self.stack = contextlib.ExitStack()
        self.stack.callback(shutil.rmtree, self.dir, True)
        self.key, self.cert = self.dir / "device-key.pem", self.dir / "device.pem"
        self.make_certificate(self.key, self.cert)
        spki = subprocess.run(["openssl", "pkey", "-in", self.key, "-pubout", "-outform", "DER"], check=True,
                              capture_output=True).stdout
        self.fingerprint = base64.urlsafe_b64encode(hashlib.sha256(spki).digest()).rstrip(b"=").decode()

    @staticmethod
    def make_certificate(key, cert):
        sh("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
           "-subj", "/CN=bench", "-keyout", str(key), "-out", str(cert))

    def start(self, command, **more):
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, **more)
        self.stack.callback(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def load(self, *arguments, **more):
        return sh(*pinned(LOAD_CORE, self.tools / "tls-load", *arguments), **more)

    def backend(self, mode, *options):
        path = self.dir / f"backend-{mode}-{'-'.join(o.strip('-') for o in options)}.sock"
        self.start(pinned(LOAD_CORE, self.tools / "backend", f"unix:{path}", *options, mode))
        wait_for(lambda: path.exists())
        return path

    def latchkey(self, devices=10, backend=None, warm=None):
        return Latchkey(self, devices, backend, warm)

    def haproxy(self, backend):
        port = free_port()
        pem = self.dir / f"host-{port}.pem"
        key, cert = self.dir / f"host-{port}-key.pem", self.dir / f"host-{port}-cert.pem"
        self.make_certificate(key, cert)
        pem.write_text(cert.read_text() + key.read_text())
        config = self.dir / f"haproxy-{port}.cfg"
        config.write_text(f"""
global
    nbthread 1
    maxconn 4000
    tune.ssl.default-dh-param 2048
defaults
    mode tcp
    timeout connect 5s
    timeout client 60s
    timeout server 60s
frontend door
    bind 127.0.0.1:{port} ssl crt {pem} ca-file {self.cert} verify required alpn sill/1 ssl-min-ver TLSv1.3 no-tls-tickets
    default_backend stream
backend stream
    server one unix@{backend} send-proxy-v2
""")
        process = self.start(pinned(SERVER_CORE, "haproxy", "-db", "-q", "-f", config))
        wait_for(lambda: connects(port))
        return process.pid, f"127.0.0.1:{port}"


class Latchkey:
    """One running service with the bench's device on its list."""

    def __init__(self, bench, devices, backend, warm):
        self.dir = Path(tempfile.mkdtemp(prefix="state-", dir=bench.dir))
        self.bench = bench
        self.unpinned = list(map(str, [
            bench.bin / "latchkeyd", "--state-dir", self.dir / "state", "--runtime-dir", self.dir / "run",
            "--api-port", "0", "--home-port", "0", "--workers", "1", "--no-advertise", "--log-level", "warning",
            *(["--backend", f"unix:{backend}"] if backend else [])]))
        self.command = pinned(SERVER_CORE, *self.unpinned)
        self.process = bench.start(self.command)
        self.wait()
        lines = [{"fingerprint": bench.fingerprint, "name": "Bench"}]
        for i in range(devices - 1):
            made = base64.urlsafe_b64encode(hashlib.sha256(str(i).encode()).digest()).rstrip(b"=").decode()
            lines.append({"fingerprint": made, "name": f"Device {i}"})
        for at in range(0, len(lines), 20000):
            body = "\n".join(map(json.dumps, lines[at:at + 20000]))
            self.api("POST", "/v1/devices/import", body, "application/x-ndjson")

    def wait(self):
        """Until the home door listens, which is the last thing of a start."""
        path = self.dir / "run/endpoints.json"
        wait_for(lambda: path.exists() and "home" in json.loads(path.read_text())["doors"])
        self.endpoints = json.loads(path.read_text())

    def api(self, method, path, body=None, kind="application/json"):
        connection = UnixHTTP(self.endpoints["api"]["unix"])
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        connection.request(method, path, body, {"Content-Type": kind} if body else {})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            sys.exit(f"{method} {path}: {answer.status} {text[:300]!r}")
        return json.loads(text or b"null")

    @property
    def tcp(self):
        return next(a for a in self.endpoints["api"]["tcp"] if a.startswith("127."))

    @property
    def home(self):
        return f"127.0.0.1:{self.endpoints['doors']['home']}"

    def request(self, unix=False):
        body = json.dumps({"door": "home", "remote": "127.0.0.1:50122", "local": "127.0.0.1:7455", "interface": "lo",
                           "alpn": "sill/1", "fingerprint": self.bench.fingerprint})
        token = (self.dir / "state/host.token").read_text().strip()
        path = self.dir / f"request-{unix}"
        path.write_text(f"POST /v1/admissions HTTP/1.1\r\nHost: {self.tcp}\r\n"
                        + ("" if unix else f"Authorization: Bearer {token}\r\n")
                        + f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}")
        return path

    def stop(self):
        self.bench.end(self.process)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def connects(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def wait_for(condition, limit=30):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            sys.exit("something did not start in time")
        time.sleep(0.005)


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


BENCHES = {"P1": p1, "P1b": p1b, "P1c": p1c, "P2": p2, "P3": p3, "P4": p4, "P5": p5, "P6": p6, "P7": p7, "P7b": p7b, "P8": p8, "P9": p9}


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
