# SPDX-License-Identifier: Apache-2.0
"""Devices in the places of lab scenario "doors": one per origin, each with addresses enough for many tries."""

import contextlib
import dataclasses
import json
import re

import harness
import sill_client as sill

REMOTE_PORT = 7455  # its own in the lab, so that the door comes back where it was
# A source that collected 5 failures within 60 s is turned away (03 section 7.3).
TRIES_OF_A_SOURCE = 4


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a device is: a namespace of the lab, the host's address it dials, the interface that leads there."""

    namespace: str
    local: str
    interface: str
    pool: str  # its sources, with the number in braces
    first: int

    def source(self, number):
        return self.pool.format(self.first + number)


PLACES = {
    "loopback": Place("host", "127.0.0.1", "lo", "127.0.7.{}", 1),
    "direct": Place("nearby", "192.168.49.1", "awdl0", "192.168.49.{}", 128),
    "lan": Place("home", "192.168.1.20", "eth0", "192.168.1.{}", 128),
    "vpn": Place("vpn", "192.168.1.20", "wg0", "10.99.0.{}", 128),
    "internet": Place("internet", "192.168.1.20", "eth0", "198.51.100.{}", 1),
}


def dial(lab, service, origin, door, protocol, identity, number=0, pin=None):
    """One connection, seen to its end: (what, detail) as the oracle words it.

    closed: nothing at all was heard; alert and goodbye with their code or reason; session with the local address.
    """
    place = PLACES[origin]
    names = (protocol.encode(),) if protocol else ()
    heard = None
    try:
        with lab.inside(place.namespace):
            heard = sill.Channel(
                (place.local, service.port(door)), identity, alpn=names, pin=pin,
                source=place.source(number), handshake=False)
        with contextlib.closing(heard) as channel:
            channel.handshake()
            if channel.alpn == sill.PAIRING:
                # Answered by "closed" whatever is open, and no try of a window.
                channel.send(sill.message(19, sill.pair_request("cancel", "")))
            kind, _, _, payload = channel.read_message()
            if kind == 22:
                return "goodbye", json.loads(payload)["reason"]
            if kind == 20:
                return "pairing", json.loads(payload)["reason"]
            return "session", channel.local
    except sill.Alert as end:
        return "alert", end.code
    except sill.Closed as end:
        if heard.heard_tls:
            return "ended", str(end)
        return "closed", None
    except ConnectionResetError:
        # Closed so soon that it came before our side had its address.
        return "closed", None


def refusals(service):
    """The counted refusals so far, by door and word."""
    pattern = re.compile(r'latchkey_refusals_total\{door="(\w+)",word="(\w+)"\} (\d+)')
    body = service.api("GET", "/metrics").body.decode()
    return {(door, word): int(count) for door, word, count in pattern.findall(body)}


def judged(service):
    """How many connections the doors have judged after their handshake. A device believes in its TLS before that."""
    body = service.api("GET", "/metrics").body.decode()
    return sum(int(count) for count in re.findall(r'latchkey_admissions_total\{[^}]*\} (\d+)', body))


def refusals_since(service, before):
    """What was counted since, without the zeros."""
    return {place: count - before[place] for place, count in refusals(service).items() if count != before[place]}


def arrange(service, switches):
    """Brings the service to these switches, and its window and doors with them."""
    service.settings(
        requirePairing=switches.require_pairing, remoteAccess=switches.remote_access,
        internetAccess=switches.internet_access, direct=switches.direct)
    if switches.window == "none":
        service.api("DELETE", "/v1/pairing/window")
    else:
        service.window(remote=switches.window == "remote")
    wanted = "open" if switches.remote_listens else "closed"
    harness.eventually(lambda: service.get("/v1/status")["doors"]["remote"]["state"] == wanted)
    service.api("DELETE", "/v1/lockouts")
