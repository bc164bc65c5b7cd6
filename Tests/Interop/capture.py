# SPDX-License-Identifier: Apache-2.0
"""Every packet that leaves a namespace, by whatever interface: where it goes."""

import collections
import ipaddress
import select
import socket
import threading

ETH_P_ALL, ETH_P_IP, ETH_P_IPV6, ETH_P_ARP = 0x0003, 0x0800, 0x86DD, 0x0806
PACKET_OUTGOING = 4
# What never leaves a link.
ON_LINK = [ipaddress.ip_network(text) for text in (
    "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/24", "239.255.255.250/32", "::1/128", "fe80::/10", "ff02::/16")]


class Capture:
    """Begins at once; `stop` returns {(interface, destination): packets}. Fails on what it cannot read."""

    def __init__(self, lab, namespace):
        with lab.inside(namespace):
            # Without a link's header, which a tunnel has none of.
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.wake, self.ended = socket.socketpair()
        self.destinations = collections.Counter()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        ends = False
        while True:
            ready = select.select([self.socket, *([] if ends else [self.ended])], [], [], 0 if ends else None)[0]
            # What was sent before the end is still read.
            if not ready:
                return
            ends = ends or self.ended in ready
            if self.socket not in ready:
                continue
            data, (interface, protocol, direction, _, _) = self.socket.recvfrom(65536)
            if direction != PACKET_OUTGOING or protocol == ETH_P_ARP:
                continue
            if protocol == ETH_P_IP:
                destination = ipaddress.ip_address(data[16:20])
            elif protocol == ETH_P_IPV6:
                destination = ipaddress.ip_address(data[24:40])
            else:
                destination = None
            self.destinations[interface, destination] += 1

    def stop(self):
        self.wake.send(b"x")
        self.thread.join()
        # PACKET_STATISTICS: (seen, dropped). A capture that lost packets proves nothing.
        dropped = int.from_bytes(self.socket.getsockopt(263, 6, 8)[4:8], "little")
        for one in (self.socket, self.wake, self.ended):
            one.close()
        assert dropped == 0, f"{dropped} packets were not seen"
        return dict(self.destinations)


def outside(destinations, *networks):
    """Those that go neither to these networks nor to where no router carries anything."""
    near = ON_LINK + [ipaddress.ip_network(text) for text in networks]
    return {
        where: count for where, count in destinations.items()
        if where[1] is None or not any(where[1] in network for network in near if network.version == where[1].version)}
