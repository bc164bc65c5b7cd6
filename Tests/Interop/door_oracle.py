# SPDX-License-Identifier: Apache-2.0
"""What the doors must say, written from the tables of 03 alone: sections 3.6, 5.1 to 5.3, 6 and 7.5."""

import dataclasses
import itertools

ORIGINS = ("loopback", "direct", "lan", "vpn", "internet")
DOORS = ("home", "remote")
KEYS = ("none", "unpaired", "paired", "removed")
PROTOCOLS = ("sill/1", "sill-pair/1", "", "h2")  # "": the device names none


@dataclasses.dataclass(frozen=True)
class Switches:
    """Everything an answer may depend on, but for who asks. `window`: none, home (alone) or remote (for both)."""

    require_pairing: bool = True
    remote_access: bool = False
    internet_access: bool = False
    window: str = "none"
    direct: bool = True

    @property
    def internet(self):
        """Internet access counts only under remote access (03 section 10 point 5)."""
        return self.internet_access and self.remote_access

    @property
    def remote_listens(self):
        return self.remote_access or self.window == "remote"


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a connection comes to.

    `what`: closed (before TLS, without a byte), alert, session, pairing or goodbye. `reason`: the goodbye's, or the word a
    refusal has in the delegated answer. `counted`: whether the refusal summary counts it under that word.
    """

    what: str
    reason: str = ""
    counted: bool = True


def all_switches():
    for values in itertools.product((True, False), (True, False), (True, False), ("none", "home", "remote")):
        yield Switches(*values)


def admits(door, origin, switches):
    """03 section 3.6; the word of a refusal, or None."""
    taken = {
        ("home", "loopback"): True, ("home", "direct"): True, ("home", "lan"): True, ("home", "vpn"): "vpn",
        ("home", "internet"): "internet", ("remote", "loopback"): True, ("remote", "direct"): "internet",
        ("remote", "lan"): True, ("remote", "vpn"): True,
        ("remote", "internet"): True if switches.internet else "internet",
    }[door, origin]
    return None if taken is True else taken


def answer(door, origin, protocol, key, switches):
    word = admits(door, origin, switches)
    if word:
        return Answer("closed", word)
    if origin == "direct" and not switches.direct:
        return Answer("closed", "direct", counted=False)
    turned_away = Answer("alert", "unpaired")
    if key == "none" or protocol not in ("sill/1", "sill-pair/1"):
        return turned_away
    paired = key == "paired"
    if protocol == "sill/1":
        if door == "home":
            return Answer("session") if paired or not switches.require_pairing else turned_away
        if not paired:
            return turned_away
        return Answer("session") if switches.remote_access else Answer("goodbye", "remoteOff")
    if door == "home" or switches.window == "remote":
        return Answer("pairing")
    return turned_away


def alerts(protocol, key):
    """The alerts that say no inside TLS: 01 section 4.1, 09 points 12 and 32b."""
    if protocol == "h2":
        return {120}
    if key == "none":
        return {116}
    return {42, 120} if protocol == "" else {42}
