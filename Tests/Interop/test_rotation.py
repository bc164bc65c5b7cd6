# SPDX-License-Identifier: Apache-2.0
"""Another key for the host while it runs: what devices, the admin and a crash see (07, 03 section 11.1, 09.15)."""

import json
import os
import random
import signal
import threading
import time

import harness
import pytest
import sill_client as sill
from harness import run

KILLS = int(os.environ.get("LATCHKEY_KILLS", "12"))


def rotate(service, confirm=None):
    return service.api("POST", "/v1/identity/rotate", {"confirm": confirm or service.host_id})


def refusal(address, identity, **options):
    """What ends a connection that must not become a session."""
    try:
        with sill.Channel(address, identity, **options) as channel:
            return channel.end_of_host()
    except (sill.Alert, sill.Closed) as end:
        return end


def place(service, door="home"):
    return "127.0.0.1:%d" % service.door(door)[1]


def test_a_real_device_pairs_again(service, scratch):
    """The whole journey, as a person makes it with the two command lines."""
    def device(*arguments):
        return run("latchkey-device", *arguments, "--dir", f"{scratch}/device")

    def admin(*arguments, text=None):
        return run("latchkey", "--socket", service.runtime / "api.sock", *arguments, text=text)

    service.settings(requirePairing=False)
    old = service.host_id
    assert device("pair", service.window()["url"], "--host", place(service), "--name", "Shell").returncode == 0
    report = {}

    def session():
        done = device("connect", old, "--host", place(service), "--seconds", "30", "--json")
        report.update(json.loads(done.stdout.splitlines()[-1]), code=done.returncode)

    thread = threading.Thread(target=session)
    thread.start()
    harness.eventually(service.sessions)

    # Without a terminal it asks for --yes; nothing has happened.
    done = admin("identity", "rotate", text=f"{old}\n")
    assert done.returncode == 2 and service.host_id == old
    done = admin("identity", "rotate", "--yes")
    assert done.returncode == 0, done.stderr
    new = service.host_id
    assert new != old and old in done.stdout and new in done.stdout and "Closed 1 session." in done.stdout
    thread.join(harness.FRIENDLY)
    assert report["goodbye"]["reason"] == "removed" and report["ended"] == "goodbye"
    assert service.devices() == {} and service.sessions() == []

    # What it has saved is another host now.
    assert device("connect", old, "--host", place(service)).returncode == 5
    shown = admin("identity", "--json")
    assert json.loads(shown.stdout)["hostID"] == new
    # It pairs again, and is connected to the new one, also after a restart.
    assert device("pair", service.window()["url"], "--host", place(service), "--name", "Shell").returncode == 0
    assert [d["name"] for d in service.devices().values()] == ["Shell"]
    for _ in range(2):
        assert service.host_id == new and service.get("/v1/settings")["requirePairing"] is False
        done = device("connect", new, "--host", place(service), "--seconds", "0.5")
        assert done.returncode == 0 and "verified" in done.stdout, done.stderr
        assert service.restart().host_id == new
    assert not (service.state / "host-key.pem.new").exists()
    # Pairing is still not required.
    with service.session(sill.Identity()) as session:
        assert session.window_list


def test_the_host_id_is_typed_to_rotate(service):
    before = service.host_id
    for typed, code in (("yes", 1), (before.lower(), 0)):
        screen = harness.Terminal(harness.BIN / "latchkey", "--socket", service.runtime / "api.sock", "identity", "rotate")
        screen.read(f"Type the host's ID, {before}, to go on: ")
        screen.type(typed + "\n")
        assert screen.end() == code
        assert (service.host_id == before) == (code == 1)


def test_every_session_at_both_doors_is_told(start, sample):
    service = start(backend=sample.address)
    service.settings(remoteAccess=True, requirePairing=False)
    identity, stranger = service.pair_device(), sill.Identity()
    with service.session(identity) as home, service.session(identity, "remote") as away, service.session(stranger) as other:
        answer = rotate(service)
        assert answer.status == 200 and answer.json["closedSessions"] == 3
        for session in (home, away, other):
            session.follow(until=lambda s: s.end)
            assert session.goodbye == {"reason": "removed"} and session.order[-1] == 22
            assert session.bad_infos == 0
    end = refusal(service.door("remote"), identity)
    assert isinstance(end, sill.Alert) and end.code == 42
    with service.session(identity) as again:
        again.follow(until=lambda s: s.infos)
        assert again.window_list and again.infos[-1]["macID"] == service.host_id


def test_a_window_and_its_proofs_end_with_the_key(service):
    identity = sill.Identity()
    window = service.window(remote=False)
    link = sill.parse_link(window["url"])
    waiting = sill.Channel(service.door("home"), identity, alpn=(sill.PAIRING,), pin=link["fingerprint"])
    assert rotate(service).status == 200
    assert service.api("GET", "/v1/pairing/window").json["last"]["outcome"] == "cancelled"
    with waiting:
        assert isinstance(waiting.end_of_host(), sill.Closed)
    # The link names the old key; a device that follows it finds another one.
    service.window(remote=False)
    with pytest.raises(sill.PinMismatch):
        sill.pair_link(link, identity, service.door("home"))
    assert service.pair_device(identity).id in service.devices()


def test_killed_while_rotating(start):
    """kill -9 at any moment: the next start has the old identity whole or the new one, and nothing half of either."""
    service = start(backend=start.sample().address)
    chance = random.Random(15)
    for round in range(KILLS):
        source = f"127.0.1.{round + 1}"
        identity = service.pair_device(name=f"D{round}", source=source)
        before, paired = service.host_id, set(service.devices())
        answered = []

        def ask():
            try:
                answered.append(rotate(service, before))
            except OSError:
                pass

        thread = threading.Thread(target=ask)
        thread.start()
        time.sleep(chance.uniform(0, 0.02))
        service.stop(signal.SIGKILL)
        thread.join()
        service.start()
        after = service.host_id
        assert not (service.state / "host-key.pem.new").exists()
        assert [a.status for a in answered if a.status != 200] == []
        if answered:
            assert answered[0].json["hostID"] == after
        if after == before:
            assert set(service.devices()) == paired
            with service.session(identity, source=source) as session:
                assert session.window_list
        else:
            assert service.devices() == {}
            end = refusal(service.door("home"), identity, source=source)
            assert isinstance(end, sill.Alert) and end.code == 42
