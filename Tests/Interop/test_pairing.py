# SPDX-License-Identifier: Apache-2.0
"""Pairing as 02 has it, seen from a device: proofs, tries, spacing, doors."""

import concurrent.futures
import json
import os
import subprocess
import time
import zlib

import harness
import pytest
import sill_client as sill
from harness import judged

BOTH_WAYS = True


@pytest.mark.parametrize("door", ["home", "remote"])
@pytest.mark.parametrize("way", ["link", "code"])
def test_pairs_and_connects(service, door, way):
    identity = sill.Identity()
    service.settings(remoteAccess=True)
    window = service.window()
    link = sill.parse_link(window["url"])
    assert link["hostID"] == service.host_id
    assert window["groupedCode"].replace(" ", "") == window["code"] and sill.damm_valid(window["code"])
    if way == "link":
        answer = judged(lambda: sill.pair_link(link, identity, service.door(door), name=" My\tiPad\n", model="iPad14,1"))
    else:
        answer = judged(lambda: sill.pair(service.door(door), identity, code=window["code"], name=" My\tiPad\n",
                                          model="iPad14,1"))
    assert answer["ok"] is True and "method" not in answer and "reason" not in answer
    assert answer["name"] == "Desk" and answer["host"] == link["fingerprint"]
    device = service.devices()[identity.id]
    assert device["name"] == "My iPad" and device["model"] == "iPad14,1"
    assert device["pairedHow"] == ("qr" if way == "link" else "code")
    assert device["fingerprint"] == sill.b64u(identity.fingerprint)
    # Used up: the window takes nobody else.
    last = service.api("GET", "/v1/pairing/window")
    assert last.status == 404 and last.json["code"] == "noWindow"
    assert last.json["last"]["outcome"] == "used" and last.json["last"]["device"] == identity.id
    with service.session(identity, door) as session:
        streams = 1 if service.mode == "relay" else 13
        session.follow(until=lambda s: s.infos and 11 in s.kinds and streams in s.kinds)
        assert session.order[:3] == [2, 16, 18]
        assert session.bad_infos == 0
        info = session.infos[0]
        assert info["macID"] == service.host_id and info["name"] == "Desk" and info["remoteAccess"] is True
        assert info["remotePort"] == service.door("remote")[1]
        item = service.sessions()[0]
        assert item["device"]["id"] == identity.id and item["door"] == door and item["origin"] == "loopback"
        assert item["mode"] == service.mode
        assert harness.eventually(lambda: service.sessions()[0]["hello"])["appVersion"] == "1.0"
        assert item["remote"].endswith(str(session.channel.local[1]))


def test_a_home_only_window_is_nothing_to_the_remote_door(service):
    service.settings(remoteAccess=True)
    window = service.window(remote=False)
    link = sill.parse_link(window["url"])
    assert link["addresses"] == [] and window["addresses"] == []
    with pytest.raises(sill.Alert) as alert:
        sill.pair_link(link, sill.Identity(), service.door("remote"))
    assert alert.value.code == 42
    assert service.get("/v1/pairing/window")["triesLeft"] == 5
    assert judged(lambda: sill.pair_link(link, sill.Identity(), service.door("home")))["ok"]


def test_the_remote_door_listens_while_its_window_is_open(service):
    assert "remote" not in service.doors
    link = sill.parse_link(service.window()["url"])
    identity = sill.Identity()
    assert judged(lambda: sill.pair_link(link, identity, service.door("remote")))["ok"]
    # Pairing turned nothing on.
    assert service.get("/v1/settings")["remoteAccess"] is False
    harness.eventually(lambda: "remote" not in service.doors)


def test_wrong_codes(service):
    """Five wrong proofs: 4, 3, 2, 1, stopped; then even the right one hears closed."""
    window = service.window(remote=False)
    code, host = window["code"], service.pin
    wrong = sill.code_key(sill.wrong_code(code), host)
    seen = []
    for number in range(5):
        source = f"127.0.0.{10 + number}"
        answer = judged(lambda: sill.pair(service.door("home"), sill.Identity(), code=code, key=wrong, source=source))
        seen.append((answer["reason"], answer.get("triesLeft")))
        open_window = service.api("GET", "/v1/pairing/window")
        if number < 4:
            assert open_window.json["triesLeft"] == 4 - number
        else:
            assert open_window.status == 404 and open_window.json["last"]["outcome"] == "stopped"
    assert seen == [("code", 4), ("code", 3), ("code", 2), ("code", 1), ("stopped", None)]
    answer = sill.pair(service.door("home"), sill.Identity(), code=code, source="127.0.0.20")
    assert (answer["ok"], answer["reason"]) == (False, "closed")
    assert service.devices() == {}


