# SPDX-License-Identifier: Apache-2.0
"""Who a door admits and how it says no: alerts, goodbyes, counts (01 section 4, 03)."""

import contextlib
import socket
import sqlite3
import ssl
import time

import harness
import pytest
import sill_client as sill
from OpenSSL import SSL

BOTH_WAYS = True


def refusal(address, identity, **options):
    """What ends a connection that must not become a session, and the plaintext that came before."""
    try:
        with sill.Channel(address, identity, **options) as channel:
            end = channel.end_of_host()
            return end, channel.bytes_received
    except (sill.Alert, sill.Closed) as end:
        return end, 0


@pytest.mark.parametrize("door", ["home", "remote"])
def test_an_unpaired_key_is_told_by_alert_42(service, door):
    service.settings(remoteAccess=True)
    service.window()
    end, heard = refusal(service.door(door), sill.Identity())
    assert isinstance(end, sill.Alert) and end.code == 42 and heard == 0


@pytest.mark.parametrize("kind", ["rsa", "p384"])
def test_a_key_that_is_not_p256_is_nobody(service, kind):
    service.settings(requirePairing=False)
    end, _ = refusal(service.door("home"), sill.Identity(kind=kind))
    assert isinstance(end, sill.Alert) and end.code == 42
    end, _ = refusal(service.door("home"), sill.Identity(kind=kind), alpn=(sill.PAIRING,))
    assert isinstance(end, sill.Alert) and end.code == 42


def test_no_certificate_no_protocol(service):
    identity = service.pair_device()
    end, _ = refusal(service.door("home"), None)
    assert isinstance(end, sill.Alert) and end.code == 116
    end, _ = refusal(service.door("home"), identity, alpn=(b"h2",))
    assert isinstance(end, sill.Alert) and end.code == 120
    end, _ = refusal(service.door("home"), identity, alpn=())
    assert isinstance(end, sill.Alert) and end.code in (42, 120)
    # Names are compared byte for byte.
    end, _ = refusal(service.door("home"), identity, alpn=(b"sill/1 ",))
    assert isinstance(end, sill.Alert) and end.code == 120


def test_both_protocols_offered_means_a_session(service):
    identity = service.pair_device()
    with sill.Channel(service.door("home"), identity, alpn=(sill.PAIRING, sill.SESSION)) as channel:
        assert channel.alpn == sill.SESSION


def test_only_tls_1_3(service):
    identity = service.pair_device()
    end, _ = refusal(
        service.door("home"), identity, versions=(SSL.TLS1_2_VERSION, SSL.TLS1_2_VERSION))
    assert isinstance(end, (sill.Alert, sill.Closed))
    if isinstance(end, sill.Alert):
        assert end.code == 70


def test_no_tickets(service, scratch):
    """A removed device must not come back on an old session. Seen with Python's own TLS, which shows tickets."""
    identity = service.pair_device()
    path = f"{scratch}/device.pem"
    with open(path, "wb") as file:
        file.write(identity.pem())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.load_cert_chain(path)
    context.set_alpn_protocols(["sill/1"])
    with socket.create_connection(service.door("home"), harness.FRIENDLY) as plain:
        with context.wrap_socket(plain, server_hostname="sill") as tls:
            tls.sendall(sill.message(23, {}))
            assert len(tls.recv(14)) > 0
            assert tls.version() == "TLSv1.3"
            assert tls.session is None or not tls.session.has_ticket


def test_plain_bytes_and_http(service):
    for data in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100, b"SSH-2.0-x\r\n"):
        with socket.create_connection(service.door("home"), harness.FRIENDLY, ("127.0.0.77", 0)) as connection:
            connection.sendall(data)
            answer = b""
            with contextlib.suppress(ConnectionResetError):
                while chunk := connection.recv(4096):
                    answer += chunk
            # Nothing, or a TLS alert; never a word of HTTP or of ours.
            assert answer == b"" or answer[0] == 0x15
    assert "home" in service.doors


def test_any_shape_of_certificate_with_a_p256_key_does(service):
    """Ours is long expired and made by another library; only its key counts (01 section 5.4)."""
    identity = service.pair_device()
    again = sill.Identity(identity.key)
    with service.session(again) as session:
        assert session.window_list is not None


