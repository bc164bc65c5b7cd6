#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes Tests/Vectors/pacing.jsonl: what the pacing rule does, for every implementation of it to repeat verbatim.

One trace a line: {"name", "clients": ["home" or "away", …], "steps": [[what, …, result], …]}. Times are whole milliseconds.
All clients of a trace share one encoder, and so its keyframe spacing. The steps, and what their last members are:

  ["key", ms]                                        a keyframe came from the encoder
  ["frame", client, ms, bytes, key, unacknowledged, verdict]   offered; "send" means it was handed over too
  ["handed", client, bytes, key, pending]            handed over, whatever the rule says of it
  ["took", client, bytes, pending]                   taken by the connection; what is pending then
  ["left", client, bytes, pending]                   so much was measured to wait
  ["sweep", client, ms, asks]
  ["beside", hasHomeClient]
  ["restart", client]
  ["second", client, sent, withheld]

The worked cases say what the specification (06 A9) says, and this script fails when the rule does not. The long traces
are drawn from a seed, and their results are the Python port's: the Swift rule has to come to the same.
"""

import json
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Scripts/lib"))

from streaming import pacing  # noqa: E402

KIB = 1 << 10


class Trace:
    """Clients of one encoder, and what happens to them."""

    def __init__(self, *clients):
        self.clients = [pacing.PacingPolicy(is_home=client == "home") for client in clients]
        self.spacing = pacing.KeyframeSpacing()

    def does(self, step):
        """What a step without its results comes to."""
        what, *rest = step
        if what == "key":
            self.spacing.keyframe(rest[0] / 1000)
            return []
        if what == "beside":
            self.spacing.has_home_client = rest[0]
            return []
        client, *rest = rest
        policy = self.clients[client]
        if what == "frame":
            moment, size, is_key, unacknowledged = rest
            verdict = policy.offer(is_key, self.spacing, moment / 1000, unacknowledged)
            if verdict == pacing.SEND:
                policy.handed(size, is_key)
            return [verdict]
        if what == "handed":
            policy.handed(*rest)
            return [policy.pending]
        if what in ("took", "left"):
            getattr(policy, what)(rest[0])
            return [policy.pending]
        if what == "sweep":
            return [policy.sweep(self.spacing, rest[0] / 1000)]
        if what == "restart":
            policy.restarted()
            return []
        if what == "second":
            return list(policy.close_second())
        raise ValueError(what)


RESULTS = {"frame": 1, "handed": 1, "took": 1, "left": 1, "sweep": 1, "second": 2}


def check(trace):
    """Raises when a trace does not come to what it says."""
    run = Trace(*trace["clients"])
    for number, step in enumerate(trace["steps"]):
        count = RESULTS.get(step[0], 0)
        given, wanted = (step[:-count], step[-count:]) if count else (step, [])
        got = run.does(given)
        if got != wanted:
            raise AssertionError(f"{trace['name']}, step {number}: {step} came to {got}")


FIRST = [["key", 0], ["frame", 0, 0, 100_000, True, 0, "send"], ["took", 0, 100_000, 0], ["second", 0, 1, 0]]

WORKED = [
    ("before the first keyframe nothing counts", ["away"], [
        ["frame", 0, 0, 900, False, 0, "skip+ask"], ["frame", 0, 16, 900, False, 0, "skip"],
        ["frame", 0, 33, 4_000_000, True, 0, "send"], ["second", 0, 1, 0]]),
    ("the budget, and a byte more", ["away"], FIRST + [
        ["handed", 0, 256 * KIB, False, 256 * KIB], ["frame", 0, 100, 1, False, 0, "send"],
        ["frame", 0, 116, 1, False, 0, "lost"], ["second", 0, 2, 1]]),
    ("the hold cap beside a keyframe of 4 MiB", ["away"], FIRST + [
        ["frame", 0, 100, 4096 * KIB, True, 0, "send"], ["handed", 0, 512 * KIB, False, 4608 * KIB],
        ["frame", 0, 116, 1, False, 0, "send"], ["frame", 0, 133, 1, False, 0, "lost"]]),
    ("half of a keyframe taken leaves the same cap", ["away"], FIRST + [
        ["frame", 0, 100, 4096 * KIB, True, 0, "send"], ["took", 0, 2048 * KIB, 2048 * KIB],
        ["handed", 0, 512 * KIB, False, 2560 * KIB], ["frame", 0, 116, 1, False, 0, "send"],
        ["frame", 0, 133, 1, False, 0, "lost"]]),
    ("the floor and the slack", ["away"], FIRST + [
        ["frame", 0, 100, 1024 * KIB, True, 0, "send"], ["handed", 0, 300 * KIB, False, 1324 * KIB],
        ["took", 0, 1024 * KIB, 300 * KIB], ["handed", 0, 128 * KIB, False, 428 * KIB],
        ["frame", 0, 116, 1, False, 0, "send"], ["frame", 0, 133, 1, False, 0, "lost"]]),
    ("the floor follows the backlog down", ["away"], FIRST + [
        ["frame", 0, 100, 1024 * KIB, True, 0, "send"], ["handed", 0, 400 * KIB, False, 1424 * KIB],
        ["took", 0, 1024 * KIB, 400 * KIB], ["left", 0, 300 * KIB, 300 * KIB],
        ["handed", 0, 128 * KIB, False, 428 * KIB], ["frame", 0, 116, 1, False, 0, "send"],
        ["frame", 0, 133, 1, False, 0, "lost"]]),
    ("after a loss: idle, spacing, keyframe", ["away"], FIRST + [
        ["frame", 0, 0, 300 * KIB, False, 0, "send"], ["frame", 0, 16, 10, False, 0, "lost"],
        ["left", 0, 16 * KIB + 1, 16 * KIB + 1], ["frame", 0, 1000, 10, False, 0, "lost"],
        ["took", 0, 1, 16 * KIB], ["frame", 0, 1100, 10, False, 0, "lost+ask"],
        ["frame", 0, 3099, 10, False, 0, "lost"], ["frame", 0, 3100, 10, False, 0, "lost+ask"],
        ["key", 3200], ["frame", 0, 3200, 50_000, True, 0, "send"], ["frame", 0, 3300, 10, False, 0, "send"],
        ["second", 0, 3, 5]]),
    ("an awaited keyframe has to fit, the first since a restart has not", ["away"], FIRST + [
        ["frame", 0, 0, 300 * KIB, False, 0, "send"], ["frame", 0, 16, 10, False, 0, "lost"],
        ["frame", 0, 33, 10, True, 0, "lost"], ["took", 0, 44 * KIB - 1, 256 * KIB + 1],
        ["frame", 0, 50, 10, True, 0, "lost"], ["took", 0, 1, 256 * KIB], ["frame", 0, 66, 10, True, 0, "send"],
        ["frame", 0, 83, 300 * KIB, False, 0, "send"], ["restart", 0], ["frame", 0, 100, 10, False, 0, "skip"],
        ["frame", 0, 116, 10, True, 0, "send"], ["second", 0, 1, 0]]),
    ("the sweep asks when the picture is still", ["away"], FIRST + [
        ["sweep", 0, 0, False], ["frame", 0, 0, 300 * KIB, False, 0, "send"], ["frame", 0, 16, 10, False, 0, "lost"],
        ["sweep", 0, 1000, False], ["took", 0, 300 * KIB, 0], ["sweep", 0, 2000, True], ["sweep", 0, 3999, False],
        ["sweep", 0, 4000, True]]),
    ("beside a client at home it is asked for less often", ["away"], FIRST + [
        ["beside", True], ["frame", 0, 0, 300 * KIB, False, 0, "send"], ["frame", 0, 16, 10, False, 0, "lost"],
        ["took", 0, 300 * KIB, 0], ["key", 1000], ["frame", 0, 4999, 10, False, 0, "lost"],
        ["frame", 0, 5000, 10, False, 0, "lost+ask"], ["frame", 0, 8999, 10, False, 0, "lost"],
        ["frame", 0, 9000, 10, False, 0, "lost+ask"], ["beside", False], ["frame", 0, 10_999, 10, False, 0, "lost"],
        ["frame", 0, 11_000, 10, False, 0, "lost+ask"]]),
    ("one request for two clients of one encoder", ["away", "away"], [
        ["frame", 0, 0, 900, False, 0, "skip+ask"], ["frame", 1, 0, 900, False, 0, "skip"], ["key", 16],
        ["frame", 0, 16, 100_000, True, 0, "send"], ["frame", 1, 16, 100_000, True, 0, "send"]]),
    ("at home the first keyframe is asked for once", ["home"], [
        ["frame", 0, 0, 900, False, 0, "skip+ask"], ["frame", 0, 16, 900, False, 0, "skip"], ["restart", 0],
        ["frame", 0, 33, 900, False, 0, "skip+ask"], ["key", 50], ["frame", 0, 50, 900, True, 0, "send"]]),
    ("at home two messages may be unacknowledged", ["home"], FIRST + [
        ["frame", 0, 0, 9216 * KIB, False, 2, "send"], ["frame", 0, 16, 10, False, 3, "lost+ask"],
        ["frame", 0, 33, 10, False, 0, "lost"], ["frame", 0, 50, 10, True, 2, "send"],
        ["frame", 0, 66, 10, False, 3, "lost+ask"], ["sweep", 0, 9000, False], ["frame", 0, 9016, 10, True, 2, "send"],
        ["second", 0, 3, 3]]),
    ("at home an awaited keyframe waits for room, and is asked for once more then", ["home"], FIRST + [
        ["handed", 0, 256 * KIB + 1, False, 256 * KIB + 1], ["frame", 0, 16, 10, False, 3, "lost+ask"],
        ["frame", 0, 33, 10, True, 3, "lost"], ["frame", 0, 50, 10, False, 3, "lost"],
        ["frame", 0, 66, 10, False, 2, "lost+ask"], ["frame", 0, 83, 10, False, 2, "lost"],
        ["frame", 0, 100, 10, True, 2, "send"]]),
]


def worked():
    for name, clients, steps in WORKED:
        yield {"name": name, "clients": clients, "steps": steps}


def drawn(seed, clients, steps=700):
    """A long trace: links that carry now more, now less than the stream, keyframes asked for and unasked, restarts."""
    draw = random.Random(seed)
    run, made, moment, wanted = Trace(*clients), [], 0, False
    links = [draw.choice((4000, 9000, 17_000, 40_000)) for _ in clients]

    def step(*given):
        results = run.does(list(given))
        made.append([*given, *results])
        return results

    while len(made) < steps:
        moment += draw.choice((16, 17, 17, 17, 250))
        is_key = wanted or draw.random() < 0.02
        wanted = False
        if is_key:
            step("key", moment)
        size = draw.randrange(40_000, 400_000) if is_key else draw.randrange(0, 30_000)
        for client in range(len(clients)):
            if draw.random() < 0.01:
                links[client] = draw.choice((0, 4000, 17_000, 40_000, 40_000, 2_000_000))
            carried = draw.randrange(links[client] + 1)
            if draw.random() < 0.5:
                step("took", client, carried)
            else:
                step("left", client, max(run.clients[client].pending - carried, 0))
            verdict = step("frame", client, moment, size, is_key, draw.choice((0, 0, 0, 1, 2, 3)))
            wanted |= verdict[0].endswith("ask") and draw.random() < 0.9
            if draw.random() < 0.02:
                wanted |= step("sweep", client, moment)[0]
            if draw.random() < 0.02:
                step("second", client)
            if draw.random() < 0.004:
                step("restart", client)
                wanted = draw.random() < 0.5
        if draw.random() < 0.01:
            step("beside", draw.random() < 0.5)
    return {"name": f"drawn from seed {seed}", "clients": clients, "steps": made}


def traces():
    yield from worked()
    for seed, clients in enumerate((["away"], ["away"], ["home"], ["away", "home"], ["away", "away", "home"]), 1):
        yield drawn(seed, clients)


if __name__ == "__main__":
    lines = []
    for one in traces():
        check(one)
        lines.append(json.dumps(one, separators=(",", ":")))
    (ROOT / "Tests/Vectors/pacing.jsonl").write_text("\n".join(lines) + "\n")
