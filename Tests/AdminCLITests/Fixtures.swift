// SPDX-License-Identifier: Apache-2.0

import APITypes
import Wire

/// Bodies as the service sends them, and the moment that "now" is in every test.
enum Fixtures {
    static let now = WallTime(rfc3339: "2026-11-30T08:00:00.000Z") ?? WallTime(milliseconds: 0)

    static let ipad = #"""
        {"id":"7K3QABCDEFGH2345","name":"Anna's iPad","model":"iPad14,1","fingerprint":"\#
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","shortName":"ABC123","pairedAt":"2026-11-27T08:00:00.000Z",\#
        "pairedHow":"qr","lastSeenAt":"2026-11-30T07:57:00.000Z","lastRoute":"through Tailscale","connected":2,\#
        "cableBound":true,"colour":"blue"}
        """#
    static let phone = #"""
        {"id":"7K3QZZZZZZZZ0000","name":"Phone","model":null,"fingerprint":"\#
        BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB","shortName":"DEF456","pairedAt":"2026-10-01T08:00:00.000Z",\#
        "pairedHow":"code","lastSeenAt":null,"lastRoute":null,"connected":0,"cableBound":false}
        """#
    static let secondPhone = phone.replacing("7K3QZZZZZZZZ0000", with: "9999ZZZZZZZZ0000")

    static let status = #"""
        {"version":"0.1.0","hostID":"HHHHHHHHHHHHHHHH","name":"Living Room","startedAt":"2026-11-30T05:00:00.000Z",\#
        "uptime":10800.5,"lock":"unlocked","doors":{"home":{"state":"open","port":54021},"remote":{"state":"failed",\#
        "port":7455,"problem":"the port is taken"}},"window":{"open":true,"remote":true,"expiresAt":"\#
        2026-11-30T08:04:05.000Z","triesLeft":5,"openedBy":"admin"},"sessions":1,"devices":2,"quality":{"runs":"home"},\#
        "advertising":"on","reachability":null,"request":{"name":"New iPad","place":"on this network","at":"\#
        2026-11-30T07:59:00.000Z","state":"locked"},"notices":[{"kind":"olderDevice","place":"","until":"\#
        2026-11-30T09:00:00.000Z"}]}
        """#
    static let session = #"""
        {"id":"5f2c-1","device":{"id":"7K3QABCDEFGH2345","name":"Anna's iPad"},"door":"home","origin":"lan",\#
        "cable":false,"route":"on this network","away":false,"paired":true,"mode":"relay","startedAt":"\#
        2026-11-30T07:00:00.000Z","remote":"192.168.1.20:50122","bytesIn":812,"bytesOut":1450000,"hello":null,\#
        "link":{"state":"fine"}}
        """#
    static let quality = #"""
        {"runs":"home","home":{"bitrate":15000000,"captureScale":2},"away":{"bitrate":4500000,"captureScale":1},\#
        "maxFPS":120,"why":{"home":1,"away":2,"reason":"1 device at home, 2 away"},"running":{"bitrate":15000000,\#
        "fps":120,"captureScale":2},"sessions":[{"id":"5f2c-1","away":false,"settings":{"maxFPS":120,"bitrate":15000000,\#
        "captureScale":2}},{"id":"5f2c-2","away":true,"settings":{"maxFPS":120,"bitrate":4500000,"captureScale":1},\#
        "link":{"state":"behind","withheldPerSecond":6,"bitrate":30000000,"carriedKbps":6449,"suggestedBitrate":4000000,\#
        "suggestedCaptureScale":1}},{"id":"5f2c-3","away":true,"settings":{"maxFPS":120,"bitrate":4500000,\#
        "captureScale":1},"link":{"state":"stalled","withheldPerSecond":60,"bitrate":30000000}}]}
        """#
    static let settings = #"""
        {"name":"Living Room","requirePairing":true,"remoteAccess":false,"remotePort":7455,"internetAccess":false,\#
        "addressName":null,"home":{"bitrate":15000000,"captureScale":2},"away":{"bitrate":4500000,"captureScale":1},\#
        "maxFPS":120,"minimumDeviceVersion":"0","portMapping":"off","advertise":true,"stunServer":null,\#
        "permanentMappings":false,"ipv6Pinhole":false,"direct":false,"overridden":["remotePort"]}
        """#
    static let window = #"""
        {"id":"w1","url":"sill://pair?v=1&x=y","code":"482913557208","groupedCode":"4829 1355 7208","expiresAt":"\#
        2026-11-30T08:05:00.000Z","triesLeft":5,"openedBy":"admin","requestedBy":null,"remote":true,"addresses":[]}
        """#
    static let audit = #"""
        {"id":3,"at":"2026-11-30T07:00:00.000Z","actor":"unix:0","action":"remove","device":"7K3QABCDEFGH2345",\#
        "outcome":"done","detail":"2 sessions closed"}
        """#
    static let identity = #"""
        {"hostID":"HHHHHHHHHHHHHHHH","fingerprint":"AAAA","shortName":"ABC123","publicKey":"BBBB","certificate":"CCCC",\#
        "name":"Living Room","createdAt":"2026-11-29T08:00:00.000Z","keyStorage":"file"}
        """#

    static let rotated =
        "\(identity.replacing("HHHHHHHHHHHHHHHH", with: "NNNNNNNNNNNNNNNN").replacing("ABC123", with: "NNNNNN").dropLast())"
        + #","closedSessions":2}"#

    static func list(_ items: String..., next: String = "null") -> String {
        #"{"items":[\#(items.joined(separator: ","))],"next":\#(next)}"#
    }

    static func read<T: APIObject>(_ type: T.Type, _ text: String) throws -> T {
        try T(json: JSON.parse(text))
    }

    static func event(_ id: Int, _ type: String, _ data: String) -> String {
        "id: \(id)\nevent: \(type)\ndata: \(data)\n\n"
    }
}
