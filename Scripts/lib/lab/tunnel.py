#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joins two network namespaces by a pair of tun links and carries the packets between them, until it is ended.

tunnel.py NAMESPACE INTERFACE NAMESPACE INTERFACE    (namespaces as `ip netns` names them; prints "ready")
"""

import ctypes
import fcntl
import os
import select
import struct
import sys

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
MTU_AT_MOST = 65536
BURST = 64  # packets of one side before the other is looked at


def enter(namespace):
    with open(f"/run/netns/{namespace}", "rb") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter {namespace}: {os.strerror(ctypes.get_errno())}")


def open_link(namespace, interface):
    enter(namespace)
    link = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(link, TUNSETIFF, struct.pack("16sH22x", interface.encode(), IFF_TUN | IFF_NO_PI))
    return link


def carry(source, target):
    for _ in range(BURST):
        try:
            packet = os.read(source, MTU_AT_MOST)
        except BlockingIOError:
            return
        try:
            os.write(target, packet)
        except OSError:
            # The other end is down or full; a packet may always be lost.
            pass


def main():
    first, second = open_link(sys.argv[1], sys.argv[2]), open_link(sys.argv[3], sys.argv[4])
    print("ready", flush=True)
    other = {first: second, second: first}
    while True:
        for link in select.select([first, second], [], [])[0]:
            try:
                carry(link, other[link])
            except OSError:
                # EBADFD: its namespace is gone.
                return


if __name__ == "__main__":
    main()
