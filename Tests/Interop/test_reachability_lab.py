# SPDX-License-Identifier: Apache-2.0
"""The report in networks of every kind (05): routers of miniupnpd and played ones, carriers, VPNs, IPv6.

All scenarios that the chosen tests need come up in the background, once; nothing of this machine's own network is asked.
"""

import concurrent.futures
import json
import os
import queue
import shutil
import subprocess
import tempfile

import harness
import pytest
import reachability_table as table
import router_lab
from conftest import chosen
from router_lab import GATEWAY, LAN, igd

@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The state of a service that ran once and has both switches on. It never listened with them: no network was asked."""
    if not harness.have_programs():
        pytest.skip(f"no latchkeyd in {harness.BIN}")
    directory = tmp_path_factory.mktemp("saved")
    service = harness.Service(directory, "--home-port", "0", remote_port=None)
    service.start()
    service.stop()
    done = subprocess.run(
        [harness.BIN / "latchkey", "--state-dir", service.state, "set", "remote-access", "on", "internet-access", "on"],
        capture_output=True, text=True, timeout=harness.START_LIMIT)
    assert done.returncode == 0, done.stderr
    return service.state


# ---------------------------------------------------------------------------------------------------- the lab itself


@pytest.mark.parametrize("at", [name for name, seen in table.SCENARIOS.items() if seen.asked])
def test_the_lab_says_what_it_should(there, at):
    """Questions of this client's own: what the verdicts below rest on is really there."""
    natpmp, upnp = table.SCENARIOS[at].asked
    with there.inside("host"):
        try:
            answer = igd.natpmp_address(GATEWAY, 0.3 if natpmp is None else 3)
        except ConnectionRefusedError:
            answer = "closed"
        found = igd.search(limit=0.2 if upnp is None else 3, via=LAN)
        assert answer == natpmp
        if upnp is None:
            assert not found
            return
        who, headers = found[0]
        assert who == GATEWAY
        router = igd.Router(headers["location"])
        assert router.ask("GetExternalIPAddress")["NewExternalIPAddress"] == upnp
        entry = router.mapping(7455)
        target = table.SCENARIOS[at].mapping
        assert (entry and f'{entry["NewInternalClient"]}:{entry["NewInternalPort"]}') == (
            target[1] if isinstance(target, tuple) else None)


# ---------------------------------------------------------------------------------------------------- every verdict


def holds(expected, actual):
    """Whether a witness or a mapping is as the table says."""
    if expected is None:
        return True
    state, value = expected if isinstance(expected, tuple) else (expected, None)
    actual = actual or {}
    return actual.get("state") == state and value in (None, actual.get("address"), actual.get("target"))


def is_listed(actual, expected):
    if len(actual) != len(expected):
        return False
    for item, (host, kind, via) in zip(actual, expected):
        if (item["host"], item["kind"]) != (host, kind) or item["via"] not in ((via,) if isinstance(via, str) else via):
            return False
    return True


@pytest.mark.parametrize("at", table.SCENARIOS)
def test_the_report_of_each_scenario(there, saved, at):
    expected = table.SCENARIOS[at]
    report, status, text = router_lab.report(there, "host", saved)
    router = report["router"]
    assert report["version"] == 1 and report["port"] == 7455
    assert report["remoteAccess"] and report["internet"]
    assert router["code"] == expected.code, report
    assert "ifOn" not in router
    assert (report["verdict"], report["severity"]) == (expected.verdict, expected.severity), report
    assert status == table.EXIT[expected.severity]
    assert is_listed(report["addresses"], expected.addresses), report["addresses"]
    assert report.get("gateway") == expected.gateway
    assert holds(expected.natpmp, router.get("natpmp")), router
    assert holds(expected.igd, router.get("igd")), router
    assert holds(expected.mapping, router["mapping"]), router
    assert report["ipv6"]["code"] == expected.ipv6
    assert expected.notes <= set(report["notes"])
    assert report["notes"][0] == "serviceNotRunning"
    assert len(report["advice"]) > 20
    for word in table.ADVICE.get(at, []):
        assert word in report["advice"]
    # A carrier's address is masked wherever it stands.
    assert "100.72.14.3" not in text and "100.72.1.20" not in text and "100.72.0.1" not in text
    # Ages and durations are told of each fact.
    assert report["facts"] and all(fact["state"] and fact["source"] for fact in report["facts"])


@pytest.mark.parametrize("at", ["router"])
def test_the_text_says_the_same_in_ten_seconds_reading(there, saved, at):
    done = router_lab.latchkey(there, "host", "print-reachability", state=saved)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for word in ("192.168.1.20", table.PUBLIC, "Ethernet", "Router", "7455"):
        assert word in done.stdout
    assert len(lines) < 40 and max(map(len, lines)) < 200