def test_five_refusals_close_the_door_to_their_source_alone(service):
    identity = service.pair_device(source="127.0.0.50")
    pest = "127.0.0.66"
    for _ in range(5):
        end, _ = refusal(service.door("home"), sill.Identity(), source=pest)
        assert isinstance(end, sill.Alert)
    with pytest.raises((sill.Closed, ConnectionError)):
        channel = sill.Channel(service.door("home"), identity, source=pest)
        channel.end_of_host()
        raise channel.ended
    with service.session(identity, source="127.0.0.50") as session:
        assert session.window_list
    # Another door counts for itself.
    service.settings(remoteAccess=True)
    with service.session(identity, "remote", source=pest) as session:
        assert session.window_list


def test_a_paired_key_clears_what_its_source_collected(service):
    identity = service.pair_device()
    source = "127.0.0.67"
    for _ in range(3):
        for _ in range(4):
            refusal(service.door("home"), sill.Identity(), source=source)
        with service.session(identity, source=source) as session:
            assert session.window_list


def test_two_pending_connections_of_a_source(service):
    """A third silent connection of one source is closed at once; the source can still connect when they are gone."""
    identity = service.pair_device(source="127.0.0.51")
    silent = [socket.create_connection(service.door("home"), harness.FRIENDLY, ("127.0.0.68", 0)) for _ in range(3)]
    closed = harness.eventually(lambda: [one for one in silent if not harness.is_open(one)])
    # Not because its time was up: the other two are as old. A streaming process with a thread for each asks in any order.
    assert len(closed) == 1 and (service.mode == "delegated" or closed == silent[2:])
    with contextlib.suppress(ConnectionResetError):
        assert closed[0].recv(1) == b""
    with service.session(identity, source="127.0.0.51") as session:
        assert session.window_list
    for connection in silent:
        connection.close()

    def comes_in():
        """Once the service has seen that they are gone."""
        try:
            with service.session(identity, source="127.0.0.68") as session:
                return session.window_list
        except (sill.Closed, ConnectionError):
            return None

    harness.eventually(comes_in)


def test_remote_access_off_is_said_to_a_paired_key(service):
    identity = service.pair_device()
    service.window()  # holds the remote door open
    with service.session(identity, "remote", served=False) as session:
        session.follow(until=lambda s: s.end)
        assert session.goodbye == {"reason": "remoteOff"}
        assert session.order == [22]
    # An unpaired key hears nothing of the kind.
    end, heard = refusal(service.door("remote"), sill.Identity())
    assert isinstance(end, sill.Alert) and end.code == 42 and heard == 0


def test_switching_remote_access_off_ends_remote_sessions_alone(service):
    service.settings(remoteAccess=True)
    identity = service.pair_device()
    with service.session(identity, "remote") as away, service.session(identity) as home:
        service.settings(remoteAccess=False)
        away.follow(until=lambda s: s.end)
        assert away.goodbye == {"reason": "remoteOff"} and away.kinds[22] == 1
        home.follow(1)
        assert home.goodbye is None and home.end is None
    harness.eventually(lambda: "remote" not in service.doors)


def test_the_ninth_remote_session_is_busy(service):
    service.settings(remoteAccess=True)
    identity = service.pair_device()
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            session = stack.enter_context(service.session(identity, "remote"))
            assert session.window_list
        with service.session(identity, "remote", served=False) as ninth:
            ninth.follow(until=lambda s: s.end)
            assert ninth.goodbye == {"reason": "busy"} and ninth.order == [22]
        # The home door has no such limit.
        with service.session(identity) as home:
            assert home.window_list


def test_removing_ends_sessions_and_keeps_the_key_out(service):
    service.settings(remoteAccess=True)
    identity, other = service.pair_device(), service.pair_device(source="127.0.0.52")
    with service.session(identity) as home, service.session(identity, "remote") as away, service.session(other) as kept:
        answer = service.api("DELETE", f"/v1/devices/{identity.id}")
        assert answer.status == 200 and answer.json == {"closedSessions": 2}
        for door in ("home", "remote"):
            end, heard = refusal(service.door(door), identity)
            assert isinstance(end, sill.Alert) and end.code == 42 and heard == 0
        for session in (home, away):
            session.follow(until=lambda s: s.end)
            assert session.goodbye == {"reason": "removed"} and session.kinds[22] == 1
            assert session.order[-1] == 22
        kept.follow(0.5)
        assert kept.goodbye is None and kept.end is None
    assert list(service.devices()) == [other.id]
    service.restart()
    assert list(service.devices()) == [other.id]
    end, _ = refusal(service.door("home"), identity)
    assert isinstance(end, sill.Alert) and end.code == 42