def test_spacing_for_everybody_and_for_one_source(service):
    link = sill.parse_link(service.window(remote=False)["url"])
    wrong = {**link, "secret": os.urandom(16)}
    door = service.door("home")

    def attempt(source, what=wrong):
        return sill.pair_link(what, sill.Identity(), door, source=source)

    before = time.monotonic()
    assert attempt("127.0.0.2")["triesLeft"] == 4
    after = time.monotonic()
    busy = attempt("127.0.0.3")
    if time.monotonic() - before < 1:
        assert busy["reason"] == "busy"
        assert 1 - (time.monotonic() - before) - 0.1 <= busy["retryAfter"] <= 1
        assert round(busy["retryAfter"] * 10, 6) == int(round(busy["retryAfter"] * 10, 6))
    time.sleep(max(0, after + 1.01 - time.monotonic()))
    same = attempt("127.0.0.2")
    if time.monotonic() - before < 5:
        assert same["reason"] == "busy" and 0 < same["retryAfter"] <= 4
    # Nothing of that cost a try.
    assert service.get("/v1/pairing/window")["triesLeft"] == 4
    answer = judged(lambda: attempt("127.0.0.4", link))
    assert answer["ok"]


def test_parallel_connections_buy_no_tries(service):
    link = sill.parse_link(service.window(remote=False)["url"])
    door = service.door("home")

    def attempt(number):
        wrong = {**link, "secret": os.urandom(16)}
        return sill.pair_link(wrong, sill.Identity(), door, source=f"127.0.1.{number}")

    before = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(attempt, range(1, 17)))
    took = time.monotonic() - before
    judged_ones = [a for a in answers if a["reason"] == "code"]
    assert all(a["reason"] in ("code", "busy") for a in answers)
    # The first costs a try; another one only once its spacing is over (1 s, then 2 s more, then 4 s more).
    assert len(judged_ones) == 1 or took >= 1
    assert service.get("/v1/pairing/window")["triesLeft"] == 5 - len(judged_ones)


def test_parallel_right_proofs_pair_one_device(service):
    link = sill.parse_link(service.window(remote=False)["url"])
    door = service.door("home")
    identities = [sill.Identity() for _ in range(12)]

    def attempt(number):
        return sill.pair_link(link, identities[number], door, source=f"127.0.2.{number + 1}")

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(attempt, range(12)))
    winners = [i for i, a in enumerate(answers) if a["ok"]]
    assert len(winners) == 1
    assert all(a["reason"] == "closed" for a in answers if not a["ok"])
    assert list(service.devices()) == [identities[winners[0]].id]


REQUESTS = [
    # method, version, door -> reason; what costs a try is judged by the window
    ("qr", 2, "home", "closed", False),
    ("ask", 2, "home", "closed", False),
    ("cancel", 1, "home", "closed", False),
    ("ask", 1, "remote", "closed", False),
    ("cancel", 1, "remote", "closed", False),
    ("fax", 1, "home", "code", True),
    ("ASK", 1, "remote", "code", True),
]


@pytest.mark.parametrize("method, version, door, reason, costs", REQUESTS)
def test_routing(service, method, version, door, reason, costs):
    link = sill.parse_link(service.window()["url"])
    identity = sill.Identity()
    with sill.Channel(service.door(door), identity, alpn=(sill.PAIRING,), pin=link["fingerprint"]) as channel:
        proof = sill.b64u(sill.device_proof(link["secret"], identity.fingerprint, link["fingerprint"]))
        answer = sill.exchange(channel, sill.pair_request(method, proof, version=version))
    assert (answer["ok"], answer["reason"]) == (False, reason)
    assert service.get("/v1/pairing/window")["triesLeft"] == (4 if costs else 5)


BAD_MESSAGES = [
    ("an empty kind 19", sill.message(19)),
    ("one of 4,097 bytes", sill.HEADER.pack(19, 0, 0, 4097) + b"{"),
    ("another kind", sill.message(23, {})),
    ("no JSON", sill.message(19, b"{")),
    ("a missing field", sill.message(19, {"v": 1, "method": "qr", "name": "x"})),
    ("a number for a string", sill.message(19, {"v": 1, "method": "qr", "proof": 1, "name": "x"})),
    ("a fraction for an integer", sill.message(19, {"v": 1.5, "method": "qr", "proof": "", "name": "x"})),
]


