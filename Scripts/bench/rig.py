# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks share: programs started and ended, a service with the bench's device, medians of pairs."""

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

    def latchkey(self, devices=10, backend=None, **more):
        return Latchkey(self, devices, backend, **more)

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
    """One running service with the bench's device on its list, inside a network namespace if one is named."""

    def __init__(self, bench, devices, backend, options=(), namespace=None):
        self.dir = Path(tempfile.mkdtemp(prefix="state-", dir=bench.dir))
        self.bench = bench
        self.unpinned = list(map(str, [
            bench.bin / "latchkeyd", "--state-dir", self.dir / "state", "--runtime-dir", self.dir / "run",
            "--api-port", "0", "--home-port", "0", "--workers", "1", "--no-advertise", "--log-level", "warning",
            *(["--backend", f"unix:{backend}"] if backend else []), *options]))
        self.command = (["ip", "netns", "exec", namespace] if namespace else []) + pinned(SERVER_CORE, *self.unpinned)
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
        wait_for(lambda: (self.dir / "run/endpoints.json").exists() and "home" in self.read_endpoints()["doors"])

    def read_endpoints(self):
        self.endpoints = json.loads((self.dir / "run/endpoints.json").read_text())
        return self.endpoints

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
