// SPDX-License-Identifier: Apache-2.0

internal import CMiniUPnPC
internal import HTTPFetch
internal import Wire

/// One call of a service's action.
struct SOAPCall: Sendable, Equatable {
    let action: String
    var arguments: [(name: String, value: String)] = []

    static func == (left: SOAPCall, right: SOAPCall) -> Bool {
        left.action == right.action && left.arguments.elementsEqual(right.arguments, by: ==)
    }

    /// As it is asked of a service.
    func request(to point: ControlPoint) -> HTTPFetch.Request {
        let inside = arguments.map { "<\($0.name)>\(Self.escaped($0.value))</\($0.name)>" }.joined()
        let body =
            "<?xml version=\"1.0\"?>\r\n"
            + "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\" "
            + "s:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\"><s:Body>"
            + "<u:\(action) xmlns:u=\"\(point.service)\">\(inside)</u:\(action)></s:Body></s:Envelope>\r\n"
        var request = HTTPFetch.Request(point.place.target, host: point.place.host)
        request.method = "POST"
        request.fields = [
            ("Content-Type", "text/xml; charset=\"utf-8\""),
            ("SOAPAction", "\"\(point.service)#\(action)\""),
        ]
        request.body = Array(body.utf8)
        return request
    }

    private static func escaped(_ text: String) -> String {
        var out = ""
        for character in text {
            switch character {
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "&": out += "&amp;"
            default: out.append(character)
            }
        }
        return out
    }
}

/// What a service answered.
enum SOAPReply: Sendable, Equatable {
    /// Its values.
    case values(SOAPValues)
    /// An error of its own: the number of UPnP, or HTTP's when it gave none.
    case error(Int)
    /// Nothing within the time, or nothing that can be read.
    case silent

    /// From an answer. Some routers send the error with status 200, so the body speaks first.
    init(status: Int, body: [UInt8]) {
        let values = SOAPValues(body)
        if let code = values["errorCode"].flatMap({ Int($0) }) {
            self = .error(code)
        } else if status == 200 {
            self = .values(values)
        } else {
            self = .error(status)
        }
    }
}

/// The values of an answer, by name. libminiupnpc reads them; no pointer of its leaves this file.
struct SOAPValues: Sendable, Equatable {
    private var values: [String: String] = [:]

    /// The first value of each name counts. At most 127 bytes of each, the library's limit.
    init(_ body: [UInt8]) {
        guard !body.isEmpty, body.count <= Int(Int32.max) / 2, !body.contains(0) else { return }
        var data = unsafe NameValueParserData()
        let padded = body.map { CChar(bitPattern: $0) } + [CChar](repeating: 0, count: 16)
        unsafe ParseNameValue(padded, Int32(body.count), &data)
        defer { unsafe ClearNameValueList(&data) }
        for name in Self.names {
            guard let value = unsafe GetValueFromNameValueList(&data, name) else { continue }
            values[name] = unsafe String(decoding: Self.bytes(value), as: UTF8.self)
        }
    }

    /// A value as it came; an element without text reads as empty, a missing one as nil.
    subscript(name: String) -> String? { values[name] }

    /// Everything that is ever asked for.
    private static let names = [
        "errorCode", "NewConnectionStatus", "NewConnectionType", "NewExternalIPAddress", "NewInternalPort",
        "NewInternalClient", "NewEnabled", "NewPortMappingDescription", "NewLeaseDuration",
        "FirewallEnabled", "InboundPinholeAllowed", "UniqueID", "IsWorking",
    ]

    private static func bytes(_ value: UnsafeMutablePointer<CChar>) -> [UInt8] {
        var out: [UInt8] = []
        while out.count < 128, unsafe value[out.count] != 0 {
            out.append(UInt8(bitPattern: unsafe value[out.count]))
        }
        return out
    }
}
