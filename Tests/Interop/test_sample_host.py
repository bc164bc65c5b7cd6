# SPDX-License-Identifier: Apache-2.0
"""Scripts/sample-host alone: the header it insists on, the stream it sends."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys

import harness
import pytest
import sill_client as sill

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
WHO = {"session": "S1", "device": "A3C5HR4RBV67YR21", "name": "Tablet", "fingerprint": "x", "door": "home",
       "origin": "lan", "cable": False, "route": "on this network", "away": False, "paired": True}


def tlv(kind, value):
    return struct.pack("!BH", kind, len(value)) + value


def header(family=0x11, command=0x21, tlvs=None, addresses=None):
    width = 4 if family == 0x11 else 16
    addresses = addresses or bytes(2 * width) + struct.pack("!HH", 50122, 7455)
    ssl = bytes([7]) + bytes(4) + tlv(0x21, b"TLSv1.3")
    tlvs = tlvs if tlvs is not None else (
        tlv(0x01, b"sill/1") + tlv(0x05, b"S1") + tlv(0x02, b"sill") + tlv(0x20, ssl)
        + tlv(0xE0, json.dumps(WHO).encode()))
    body = addresses + tlvs
    return SIGNATURE + bytes([command, family]) + struct.pack("!H", len(body)) + body


@pytest.fixture
def sample(scratch):
    started = []

    def starter(*options):
        host = harness.SampleHost(scratch, *options, name=f"s{len(started)}")
        started.append(host)
        return host.start()

    yield starter
    for host in started:
        host.stop()


def dial(host):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(harness.FRIENDLY)
    connection.connect(host.path)
    return connection


def read(connection):
    head = harness.read_exactly(connection, 14)
    kind, stamp, keyframe, length = sill.HEADER.unpack(head)
    return kind, stamp, keyframe, harness.read_exactly(connection, length)


@pytest.mark.parametrize("family", [0x11, 0x21])
def test_catalog_stream_and_pongs(sample, family):
    host = sample("--size", "500", "--fps", "100")
    with dial(host) as connection:
        # A header and what follows it, in crumbs.
        data = header(family) + sill.message(23, {"appVersion": "1"}) + sill.message(10, b"12345678", 42.5)
        for index in range(0, len(data), 7):
            connection.sendall(data[index:index + 7])
        kinds, frames = [], []
        while len(frames) < 3 or 11 not in kinds:
            kind, stamp, keyframe, payload = read(connection)
            kinds.append(kind)
            if kind == 1:
                assert len(payload) == 500
                frames.append(keyframe)
            if kind == 11:
                assert (stamp, payload) == (42.5, b"12345678")
        assert kinds[:2] == [2, 16] and frames[:2] == [1, 0]
    who = harness.eventually(lambda: host.find("connected"))[0]["header"]
    assert who["session"] == WHO and who["alpn"] == "sill/1" and who["ssl"]["0x21"] == "TLSv1.3"
    ended = harness.eventually(lambda: host.find("ended"))[0]
    assert ended["kinds"] == {"10": 1, "23": 1}


BAD = [
    ("another signature", b"X" * 16), ("version 1", SIGNATURE + b"\x11\x11\0\x0c" + bytes(12)),
    ("command LOCAL", header(command=0x20)), ("UDP", header(family=0x12, addresses=bytes(12))),
    ("too short for its addresses", SIGNATURE + b"\x21\x11\0\x04" + bytes(4)),
    ("a TLV over the end", header(tlvs=b"\x01\0\x09ab")), ("half a TLV header", header(tlvs=b"\x01\0")),
    ("a TLV twice", header(tlvs=tlv(1, b"a") + tlv(1, b"b"))), ("no JSON", header(tlvs=tlv(0xE0, b"{"))),
    ("a list for an object", header(tlvs=tlv(0xE0, b"[]"))), ("a short SSL TLV", header(tlvs=tlv(0x20, b"\7"))),
]


@pytest.mark.parametrize("what, data", BAD, ids=[row[0] for row in BAD])
def test_a_bad_header_is_refused(sample, what, data):
    host = sample()
    with dial(host) as connection:
        connection.sendall(data)
        try:
            assert connection.recv(1) == b""
        except ConnectionResetError:
            pass  # it left without reading the rest
    harness.eventually(lambda: host.find("error"))


def test_many_sessions_once_and_ctrl_c(sample):
    host = sample("--rate", "0")
    connections = [dial(host) for _ in range(30)]
    for connection in connections:
        connection.sendall(header())
    for connection in connections:
        assert read(connection)[0] == 2
        connection.close()
    host.stop(signal.SIGINT)
    assert host.process.returncode == 0
    once = sample("--once", "--cut-after", "2000", "--size", "1000")
    with dial(once) as connection:
        connection.sendall(header())
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    assert len(received) == 2000
    assert once.process.wait(harness.START_LIMIT) == 0


def test_a_terminal_is_told_nothing_that_it_would_obey(scratch):
    """A device's first words are shown to people: as text, whatever they are."""
    path = f"{scratch}/people.sock"
    process = subprocess.Popen(
        [sys.executable, harness.SAMPLE_HOST, "--unix", path, "--once"], stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONIOENCODING": "utf-8"})
    harness.eventually(lambda: os.path.exists(path), harness.START_LIMIT)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        said = b"\x1b]0;mine\x07\x1b[2J\xc2\x9b31m\xff" + "\u202eZoë".encode()
        connection.sendall(header() + sill.message(23, said))
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass
    shown = process.communicate(timeout=harness.START_LIMIT)[0].decode()
    assert "says hello: \\x1b]0;mine\\x07\\x1b[2J\\x9b31m" in shown and "\\u202eZoë" in shown
    assert all(letter.isprintable() or letter == "\n" for letter in shown)
