#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for tailscaled's LocalAPI: the documented answers on a Unix socket.

localapi.py SOCKET STATE    STATE is a JSON file {"status": {…}, "prefs": {…}} that is read anew for each question and
                            may be edited: whoever follows watch-ipn-bus is told. Prints "ready", then the questions.
"""

import http.server
import json
import os
import pathlib
import socketserver
import sys
import time

STATES = {"NoState": 0, "InUseOtherUser": 1, "NeedsLogin": 2, "NeedsMachineAuth": 3, "Stopped": 4, "Starting": 5, "Running": 6}


class Questions(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state = pathlib.Path()

    def read(self):
        return json.loads(self.state.read_text())

    def tell(self, status, value, kind="application/json"):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        print("asked", self.path, flush=True)
        # As tailscaled: whoever was led here by a name of a site is refused.
        if self.headers.get("Host") not in ("local-tailscaled.sock", "", None):
            return self.tell(403, b"invalid localapi request\n", "text/plain")
        path, _, query = self.path.partition("?")
        state = self.read()
        if path == "/localapi/v0/status":
            status = state["status"]
            if "peers=false" in query:
                status = status | {"Peer": None}
            return self.tell(200, status)
        if path == "/localapi/v0/prefs":
            return self.tell(200, state["prefs"])
        if path == "/localapi/v0/whois":
            return self.tell(404, b"no match for IP:port\n", "text/plain")
        if path == "/localapi/v0/watch-ipn-bus":
            return self.follow()
        return self.tell(404, b"404 not found\n", "text/plain")

    def follow(self):
        """JSON values, one after the other, for as long as the other side stays."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        told = None
        first = True
        while True:
            state = self.read()
            if state != told:
                value = {"Version": "1.80.0", "State": STATES[state["status"]["BackendState"]], "Prefs": state["prefs"]}
                if first:
                    value = {"Version": "1.80.0", "SessionID": "lab"} | value
                line = json.dumps(value).encode() + b"\n"
                try:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                except OSError:
                    self.close_connection = True
                    return
                told, first = state, False
            time.sleep(0.05)

    def address_string(self):
        return "local"

    def log_message(self, *_):
        pass


class Daemon(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    Questions.state = pathlib.Path(sys.argv[2])
    Questions.state.read_text()
    pathlib.Path(sys.argv[1]).unlink(missing_ok=True)
    with Daemon(sys.argv[1], Questions) as daemon:
        # Everybody may ask; tailscaled looks at who it is.
        os.chmod(sys.argv[1], 0o666)
        print("ready", flush=True)
        daemon.serve_forever()


if __name__ == "__main__":
    main()
