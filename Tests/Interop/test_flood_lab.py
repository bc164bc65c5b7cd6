# SPDX-License-Identifier: Apache-2.0
"""A thousand addresses that half open, stall, fail and send nonsense: paired devices and the owner still get in (10 R5)."""

import contextlib
import json
import subprocess
import sys
import time

import harness
import lab_devices as devices
import pytest
import sill_client as sill
from OpenSSL import SSL

SCENARIO = "crowd"
pytestmark = pytest.mark.alone
HOST = "192.168.9.1"
# Bounded, whatever becomes of the journey: a test ends it long before.
SECONDS, A_SECOND = 300, 600
FULL_SWING = 120  # seconds until the crowd is as many as the journey needs; a quiet machine takes a few
# What a service may grow by under all this (debug build): pending connections are at most 1,024 a door, and TLS state of
# the most expensive kind takes about 64 KiB.
GROWTH = 128 * 1024 * 1024

NETWORKS = {"home": "10.20.0.0/22", "remote": "198.18.0.0/22"}


def refused(service):
    return sum(devices.refusals(service).values())


def gets_in(service, attempt, outrun=256):
    """What an attempt comes to that gets in. A full door closes its oldest for the next, of 1,024 or of half as many when half
    of them have said hello. So only an attempt that was outrun by that many of the crowd may fail, as happens on a machine
    that is busy with other things (a few dozen come meanwhile on one that is not); it is made again, as a device would."""
    for _ in range(20):
        before = refused(service)
        try:
            return attempt()
        except (sill.Closed, ConnectionError):
            assert refused(service) - before >= outrun, "it was put out before its turn"
    raise AssertionError("twenty times it was outrun")


@contextlib.contextmanager
def crowd(lab, service, door, kinds, at_once=2000, a_second=A_SECOND):
    """So many strangers at a door for as long as the block lasts, from the time the first thousand have dialled."""
    command = lab.command(
        "crowd", sys.executable, harness.ROOT / "Tests" / "Interop" / "flood.py", f"{HOST}:{service.port(door)}",
        NETWORKS[door], "--kinds", kinds, "--seconds", SECONDS, "--a-second", a_second, "--at-once", at_once)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    counts = {}
    try:
        assert process.stdout.readline() == "dialling\n"
        yield counts
    finally:
        process.terminate()
        try:
            counts |= json.loads(process.communicate(timeout=harness.START_LIMIT)[0])
        finally:
            process.kill()
            process.wait()


def pending(service):
    page = service.api("GET", "/metrics").body.decode()
    return int(page.split("\nlatchkey_connections ")[1].split()[0])


# What each flood is made of, and when it is in full swing: the door holds so many, or has refused so many. Whole
# handshakes are as dear to the crowd as to the host, so they come to less.
FLOODS = {
    "silent": ("silent", "held", 1000), "stalled in the handshake": ("hello,partial", "held", 1000),
    "nonsense": ("garbage,http,torn", "refused", 1000), "keys nobody paired": ("unpaired,malformed", "refused", 300),
    "stalled pairings": ("stalled", "held", 150),
    "everything": ("silent,hello,partial,garbage,http,torn,unpaired,stalled,malformed", "refused", 500),
}
TRIED = [("home", flood) for flood in FLOODS] + [("remote", "silent"), ("remote", "everything")]


@pytest.fixture(scope="module")
def service(lab_service):
    lab_service.settings(remoteAccess=True, internetAccess=True)
    return lab_service


@pytest.fixture(scope="module")
def paired(service):
    return service.pair_device()


@pytest.mark.parametrize("door, flood", TRIED)
def test_a_paired_device_and_a_new_one_get_in(lab, service, paired, door, flood):
    service.api("DELETE", "/v1/lockouts")
    pin, address = service.pin, (HOST, service.port(door))
    grown = harness.resident_bytes(service.process.pid)
    kinds, what, many = FLOODS[flood]

    def session(identity):
        with lab.inside("home"):
            session = sill.Session(address, identity, pin)
        if session.end and session.goodbye is None:
            raise session.end
        return session

    with crowd(lab, service, door, kinds) as counts:
        before = refused(service)
        harness.eventually(
            lambda: many <= (
                pending(service) if what == "held" else refused(service) - before), FULL_SWING)
        for _ in range(5):
            with gets_in(service, lambda: session(paired)) as one:
                assert one.window_list and one.goodbye is None
        # The owner pairs another device by the code on the screen. The crowd cost the window nothing.
        window = service.window(remote=door == "remote")
        newcomer = sill.Identity()
        key = sill.code_key(window["code"].replace(" ", ""), pin)

        def by_code():
            with lab.inside("home"):
                return sill.pair(address, newcomer, code="", key=key, pin=pin)

        assert service.get("/v1/pairing/window")["triesLeft"] == 5
        assert harness.judged(lambda: gets_in(service, by_code))["ok"]
        with gets_in(service, lambda: session(newcomer)) as one:
            assert one.window_list
    assert sum(counts.values()) >= many
    assert harness.resident_bytes(service.process.pid) - grown < GROWTH
    # And it is over when they are gone.
    harness.eventually(lambda: pending(service) == 0)
    assert service.api("GET", "/healthz").status == 200


@pytest.mark.parametrize("door", ["home", "remote"])
def test_a_window_loses_no_try_to_those_who_send_no_proof(lab, service, door):
    """A thousand refusals later, of connections of every useless kind, all five tries are there."""
    service.api("DELETE", "/v1/lockouts")
    window = service.window(remote=True)
    pin, address = service.pin, (HOST, service.port(door))
    with crowd(lab, service, door, "stalled,malformed,torn,garbage,hello,silent", at_once=500):
        before = refused(service)
        harness.eventually(lambda: refused(service) - before >= 1000, FULL_SWING)
        assert service.get("/v1/pairing/window")["triesLeft"] == 5
        key = sill.code_key(window["code"].replace(" ", ""), pin)
        wrong = bytes(32)
        answers = []
        # A proof that is wrong costs one, as always.
        for tried in (wrong, key):
            with lab.inside("home"):
                answers.append(harness.judged(lambda: gets_in(
                    service, lambda: sill.pair(address, sill.Identity(), code="", key=tried, pin=pin))))
        assert answers[0]["reason"] == "code" and answers[0]["triesLeft"] == 4
        assert answers[1]["ok"]


@pytest.mark.parametrize("flood", ["silent", "hello"])
def test_a_device_whose_words_take_a_while(lab, service, paired, flood):
    """A hundred of the crowd arrive between each two of its steps, as they would while its packets cross the sea."""
    service.api("DELETE", "/v1/lockouts")
    pin, address = service.pin, (HOST, service.port("home"))
    # Few enough that the host keeps up with their handshakes: this is about who goes, not about how fast.
    with crowd(lab, service, "home", flood, a_second=200):
        harness.eventually(lambda: pending(service) >= 1000, FULL_SWING)

        def slowly():
            with lab.inside("home"):
                channel = sill.Channel(address, paired, pin=pin, handshake=False)
            with channel:
                for _ in range(2):
                    before = refused(service)
                    harness.eventually(lambda: refused(service) - before >= 100, FULL_SWING)
                    with contextlib.suppress(SSL.WantReadError):
                        channel.tls.do_handshake()
                        break
                    channel.socket.send(channel.tls.bio_read(65536))
                    channel._wait_readable(time.monotonic() + sill.PATIENCE)
                    if not channel._pull():
                        raise sill.Closed()
                channel.handshake()
                return channel.read_message()[0]

        # Two hundred come by what this is about.
        assert gets_in(service, slowly, outrun=400) == 2
