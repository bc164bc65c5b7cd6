#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A crowd at a door: many sources that connect and are no use, in every way a connection can be no use.

flood.py HOST:PORT NETWORK [--kinds KIND,…] [--seconds N] [--at-once N] [--a-second N]
flood.py 192.168.9.1:7400 10.20.0.0/22

Each address of NETWORK (all of them this machine's) takes its turn. It ends after so many seconds, or at SIGTERM, and
prints how many it dialled of each kind. Kinds:

  silent      says nothing
  hello       a whole ClientHello, then nothing
  partial     half a ClientHello, then nothing
  garbage     bytes that are no TLS
  http        a request of a browser
  torn        a ClientHello, then a reset
  unpaired    a whole handshake for a session with a key that nobody paired
  stalled     a whole handshake for a pairing, then nothing
  malformed   a whole handshake for a pairing, then something that is no pairing message
"""

import argparse
import collections
import contextlib
import ipaddress
import itertools
import json
import os
import select
import signal
import socket
import struct
import time

import sill_client as sill
from OpenSSL import SSL

KINDS = ("silent", "hello", "partial", "garbage", "http", "torn", "unpaired", "stalled", "malformed")
RESET = struct.pack("ii", 1, 0)
HOLD = 12.0  # longer than the host's own deadline


class Dialler:
    """Sockets that connect without waiting, at most so many at once; the oldest is let go for a new one."""

    def __init__(self, address, sources, kinds, at_once):
        self.address, self.kinds, self.at_once = address, itertools.cycle(kinds), at_once
        self.sources = itertools.cycle(sources)
        self.identity = sill.Identity()
        self.hello = self.client_hello()
        self.open = collections.OrderedDict()
        self.poll = select.epoll()
        self.counts = collections.Counter()

    def tls(self, alpn):
        context = SSL.Context(SSL.TLS_CLIENT_METHOD)
        context.set_verify(SSL.VERIFY_NONE, lambda *_: True)
        context.use_certificate(self.identity.certificate)
        context.use_privatekey(self.identity.key)
        context.set_alpn_protos([alpn])
        connection = SSL.Connection(context, None)
        connection.set_connect_state()
        return connection

    def client_hello(self):
        connection = self.tls(sill.SESSION)
        with contextlib.suppress(SSL.WantReadError):
            connection.do_handshake()
        return connection.bio_read(65536)

    def dial(self):
        kind = next(self.kinds)
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            connection.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
            # No waiting for what is over: a thousand addresses have enough ports, the kernel's tables less so.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            connection.bind((next(self.sources), 0))
            connection.connect_ex(self.address)
        except OSError:
            connection.close()
            return
        self.counts[kind] += 1
        self.open[connection.fileno()] = [connection, kind, None, time.monotonic()]
        self.poll.register(connection, select.EPOLLOUT)
        while len(self.open) > self.at_once:
            self.drop(next(iter(self.open)))

    def drop(self, number):
        connection = self.open.pop(number)[0]
        with contextlib.suppress(OSError):
            self.poll.unregister(connection)
        connection.close()

    def serve(self, wait):
        for number, events in self.poll.poll(wait, 256):
            entry = self.open.get(number)
            if entry is None:
                continue
            try:
                if events & (select.EPOLLERR | select.EPOLLHUP) or not self.step(entry):
                    self.drop(number)
            except (OSError, SSL.Error):
                self.drop(number)
        for number, entry in list(itertools.islice(self.open.items(), 16)):
            if time.monotonic() - entry[3] > HOLD:
                self.drop(number)

    def step(self, entry):
        """The connection can go on; false when it is over."""
        connection, kind, tls, _ = entry
        if tls is None:
            if kind in ("unpaired", "stalled", "malformed"):
                entry[2] = self.tls(sill.SESSION if kind == "unpaired" else sill.PAIRING)
                self.poll.modify(connection, select.EPOLLIN)
                return self.shake(entry)
            if kind == "said":
                return connection.recv(4096) != b""
            self.poll.modify(connection, select.EPOLLIN)
            words = {
                "silent": b"", "hello": self.hello, "partial": self.hello[:100], "torn": self.hello,
                "garbage": os.urandom(600), "http": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"}[kind]
            if words:
                connection.send(words)
            entry[1] = "said"
            return kind != "torn"
        data = connection.recv(65536)
        if not data:
            return False
        tls.bio_write(data)
        return self.shake(entry)

    def shake(self, entry):
        connection, kind, tls, _ = entry
        done = False
        try:
            tls.do_handshake()
            done = True
            if kind == "malformed":
                tls.send(sill.message(19, os.urandom(64)))
            tls.recv(4096)
        except SSL.WantReadError:
            pass
        except SSL.Error:
            done = True
        with contextlib.suppress(SSL.WantReadError):
            connection.send(tls.bio_read(65536))
        if done and kind == "malformed":
            entry[1] = "stalled"
        return True


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("network", type=ipaddress.ip_network)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--at-once", type=int, default=2000)
    parser.add_argument("--a-second", type=int, default=1000)
    options = parser.parse_args()
    kinds = options.kinds.split(",")
    if set(kinds) - set(KINDS):
        parser.error(f"kinds are {', '.join(KINDS)}")
    dialler = Dialler(
        sill.split_address(options.address), [str(a) for a in options.network.hosts()], kinds, options.at_once)
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    began = time.monotonic()
    print("dialling", flush=True)
    while not ended and (now := time.monotonic()) - began < options.seconds:
        # As many as are due, a few at a time so that those that are open get their turn.
        due = int((now - began) * options.a_second) - sum(dialler.counts.values())
        for _ in range(max(0, min(due, 64))):
            dialler.dial()
        dialler.serve(0.002)
    print(json.dumps(dict(dialler.counts)), flush=True)


if __name__ == "__main__":
    main()
