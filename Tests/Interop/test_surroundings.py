# SPDX-License-Identifier: Apache-2.0
"""What others on the machine may do to the service: hold its connections, leave things in its way, send it much."""

import json
import os
import pathlib
import socket
import subprocess

import harness
import pytest
import sill_client as sill


def tcp(service):
    host, port = json.loads((service.runtime / "endpoints.json").read_text())["api"]["tcp"][0].rsplit(":", 1)
    return host, int(port)


def many(address, count, say):
    """Connections from `count` loopback addresses, each with a few bytes and no more."""
    held = []
    for number in range(count):
        connection = socket.socket()
        connection.bind((f"127.77.{number // 250}.{1 + number % 250}", 0))
        connection.settimeout(1)
        try:
            connection.connect(address)
            connection.sendall(say)
        except OSError:
            pass
        held.append(connection)
    return held


def test_callers_over_tcp_cannot_shut_the_owner_out(service):
    held = many(tcp(service), 320, b"GET /v1/status HTTP/1.1\r\nHo")
    try:
        assert service.get("/v1/status")["name"] == "Desk"
        # Not because they had been given up on.
        assert harness.is_open(held[0])
    finally:
        for connection in held:
            connection.close()
    # Their places are free again.
    harness.eventually(lambda: answers(tcp(service)))


def answers(address):
    try:
        with socket.create_connection(address, 2) as connection:
            connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{address[1]}\r\n\r\n".encode())
            return connection.recv(100).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def test_half_open_sources_do_not_use_up_the_descriptors(start, sample):
    """With a soft limit below a door's pending connections, which is what most systems start a service with."""
    service = start(backend=sample.address)
    identity = service.pair_device()
    service.stop()
    with open(service.log_path, "ab") as log:
        service.process = subprocess.Popen(
            ["/bin/sh", "-c", 'ulimit -S -n 256; exec "$@"', "sh", *service.command()], stdout=log, stderr=log,
            stdin=subprocess.DEVNULL)
    harness.eventually(service.is_ready, harness.START_LIMIT)
    held = many(service.door("home"), 400, b"\x16")
    try:
        assert service.api("GET", "/healthz").status == 200
        with service.session(identity) as session:
            assert session.window_list is not None
    finally:
        for connection in held:
            connection.close()


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_something_in_the_place_of_the_temporary_file(start, scratch, kind):
    run = pathlib.Path(scratch) / "one" / "run"
    run.mkdir(parents=True)
    victim = pathlib.Path(scratch) / "victim"
    victim.write_text("mine")
    if kind == "pipe":
        os.mkfifo(run / "endpoints.json.tmp")
    else:
        (run / "endpoints.json.tmp").symlink_to(victim)
    service = start()
    assert service.door("home")[1] > 0 and victim.read_text() == "mine"


def test_a_file_where_the_socket_goes_is_not_called_a_program(scratch):
    service = harness.Service(f"{scratch}/one")
    service.runtime.mkdir(parents=True)
    (service.runtime / "api.sock").write_text("mine")
    code, said = service.fails()
    assert code == 73 and "api.sock" in said and "Another program" not in said
    assert (service.runtime / "api.sock").read_text() == "mine"


@pytest.mark.parametrize("which", ["state", "run"])
def test_a_directory_of_another_user_is_not_trusted(scratch, which):
    if os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    service = harness.Service(f"{scratch}/one")
    service.runtime.mkdir(parents=True)
    service.state.mkdir(mode=0o700)
    os.chown(service.directory / which, 12345, 12345)
    code, said = service.fails()
    assert code == {"state": 78, "run": 73}[which] and "user 12345" in said


def test_a_runtime_directory_that_all_may_change_is_not_used(scratch):
    service = harness.Service(f"{scratch}/one")
    service.runtime.mkdir(parents=True)
    service.runtime.chmod(0o777)
    code, said = service.fails()
    assert code == 73 and "chmod 755" in said


def test_a_backend_path_that_no_socket_can_have(scratch):
    code, said = harness.Service(f"{scratch}/one", backend="unix:/" + "x" * 107).fails()
    assert code == 64 and "107" in said


def test_an_import_of_short_lines_costs_what_it_weighs(service):
    def peak():
        status = pathlib.Path(f"/proc/{service.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0])

    before, body = peak(), b"\n" * (4 << 20)
    connection = harness.UnixHTTP(str(service.runtime / "api.sock"))
    connection.timeout = 60
    connection.request("POST", "/v1/devices/import", body, {"Content-Type": "application/x-ndjson"})
    answer = connection.getresponse()
    assert answer.status == 200 and json.loads(answer.read())["imported"] == 0
    assert peak() - before < 64 << 10


def test_a_removed_device_stays_removed_over_a_crash(service):
    identity = service.pair_device()
    device = next(iter(service.devices()))
    assert service.api("DELETE", f"/v1/devices/{device}").status == 200
    service.stop(how=9)
    service.start()
    assert service.devices() == {}
    session = service.session(identity)
    assert isinstance(session.end, sill.Alert)
