// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import RouterProbe

@Suite("The search for the router")
struct SearchTests {
    static let home = Network(address: ip("192.168.1.5"), bits: 24)

    static func answer(
        status: String = "HTTP/1.1 200 OK", target: String = "upnp:rootdevice",
        place: String = "http://192.168.1.1:5000/rootDesc.xml", more: String = "", end: String = "\r\n"
    ) -> [UInt8] {
        Array(
            ([
                status, "CACHE-CONTROL: max-age=120", "ST: \(target)", "USN: uuid:1::\(target)", "EXT:",
                "LOCATION: \(place)",
            ]
                + (more.isEmpty ? [] : [more]) + ["", ""]).joined(separator: end).utf8)
    }

    @Test("the question, to everybody and to one")
    func request() {
        #expect(
            String(decoding: Search.request("upnp:rootdevice", isMulticast: true), as: UTF8.self)
                == "M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: \"ssdp:discover\"\r\nMX: 1\r\n"
                + "ST: upnp:rootdevice\r\n\r\n")
        #expect(
            !String(decoding: Search.request("upnp:rootdevice", isMulticast: false), as: UTF8.self).contains(
                "MX"))
        #expect(Search.targets.count == 6)
        #expect(Search.group.description == "239.255.255.250:1900")
    }

    @Test(
        "answers that count",
        arguments: [
            answer(), answer(target: "urn:schemas-upnp-org:device:InternetGatewayDevice:2"),
            answer(end: "\n"),
            answer(status: "HTTP/1.0 200 OK"), answer(status: "http/1.1 200"),
            Array(
                "HTTP/1.1 200 OK\r\nlocation:http://192.168.1.1:5000/rootDesc.xml  \r\nst:upnp:rootdevice\r\n\r\n"
                    .utf8),
            // Some leave the last line's end out.
            Array(
                "HTTP/1.1 200 OK\r\nST: upnp:rootdevice\r\nLocation: http://192.168.1.1:5000/rootDesc.xml"
                    .utf8),
        ])
    func valid(_ bytes: [UInt8]) {
        let place = Search.location(in: bytes, from: ip("192.168.1.1"), onLink: Self.home)
        #expect(place?.text == "http://192.168.1.1:5000/rootDesc.xml")
    }

    @Test(
        "answers that do not",
        arguments: [
            answer(status: "HTTP/1.1 404 Not Found"), answer(status: "NOTIFY * HTTP/1.1"), answer(status: ""),
            answer(target: "urn:schemas-upnp-org:device:MediaServer:1"), answer(target: ""),
            answer(place: "http://192.168.1.2/x"), answer(place: "http://router.example/x"),
            answer(place: "https://192.168.1.1/x"), answer(place: "http://192.168.1.1:0/x"),
            answer(place: "http://192.168.1.1:70000/x"), answer(place: "http://192.168.1.1@10.0.0.1/x"),
            answer(place: "http://[::1]/x"), answer(place: "http://0x7f.1/x"), answer(place: "/x"),
            answer(place: ""),
            answer(place: "http://192.168.1.1/a b"), answer(place: "http://192.168.1.1/#x"),
            answer(place: "http://192.168.1.2/x", more: "LOCATION: http://192.168.1.1/x"),
            answer(more: "X: " + String(repeating: "x", count: 2048)), [],
        ])
    func invalid(_ bytes: [UInt8]) {
        #expect(Search.location(in: bytes, from: ip("192.168.1.1"), onLink: Self.home) == nil)
    }

    @Test("nobody beyond the router answers for the home")
    func offLink() {
        let bytes = Self.answer(place: "http://10.0.0.1:5000/x")
        #expect(Search.location(in: bytes, from: ip("10.0.0.1"), onLink: Self.home) == nil)
        let wide = Network(address: ip("10.1.2.3"), bits: 8)
        #expect(Search.location(in: bytes, from: ip("10.0.0.1"), onLink: wide) != nil)
    }

    @Test(
        "places",
        arguments: [
            ("http://1.2.3.4", "http://1.2.3.4:80/", "1.2.3.4"),
            ("HTTP://1.2.3.4:8080/a?b=c", "http://1.2.3.4:8080/a?b=c", "1.2.3.4:8080"),
            ("http://1.2.3.4:80?x", "http://1.2.3.4:80/?x", "1.2.3.4"),
        ])
    func places(_ text: String, _ canonical: String, _ host: String) {
        #expect(WebLocation(text)?.text == canonical)
        #expect(WebLocation(text)?.host == host)
    }

    @Test("strangers do not crowd the gateway out")
    func crowded() throws {
        var places = FoundPlaces(gateway: ip("192.168.1.1"))
        for number in 2..<40 { _ = places.add(try #require(WebLocation("http://192.168.1.\(number)/"))) }
        #expect(places.all.count == FoundPlaces.limit - FoundPlaces.reserved)
        let mine = try #require(WebLocation("http://192.168.1.1/a"))
        let added = [places.add(mine), places.add(mine)]
        #expect(added == [true, false])
        for number in 0..<10 { _ = places.add(try #require(WebLocation("http://192.168.1.1/\(number)"))) }
        #expect(places.all.count == FoundPlaces.limit)
    }

    @Test("no bytes break it")
    func hostile() {
        for bytes in broken([Self.answer(), Self.answer(end: "\n")], count: 4000, seed: 1) {
            let place = Search.location(in: bytes, from: ip("192.168.1.1"), onLink: Self.home)
            #expect(place == nil || place?.address.ip == ip("192.168.1.1"))
        }
    }
}