def test_removing_ends_a_session_that_reads_nothing(start):
    backend = start.sample("--rate", "max", name="flood")
    service = start(backend=backend.address)
    identity = service.pair_device()
    with service.session(identity):
        # Unread, the stream fills every buffer between the two.
        time.sleep(1)
        assert service.api("DELETE", f"/v1/devices/{identity.id}").json == {"closedSessions": 1}
        harness.eventually(lambda: not service.sessions(), limit=8)
        harness.eventually(lambda: backend.find("ended"))


def test_open_house_and_back(service, sample):
    """Pairing not required: an unpaired key has a session at home, and only there, until it is required again."""
    service.settings(requirePairing=False, remoteAccess=True)
    stranger = sill.Identity()
    end, _ = refusal(service.door("remote"), stranger)
    assert isinstance(end, sill.Alert) and end.code == 42
    paired = service.pair_device()
    with service.session(stranger) as session, service.session(paired) as kept:
        assert session.window_list
        if service.mode == "relay":
            header = harness.eventually(
                lambda: [e for e in sample.find("connected") if e["header"]["session"]["paired"] is False])[0]["header"]
            assert header["session"]["device"] is None and header["session"]["name"] is None
        service.settings(requirePairing=True)
        session.follow(until=lambda s: s.end)
        assert session.goodbye == {"reason": "pairingRequired"}
        kept.follow(0.5)
        assert kept.goodbye is None
    end, _ = refusal(service.door("home"), stranger)
    assert isinstance(end, sill.Alert) and end.code == 42


GATE = [
    ({"appVersion": "2.0", "device": "iPad (iPad14,1)"}, True),
    ({"appVersion": "2.1"}, True),
    ({"appVersion": "v10"}, True),
    ({"appVersion": "1.9", "device": "iPad (iPad14,1)"}, False),
    ({"appVersion": "dev"}, False),
    ({}, False),
    (b"", False),
]


def test_the_device_gate(service):
    identity = service.pair_device()
    service.settings(minimumDeviceVersion="2")
    for number, (hello, admitted) in enumerate(GATE):
        with service.session(identity, hello=hello, source=f"127.0.3.{number + 1}", served=False) as session:
            session.follow(until=lambda s: s.end or s.window_list)
            assert (session.window_list is not None) == admitted, hello
            if not admitted:
                assert session.order == [22], hello
                goodbye = session.goodbye
                assert goodbye["reason"] == "update" and goodbye["minimumVersion"] == "2.0"
                assert goodbye["reconnect"] is False and 0 < len(goodbye["message"]) <= 200
    # Another kind first: refused at once; nothing at all: after 2 s.
    with service.session(identity, hello=False, source="127.0.3.20", served=False) as session:
        session.ping()
        session.follow(until=lambda s: s.end, pings=False)
        assert session.goodbye["reason"] == "update"
    before = time.monotonic()
    with service.session(identity, hello=False, source="127.0.3.21", served=False) as session:
        session.follow(until=lambda s: s.end, pings=False)
        assert session.goodbye["reason"] == "update" and time.monotonic() - before > 1.5
    # A device too old for sessions can still pair.
    service.pair_device(source="127.0.3.22")


def test_raising_the_minimum_ends_older_sessions(service):
    identity = service.pair_device()
    with service.session(identity, hello={"appVersion": "1.0"}) as old, service.session(
            identity, hello={"appVersion": "3.0"}) as new:
        service.settings(minimumDeviceVersion="2.5")
        old.follow(until=lambda s: s.end)
        assert old.goodbye["reason"] == "update" and old.goodbye["minimumVersion"] == "2.5"
        new.follow(0.5)
        assert new.goodbye is None


