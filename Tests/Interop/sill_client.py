#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A device of the Sill protocol, generation 1, written from its specification alone.

The test oracle for Latchkey: it shares no code with it, only the documents (01 wire and identity, 02 pairing) and a TLS
library. As a library it opens channels, sends any bytes and sees every alert; as a program it pairs and connects and
prints JSON.

  sill_client.py --dir DIR pair LINK [--host H:P]
  sill_client.py --dir DIR pair --code CODE --host H:P
  sill_client.py --dir DIR connect HOSTID --host H:P [--seconds N]
"""

import argparse
import base64
import datetime
import functools
import hashlib
import hmac
import json
import os
import re
import select
import socket
import struct
import sys
import time
import urllib.parse

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from OpenSSL import SSL

HEADER = struct.Struct("!BdBI")
SESSION, PAIRING = b"sill/1", b"sill-pair/1"
SPKI_PREFIX = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
CAP_PAIRING, CAP_FRAME, CAP_OTHER = 4096, 33_554_432, 4_194_304
PATIENCE = 30.0  # seconds until what a host does at once counts as not done; longer than any busy machine takes
DAMM = (
    "0317598642", "7092154863", "4206871359", "1750983426", "6123045978", "3674209581", "5869720134", "8945362017",
    "9438617205", "2581436790",
)


# ---------------------------------------------------------------------------------------------------- byte strings


def b64u(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64u(text):
    """Strict and canonical (01 section 9.1); None when it is not."""
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text) or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data if b64u(data) == text else None


def fingerprint_of_point(point):
    return hashlib.sha256(SPKI_PREFIX + point).digest()


def sill_id(fingerprint):
    bits = int.from_bytes(fingerprint[:10], "big")
    return "".join(CROCKFORD[(bits >> (75 - 5 * i)) & 31] for i in range(16))


def damm_valid(digits):
    interim = 0
    for digit in digits:
        interim = int(DAMM[interim][int(digit)])
    return interim == 0


def damm_check_digit(eleven):
    interim = 0
    for digit in eleven:
        interim = int(DAMM[interim][int(digit)])
    return str(interim)


def wrong_code(code):
    """Another valid code: what a stranger would guess."""
    eleven = str((int(code[:11]) + 1) % 10**11).zfill(11)
    return eleven + damm_check_digit(eleven)


# ---------------------------------------------------------------------------------------------------------- identity


class Identity:
    """A key and its certificate. `kind`: p256 (the only one with a fingerprint), p384 or rsa for trying refusals."""

    def __init__(self, key=None, kind="p256"):
        makers = {
            "p256": lambda: ec.generate_private_key(ec.SECP256R1()),
            "p384": lambda: ec.generate_private_key(ec.SECP384R1()),
            "rsa": lambda: rsa.generate_private_key(65537, 2048),
        }
        self.key = key or makers[kind]()
        name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, os.urandom(8).hex())])
        self.certificate = (
            x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(self.key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(datetime.datetime(2020, 1, 1)).not_valid_after(datetime.datetime(2020, 1, 2))
            .sign(self.key, hashes.SHA256()))
        spki = self.key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        self.fingerprint = hashlib.sha256(spki).digest()
        self.id = sill_id(self.fingerprint)

    def pem(self):
        """Key and certificate, as TLS libraries load them from one file."""
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption(),
        ) + self.certificate.public_bytes(serialization.Encoding.PEM)

    @classmethod
    def load(cls, directory):
        os.makedirs(directory, mode=0o700, exist_ok=True)
        path = os.path.join(directory, "key.pem")
        if os.path.exists(path):
            with open(path, "rb") as file:
                return cls(serialization.load_pem_private_key(file.read(), None))
        new = cls()
        pem = new.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
        return new


# ----------------------------------------------------------------------------------------------------------- channel


class Alert(Exception):
    """The peer ended TLS with a fatal alert."""

    def __init__(self, code):
        super().__init__(f"alert {code}")
        self.code = code


class PinMismatch(Exception):
    """The host's key is not the one that was wanted."""


class Closed(Exception):
    """The stream is over. `clean`: with close_notify; `reset`: by a reset; `partial`: in the middle of a message."""

    def __init__(self, clean=False, reset=False, partial=False):
        super().__init__("closed" + (" cleanly" if clean else "") + (" by reset" if reset else ""))
        self.clean, self.reset, self.partial = clean, reset, partial


class TimedOut(Exception):
    """Nothing came in time."""


