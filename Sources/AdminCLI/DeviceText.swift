// SPDX-License-Identifier: Apache-2.0

package import APITypes
package import Wire

/// Devices for people. Pure.
package enum DeviceText {
    /// The list.
    package static func list(_ devices: [Device], now: WallTime, style: Style) -> String {
        if devices.isEmpty { return "No devices yet. Pair one with: latchkey pair\n" }
        var table = Columns(headings: ["ID", "NAME", "MODEL", "PAIRED", "LAST SEEN", "CONNECTED"])
        for device in devices {
            table.add([
                .init(device.id, .strong), .init(device.name), .init(device.model ?? "-"),
                .init("\(TimeText.relative(device.pairedAt, to: now)) (\(device.pairedHow))"),
                .init(lastSeen(device, now)), connected(device),
            ])
        }
        return table.text(style)
    }

    /// One device with all that is known.
    package static func details(_ device: Device, now: WallTime, style: Style) -> String {
        var rows = Columns()
        rows.add("Name", device.name, .strong)
        rows.add("ID", device.id)
        rows.add("Model", device.model ?? "-")
        rows.add("Paired", "\(TimeText.relative(device.pairedAt, to: now)) (\(how(device.pairedHow)))")
        rows.add("Last seen", lastSeen(device, now))
        rows.add([.init("Connected", .faint), connected(device)])
        rows.add("Cable", device.cableBound ? "known by its cable" : "-")
        rows.add("Fingerprint", "\(device.shortName)  \(device.fingerprint)")
        return rows.text(style)
    }

    /// "Anna's iPad (7K3QXXXXXXXXXXXX)".
    package static func called(_ device: Device) -> String { "\(device.name.visible) (\(device.id))" }

    private static func lastSeen(_ device: Device, _ now: WallTime) -> String {
        guard let at = device.lastSeenAt else { return "never" }
        let when = TimeText.relative(at, to: now)
        return device.lastRoute.map { "\(when) (\($0))" } ?? when
    }

    private static func connected(_ device: Device) -> Columns.Cell {
        switch device.connected {
        case ...0: .init("-")
        case 1: .init("yes", .good)
        default: .init(TimeText.count(device.connected, "session"), .good)
        }
    }

    private static func how(_ word: String) -> String {
        switch word {
        case "qr": "by QR code"
        case "code": "by typed code"
        case "cable": "over the cable"
        case "import": "imported"
        default: word
        }
    }
}
