# SPDX-License-Identifier: Apache-2.0
"""The oracle itself against the specification's own vectors: an oracle that is wrong proves nothing."""

import hashlib

import pytest
import sill_client as sill

HOST = hashlib.sha256(b"mac").digest()
DEVICE = hashlib.sha256(b"device").digest()
KEY_A_POINT = bytes.fromhex(
    "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
    "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299")
LINK = (
    "sill://pair?v=1&m=B9X7HK54M3T21PDW&k=Wnp4zKSg9CDZvGK7Zpw8J1njn3I9OuENy-DwgVoH7NQ&s=AAECAwQFBgcICQoLDA0ODw"
    "&n=Tom%20%26%20Jerry%E2%80%99s%20Mac%3Dmini%3F&p=7455&a=mac-mini.tail1234.ts.net&a=100.101.102.103"
    "&a=%5Bfd7a:115c:a1e0::1234%5D&a=192.168.1.20&a=home.example.net:17455")
INFO = {
    "info": "eyJ2IjoxLCJtYWNJRCI6IkI5WDdISzU0TTNUMjFQRFciLCJuYW1lIjoiTWFjIG1pbmkiLCJpc3N1ZWRBdCI6MTc5MDI2NTYwMC41LCJyZW1vd"
    "GVBY2Nlc3MiOnRydWUsInJlbW90ZVBvcnQiOjc0NTUsImludGVybmV0IjpmYWxzZSwiYWRkcmVzc2VzIjpbeyJob3N0IjoibWFjLW1pbmkudGFpbDEyMzQ"
    "udHMubmV0Iiwia2luZCI6InZwbiIsInZpYSI6IlRhaWxzY2FsZSJ9LHsiaG9zdCI6IjEwMC4xMDEuMTAyLjEwMyIsImtpbmQiOiJ2cG4iLCJ2aWEiOiJUY"
    "Wlsc2NhbGUifSx7Imhvc3QiOiJmZDdhOjExNWM6YTFlMDo6MTIzNCIsImtpbmQiOiJ2cG4iLCJ2aWEiOiJUYWlsc2NhbGUifSx7Imhvc3QiOiIxOTIuMTY"
    "4LjEuMjAiLCJraW5kIjoibGFuIiwidmlhIjoiV2nigJFGaSJ9XX0=",
    "key": "BGD+1LolWp0xyWHrdMY1bWjASbiSO2H6bOZpYi5g8p+2eQP+EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk=",
    "sig": "MEUCIQDZG64U47EPcOFYTBMxRt/cf4So4U797Mr+ZyjJ+orJAAIgevJU/6IWj3kqZYBiz7WeM44qHc9ANcJ7j9eK6NJ6T1w=",
}


def test_ids():
    assert sill.sill_id(bytes(32)) == "0" * 16
    assert sill.sill_id(b"\xff" * 32) == "Z" * 16
    assert sill.sill_id(sill.fingerprint_of_point(KEY_A_POINT)) == "B9X7HK54M3T21PDW"
    assert sill.sill_id(HOST) == "6J5657TWXV835GZ8"


@pytest.mark.parametrize("text, want", [
    ("AAAA", b"\0\0\0"), ("AQ", b"\1"), ("AR", None), ("ab+c", None), ("AAAA=", None), ("A", None), ("", b"")])
def test_base64url(text, want):
    assert sill.unb64u(text) == want


def test_damm():
    assert sill.damm_check_digit("48291355720") == "8"
    assert sill.damm_valid("482913557208")
    assert not sill.damm_valid("731022849915")
    assert sill.damm_valid(sill.wrong_code("482913557208"))


def test_proofs():
    key = sill.code_key("482913557208", HOST)
    assert key.hex() == "e9baf879a1cc4ac8b21554df480b6c1621671319107c91e7cb05d154f649d31d"
    assert sill.b64u(sill.device_proof(key, DEVICE, HOST)) == "dk7PZj4vHsAxj--1u9Vg7ehSn8a1tWc0RCG46YpFVO8"
    assert sill.b64u(sill.host_proof(key, DEVICE, HOST)) == "6BmGWC9XT8J8OY8phhq9bASgoSnoWpRxBeqZtvRrWmk"
    secret = b"\x22" * 16
    assert sill.b64u(sill.device_proof(secret, DEVICE, HOST)) == "AyZAJqNTU5nSKEaHx6RZOf0K5dOeygR_8JSrCV_gNOo"
    assert sill.b64u(sill.host_proof(secret, DEVICE, HOST)) == "XAX-uZPsq_Ax8fvI_sV7Ex0a-ROi19rI-FW-ykPh9TE"


def test_link():
    link = sill.parse_link(LINK)
    assert link["name"] == "Tom & Jerry\u2019s Mac=mini?"
    assert link["secret"] == bytes(range(16))
    assert link["addresses"][2:] == ["[fd7a:115c:a1e0::1234]", "192.168.1.20", "home.example.net:17455"]
    with pytest.raises(ValueError):
        sill.parse_link(LINK.replace("m=B9", "m=C9"))


def test_host_info():
    import json
    host = sill.fingerprint_of_point(KEY_A_POINT)
    info = sill.verify_host_info(json.dumps(INFO).encode(), host)
    assert info["issuedAt"] == 1790265600.5 and len(info["addresses"]) == 4
    assert sill.verify_host_info(json.dumps(INFO).encode(), HOST) is None
    assert sill.verify_host_info(json.dumps({**INFO, "sig": INFO["sig"][:-8] + "AAAAAAA="}).encode(), host) is None


def test_headers():
    assert sill.message(19, b"12345", 1790265600.5).hex().startswith("1341daad52402000000000000005")
    assert sill.message(1, b"", 0.0, 1)[:10].hex() == "01000000000000000001"


@pytest.mark.parametrize("text, want", [
    ("oaKjpKWmL4V47Ctm", True), ("oaKjpKWmL4V47Cty", False), ("oaKjpKWmL4V47C", False), ("oaKjpKWmL4V47Ctm=", False),
    ("", False), (None, False)])
def test_recognition_tag(text, want):
    assert sill.is_tag_of(text, b"\x11" * 32) is want
