# SPDX-License-Identifier: Apache-2.0
"""What only time shows: deadlines, expiry. One journey that waits for everything at once."""

import socket
import threading
import time

import pytest
import sill_client as sill
from harness import judged

pytestmark = pytest.mark.waits


def test_deadlines_and_expiry(service):
    link = sill.parse_link(service.window(remote=False, lifetime=30)["url"])
    opened = time.monotonic()
    door = service.door("home")
    took = {}

    def silent():
        """A connection that never says a word."""
        began = time.monotonic()
        with socket.create_connection(door, 25, ("127.0.6.1", 0)) as connection:
            try:
                connection.recv(1)
            except ConnectionResetError:
                pass
        took["silent"] = time.monotonic() - began

    def slow():
        """A kind 19 that comes a byte a second: the clock started at accept."""
        began = time.monotonic()
        with sill.Channel(door, sill.Identity(), alpn=(sill.PAIRING,), source="127.0.6.2", timeout=25) as channel:
            data = sill.message(19, sill.pair_request("qr", sill.b64u(bytes(32))))
            try:
                for index in range(25):
                    channel.send(data[index:index + 1])
                    channel.fill(1)
            except sill.TimedOut:
                pass
            except (sill.Closed, OSError):
                took["slow"] = time.monotonic() - began
                return
            while "slow" not in took:
                try:
                    channel.send(data[:1])
                    channel.fill(1)
                except sill.TimedOut:
                    continue
                except Exception:  # noqa: BLE001 - the end is the answer
                    took["slow"] = time.monotonic() - began
            took["bytes"] = channel.bytes_received

    threads = [threading.Thread(target=silent), threading.Thread(target=slow)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert 9 < took["silent"] < 15 and 9 < took["slow"] < 15
    assert took.get("bytes", 0) == 0
    assert service.get("/v1/pairing/window")["triesLeft"] == 5
    time.sleep(max(0, opened + 30.2 - time.monotonic()))
    for source in ("127.0.6.3", "127.0.6.4"):
        answer = sill.pair_link(link, sill.Identity(), door, source=source)
        assert (answer["ok"], answer["reason"]) == (False, "expired")
    answer = service.api("GET", "/v1/pairing/window")
    assert answer.status == 404 and answer.json["last"]["outcome"] == "expired"
    assert service.devices() == {}
    # Until a new one opens.
    fresh = sill.parse_link(service.window(remote=False)["url"])
    assert judged(lambda: sill.pair_link(link, sill.Identity(), door, source="127.0.6.5"))["reason"] == "code"
    assert judged(lambda: sill.pair_link(fresh, sill.Identity(), door, source="127.0.6.6"))["ok"]


def test_a_silent_session_is_dropped_at_the_remote_door(service):
    """Nothing heard for 8 s; the home door has no such rule."""
    service.settings(remoteAccess=True)
    identity = service.pair_device()
    with service.session(identity, "remote") as away, service.session(identity) as home:
        began = time.monotonic()
        away.follow(14, until=lambda s: s.end, pings=False)
        assert away.end is not None and 7 < time.monotonic() - began < 12
        home.follow(1)
        assert home.end is None