@pytest.mark.parametrize("at", ["router"])
def test_any_user_with_no_service_and_no_settings(there, at):
    """Nothing can be read: then all is off, that is said, and what the router would allow is told all the same."""
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=/nonexistent"]
    with tempfile.TemporaryDirectory(prefix="latchkey-interop-") as open_to_all:
        # The checkout may be in a home that is closed to others.
        os.chmod(open_to_all, 0o755)
        program = shutil.copy(harness.BIN / "latchkey", open_to_all)
        if there.run("host", *nobody, program, "--version", check=False).returncode != 0:
            pytest.skip("the Swift runtime here may not be read by other users")
        done = there.run("host", *nobody, program, "print-reachability", "--json", "--check", check=False)
    report = json.loads(done.stdout)
    assert {"serviceNotRunning", "settingsUnreadable"} <= set(report["notes"]), report["notes"]
    assert not report["remoteAccess"] and not report["internet"] and report["port"] == 7455
    assert report["router"]["code"] == "off" and report["router"]["ifOn"] == "publicUnmapped"
    assert report["severity"] == "blocked" and done.returncode == table.EXIT["blocked"]


# ---------------------------------------------------------------------------------------------------- played routers


@pytest.fixture(scope="module")
def street(request, places, saved, tmp_path_factory):
    """The reports of all chosen behaviours, made eight at a time; what each asked its router, and who else was asked."""
    there = places["street"]
    free = queue.SimpleQueue()
    for number in range(1, 9):
        free.put((number, shutil.copytree(saved, tmp_path_factory.mktemp(f"house{number}") / "state")))

    def one(behaviour):
        expected, house = table.ODD[behaviour], free.get()
        number, state = house
        try:
            gateway = router_lab.Scripted(
                there, f"router{number}", expected.plays or behaviour, elsewhere=expected.second_at)
            second = router_lab.Scripted(
                there, f"router{number}", expected.second, lan=expected.second_at) if expected.second else None
            try:
                report, _, text = router_lab.report(there, f"host{number}", state)
            finally:
                gateway.stop()
                if second:
                    second.stop()
            return report, text, gateway.requests, second.requests if second else []
        finally:
            free.put(house)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        yield {name: pool.submit(one, name) for name in chosen(request.session.items, "behaviour")}


@pytest.mark.parametrize("behaviour", table.ODD)
def test_a_router_that_is_played(street, behaviour):
    expected = table.ODD[behaviour]
    report, text, asked, second_asked = street[behaviour].result(60)
    router = report["router"]
    assert router["code"] in expected.codes, report
    assert holds(expected.natpmp, router.get("natpmp")), router
    assert holds(expected.igd, router.get("igd")), router
    assert holds(expected.mapping, router["mapping"]), router
    assert expected.notes <= set(report["notes"]), report["notes"]
    assert expected.ipv6 in (None, report["ipv6"]["code"])
    listed = any(item["via"] == "Router" for item in report["addresses"])
    assert listed == router["code"].startswith("public")
    # Only questions: nothing is changed on a router by asking.
    actions = {item["soap"] for item in asked + second_asked if "soap" in item}
    assert not {a for a in actions if not a.startswith("Get")}, actions
    assert not [item for item in asked if item.get("natpmp") and item["version"] == 0], "NAT-PMP: the address alone"
    # Nobody is visited whom somebody else named.
    if expected.second == "trap":
        assert not [item for item in second_asked if "http" in item], second_asked
    # What came from outside holds nothing that a terminal would act on.
    assert not [c for c in text if ord(c) < 32 and c != "\n" or 0x202A <= ord(c) <= 0x202E or 0x2066 <= ord(c) <= 0x2069]
    # 05 B12: whatever a router does.
    assert report["tookMs"] < 7500


# ---------------------------------------------------------------------------------------------------- VPNs


@pytest.mark.parametrize("at", ["tailnet"])
@pytest.mark.parametrize("change, code, listed", [
    ({}, "vpnUp", 3),
    ({"BackendState": "Stopped"}, "vpnDown", 0),
    ({"BackendState": "NeedsLogin"}, "vpnNeedsLogin", 0),
    ({"prefs": {"ShieldsUp": True}}, "vpnShieldsUp", 0),
    ({"Self": {"Online": False}}, "vpnOffline", 3),
    ({"TUN": False}, "vpnUserspace", 3),
], ids=lambda value: value if isinstance(value, str) else "")
def test_what_tailscale_says_of_itself(there, saved, at, change, code, listed):
    """Its addresses can outlive the connection: what its daemon says decides."""
    file = router_lab.run_of(there, "host") / "tailscale" / "state.json"
    whole = file.read_text()
    state = json.loads(whole)
    for key, value in change.items():
        if key == "prefs":
            state["prefs"] |= value
        elif isinstance(value, dict):
            state["status"][key] |= value
        else:
            state["status"][key] = value
    try:
        file.write_text(json.dumps(state))
        report, _, _ = router_lab.report(there, "host", saved)
    finally:
        file.write_text(whole)
    line = next(vpn for vpn in report["vpns"] if vpn["product"] == "Tailscale")
    assert line["code"] == code
    assert len([item for item in report["addresses"] if item["kind"] == "vpn"]) == listed
    assert report["verdict"] == ("awayVPN" if listed else "awayBlocked")


@pytest.mark.parametrize("at", ["vpn-exit", "vpn-only-default"])
def test_a_vpn_does_not_change_which_router_is_asked(there, saved, at):
    """The VPN's other end answers as a router would; only the home router is heard."""
    report, _, _ = router_lab.report(there, "host", saved)
    assert report.get("gateway") == GATEWAY
    log = (router_lab.run_of(there, "host").parent / "vpn-router.log").read_text()
    assert "natpmp" not in log and "http" not in log and "search" not in log, log
