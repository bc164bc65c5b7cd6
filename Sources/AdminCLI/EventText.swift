// SPDX-License-Identifier: Apache-2.0

package import APITypes
internal import Wire

/// One event as one line for people. Pure.
package enum EventText {
    private static let typeWidth = 20

    /// "2026-11-30 07:14:13Z  device.paired         Anna's iPad (7K3Q…)".
    package static func line(_ event: EventEnvelope, style: Style) -> String {
        let at = event.data["at"]?.string.flatMap { WallTime(rfc3339: $0) }
        let when = at.map { moment($0) } ?? String(repeating: " ", count: 20)
        let type = style(event.type.visible.padded(to: typeWidth), .strong)
        return "\(when)  \(type)  \(subject(event).visible)\n"
    }

    /// The event as one JSON line: `{"id":…,"event":"…","data":{…}}`.
    package static func json(_ event: EventEnvelope) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.object { object in
            if let id = event.id { object.field("id", id) } else { object.null("id") }
            object.field("event", event.type)
            object.field("data", event.data)
        }
        return writer.bytes
    }

    private static func moment(_ time: WallTime) -> String {
        let text = time.rfc3339
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))Z"
    }

    private static func subject(_ event: EventEnvelope) -> String {
        let data = event.data
        let name = data["name"]?.string ?? ""
        switch event.type {
        case EventEnvelope.Kind.reset: return "events before this are no longer remembered"
        case EventEnvelope.Kind.pairingOpened:
            return "a window, opened by \(data["openedBy"]?.string ?? "someone")"
        case EventEnvelope.Kind.pairingClosed:
            let device = data["device"]?.string.map { " by \($0)" } ?? ""
            return (data["outcome"]?.string ?? "closed") + device
        case EventEnvelope.Kind.pairingRequested: return "\(name) \(data["place"]?.string ?? "")"
        case EventEnvelope.Kind.sessionOpened, EventEnvelope.Kind.sessionClosed,
            EventEnvelope.Kind.sessionClosing:
            let who = data["device"]?["name"]?.string ?? "not paired"
            let goodbye = data["goodbye"]?["reason"]?.string.map { ", goodbye \($0)" }
            let why = goodbye ?? data["ended"]?.string.map { ", \($0)" } ?? ""
            return "\(data["id"]?.string ?? "")  \(who), \(data["route"]?.string ?? "")\(why)"
        case EventEnvelope.Kind.doorChanged:
            let port = data["port"]?.int.map { ", port \($0)" } ?? ""
            let problem = data["problem"]?.string.map { ": \($0)" } ?? ""
            return "\(data["door"]?.string ?? "door") \(data["state"]?.string ?? "")\(port)\(problem)"
        case EventEnvelope.Kind.lockChanged:
            return data["locked"]?.bool == true ? "locked" : "unlocked"
        case EventEnvelope.Kind.identityRotated:
            let lost = TimeText.count(data["removedDevices"]?.int ?? 0, "device")
            return "\(name) is \(data["hostID"]?.string ?? "another host") now; \(lost) must pair again"
        case EventEnvelope.Kind.reachabilityChanged:
            return "\(data["severity"]?.string ?? "") \(data["verdict"]?.string ?? "")"
        case EventEnvelope.Kind.settingsChanged: return "see latchkey settings"
        case EventEnvelope.Kind.qualityChanged:
            let why = data["why"]?["reason"]?.string.map { ", \($0)" } ?? ""
            return "\(data["runs"]?.string ?? "") quality runs\(why)"
        case EventEnvelope.Kind.linkChanged:
            let who = data["device"]?["name"]?.string ?? "not paired"
            return "\(data["session"]?.string ?? "")  \(who), \(data["state"]?.string ?? "")"
        default:
            let id = data["id"]?.string.map { "(\($0))" } ?? ""
            return [name, id].filter { !$0.isEmpty }.joined(separator: " ")
        }
    }
}