class Channel:
    """One TLS connection, byte by byte, with a deadline on every wait."""

    def __init__(
        self, address, identity, alpn=(SESSION,), pin=None, source=None, timeout=PATIENCE, sni=b"sill",
        versions=(SSL.TLS1_3_VERSION, SSL.TLS1_3_VERSION), handshake=True,
    ):
        self.timeout = timeout
        self.pin = pin
        self.peer_fingerprint = None
        self.alert = None
        self.pin_failed = False
        self.ended = None
        self.buffer = bytearray()
        self.bytes_received = 0
        self.heard_tls = False
        # Resolved here, so that a link-local source keeps its interface.
        bound = source and socket.getaddrinfo(source, 0, type=socket.SOCK_STREAM)[0][4]
        self.socket = socket.create_connection(address, timeout, bound)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.local = self.socket.getsockname()[:2]
        context = SSL.Context(SSL.TLS_CLIENT_METHOD)
        context.set_min_proto_version(versions[0])
        context.set_max_proto_version(versions[1])
        context.set_verify(SSL.VERIFY_PEER, self._verify)
        context.set_info_callback(self._info)
        if identity is not None:
            context.use_certificate(identity.certificate)
            context.use_privatekey(identity.key)
        if alpn:
            context.set_alpn_protos(list(alpn))
        self.tls = SSL.Connection(context, None)
        if sni:
            self.tls.set_tlsext_host_name(sni)
        self.tls.set_connect_state()
        self.socket.setblocking(False)
        if handshake:
            self.handshake()

    def _verify(self, _connection, certificate, _error, depth, _ok):
        # The chain is never looked at: only the leaf's key counts.
        if depth != 0:
            return True
        key = certificate.to_cryptography().public_key()
        if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name != "secp256r1":
            self.pin_failed = True
            return False
        point = key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
        self.peer_fingerprint = fingerprint_of_point(point)
        if self.pin is not None and not hmac.compare_digest(self.pin, self.peer_fingerprint):
            self.pin_failed = True
            return False
        return True

    def _info(self, _connection, where, code):
        if where & 0x4000 and where & 0x04 and code & 0xFF:
            self.alert = code & 0xFF

    # -- pumping

    def _flush(self, deadline):
        while True:
            try:
                data = self.tls.bio_read(65536)
            except SSL.WantReadError:
                return
            view = memoryview(data)
            while view:
                try:
                    view = view[self.socket.send(view):]
                except BlockingIOError:
                    # Read too, or two full sockets would wait for each other.
                    readable, writable, _ = select.select(
                        [self.socket], [self.socket], [], max(0, deadline - time.monotonic()))
                    if not readable and not writable:
                        raise TimedOut("the host takes nothing") from None
                    if readable and not writable:
                        self._pull()
                        self._decrypt()
                except (BrokenPipeError, ConnectionResetError):
                    # What the host said before it left comes first.
                    self._pull()
                    self._decrypt()
                    raise self._end(Closed(reset=True)) from None

    def socket_read(self, most):
        """Takes at most so many bytes off the socket, and leaves what they say to be read."""
        if self._pull(most):
            self._decrypt()

    def _pull(self, most=262144):
        """Reads what is there now; False at the end of the stream."""
        try:
            data = self.socket.recv(most)
        except BlockingIOError:
            return True
        except (ConnectionResetError, BrokenPipeError):
            self.ended = self.ended or Closed(reset=True)
            return False
        if not data:
            return False
        self.heard_tls = True
        self.tls.bio_write(data)
        return True

    def _decrypt(self):
        try:
            while True:
                data = self.tls.recv(65536)
                self.bytes_received += len(data)
                self.buffer += data
        except SSL.WantReadError:
            return
        except SSL.ZeroReturnError:
            self.ended = self.ended or Closed(clean=True)
        except SSL.Error as error:
            self.ended = self._error(error)

    def _error(self, error):
        if self.alert is not None:
            return Alert(self.alert)
        if self.pin_failed:
            return PinMismatch()
        return Closed() if "eof" in str(error).lower() else error

    def _end(self, fallback):
        self.ended = self.ended or fallback
        return self.ended

    def handshake(self):
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                self.tls.do_handshake()
                self._flush(deadline)
                return
            except SSL.WantReadError:
                self._flush(deadline)
            except SSL.Error as error:
                try:
                    self._flush(deadline)
                except (Closed, OSError):
                    pass
                raise self._end(self._error(error)) from None
            self._wait_readable(deadline)
            if not self._pull():
                raise self._end(Closed())

    def _wait_readable(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self.socket], [], [], left)[0]:
            raise TimedOut("nothing came in time")

    # -- plaintext

    def send(self, data, timeout=None):
        deadline = time.monotonic() + (timeout or self.timeout)
        view = memoryview(data)
        while view:
            try:
                view = view[self.tls.send(view[:16384]):]
            except SSL.WantReadError:
                self._wait_readable(deadline)
                self._pull()
            except SSL.Error as error:
                raise self._end(self._error(error)) from None
            self._flush(deadline)

    def fill(self, timeout=None):
        """Waits for more plaintext; raises what ended the stream."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        before = len(self.buffer)
        self._decrypt()
        while len(self.buffer) == before:
            if self.ended:
                raise self.ended
            self._wait_readable(deadline)
            if not self._pull():
                self._decrypt()
                if len(self.buffer) == before:
                    raise self._end(Closed())
                return
            self._decrypt()

    def read_message(self, timeout=None, cap=None):
        """The next whole message: (kind, timestamp, keyframe, payload). Raises what ended the stream otherwise."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        while len(self.buffer) < 14:
            self._fill_or_partial(deadline)
        kind, stamp, keyframe, length = HEADER.unpack(self.buffer[:14])
        limit = cap or (CAP_FRAME if kind == 1 else CAP_OTHER)
        if length > limit:
            raise ValueError(f"kind {kind} announces {length} bytes")
        while len(self.buffer) < 14 + length:
            self._fill_or_partial(deadline)
        payload = bytes(self.buffer[14:14 + length])
        del self.buffer[:14 + length]
        return kind, stamp, keyframe == 1, payload

    def _fill_or_partial(self, deadline):
        try:
            self.fill(max(0, deadline - time.monotonic()))
        except Closed as end:
            end.partial = bool(self.buffer)
            raise

    def end_of_host(self, timeout=None):
        """Reads and drops everything until the stream ends; returns what ended it."""
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        while True:
            try:
                self.fill(max(0, deadline - time.monotonic()))
                self.buffer.clear()
            except TimedOut:
                raise
            except Exception as end:  # noqa: BLE001 - the end is the answer
                return end

    def half_close(self):
        """Ends our side: close_notify and FIN; the host's side goes on."""
        try:
            self.tls.shutdown()
        except SSL.Error:
            pass
        self._flush(time.monotonic() + self.timeout)
        self.socket.shutdown(socket.SHUT_WR)

    def close(self):
        self.socket.close()

    @property
    def alpn(self):
        return self.tls.get_alpn_proto_negotiated()

    @property
    def version(self):
        return self.tls.get_protocol_version_name()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def message(kind, payload=b"", timestamp=None, keyframe=0):
    if isinstance(payload, (dict, list)):
        payload = json.dumps(payload).encode()
    return HEADER.pack(kind, time.time() if timestamp is None else timestamp, keyframe, len(payload)) + payload