@pytest.mark.parametrize("what, data", BAD_MESSAGES, ids=[row[0] for row in BAD_MESSAGES])
def test_a_bad_first_message_gets_no_answer_and_costs_no_try(service, what, data):
    service.window(remote=False)
    with sill.Channel(service.door("home"), sill.Identity(), alpn=(sill.PAIRING,)) as channel:
        channel.send(data)
        channel.end_of_host()
        assert channel.bytes_received == 0
    assert service.get("/v1/pairing/window")["triesLeft"] == 5


def test_a_proof_that_is_no_base64_or_too_short_is_wrong(service):
    service.window(remote=False)
    for number, proof in enumerate(["=", "AAAA", "x" * 43]):
        identity = sill.Identity()

        def attempt():
            with sill.Channel(service.door("home"), identity, alpn=(sill.PAIRING,), source=f"127.0.0.{number + 2}") as c:
                return sill.exchange(c, sill.pair_request("qr", proof))

        assert judged(attempt)["triesLeft"] == 4 - number


def test_a_relayed_proof_is_worthless(service):
    """A proof made for another host key, as a relay in the middle would have to forward it."""
    link = sill.parse_link(service.window(remote=False)["url"])
    identity, relay = sill.Identity(), sill.Identity()
    with sill.Channel(service.door("home"), identity, alpn=(sill.PAIRING,)) as channel:
        proof = sill.b64u(sill.device_proof(link["secret"], identity.fingerprint, relay.fingerprint))
        assert sill.exchange(channel, sill.pair_request("qr", proof))["reason"] == "code"


def test_without_a_window(service):
    identity = sill.Identity()
    with sill.Channel(service.door("home"), identity, alpn=(sill.PAIRING,)) as channel:
        answer = sill.exchange(channel, sill.pair_request("qr", sill.b64u(bytes(32))))
    assert answer["reason"] == "closed"
    service.settings(remoteAccess=True)
    with pytest.raises(sill.Alert) as alert:
        with sill.Channel(service.door("remote"), identity, alpn=(sill.PAIRING,)) as channel:
            channel.read_message()
    assert alert.value.code == 42


def test_cancelled_and_replaced(service):
    first = sill.parse_link(service.window(remote=False)["url"])
    again = service.api("POST", "/v1/pairing/window", {"remote": False})
    assert again.status == 409 and again.json["code"] == "windowOpen"
    second = sill.parse_link(service.window(remote=False)["url"])
    assert second["secret"] != first["secret"]
    assert service.api("DELETE", "/v1/pairing/window").json == {"closed": True}
    assert service.api("DELETE", "/v1/pairing/window").json == {"closed": False}
    for link in (first, second):
        assert sill.pair_link(link, sill.Identity(), service.door("home"))["reason"] == "closed"


def test_pairing_again_replaces_the_record(service):
    identity = service.pair_device(name="Old name")
    service.pair_device(identity, name="New name", source="127.0.0.9")
    devices = service.devices()
    assert list(devices) == [identity.id] and devices[identity.id]["name"] == "New name"


def png(rows):
    """A module matrix (rows of 0 and 1) as a picture, four dots a module."""
    scale, quiet = 4, 4
    width = (len(rows) + 2 * quiet) * scale
    lines = []
    blank = b"\0" + b"\xff" * width
    for row in rows:
        bits = "0" * quiet + row + "0" * quiet
        line = b"\0" + b"".join((b"\0" if bit == "1" else b"\xff") * scale for bit in bits)
        lines += [line] * scale
    data = b"".join([blank] * (quiet * scale) + lines + [blank] * (quiet * scale))

    def chunk(name, body):
        return len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big")

    head = width.to_bytes(4, "big") * 2 + b"\x08\0\0\0\0"
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def scan(path):
    done = subprocess.run(["zbarimg", "-q", "--raw", str(path)], capture_output=True, text=True)
    return done.stdout.rstrip("\n")


def half_blocks(text):
    """The matrix that qr.txt draws, its light modules being the blocks."""
    rows = []
    for line in text.splitlines():
        rows.append("".join("0" if c in "█▀" else "1" for c in line))
        rows.append("".join("0" if c in "█▄" else "1" for c in line))
    return rows


