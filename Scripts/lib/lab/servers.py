#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small servers of the lab's internet, and what they were asked: one line each.

servers.py dns ADDRESS[:PORT] NAME=ADDRESS…    names (A, AAAA); an address may be NXDOMAIN, or - for no answer at all
servers.py stun ADDRESS[:PORT]                 RFC 8489: tells whoever asks the address it is seen by
"""

import ipaddress
import socket
import struct
import sys

MAGIC = 0x2112A442


def question(data):
    """The name of a DNS question, its type, and where it ends."""
    labels, at = [], 12
    while data[at]:
        labels.append(data[at + 1:at + 1 + data[at]].decode("latin-1"))
        at += 1 + data[at]
    return ".".join(labels).lower(), struct.unpack_from("!H", data, at + 1)[0], at + 5


def dns(data, names):
    name, kind, end = question(data)
    print("asked", name, {1: "A", 28: "AAAA"}.get(kind, kind), flush=True)
    values = names.get(name)
    if values and "-" in values:
        return None
    records = []
    for value in values or []:
        if value != "NXDOMAIN":
            address = ipaddress.ip_address(value)
            if kind == {4: 1, 6: 28}[address.version]:
                records.append(b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 60, len(address.packed)) + address.packed)
    missing = values is None or "NXDOMAIN" in values
    return (data[:2] + struct.pack("!HHHHH", 0x8180 | (3 if missing else 0), 1, len(records), 0, 0) + data[12:end]
            + b"".join(records))


def stun(data, who):
    if len(data) < 20 or struct.unpack_from("!HHI", data)[0] != 1 or struct.unpack_from("!I", data, 4)[0] != MAGIC:
        return None
    print("asked", *who, flush=True)
    port = who[1] ^ (MAGIC >> 16)
    address = struct.unpack("!I", socket.inet_aton(who[0]))[0] ^ MAGIC
    value = struct.pack("!HHBBHI", 0x0020, 8, 0, 1, port, address)
    return struct.pack("!HHI", 0x0101, len(value), MAGIC) + data[8:20] + value


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("dns", "stun"):
        sys.exit(__doc__)
    kind, where = sys.argv[1:3]
    host, _, port = where.partition(":")
    names = {}
    for pair in sys.argv[3:]:
        name, _, value = pair.partition("=")
        names.setdefault(name.lower(), []).append(value)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as serving:
        serving.bind((host, int(port) if port else {"dns": 53, "stun": 3478}[kind]))
        print("ready", flush=True)
        while True:
            data, who = serving.recvfrom(4096)
            try:
                answer = dns(data, names) if kind == "dns" else stun(data, who)
            except (IndexError, struct.error):
                continue
            if answer is not None:
                serving.sendto(answer, who)


if __name__ == "__main__":
    main()