# ----------------------------------------------------------------------------------------------------------- pairing


def parse_link(text):
    """02 section 3.3, for a link that a host made: any fault raises ValueError."""
    prefix = "sill://pair?"
    if not text.startswith(prefix):
        raise ValueError("not a link")
    items = [item.split("=", 1) for item in text[len(prefix):].split("&")]
    fields = {}
    for key, value in items:
        fields.setdefault(key, []).append(urllib.parse.unquote(value, errors="strict"))
    one = {}
    for key in "vmksp":
        if len(fields.get(key, [])) != 1 or not fields[key][0]:
            raise ValueError(f"field {key}")
        one[key] = fields[key][0]
    pin, secret = unb64u(one["k"]), unb64u(one["s"])
    if one["v"] != "1":
        raise ValueError("version")
    if pin is None or len(pin) != 32:
        raise ValueError("field k")
    if secret is None or len(secret) != 16:
        raise ValueError("field s")
    if one["m"] != sill_id(pin):
        raise ValueError("Mac ID mismatch")
    return {
        "hostID": one["m"], "fingerprint": pin, "secret": secret, "name": (fields.get("n") or ["Mac"])[0],
        "port": int(one["p"]), "addresses": fields.get("a", []),
    }


@functools.cache
def code_key(code, host_fingerprint):
    return hashlib.pbkdf2_hmac("sha256", code.encode(), b"sill-pair-v1" + host_fingerprint, 600_000, 32)


def device_proof(key, device, host):
    return hmac.digest(key, b"sill-pair-v1 device\x00" + device + host, "sha256")


def host_proof(key, device, host):
    return hmac.digest(key, b"sill-pair-v1 mac\x00" + host + device, "sha256")


class PairingFailed(Exception):
    """An ok that proves nothing."""


