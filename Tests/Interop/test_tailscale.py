# SPDX-License-Identifier: Apache-2.0
"""Tailscale in user-space mode (spec 03 section 3.4): its peers come from the loopback, and are no device at home."""

import os
import subprocess
import time

import harness
import local_api
import pytest
import sill_client as sill

PEER, OWN = "127.0.0.7", "127.0.0.8"

# Its own /run, with nothing in it but the stand-in's socket: the path is the machine's, and no switch redirects it.
OWN_RUN = 'mount -t tmpfs none /run && mkdir /run/tailscale /run/dbus && mount --bind "$0" /run/tailscale && exec "$@"'


class TailscaleService(harness.Service):
    """A service in a mount namespace where tailscaled's directory is the stand-in's."""

    tailscale = None

    def command(self, *more):
        line = ["unshare", "-m", "--propagation", "private", "sh", "-c", OWN_RUN, str(self.tailscale)]
        return line + super().command(*more)


@pytest.fixture
def daemon(scratch):
    daemon = local_api.LocalAPI(f"{scratch}/tailscale", tun=False).start()
    yield daemon
    daemon.stop()


@pytest.fixture
def service(scratch, sample, daemon):
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("a mount namespace needs root")
    if not harness.have_programs():
        pytest.skip(f"no latchkeyd in {harness.BIN}")
    service = TailscaleService(f"{scratch}/one", backend=sample.address)
    service.tailscale = daemon.directory
    try:
        yield service.start()
    finally:
        service.stop()


def turned_away(service, door, source):
    """Whether the door closes without a byte."""
    try:
        with sill.Channel(service.door(door), sill.Identity(), source=source) as channel:
            return not channel.heard_tls
    except (sill.Closed, sill.Alert, OSError) as error:
        return not isinstance(error, sill.Alert)


def patiently(act):
    """The daemon has 250 ms by the clock, which a busy machine may use up: then it is tried again."""
    for _ in range(4):
        try:
            return act()
        except (AssertionError, sill.Closed, OSError):
            # What the service guessed meanwhile is kept for a second.
            time.sleep(1.1)
    return act()


def session_at_home(service, identity):
    def once():
        with service.session(identity, source=OWN):
            [item] = service.sessions()
        harness.eventually(lambda: not service.sessions())
        return item

    return patiently(once)


def test_a_peer_is_away_and_this_host_is_not(service, daemon):
    identity = patiently(lambda: service.pair_device(source=OWN))
    daemon.peers.add(PEER)
    service.settings(remoteAccess=True)
    with service.session(identity, door="remote", source=PEER):
        [item] = service.sessions()
        assert (item["origin"], item["route"], item["away"]) == ("vpn", "through your VPN", True)
    harness.eventually(lambda: not service.sessions())
    item = session_at_home(service, identity)
    assert (item["origin"], item["route"], item["away"]) == ("loopback", "on this host", False)
    # At home it is nobody.
    assert turned_away(service, "home", PEER)
    assert daemon.asked.count("whois") >= 3
    # The mode is kept for a while, not asked for each of them.
    assert daemon.asked.count("status") < daemon.asked.count("whois")


def test_no_answer_makes_it_a_peer(service, daemon):
    identity = patiently(lambda: service.pair_device(source=OWN))
    daemon.hangs.add("whois")
    assert turned_away(service, "home", OWN)
    service.settings(remoteAccess=True)
    with service.session(identity, door="remote", source=OWN):
        assert service.sessions()[0]["origin"] == "vpn"


def test_with_a_link_of_its_own_nobody_is_looked_up(service, daemon):
    daemon.status = local_api.status(tun=True)
    daemon.peers.add(OWN)
    identity = patiently(lambda: service.pair_device(source=OWN))
    daemon.asked.clear()
    assert session_at_home(service, identity)["origin"] == "loopback"
    # Unless its mode could not be read in time.
    assert "whois" not in daemon.asked or daemon.asked.count("status") > 1


def test_without_a_daemon_the_loopback_is_this_host(service, daemon):
    daemon.stop()
    identity = patiently(lambda: service.pair_device(source=OWN))
    assert session_at_home(service, identity)["origin"] == "loopback"
    daemon.path.unlink()
    assert session_at_home(service, identity)["origin"] == "loopback"


def admission(service, door, source, **more):
    answer = service.api("POST", "/v1/admissions", {"door": door, "remote": f"{source}:50122", **more})
    assert answer.status == 200, answer
    return answer.json


def test_a_streaming_process_is_told_the_same(service, daemon):
    daemon.peers.add(PEER)
    service.settings(remoteAccess=True)
    refused = admission(service, "home", PEER)
    assert (refused["decision"], refused["reason"], refused["origin"]) == ("refuse", "vpn", "vpn")

    def own():
        said = admission(service, "home", OWN)
        assert (said["decision"], said["origin"]) == ("continue", "loopback")

    patiently(own)
    away = admission(service, "remote", PEER)
    assert (away["decision"], away["origin"], away["away"]) == ("continue", "vpn", True)
    # Whoever is not of the loopback is not looked up.
    before = len(daemon.asked)
    assert admission(service, "home", "192.168.1.77")["origin"] == "lan"
    assert len(daemon.asked) == before
    # And one that asks nothing before it registers is told no later.
    identity = sill.Identity()
    body = {"door": "home", "remote": f"{PEER}:50123", "fingerprint": sill.b64u(identity.fingerprint)}
    answer = service.api("POST", "/v1/sessions", body)
    assert answer.status == 200 and answer.json["reason"] == "vpn", answer