def test_a_backoff_outlives_a_restart_until_an_admin_clears_it(service):
    identity = service.pair_device()
    for _ in range(5):
        end, _ = refusal(service.door("home"), sill.Identity(), source="127.0.0.77")
        assert isinstance(end, sill.Alert) and end.code == 42
    for _ in range(2):
        end, heard = refusal(service.door("home"), identity, source="127.0.0.77")
        assert isinstance(end, sill.Closed) and heard == 0
        service.restart()
    assert service.api("DELETE", "/v1/lockouts?source=127.0.0.77").status == 200
    service.restart()
    with service.session(identity, source="127.0.0.77") as session:
        assert session.window_list


def test_restart_says_quit_and_keeps_everything(service):
    identity = service.pair_device()
    pin, host = service.pin, service.host_id
    service.window()
    with service.session(identity) as session:
        assert service.stop() == 0
        session.follow(until=lambda s: s.end)
        assert session.goodbye == {"reason": "quit"}
    service.start()
    assert (service.pin, service.host_id) == (pin, host)
    assert list(service.devices()) == [identity.id]
    # Windows never survive.
    answer = service.api("GET", "/v1/pairing/window")
    assert answer.status == 404 and answer.json["last"] is None
    with service.session(identity) as session:
        assert session.window_list


def test_disconnecting_one_session(service):
    identity = service.pair_device()
    with service.session(identity) as session:
        number = service.sessions()[0]["id"]
        answer = service.api("POST", f"/v1/sessions/{number}/close", {"message": "Lunch"})
        assert answer.status in (200, 204)
        session.follow(until=lambda s: s.end)
        assert session.goodbye == {"reason": "ended", "message": "Lunch", "reconnect": False}
    assert service.api("POST", f"/v1/sessions/{number}/close", {"message": "x"}).status == 404


def test_whois(service):
    identity = service.pair_device()
    with service.session(identity) as session:
        remote = f"127.0.0.1:{session.channel.local[1]}"
        answer = service.get(f"/v1/whois?remote={remote}")
        assert identity.id in str(answer)
    assert service.api("GET", "/v1/whois?remote=127.0.0.1:1").json["code"] == "noSuchConnection"


def test_another_remote_port_keeps_the_sessions(start, sample):
    service = start(backend=sample.address, remote_port=None)
    ports = [harness.free_port(), harness.free_port()]
    service.settings(remotePort=ports[0], remoteAccess=True)
    assert service.door("remote")[1] == ports[0]
    identity = service.pair_device()
    with service.session(identity, "remote") as session:
        service.settings(remotePort=ports[1])
        harness.eventually(lambda: service.doors.get("remote") == ports[1])
        session.follow(until=lambda s: s.infos and s.infos[-1]["remotePort"] == ports[1])
        assert session.goodbye is None and session.infos[-1]["remotePort"] == ports[1]
        with service.session(identity, "remote") as again:
            assert again.window_list


@pytest.mark.parametrize("stored", ["0", "off", "", "0.AAAA", "1"])
def test_only_a_signature_opens_the_house(service, stored):
    """Require pairing reads as on whatever else stands in the store (03 section 4.2)."""
    service.settings(requirePairing=False)
    service.stop()
    database = next(service.state.glob("*.db"))
    with sqlite3.connect(database) as connection:
        column = [row[1] for row in connection.execute("PRAGMA table_info(settings)")]
        key, value = column[0], column[1]
        kept = dict(connection.execute(f"SELECT {key}, {value} FROM settings"))
        name = [k for k in kept if "airing" in k][0]
        assert kept[name].startswith("0.") and len(kept[name]) > 60
        connection.execute(f"UPDATE settings SET {value} = ? WHERE {key} = ?", (stored, name))
    connection.close()
    service.start()
    assert service.get("/v1/settings")["requirePairing"] is True
    end, _ = refusal(service.door("home"), sill.Identity())
    assert isinstance(end, sill.Alert) and end.code == 42


def test_the_open_house_survives_a_restart(service):
    service.settings(requirePairing=False)
    service.restart()
    assert service.get("/v1/settings")["requirePairing"] is False
    with service.session(sill.Identity()) as session:
        assert session.window_list
