# SPDX-License-Identifier: Apache-2.0
"""Backup and restore with the real programs, beside a running service and after one that died (08)."""

import json
import os
import shutil
import signal
import stat
import subprocess
import threading

import harness
import pytest
from harness import run

PASSPHRASE = "correct horse battery"


@pytest.fixture
def vault(scratch):
    """The two commands on one state directory, with a passphrase in a file."""
    os.makedirs(scratch, exist_ok=True)
    passphrase = f"{scratch}/passphrase"
    with open(os.open(passphrase, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(PASSPHRASE + "\n")

    class Vault:
        file = f"{scratch}/host.latchkey"

        def backup(self, service, *more, file=None):
            return run("latchkey", "--state-dir", service.state, "backup", "--passphrase-file", passphrase, *more,
                       file or self.file)

        def restore(self, service, *more, file=None):
            return run("latchkey", "--state-dir", service.state, "restore", "--passphrase-file", passphrase, *more,
                       file or self.file)

    return Vault()


def test_the_whole_journey(service, vault):
    kept, lost, late = (service.pair_device(name=name) for name in ("Kept", "Lost", "Late"))
    service.settings(requirePairing=False, maxFPS=45)
    assert service.api("DELETE", f"/v1/devices/{late.id}").status == 200
    host = service.host_id
    done = vault.backup(service)
    assert done.returncode == 0 and host in done.stdout and "2 devices" in done.stdout, done.stderr
    assert stat.S_IMODE(os.stat(vault.file).st_mode) == 0o600
    data = open(vault.file, "rb").read()
    for secret in (b"PRIVATE KEY", b"SQLite format", b"Kept", host.encode(), PASSPHRASE.encode()):
        assert secret not in data
    assert vault.backup(service).returncode == 1, "not over a file that is there"
    assert vault.backup(service, "--force").returncode == 0

    # A running service keeps its directory.
    done = vault.restore(service)
    assert done.returncode == 75 and str(service.process.pid) in done.stderr
    assert service.api("DELETE", f"/v1/devices/{lost.id}").status == 200
    service.settings(requirePairing=True, maxFPS=60)
    added = service.pair_device(name="Added")
    service.stop()
    done = vault.restore(service)
    assert done.returncode == 0 and "1 device" in done.stdout, done.stderr
    service.start()
    assert service.host_id == host and set(service.devices()) == {kept.id}
    settings = service.get("/v1/settings")
    assert settings["requirePairing"] is False and settings["maxFPS"] == 45
    with service.session(kept) as session:
        assert session.window_list
    rows = service.get("/v1/audit")["items"]
    assert [r["outcome"] for r in rows if r["action"] == "backup.restore"] == ["ok"]

    # By hand, everything that was replaced is still there; asked for, the removed come back too.
    aside = [path for path in service.state.iterdir() if path.name.startswith("identity-until-")]
    assert len(aside) == 1 and {path.name for path in aside[0].iterdir()} == {"host-key.pem", "latchkey.db"}
    service.stop()
    done = vault.restore(service, "--restore-removed", "--json")
    assert json.loads(done.stdout)["devices"] == 2
    service.start()
    # "Late" was removed before the backup and stays so; "Added" came after it.
    assert set(service.devices()) == {kept.id, lost.id} and added.id not in service.devices()


def test_on_a_new_machine_after_a_rotation(service, start, vault):
    identity = service.pair_device()
    host = service.host_id
    assert vault.backup(service).returncode == 0
    assert service.api("POST", "/v1/identity/rotate", {"confirm": host}).status == 200
    service.stop()
    other = harness.Service(f"{service.directory}-two", backend=service.backend)
    assert vault.restore(other).returncode == 0
    other.start()
    try:
        assert other.host_id == host
        with other.session(identity) as session:
            assert session.window_list
    finally:
        other.stop()
    # Where it was rotated, nobody comes back unasked.
    done = vault.restore(service, "--json")
    assert json.loads(done.stdout)["stayedRemoved"] == 1
    service.start()
    assert service.host_id == host and service.devices() == {}


def test_wrong_files_and_passphrases_change_nothing(service, vault, scratch):
    identity = service.pair_device()
    assert vault.backup(service).returncode == 0
    service.stop()
    before = {path.name: path.read_bytes() for path in service.state.iterdir() if path.is_file() and path.suffix != ".lock"}
    data = open(vault.file, "rb").read()
    wrong = {
        "cut": data[:-1], "changed": data[:2000] + bytes([data[2000] ^ 1]) + data[2001:], "empty": b"",
        "another": b"PK\3\4" + data, "later": data[:8] + b"\2" + data[9:],
    }
    for name, content in wrong.items():
        with open(f"{scratch}/{name}", "wb") as file:
            file.write(content)
        done = vault.restore(service, file=f"{scratch}/{name}")
        assert done.returncode == 1 and name in done.stderr and PASSPHRASE not in done.stderr, done.stderr
    with open(f"{scratch}/other", "w") as file:
        file.write("another passphrase\n")
    done = run("latchkey", "--state-dir", service.state, "restore", vault.file, "--passphrase-file", f"{scratch}/other")
    assert done.returncode == 1 and "passphrase is not the one" in done.stderr
    after = {path.name: path.read_bytes() for path in service.state.iterdir() if path.is_file() and path.suffix != ".lock"}
    assert after == before
    service.start()
    assert set(service.devices()) == {identity.id}


def test_what_78_says_is_what_helps(service, vault):
    """The command in the message, typed as it stands there."""
    identity = service.pair_device()
    assert vault.backup(service).returncode == 0
    service.stop()
    (service.state / "host-key.pem").unlink()
    code, said = service.fails()
    assert code == 78 and f"latchkey restore --state-dir {service.state} FILE" in said
    assert vault.restore(service).returncode == 0
    service.start()
    assert set(service.devices()) == {identity.id}


def test_beside_a_busy_service_and_after_one_that_died(service, vault, scratch):
    stop = threading.Event()

    def change():
        number = 0
        while not stop.is_set():
            number += 1
            service.settings(maxFPS=30 + number % 60)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for number in range(5):
            assert vault.backup(service, file=f"{scratch}/{number}").returncode == 0
    finally:
        stop.set()
        thread.join()
    identity = service.pair_device()
    service.stop(signal.SIGKILL)
    # What was committed is in the log alone.
    assert vault.backup(service).returncode == 0
    shutil.rmtree(service.state)
    assert vault.restore(service).returncode == 0
    service.start()
    assert set(service.devices()) == {identity.id}


def test_killed_while_restoring(service, vault):
    identity = service.pair_device()
    assert vault.backup(service).returncode == 0
    host = service.host_id
    assert service.api("POST", "/v1/identity/rotate", {"confirm": host}).status == 200
    rotated = service.host_id
    service.stop()
    for milliseconds in (150, 250, 300, 330, 360, 400, 500):
        command = [str(harness.BIN / "latchkey"), "--state-dir", str(service.state), "restore", "--restore-removed",
                   "--passphrase-file", str(vault.file)[: -len("host.latchkey")] + "passphrase", vault.file]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(milliseconds / 1000)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        service.start()
        now = service.host_id
        assert now in (host, rotated)
        assert set(service.devices()) == ({identity.id} if now == host else set())
        service.stop()
    assert vault.restore(service, "--restore-removed").returncode == 0
    service.start()
    assert service.host_id == host and set(service.devices()) == {identity.id}