def is_tag_of(text, recognition_key):
    """Whether a record's `r` is of the host with this recognition key (02 section 11)."""
    tag = unb64u(text or "")
    if tag is None or len(tag) != 12:
        return False
    code = hmac.new(recognition_key, b"sill-tag-v1" + tag[:6], "sha256").digest()
    return hmac.compare_digest(code[:6], tag[6:])


def pair_request(method, proof, name="Interop", model=None, version=1, **extra):
    request = {"v": version, "method": method, "proof": proof, "name": name, **extra}
    if model:
        request["model"] = model
    return request


def exchange(channel, request, timeout=PATIENCE):
    """Sends a kind 19 (a dict, or raw payload bytes) and returns the decoded kind 20; the host must close then, and not
    only because the 10 s are over that such a connection has."""
    channel.send(message(19, request))
    kind, _, _, payload = channel.read_message(timeout, cap=CAP_PAIRING)
    if kind != 20 or not payload:
        raise PairingFailed(f"kind {kind} with {len(payload)} bytes in place of a kind 20")
    answer = json.loads(payload)
    end = channel.end_of_host(8)
    if channel.bytes_received != 14 + len(payload):
        raise PairingFailed("more than one message on a pairing connection")
    answer["_end"] = type(end).__name__
    return answer


def pair(address, identity, secret=None, code=None, pin=None, source=None, name="Interop", key=None, **options):
    """One pairing exchange; returns the answer, on ok verified as 02 section 5.5 wants, with `host` filled in.

    `key` gives an already derived code key, so that a test may send many proofs in little time.
    """
    with Channel(address, identity, alpn=(PAIRING,), pin=pin, source=source) as channel:
        host = channel.peer_fingerprint
        method = "qr" if secret is not None else "code"
        key = secret if secret is not None else key or code_key(code, host)
        proof = b64u(device_proof(key, identity.fingerprint, host))
        answer = exchange(channel, pair_request(options.pop("method", method), proof, name, **options))
    if answer.get("ok") is True:
        proof = unb64u(answer.get("proof") or "")
        if proof is None or not hmac.compare_digest(proof, host_proof(key, identity.fingerprint, host)):
            raise PairingFailed("proof")
        if answer.get("macID") != sill_id(host):
            raise PairingFailed("macID")
        recognition = unb64u(answer.get("recognitionKey") or "")
        if recognition is None or len(recognition) != 32:
            raise PairingFailed("recognitionKey")
        if not answer.get("name"):
            raise PairingFailed("name")
        answer["host"] = host
    return answer


def pair_link(link, identity, address=None, **options):
    parsed = parse_link(link) if isinstance(link, str) else link
    if address is None:
        if not parsed["addresses"]:
            raise ValueError("the link carries no address")
        address = split_address(parsed["addresses"][0], parsed["port"])
    return pair(address, identity, secret=parsed["secret"], pin=parsed["fingerprint"], **options)


def split_address(text, port=7455):
    match = re.fullmatch(r"\[([^]]+)\](?::(\d+))?|([^:]+)(?::(\d+))?", text)
    if not match:
        return text, port
    return match[1] or match[3], int(match[2] or match[4] or port)


# ----------------------------------------------------------------------------------------------------------- session


def verify_host_info(payload, host):
    """01 section 6.4 checks 1 to 5; the decoded info, or None."""
    try:
        outer = json.loads(payload)
        info, key, signature = (base64.b64decode(outer[name], validate=True) for name in ("info", "key", "sig"))
        public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), key)
        if len(key) != 65:
            return None
        public.verify(signature, info, ec.ECDSA(hashes.SHA256()))
        decoded = json.loads(info)
        fingerprint = fingerprint_of_point(key)
        if decoded["macID"] != sill_id(fingerprint) or fingerprint != host:
            return None
        for field, kind in (
            ("v", int), ("macID", str), ("name", str), ("issuedAt", (int, float)), ("remoteAccess", bool),
            ("remotePort", int), ("internet", bool), ("addresses", list),
        ):
            if not isinstance(decoded[field], kind):
                return None
        return decoded
    except (ValueError, KeyError, TypeError, InvalidSignature):
        return None


