# SPDX-License-Identifier: Apache-2.0
"""No secret leaves by a side door: a whole day at log level debug, then everything it wrote is searched."""

import base64
import json

import harness
import sill_client as sill
from harness import judged


def forms(secret):
    """How a byte string might have been written by somebody careless."""
    return {
        secret.hex(), secret.hex().upper(), sill.b64u(secret), base64.b64encode(secret).decode().rstrip("="),
        str(list(secret)), ", ".join(map(str, secret)),
    }


def test_no_secret_in_logs_metrics_audit_events(service, sample):
    words = set()
    events = harness.UnixHTTP(str(service.runtime / "api.sock"))
    events.request("GET", "/v1/events")
    stream = events.getresponse()
    service.settings(remoteAccess=True)

    def note(window):
        link = sill.parse_link(window["url"])
        words.update(forms(link["secret"]))
        words.update({window["code"], window["groupedCode"], window["url"], f"s={sill.b64u(link['secret'])}"})
        words.update(forms(sill.code_key(window["code"], link["fingerprint"])))
        return link

    def keep(answer):
        words.add(answer["recognitionKey"])
        words.update(forms(sill.unb64u(answer["recognitionKey"])))
        words.add(answer["proof"])

    identity, second = sill.Identity(), sill.Identity()
    link = note(service.window())
    wrong = {**link, "secret": bytes(16)}
    assert judged(lambda: sill.pair_link(wrong, sill.Identity(), service.door("home"), source="127.0.0.2"))["triesLeft"]
    keep(judged(lambda: sill.pair_link(link, identity, service.door("home"))))
    window = service.window()
    note(window)
    keep(judged(lambda: sill.pair(service.door("remote"), second, code=window["code"], source="127.0.0.3")))
    note(service.window(remote=False))
    service.api("DELETE", "/v1/pairing/window")
    with service.session(identity) as session, service.session(second, "remote") as other:
        session.follow(1)
        other.follow(1)
        service.api("DELETE", f"/v1/devices/{second.id}")
        other.follow(until=lambda s: s.end)
    try:
        sill.Channel(service.door("home"), sill.Identity()).end_of_host()
    except (sill.Alert, sill.Closed):
        pass
    service.api("GET", "/v1/nothing", headers={"Authorization": "Bearer " + "A" * 43})
    for name in ("admin.token", "host.token"):
        words.add((service.state / name).read_text().strip())
    pem = (service.state / "host-key.pem").read_text()
    # All but the last line, which holds nothing but the end of the public key: /v1/identity shows that one.
    words.update([line for line in pem.splitlines() if not line.startswith("-")][:-1])
    from cryptography.hazmat.primitives import serialization
    scalar = serialization.load_pem_private_key(pem.encode(), None).private_numbers().private_value
    words.update(forms(scalar.to_bytes(32, "big")))

    said = [service.api("GET", path).body.decode() for path in (
        "/metrics", "/v1/audit?limit=1000", "/v1/status", "/v1/sessions", "/v1/quality", "/v1/devices", "/v1/settings",
        "/v1/identity", "/v1/pairing/window", "/healthz")]
    events.sock.settimeout(1)
    heard = b""
    try:
        while chunk := stream.read1(65536):
            heard += chunk
    except (OSError, TimeoutError):
        pass
    assert b"pairing.opened" in heard and b"device.paired" in heard
    said.append(heard.decode())
    said.append(json.dumps(sample.events))
    assert service.stop() == 0
    said.append(service.log())
    everything = "\n".join(said)
    assert identity.id in everything
    found = {word for word in words if len(word) >= 12 and word in everything}
    assert not found
