# SPDX-License-Identifier: Apache-2.0
"""A tailscaled's LocalAPI on a Unix socket, as far as anybody asks it, that says what a test wants."""

import http.server
import json
import pathlib
import socketserver
import threading
import urllib.parse

ADDRESSES = ["100.88.123.45", "fd7a:115c:a1e0::abcd:ef01"]


def status(tun=True, state="Running"):
    return {
        "Version": "1.76.6", "TUN": tun, "BackendState": state, "TailscaleIPs": ADDRESSES,
        "Self": {"DNSName": "desk.tail5678.ts.net.", "Online": True, "TailscaleIPs": ADDRESSES},
        "CurrentTailnet": {"Name": "a@example.com", "MagicDNSSuffix": "tail5678.ts.net", "MagicDNSEnabled": True},
        "ExitNodeStatus": None, "Peer": None,
    }


class LocalAPI:
    """`peers`: addresses of the loopback that connections of the tailnet come from."""

    def __init__(self, directory, **more):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(exist_ok=True)
        self.directory.chmod(0o755)
        self.path = self.directory / "tailscaled.sock"
        self.status = status(**more)
        self.prefs = {"ShieldsUp": False, "CorpDNS": True, "ExitNodeID": "", "ExitNodeAllowLANAccess": False}
        self.peers = set()
        self.hangs = set()  # names of calls that are not answered
        self.asked = []  # the names of calls, in order
        self.released = threading.Event()
        self.server = None

    def start(self):
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                api.answer(self)

            def address_string(self):
                return "local"

            def log_message(self, *_):
                pass

        class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True
            request_queue_size = 64

        self.path.unlink(missing_ok=True)
        self.server = Server(str(self.path), Handler)
        self.path.chmod(0o666)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def stop(self):
        """As a crash would: the socket's file stays."""
        self.released.set()
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def answer(self, request):
        url = urllib.parse.urlsplit(request.path)
        name = url.path.removeprefix("/localapi/v0/")
        self.asked.append(name)
        if name in self.hangs:
            self.released.wait(60)
            request.close_connection = True
            return
        if request.headers.get("Host") != "local-tailscaled.sock":
            return self.send(request, 403, b"invalid localapi request\n")
        if name == "status":
            self.send(request, 200, json.dumps(self.status).encode())
        elif name == "prefs":
            self.send(request, 200, json.dumps(self.prefs).encode())
        elif name == "whois":
            [address] = urllib.parse.parse_qs(url.query)["addr"]
            ip, _, port = address.rpartition(":")
            assert port.isdigit()
            if ip.strip("[]") in self.peers:
                found = {"Node": {"Name": "phone.tail5678.ts.net."}, "UserProfile": {"LoginName": "a@example.com"}}
                self.send(request, 200, json.dumps(found).encode())
            else:
                self.send(request, 404, b"no match for IP:port\n")
        else:
            self.send(request, 404, b"not found\n")

    @staticmethod
    def send(request, code, body):
        request.send_response(code)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
