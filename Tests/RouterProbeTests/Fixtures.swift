// SPDX-License-Identifier: Apache-2.0

import Wire

@testable import RouterProbe

/// An address that the test knows to be one.
func ip(_ text: String) -> IPAddress { IPAddress(text) ?? IPAddress(v4: 0) }

/// SplitMix64: the same "random" inputs in every run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

/// Inputs that are no input: pure noise, and a sound one with a few bytes changed, cut, doubled or repeated.
func broken(_ sound: [[UInt8]], count: Int, seed: UInt64) -> [[UInt8]] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { turn in
        guard turn % 8 != 0, var bytes = sound.randomElement(using: &random), !bytes.isEmpty else {
            return (0..<Int.random(in: 0...300, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
        }
        for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(at...)
            case 2: bytes.remove(at: at)
            case 3: bytes.insert(contentsOf: bytes.prefix(at), at: at)
            default:
                let special = "<>/&;:\" '\r\n".utf8.randomElement(using: &random) ?? 0x3C
                bytes.insert(
                    contentsOf: repeatElement(special, count: Int.random(in: 1...200, using: &random)), at: at
                )
            }
        }
        return Array(bytes.prefix(70_000))
    }
}

/// Descriptions as routers give them, quirks included.
enum Descriptions {
    static let connection = "urn:schemas-upnp-org:service:WANIPConnection:1"
    static let ppp = "urn:schemas-upnp-org:service:WANPPPConnection:1"

    static func service(_ type: String, _ control: String) -> String {
        """
        <service><serviceType>\(type)</serviceType><serviceId>urn:upnp-org:serviceId:x</serviceId>
        <controlURL>\(control)</controlURL><eventSubURL>/evt</eventSubURL><SCPDURL>/s.xml</SCPDURL></service>
        """
    }

    /// The shape of the standard: root, WAN device, WAN connection device.
    static func igd(
        base: String? = nil, common: String = "urn:schemas-upnp-org:service:WANCommonInterfaceConfig:1",
        services: [String] = [service(connection, "/ctl/IPConn")], name: String = "A router",
        lines: String = "\n"
    ) -> String {
        """
        <?xml version="1.0"?>
        <root xmlns="urn:schemas-upnp-org:device-1-0"><specVersion><major>1</major><minor>0</minor></specVersion>
        \(base.map { "<URLBase>\($0)</URLBase>" } ?? "")
        <device><deviceType>urn:schemas-upnp-org:device:InternetGatewayDevice:1</deviceType>
        <friendlyName>\(name)</friendlyName><manufacturer>M</manufacturer><modelName>R</modelName>
        <UDN>uuid:1</UDN><serviceList>\(service("urn:schemas-upnp-org:service:Layer3Forwarding:1", "/ctl/L3F"))
        </serviceList><deviceList><device>
        <deviceType>urn:schemas-upnp-org:device:WANDevice:1</deviceType><friendlyName>WAN</friendlyName>
        <serviceList>\(service(common, "/ctl/CmnIfCfg"))</serviceList>
        <deviceList><device><deviceType>urn:schemas-upnp-org:device:WANConnectionDevice:1</deviceType>
        <serviceList>\(services.joined())</serviceList></device></deviceList>
        </device></deviceList><presentationURL>http://192.168.1.1/</presentationURL></device></root>
        """.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: lines)
    }

    static let mediaServer = """
        <?xml version="1.0"?><root xmlns="urn:schemas-upnp-org:device-1-0"><device>
        <deviceType>urn:schemas-upnp-org:device:MediaServer:1</deviceType><friendlyName>Films</friendlyName>
        <serviceList>\(service("urn:schemas-upnp-org:service:ContentDirectory:1", "/cd"))</serviceList></device></root>
        """

    static let firewall = service("urn:schemas-upnp-org:service:WANIPv6FirewallControl:1", "/ctl/IP6FCtl")
}

/// SOAP answers.
enum Replies {
    static func values(
        _ action: String, _ values: [(String, String)], service: String = Descriptions.connection
    )
        -> String
    {
        let inside = values.map { "<\($0.0)>\($0.1)</\($0.0)>" }.joined()
        return """
            <?xml version="1.0"?>
            <s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" \
            s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body>\
            <u:\(action)Response xmlns:u="\(service)">\(inside)</u:\(action)Response></s:Body></s:Envelope>
            """
    }

    static func error(_ code: Int) -> String {
        """
        <?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><s:Fault>
        <faultcode>s:Client</faultcode><faultstring>UPnPError</faultstring><detail>
        <UPnPError xmlns="urn:schemas-upnp-org:control-1-0"><errorCode>\(code)</errorCode>
        <errorDescription>x</errorDescription></UPnPError></detail></s:Fault></s:Body></s:Envelope>
        """
    }

    static let entry = values(
        "GetSpecificPortMappingEntry",
        [
            ("NewInternalPort", "7455"), ("NewInternalClient", "192.168.1.5"), ("NewEnabled", "1"),
            ("NewPortMappingDescription", "Latchkey"), ("NewLeaseDuration", "3599"),
        ])
}
