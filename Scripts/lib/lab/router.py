#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A home router that says what no real daemon says on request: SSDP, the description, SOAP, NAT-PMP and PCP.

router.py BEHAVIOUR [--lan ADDRESS] [--elsewhere ADDRESS]   (router.py --list names the behaviours)

--lan is its address (192.168.1.1 unless given); --elsewhere the other machine that some behaviours point to. It prints
"ready", then one JSON object a line for everything it was asked. SIGUSR1: it has another internet address from now on
and says so to its network (RFC 6886 section 3.2.1).
"""

import argparse
import asyncio
import dataclasses
import json
import re
import signal
import socket
import struct
import time
from xml.sax.saxutils import escape

HTTP_PORT, SSDP_PORT, NATPMP_PORT = 5000, 1900, 5351
IP_PKTINFO = 8
IGD, WANIP, WANPPP = (
    "urn:schemas-upnp-org:device:InternetGatewayDevice:1", "urn:schemas-upnp-org:service:WANIPConnection:1",
    "urn:schemas-upnp-org:service:WANPPPConnection:1")
CIF, FIREWALL = "urn:schemas-upnp-org:service:WANCommonInterfaceConfig:1", "urn:schemas-upnp-org:service:WANIPv6FirewallControl:1"
PUBLIC, OTHER_PUBLIC = "11.22.33.44", "55.66.77.88"
SOAP_ERRORS = {
    402: "Invalid Args", 501: "Action Failed", 606: "Action not authorized", 714: "NoSuchEntryInArray",
    703: "InboundPinholeNotAllowed",
    704: "NoSuchEntry", 713: "SpecifiedArrayIndexInvalid", 718: "ConflictInMappingEntry", 724: "SamePortValuesRequired",
    725: "OnlyPermanentLeasesSupported", 728: "NoPortMapsAvailable", 729: "ConflictWithOtherMechanisms",
}


@dataclasses.dataclass(frozen=True)
class Behaviour:
    """What one router does. Everything a good one does is the default."""

    # UPnP: the search's answers. Each target it answers, as (target, location), {lan} and {elsewhere} filled in.
    upnp: bool = True
    web: bool = True  # without it nobody finds a description that he remembers either
    answers: tuple = ((IGD, "http://{lan}:5000/root.xml"), (WANIP, "http://{lan}:5000/root.xml"))
    raw_answers: tuple = ()  # sent as they are, to every search
    answers_from: str = None  # another source address of the answers
    # The description: how its text, its body and its headers are made wrong.
    services: tuple = (CIF, WANIP)
    second: str = None  # another WAN connection, which is the one that is connected
    control: str = "/ctl/{name}"
    name: str = "Lab router"
    edit: object = None  # text → text
    body: object = None  # (text) → async iterator of bytes, the whole HTTP answer
    # SOAP
    soap_body: object = None
    status: str = "Connected"
    connection: str = "IP_Routed"
    wan: str = PUBLIC
    errors: dict = dataclasses.field(default_factory=dict)  # action → code
    unanswered: tuple = ()  # actions that it carries out and says nothing about
    permanent_only: bool = False
    mapped: tuple = ()  # (outside, client, port, enabled, text, lease)
    firewall: tuple = None  # (on, pinholes allowed)
    # NAT-PMP: "answers", "silent" (the port is open), "closed", "garbage", or a result code.
    natpmp: object = "answers"
    natpmp_wan: str = None  # the same as `wan` unless told
    natpmp_port: int = 0  # added to the outside port that is asked for
    pcp: bool = False
    other_wan: str = OTHER_PUBLIC


# ---------------------------------------------------------------------------------------------- whole HTTP answers


def head(length, kind="text/xml", more=""):
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{length}{more}Connection: close\r\n\r\n".encode()


async def sized(text):
    yield head(f"Content-Length: {len(text.encode())}\r\n") + text.encode()


async def endless(text):
    yield head("")
    while True:
        yield text.encode() + b" " * 4096


async def trickle(text):
    yield head(f"Content-Length: {len(text.encode())}\r\n")
    for byte in text.encode():
        yield bytes([byte])
        await asyncio.sleep(1)


async def mute(_):
    await asyncio.sleep(3600)
    yield b""


async def chunked(text):
    yield head("Transfer-Encoding: chunked\r\n")
    data = text.encode()
    for at in range(0, len(data), 100):
        piece = data[at:at + 100]
        yield b"%x;extension=1\r\n%s\r\n" % (len(piece), piece)
    yield b"0\r\nX-Trailer: 1\r\n\r\n"


async def redirected(_):
    yield b"HTTP/1.1 302 Found\r\nLocation: http://{elsewhere}:5000/root.xml\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


async def garbage(_):
    yield bytes(range(256)) * 8


async def cut(text):
    yield head("Content-Length: 60000\r\n") + text.encode()[:200]


async def huge_head(text):
    yield head(f"Content-Length: {len(text.encode())}\r\n", more="".join(f"X-{n}: {'x' * 1000}\r\n" for n in range(200)))
    yield text.encode()


def nested(text):
    return "<a>" * 20000 + text


HIDES = dict(wan="", natpmp=3)

BEHAVIOURS = {
    "good": Behaviour(),
    # What it says of its own address.
    "shows-private": Behaviour(wan="192.168.0.2"),
    "shows-carrier": Behaviour(wan="100.72.14.3"),
    "shows-ds-lite": Behaviour(wan="192.0.0.2"),
    "shows-zero": Behaviour(wan="0.0.0.0"),
    "shows-link-local": Behaviour(wan="169.254.7.7"),
    "shows-text": Behaviour(wan="not\x07 an address\u202e", natpmp="closed"),
    "upnp-shows-private": Behaviour(wan="10.20.30.40", natpmp="closed"),
    "upnp-private-natpmp-3": Behaviour(wan="10.20.30.40", natpmp=3),
    "hides": Behaviour(**HIDES),
    "address-501": Behaviour(errors={"GetExternalIPAddress": 501}, natpmp="closed"),
    "disconnected": Behaviour(status="Disconnected", **HIDES),
    "disconnected-natpmp-knows": Behaviour(status="Disconnected", wan="", natpmp_wan=PUBLIC),
    "up": Behaviour(status="Up"),
    "bridged": Behaviour(connection="IP_Bridged"),
    "differs": Behaviour(natpmp_wan=OTHER_PUBLIC),
    # NAT-PMP and PCP
    "natpmp-2": Behaviour(upnp=False, web=False, natpmp=2),
    "natpmp-3": Behaviour(upnp=False, web=False, natpmp=3),
    "natpmp-other-port": Behaviour(upnp=False, web=False, natpmp_port=1),
    "natpmp-garbage": Behaviour(upnp=False, web=False, natpmp="garbage"),
    "pcp-only": Behaviour(upnp=False, web=False, natpmp=1, pcp=True),
    "silent": Behaviour(upnp=False, web=False, natpmp="silent"),
    # Port mapping
    "mapped-disabled": Behaviour(mapped=((7455, "192.168.1.20", 7455, 0, "by hand", 0),)),
    "mapped-other-port": Behaviour(mapped=((7455, "192.168.1.20", 7000, 1, "by hand", 0),)),
    "mapped-strange-text": Behaviour(mapped=((7455, "192.168.1.23", 7455, 1, "a\x1b[31m\u202eb\n" + "c" * 500, 0),)),
    "mapping-unreadable": Behaviour(errors={"GetSpecificPortMappingEntry": 501}),
    "permanent-only": Behaviour(permanent_only=True),
    **{f"add-{code}": Behaviour(errors={"AddPortMapping": code}) for code in (501, 606, 718, 724, 728, 729)},
    "add-mute": Behaviour(unanswered=("AddPortMapping",), natpmp="closed"),
    # IPv6
    "firewall-off": Behaviour(firewall=(0, 1)),
    "no-pinholes": Behaviour(firewall=(1, 0)),
    "pinholes": Behaviour(firewall=(1, 1)),
    # Descriptions
    "endless": Behaviour(body=endless, natpmp="closed"),
    "trickle": Behaviour(body=trickle, natpmp="closed"),
    "mute": Behaviour(body=mute, natpmp="closed"),
    "big": Behaviour(edit=lambda text: text + "<!--" + "x" * (1 << 20) + "-->", natpmp="closed"),
    "chunked": Behaviour(body=chunked, soap_body=chunked),
    "redirect": Behaviour(body=redirected, natpmp="closed"),
    "malformed": Behaviour(edit=lambda text: text.replace("</serviceType>", "<serviceType").replace("</", "<"), natpmp="closed"),
    "nested": Behaviour(edit=nested, natpmp="closed"),
    "cut": Behaviour(body=cut, natpmp="closed"),
    "huge-head": Behaviour(body=huge_head, natpmp="closed"),
    "wrong-service": Behaviour(services=(CIF, "urn:schemas-upnp-org:service:Layer3Forwarding:1"), natpmp="closed"),
    "no-common-config": Behaviour(services=(WANIP,), natpmp="closed"),
    "control-elsewhere": Behaviour(control="http://{elsewhere}:5000/ctl/{name}", natpmp="closed"),
    "ppp": Behaviour(services=(CIF, WANPPP), answers=((IGD, "http://{lan}:5000/root.xml"), (WANPPP, "http://{lan}:5000/root.xml"))),
    "two-connections": Behaviour(services=(CIF, WANPPP), second=WANIP, natpmp="closed"),
    # SOAP
    "soap-endless": Behaviour(soap_body=endless, natpmp="closed"),
    "soap-trickle": Behaviour(soap_body=trickle, natpmp="closed"),
    "soap-garbage": Behaviour(soap_body=garbage, natpmp="closed"),
    # Searches
    "location-elsewhere": Behaviour(answers=((IGD, "http://{elsewhere}:5000/root.xml"),), natpmp="closed"),
    "location-by-name": Behaviour(answers=((IGD, "http://localhost:5000/root.xml"),), natpmp="closed"),
    "location-https": Behaviour(answers=((IGD, "https://{lan}:5000/root.xml"),), natpmp="closed"),
    "stranger": Behaviour(
        answers=((IGD, "http://203.0.113.7:5000/root.xml"),), answers_from="203.0.113.7", natpmp="closed"),
    "media-server-too": Behaviour(answers=(
        ("upnp:rootdevice", "http://{lan}:5000/media.xml"), (IGD, "http://{lan}:5000/root.xml"))),
    "only-rootdevice": Behaviour(answers=(("upnp:rootdevice", "http://{lan}:5000/root.xml"),)),
    "many-answers": Behaviour(answers=tuple(
        (IGD, f"http://{{lan}}:5000/none-{n}.xml") for n in range(40)), natpmp="closed"),
    "long-answer": Behaviour(raw_answers=(
        f"HTTP/1.1 200 OK\r\nST: {IGD}\r\nLOCATION: http://{{lan}}:5000/root.xml\r\nX: {'x' * 3000}\r\n\r\n".encode(),),
        answers=(), natpmp="closed"),
    "garbage": Behaviour(
        answers=((IGD, "http://{lan}:5000/root.xml"),), raw_answers=(bytes(range(256)), b"HTTP/1.1 200 OK\r\n", b""),
        body=garbage, natpmp="garbage"),
    # A good one that is not asked for more than UPnP: what another machine than the gateway may be.
    "upnp-only": Behaviour(natpmp="closed"),
    # It only sees who comes to its web server.
    "trap": Behaviour(upnp=False, natpmp="closed"),
}


def asked(**what):
    print(json.dumps(what), flush=True)


class Router:
    def __init__(self, behaviour, lan, elsewhere):
        self.how, self.lan, self.elsewhere = behaviour, lan, elsewhere
        self.wan = behaviour.wan
        self.natpmp_wan = behaviour.wan if behaviour.natpmp_wan is None else behaviour.natpmp_wan
        self.mappings = {entry[0]: list(entry[1:]) for entry in behaviour.mapped}
        self.pinholes = {}
        self.started = time.monotonic()
        self.natpmp_socket = None

    def fill(self, text):
        return text.replace("{lan}", self.lan).replace("{elsewhere}", self.elsewhere)

    # -- the search

    def searched(self, data, who, reply):
        text = data.decode("latin-1")
        target = re.search(r"^ST:\s*(\S+)", text, re.M | re.I)
        if not text.startswith("M-SEARCH") or not target:
            return
        asked(search=target[1], by=who[0])
        for raw in self.how.raw_answers:
            reply(self.fill(raw.decode("latin-1")).encode("latin-1"))
        for at, location in self.how.answers:
            if target[1] == at:
                reply(
                    f"HTTP/1.1 200 OK\r\nCACHE-CONTROL: max-age=120\r\nST: {at}\r\nUSN: uuid:lab::{at}\r\nEXT:\r\n"
                    f"SERVER: Lab UPnP/1.1\r\nLOCATION: {self.fill(location)}\r\n\r\n".encode())

    # -- the description

    def description(self):
        kinds = [CIF, *[k for k in self.how.services if k != CIF]] if CIF in self.how.services else [*self.how.services]
        connections = [kind for kind in kinds if kind != CIF]
        common = [CIF] if CIF in kinds else []
        if self.how.firewall:
            connections.append(FIREWALL)
        devices = self.connection_device(connections)
        if self.how.second:
            devices += self.connection_device([self.how.second], "second")
        text = (
            '<?xml version="1.0"?><root xmlns="urn:schemas-upnp-org:device-1-0"><specVersion><major>1</major>'
            f"<minor>0</minor></specVersion><device><deviceType>{IGD}</deviceType>"
            f"<friendlyName>{escape(self.how.name)}</friendlyName><manufacturer>Lab</manufacturer>"
            "<modelName>Lab</modelName><UDN>uuid:lab</UDN><deviceList><device>"
            "<deviceType>urn:schemas-upnp-org:device:WANDevice:1</deviceType><friendlyName>WAN</friendlyName>"
            f"<serviceList>{''.join(map(self.service, common))}</serviceList><deviceList>{devices}</deviceList>"
            "</device></deviceList></device></root>")
        return self.how.edit(text) if self.how.edit else text

    def connection_device(self, kinds, suffix=""):
        return (
            "<device><deviceType>urn:schemas-upnp-org:device:WANConnectionDevice:1</deviceType>"
            "<friendlyName>Connection</friendlyName><serviceList>"
            f"{''.join(self.service(kind, suffix) for kind in kinds)}</serviceList></device>")

    def service(self, kind, suffix=""):
        name = kind.split(":")[-2] + suffix
        control = self.fill(self.how.control).replace("{name}", name)
        return (
            f"<service><serviceType>{kind}</serviceType><serviceId>urn:upnp-org:serviceId:{name}</serviceId>"
            f"<SCPDURL>/scpd/{name}.xml</SCPDURL><controlURL>{control}</controlURL><eventSubURL>/evt/{name}"
            "</eventSubURL></service>")

    # -- SOAP

    def act(self, action, values, path):
        """The values of the answer, or the code of an error."""
        if action in self.how.errors:
            return self.how.errors[action]
        # Of two connections the first is down.
        down = self.how.second is not None and not path.endswith("second")
        outside = int(values.get("NewExternalPort") or 0)
        if action == "GetStatusInfo":
            return {
                "NewConnectionStatus": "Disconnected" if down else self.how.status, "NewLastConnectionError": "ERROR_NONE",
                "NewUptime": int(time.monotonic() - self.started)}
        if action == "GetConnectionTypeInfo":
            return {"NewConnectionType": self.how.connection, "NewPossibleConnectionTypes": self.how.connection}
        if action == "GetExternalIPAddress":
            return {"NewExternalIPAddress": "" if down else self.wan}
        if action == "GetSpecificPortMappingEntry":
            return self.entry(self.mappings[outside]) if outside in self.mappings else 714
        if action == "GetGenericPortMappingEntry":
            index = int(values.get("NewPortMappingIndex") or 0)
            if index >= len(self.mappings):
                return 713
            port = sorted(self.mappings)[index]
            return {"NewRemoteHost": "", "NewExternalPort": port, "NewProtocol": "TCP"} | self.entry(self.mappings[port])
        if action == "AddPortMapping":
            lease = int(values["NewLeaseDuration"])
            if self.how.permanent_only and lease:
                return 725
            self.mappings[outside] = [
                values["NewInternalClient"], int(values["NewInternalPort"]), int(values["NewEnabled"]),
                values["NewPortMappingDescription"], lease]
            return {}
        if action == "DeletePortMapping":
            return {} if self.mappings.pop(outside, None) else 714
        if action == "GetFirewallStatus" and self.how.firewall:
            return {"FirewallEnabled": self.how.firewall[0], "InboundPinholeAllowed": self.how.firewall[1]}
        if action.endswith("Pinhole") or action == "CheckPinholeWorking":
            return self.pinhole(action, values)
        return 401

    def pinhole(self, action, values):
        """WANIPv6FirewallControl:1, for whoever asks."""
        if not self.how.firewall or not self.how.firewall[1]:
            return 703
        if action == "AddPinhole":
            self.pinholes[str(len(self.pinholes) + 1)] = values
            return {"UniqueID": len(self.pinholes)}
        if values.get("UniqueID") not in self.pinholes:
            return 704
        if action == "DeletePinhole":
            del self.pinholes[values["UniqueID"]]
        return {"IsWorking": 1} if action == "CheckPinholeWorking" else {}

    @staticmethod
    def entry(mapping):
        client, port, enabled, text, lease = mapping
        return {
            "NewInternalPort": port, "NewInternalClient": client, "NewEnabled": enabled,
            "NewPortMappingDescription": text, "NewLeaseDuration": lease}

    def soap(self, path, header, body):
        """(status, text)"""
        action = re.search(r"#(\w+)", header)
        action = action[1] if action else ""
        values = dict(re.findall(r"<(\w+)>([^<]*)</\1>", body))
        asked(soap=action, path=path, values=values)
        done = self.act(action, values, path)
        kind = header.strip('" ').split("#")[0]
        if isinstance(done, int):
            inside = (
                "<s:Fault><faultcode>s:Client</faultcode><faultstring>UPnPError</faultstring><detail>"
                '<UPnPError xmlns="urn:schemas-upnp-org:control-1-0">'
                f"<errorCode>{done}</errorCode><errorDescription>{SOAP_ERRORS.get(done, '')}</errorDescription>"
                "</UPnPError></detail></s:Fault>")
        else:
            inside = "".join(f"<{name}>{escape(str(value))}</{name}>" for name, value in done.items())
            inside = f'<u:{action}Response xmlns:u="{kind}">{inside}</u:{action}Response>'
        return (500 if isinstance(done, int) else 200), (
            '<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" '
            f's:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body>{inside}</s:Body></s:Envelope>')

    # -- HTTP

    async def serve(self, reader, writer):
        try:
            await self.answer(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def answer(self, reader, writer):
        top = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, path, _ = top.split(" ", 2)
        header = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in top.split("\r\n")[1:])}
        body = await reader.readexactly(int(header.get("content-length", 0)))
        asked(http=method, path=path, by=writer.get_extra_info("peername")[0])
        if method == "GET" and path == "/root.xml":
            pieces = (self.how.body or sized)(self.description())
        elif method == "GET" and path == "/media.xml":
            pieces = sized(
                '<?xml version="1.0"?><root xmlns="urn:schemas-upnp-org:device-1-0"><device><deviceType>'
                "urn:schemas-upnp-org:device:MediaServer:1</deviceType><friendlyName>Films</friendlyName>"
                "</device></root>")
        elif method == "POST":
            status, text = self.soap(path, header.get("soapaction", ""), body.decode("utf-8", "replace"))
            if status != 200:
                data = text.encode()
                writer.write(
                    b"HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/xml\r\nConnection: close\r\n"
                    b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
                return await writer.drain()
            action = header.get("soapaction", "").strip('"').rpartition("#")[2]
            pieces = mute(text) if action in self.how.unanswered else (self.how.soap_body or sized)(text)
        else:
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return await writer.drain()
        async for piece in pieces:
            writer.write(self.fill(piece.decode("latin-1")).encode("latin-1") if b"{" in piece[:200] else piece)
            await writer.drain()

    # -- NAT-PMP and PCP

    def epoch(self):
        return int(time.monotonic() - self.started) + 1000

    def mapped(self, data):
        """The answer to one question on port 5351, or None."""
        if len(data) < 2:
            return None
        version, op = data[0], data[1]
        asked(natpmp=op, version=version, data=data.hex())
        if self.how.natpmp == "silent":
            return None
        if self.how.natpmp == "garbage":
            return bytes(range(3, 40))
        if version == 2:
            # PCP ANNOUNCE (RFC 6887): no more than "here I am".
            if not self.how.pcp:
                return struct.pack("!BBHI", 0, 128, 1, self.epoch())
            return struct.pack("!BBBBII", 2, 0x80 | op, 0, 0 if op == 0 else 4, 0, self.epoch()) + bytes(12)
        code = self.how.natpmp if isinstance(self.how.natpmp, int) else 0
        if op == 0:
            if not code and self.natpmp_wan in ("", None):
                code = 3
            answer = struct.pack("!BBHI", 0, 128, code, self.epoch())
            return answer + socket.inet_aton("0.0.0.0" if code else self.natpmp_wan)
        if op == 2 and len(data) >= 12:
            inside, outside, lifetime = struct.unpack("!HHI", data[4:12])
            if lifetime == 0:
                self.mappings = {port: m for port, m in self.mappings.items() if inside and m[1] != inside}
                return struct.pack("!BBHIHHI", 0, 130, code, self.epoch(), inside, 0, 0)
            given = (outside or inside) + self.how.natpmp_port
            if not code:
                self.mappings[given] = ["natpmp", inside, 1, "", lifetime]
            return struct.pack("!BBHIHHI", 0, 130, code, self.epoch(), inside, given, lifetime)
        return struct.pack("!BBHI", 0, 128 + op, 5, self.epoch())

    def change_address(self):
        self.wan = self.natpmp_wan = self.how.other_wan
        asked(changed=self.wan)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as telling:
            telling.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            telling.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            telling.bind((self.lan, NATPMP_PORT))
            telling.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(self.lan))
            telling.sendto(
                struct.pack("!BBHI", 0, 128, 0, self.epoch()) + socket.inet_aton(self.wan), ("224.0.0.1", 5350))


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self, answered):
        self.answered = answered

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, who):
        self.answered(data, who, self.transport)


def udp(host, port, reuse=False):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if reuse:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind((host, port))
    made.setblocking(False)
    return made


async def run(router):
    loop = asyncio.get_running_loop()
    how = router.how
    if how.web:
        await asyncio.start_server(router.serve, router.lan, HTTP_PORT)
    if how.upnp:
        search = udp("0.0.0.0", SSDP_PORT)
        search.setsockopt(
            socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("239.255.255.250") + socket.inet_aton(router.lan))
        # The namespace may have several addresses in this network.
        source = struct.pack("i4s4s", 0, socket.inet_aton(how.answers_from or router.lan), bytes(4))

        def reply(answer, who):
            search.sendmsg([answer], [(socket.IPPROTO_IP, IP_PKTINFO, source)], 0, who)
        await loop.create_datagram_endpoint(lambda: Datagrams(
            lambda data, who, _: router.searched(data, who, lambda answer: reply(answer, who))), sock=search)
    if how.natpmp != "closed":
        def answer(data, who, transport):
            reply = router.mapped(data)
            if reply is not None:
                transport.sendto(reply, who)
        await loop.create_datagram_endpoint(lambda: Datagrams(answer), sock=udp(router.lan, NATPMP_PORT, reuse=True))
    loop.add_signal_handler(signal.SIGUSR1, router.change_address)
    print("ready", flush=True)
    await asyncio.Event().wait()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("behaviour", nargs="?", choices=BEHAVIOURS)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--lan", default="192.168.1.1")
    parser.add_argument("--elsewhere", default="192.168.1.23")
    options = parser.parse_args()
    if options.list or not options.behaviour:
        print(*BEHAVIOURS, sep="\n")
        return
    asyncio.run(run(Router(BEHAVIOURS[options.behaviour], options.lan, options.elsewhere)))


if __name__ == "__main__":
    main()
