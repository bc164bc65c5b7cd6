# SPDX-License-Identifier: Apache-2.0
"""The doors in a network of their own: who may come by which interface, and what they are told (03 sections 3 to 7)."""

import pytest
import sill_client as sill

# 03 section 3.5 on real links: namespace, source, the host's address it dials, origin.
WORKED = [
    ("host", "127.0.0.1", "127.0.0.1", "loopback"),
    ("host", "::1", "::1", "loopback"),
    ("nearby", "fe80::23%awdl0", "fe80::20%awdl0", "direct"),
    ("nearby", "192.168.49.23", "192.168.49.1", "direct"),
    ("tailnet", "100.84.3.2", "100.88.123.45", "vpn"),
    ("tailnet", "fd7a:115c:a1e0::77", "fd7a:115c:a1e0::abcd:ef01", "vpn"),
    ("home", "192.168.1.23", "192.168.1.20", "lan"),
    ("office", "10.1.2.3", "192.168.1.20", "lan"),
    ("office", "172.31.255.1", "192.168.1.20", "lan"),
    ("internet", "172.15.0.1", "192.168.1.20", "internet"),
    ("internet", "203.0.113.9", "192.168.1.20", "internet"),
    ("internet", "198.51.100.4", "192.168.1.20", "internet"),
    ("internet", "100.72.1.1", "192.168.1.20", "internet"),
    ("annex", "203.0.113.50", "203.0.113.20", "lan"),
    ("annex", "100.72.1.1", "100.72.0.20", "lan"),
    ("home", "fd4e:4f6b:37dc:4a0f::99", "fd4e:4f6b:37dc:4a0f::20", "lan"),
    ("home", "2001:db8:1::99", "2001:db8:1::20", "lan"),
    ("internet", "2001:db8:2::77", "2001:db8:1::20", "internet"),
    ("cable", "169.254.1.2", "169.254.172.122", "lan"),
    ("cable", "fe80::23%usb0", "fe80::20%usb0", "lan"),
    ("vpn", "10.99.0.7", "10.99.0.2", "vpn"),
    ("container", "172.17.0.2", "172.17.0.1", "lan"),
    ("carrier", "10.170.1.1", "10.170.1.2", "internet"),
    # The kernel takes a packet for any of its addresses on any interface: where it came in is what counts.
    ("vpn", "10.99.0.7", "192.168.1.20", "vpn"),
    # The same peer address behind three interfaces.
    ("vpn", "192.168.1.23", "10.99.0.2", "vpn"),
    ("annex", "192.168.1.23", "192.168.77.20", "lan"),
]

ADMITTED = {"home": {"loopback", "direct", "lan"}, "remote": {"loopback", "lan", "vpn"}}


@pytest.mark.parametrize("namespace, source, local, origin", WORKED)
def test_worked_origins(lab, lab_service, paired, namespace, source, local, origin):
    lab_service.settings(remoteAccess=True, internetAccess=False, requirePairing=True)
    lab_service.api("DELETE", "/v1/lockouts")
    for door, admitted in ADMITTED.items():
        with lab.inside(namespace):
            try:
                session = sill.Session((local, lab_service.port(door)), paired, lab_service.pin, source=source)
            except sill.Closed:
                assert origin not in admitted, (door, origin)
                continue
        with session:
            assert origin in admitted, (door, origin)
            item = next(
                s for s in lab_service.sessions() if s["door"] == door and s["remote"].endswith(
                    f":{session.channel.local[1]}"))
            assert item["origin"] == origin


@pytest.fixture(scope="module")
def paired(lab_service):
    return lab_service.pair_device()