@pytest.mark.relay_only
def test_scanners_read_the_link(service, scratch):
    """An unrelated scanner reads exactly the link, from each of the three pictures."""
    if subprocess.run(["which", "zbarimg"], capture_output=True).returncode != 0:
        pytest.skip("no zbarimg")
    url = service.window()["url"]
    picture = f"{scratch}/code.png"
    matrix = service.get("/v1/pairing/window/qr.json")
    assert matrix["level"] == "M" and matrix["quiet"] == 4 and len(matrix["rows"]) == matrix["size"]
    with open(picture, "wb") as file:
        file.write(png(matrix["rows"]))
    assert scan(picture) == url
    text = service.api("GET", "/v1/pairing/window/qr.txt").body.decode()
    drawn = half_blocks(text)
    with open(picture, "wb") as file:
        file.write(png(square(drawn)))
    assert scan(picture) == url
    svg = service.api("GET", "/v1/pairing/window/qr.svg")
    assert b"viewBox" in svg.body
    if subprocess.run(["which", "rsvg-convert"], capture_output=True).returncode == 0:
        subprocess.run(["rsvg-convert", "-w", "600", "-o", picture], input=svg.body, check=True)
        assert scan(picture) == url


def square(rows):
    """Pads a drawn matrix to a square with light modules."""
    side = max(len(rows), max(len(row) for row in rows))
    return [(rows[i] if i < len(rows) else "").ljust(side, "0") for i in range(side)]


@pytest.mark.relay_only
def test_window_shapes(service):
    window = service.window(lifetime=30)
    assert window["openedBy"] == "admin" and window["triesLeft"] == 5 and window["remote"] is True
    assert json.dumps(service.get("/v1/status")).find(window["code"]) < 0
    assert service.api("POST", "/v1/pairing/window?replace=true", {"lifetime": 29}).status == 400


def test_a_message_in_crumbs_and_what_follows_it(service):
    """Every byte in a record of its own; what comes after the one message is never read."""
    link = sill.parse_link(service.window(remote=False)["url"])
    identity = sill.Identity()
    with sill.Channel(service.door("home"), identity, alpn=(sill.PAIRING,), pin=link["fingerprint"]) as channel:
        proof = sill.b64u(sill.device_proof(link["secret"], identity.fingerprint, link["fingerprint"]))
        data = sill.message(19, sill.pair_request("qr", proof, name="Crumbs"))
        for index in range(len(data)):
            channel.send(data[index:index + 1])
        kind, _, _, payload = channel.read_message()
        assert kind == 20 and json.loads(payload)["ok"] is True
    assert service.devices()[identity.id]["name"] == "Crumbs"

    second = sill.parse_link(service.window(remote=False)["url"])
    wrong = sill.message(19, sill.pair_request("qr", sill.b64u(bytes(32))))
    with sill.Channel(service.door("home"), sill.Identity(), alpn=(sill.PAIRING,), source="127.0.0.2") as channel:
        channel.send(wrong * 3)
        kind, _, _, payload = channel.read_message()
        assert kind == 20 and json.loads(payload)["triesLeft"] == 4
        before = channel.bytes_received
        channel.end_of_host()
        assert channel.bytes_received == before
    assert service.get("/v1/pairing/window")["triesLeft"] == 4
    assert second["secret"] != link["secret"]


def test_a_device_that_goes_away_costs_nothing(service):
    link = sill.parse_link(service.window(remote=False)["url"])
    for _ in range(8):
        channel = sill.Channel(service.door("home"), sill.Identity(), alpn=(sill.PAIRING,), source="127.0.0.2")
        channel.send(sill.message(19, {"v": 1})[:9])
        channel.close()
        # Not even two at a time: the next one waits for nothing.
        harness.eventually(lambda: not pending(service))
    assert judged(lambda: sill.pair_link(link, sill.Identity(), service.door("home"), source="127.0.0.2"))["ok"]


def pending(service):
    """Connections the door has accepted and not yet closed, as the kernel counts them."""
    port = service.door("home")[1]
    lines = subprocess.run(["ss", "-Htn", "state", "established", f"sport = :{port}"], capture_output=True, text=True)
    return lines.stdout.strip()


def test_names_of_every_kind(service):
    """The label rule: bidirectional controls, white space, far too long, nothing at all."""
    names = [("iPad\u202edáPi", "iPaddáPi"), ("  iPad \u00a0\u3000 mini ", "iPad mini"), ("x" * 500, "x" * 64),
             ("\u200b\u0007", None), ("Tom & Jerry’s <b>", "Tom & Jerry’s <b>")]
    for number, (given, want) in enumerate(names):
        identity = service.pair_device(name=given, source=f"127.0.7.{number + 1}")
        shown = service.devices()[identity.id]["name"]
        if want is not None:
            assert shown == want