class Session:
    """A session: hello first, pings every quarter second while it is followed."""

    def __init__(self, address, identity, pin, source=None, hello=None, timeout=PATIENCE, served=True):
        self.channel = Channel(address, identity, alpn=(SESSION,), pin=pin, source=source, timeout=timeout)
        self.pin = pin
        self.kinds = {}
        self.order = []
        self.messages = 0
        self.goodbye = None
        self.infos = []
        self.bad_infos = 0
        self.round_trips = []
        self.end = None
        self.window_list = None
        if hello is not False:
            self.send(23, hello if hello is not None else {"appVersion": "1.0", "device": "Interop", "protocol": 1})
        if served:
            self.follow(timeout, until=lambda s: s.window_list is not None or s.goodbye is not None)

    def send(self, kind, payload=b""):
        self.channel.send(message(kind, payload))

    def ping(self):
        self.send(10, struct.pack("!d", time.monotonic()))

    def take(self, kind, payload):
        self.messages += 1
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if len(self.order) < 64:
            self.order.append(kind)
        if kind == 2 and self.window_list is None:
            decoded = json.loads(payload)
            if isinstance(decoded.get("macName"), str) and isinstance(decoded.get("windows"), list):
                self.window_list = decoded
        elif kind == 11 and len(payload) == 8:
            self.round_trips.append(time.monotonic() - struct.unpack("!d", payload)[0])
        elif kind == 18:
            info = verify_host_info(payload, self.channel.peer_fingerprint)
            if info is None:
                self.bad_infos += 1
            else:
                self.infos.append(info)
        elif kind == 22:
            self.goodbye = json.loads(payload)

    def follow(self, seconds=PATIENCE, until=lambda s: False, pings=True):
        """Reads for so long, or until it holds, or the host ends it (`end` then says how). Returns self."""
        deadline = time.monotonic() + seconds
        next_ping = 0.0
        while not until(self) and time.monotonic() < deadline:
            try:
                if pings and time.monotonic() >= next_ping:
                    next_ping = time.monotonic() + 0.25
                    self.ping()
                wait = min(deadline, next_ping if pings else deadline) - time.monotonic()
                kind, _, _, payload = self.channel.read_message(max(0.001, wait))
                self.take(kind, payload)
            except TimedOut:
                continue
            except Exception as end:  # noqa: BLE001 - the end is the answer
                self.end = end
                # A ping that met a closed socket may have hidden what still waits to be read.
                self._drain()
                return self
        return self

    def _drain(self):
        try:
            while True:
                kind, _, _, payload = self.channel.read_message(0.2)
                self.take(kind, payload)
        except Exception:  # noqa: BLE001
            return

    def close(self):
        self.channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# ----------------------------------------------------------------------------------------------------------- program


def saved(directory, update=None):
    path = os.path.join(directory, "hosts.json")
    hosts = {}
    if os.path.exists(path):
        with open(path) as file:
            hosts = json.load(file)
    if update:
        hosts.update(update)
        with open(path, "w") as file:
            json.dump(hosts, file)
    return hosts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--dir", required=True)
    commands = parser.add_subparsers(dest="command", required=True)
    pairing = commands.add_parser("pair")
    pairing.add_argument("link", nargs="?")
    pairing.add_argument("--code")
    pairing.add_argument("--host")
    pairing.add_argument("--name", default="Interop")
    connecting = commands.add_parser("connect")
    connecting.add_argument("host_id")
    connecting.add_argument("--host", required=True)
    connecting.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    identity = Identity.load(options.dir)
    address = split_address(options.host) if options.host else None
    try:
        if options.command == "pair":
            if options.code:
                code = re.sub("[ \u00a0-]", "", options.code)
                if not re.fullmatch("[0-9]{12}", code) or not damm_valid(code):
                    raise ValueError("the code is mistyped")
                answer = pair(address, identity, code=code, name=options.name)
            else:
                answer = pair_link(options.link, identity, address, name=options.name)
            if answer["ok"]:
                host = answer.pop("host")
                answer.pop("recognitionKey")
                saved(options.dir, {sill_id(host): b64u(host)})
            print(json.dumps(answer))
            return 0 if answer["ok"] else 1
        pin = unb64u(saved(options.dir)[options.host_id])
        with Session(address, identity, pin) as session:
            session.follow(options.seconds, until=lambda s: s.goodbye is not None)
            print(json.dumps({
                "kinds": session.kinds, "goodbye": session.goodbye, "infos": len(session.infos),
                "badInfos": session.bad_infos, "bytes": session.channel.bytes_received,
                "end": type(session.end).__name__ if session.end else None,
            }))
        return 0
    except (Alert, PinMismatch, Closed, TimedOut, PairingFailed, ValueError, OSError, KeyError) as error:
        print(json.dumps({"error": type(error).__name__, "detail": str(error)}))
        return 1


if __name__ == "__main__":
    sys.exit(main())
