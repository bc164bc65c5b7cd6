#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Questions to a home router, written from the documents alone: SSDP, the description, SOAP and NAT-PMP.

igd.py show ROUTER                                        what it says of itself and of its mappings
igd.py map ROUTER OUTSIDE CLIENT:PORT [LEASE] [TEXT]      adds a mapping of TCP (as whoever runs it)
igd.py unmap ROUTER OUTSIDE                               takes it away

ROUTER is its IPv4 address, or the URL of its description.
"""

import socket
import struct
import sys
import urllib.error
import urllib.request
from urllib.parse import urljoin
from xml.etree import ElementTree

SSDP = ("239.255.255.250", 1900)
NATPMP_PORT = 5351
TARGETS = [
    "urn:schemas-upnp-org:device:InternetGatewayDevice:1", "urn:schemas-upnp-org:device:InternetGatewayDevice:2",
    "urn:schemas-upnp-org:service:WANIPConnection:1", "urn:schemas-upnp-org:service:WANIPConnection:2",
    "urn:schemas-upnp-org:service:WANPPPConnection:1", "upnp:rootdevice",
]
LIMIT = 3.0
# No proxy of the environment has a say in a home network.
_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


class Refused(Exception):
    """A SOAP error: its code and text."""

    def __init__(self, code, text):
        super().__init__(f"{code} {text}")
        self.code = code


def search(target=TARGETS[0], limit=LIMIT, enough=1, via=None):
    """Answers to one M-SEARCH: [(who answered, headers)], at most `enough`. `via` is an own address in the network that
    is asked; without it the default route decides."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(limit)
        if via:
            asking.bind((via, 0))
            asking.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(via))
        asking.sendto(
            f'M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: "ssdp:discover"\r\nMX: 1\r\nST: {target}\r\n\r\n'
            .encode(), SSDP)
        while len(found) < enough:
            try:
                data, who = asking.recvfrom(65536)
            except TimeoutError:
                break
            lines = data.decode("latin-1").split("\r\n")[1:]
            found.append((who[0], {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}))
    return found


class Router:
    """An IGD by the URL of its description."""

    def __init__(self, url):
        if not url.startswith("http"):
            url = f"http://{url}:5000/rootDesc.xml"
        with _open(url, timeout=LIMIT) as answer:
            tree = ElementTree.fromstring(answer.read())
        self.services = {}
        for service in tree.findall(".//{*}service"):
            kind, control = service.findtext("{*}serviceType"), service.findtext("{*}controlURL")
            self.services.setdefault(kind.split(":service:")[1].split(":")[0], (kind, urljoin(url, control)))

    def ask(self, action, service=None, **values):
        """One action; the values of its answer, in order."""
        if service is None:
            service = "WANIPConnection" if "WANIPConnection" in self.services else "WANPPPConnection"
        kind, control = self.services[service]
        body = "".join(f"<{name}>{value}</{name}>" for name, value in values.items())
        request = urllib.request.Request(control, (
            '<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" '
            's:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body>'
            f'<u:{action} xmlns:u="{kind}">{body}</u:{action}></s:Body></s:Envelope>').encode(),
            {"Content-Type": "text/xml", "SOAPAction": f'"{kind}#{action}"'})
        try:
            with _open(request, timeout=LIMIT) as answer:
                tree = ElementTree.fromstring(answer.read())
        except urllib.error.HTTPError as error:
            tree = ElementTree.fromstring(error.read())
            raise Refused(int(tree.findtext(".//{*}errorCode")), tree.findtext(".//{*}errorDescription")) from None
        return {item.tag.rpartition("}")[2]: item.text or "" for item in tree.find(".//{*}Body")[0]}

    def mapping(self, outside):
        """The mapping of a TCP port, or None."""
        try:
            return self.ask(
                "GetSpecificPortMappingEntry", NewRemoteHost="", NewExternalPort=outside, NewProtocol="TCP")
        except Refused as error:
            if error.code == 714:
                return None
            raise

    def mappings(self):
        """All of them, one by one as routers tell them."""
        found = []
        while True:
            try:
                found.append(self.ask("GetGenericPortMappingEntry", NewPortMappingIndex=len(found)))
            except Refused as error:
                # 713: after the last one.
                if error.code == 713:
                    return found
                raise

    def map(self, outside, client, port, lease=3600, text="by hand"):
        self.ask(
            "AddPortMapping", NewRemoteHost="", NewExternalPort=outside, NewProtocol="TCP", NewInternalPort=port,
            NewInternalClient=client, NewEnabled=1, NewPortMappingDescription=text, NewLeaseDuration=lease)

    def unmap(self, outside):
        self.ask("DeletePortMapping", NewRemoteHost="", NewExternalPort=outside, NewProtocol="TCP")


def natpmp(router, question=b"\x00\x00", limit=LIMIT):
    """The answer to one NAT-PMP question (by default for the address); None without one; raises where the port is closed."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.connect((router, NATPMP_PORT))
        for _ in range(3):
            asking.settimeout(limit / 3)
            asking.send(question)
            try:
                return asking.recv(2048)
            except TimeoutError:
                continue
    return None


def natpmp_address(router, limit=LIMIT):
    """(result code, address) of RFC 6886 section 3.2, or None."""
    answer = natpmp(router, limit=limit)
    if answer is None or len(answer) < 4:
        return None
    return struct.unpack("!H", answer[2:4])[0], socket.inet_ntoa(answer[8:12]) if len(answer) >= 12 else None


def main():
    command, *rest = sys.argv[1:] or ["help"]
    if command == "show" and len(rest) == 1:
        router = Router(rest[0])
        print("services:", *router.services)
        for action in ("GetStatusInfo", "GetConnectionTypeInfo", "GetExternalIPAddress"):
            try:
                print(action, router.ask(action))
            except Refused as error:
                print(action, error)
        for entry in router.mappings():
            print(entry)
    elif command == "map" and 3 <= len(rest) <= 5:
        client, _, port = rest[2].rpartition(":")
        Router(rest[0]).map(int(rest[1]), client, int(port), *map(int, rest[3:4]), *rest[4:])
    elif command == "unmap" and len(rest) == 2:
        Router(rest[0]).unmap(int(rest[1]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main()
    except Refused as error:
        sys.exit(f"The router refused: {error}")
