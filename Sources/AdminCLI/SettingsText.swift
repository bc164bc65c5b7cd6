// SPDX-License-Identifier: Apache-2.0

package import APITypes
internal import Wire

/// Settings for people, under the names that `set` takes. Pure.
package enum SettingsText {
    /// All of them.
    package static func table(_ settings: SettingsBody, style: Style) -> String {
        let json = (try? JSON.parse(settings.jsonBytes)) ?? .object([])
        var rows = Columns()
        for key in SettingKey.all {
            let isHeld = key.path.first.map { settings.overridden.contains($0) } ?? false
            rows.add([
                .init(key.name, .faint), .init(shown(key, json)),
                .init(isHeld ? "held by an option of latchkeyd for this run" : "", .attention),
            ])
        }
        return rows.text(style)
    }

    /// The values that a change just set.
    package static func changed(_ changes: [SettingChange], _ settings: SettingsBody, style: Style) -> String
    {
        let json = (try? JSON.parse(settings.jsonBytes)) ?? .object([])
        var rows = Columns()
        for key in SettingKey.all where changes.contains(where: { $0.path == key.path }) {
            rows.add([.init(key.name, .faint), .init(shown(key, json))])
        }
        return rows.text(style)
    }

    private static func shown(_ key: SettingKey, _ json: JSON) -> String {
        var value: JSON? = json
        for step in key.path { value = value?[step] }
        switch value {
        case .bool(let isOn): return isOn ? "on" : "off"
        case .integer(let number):
            return key.kind == .bits ? "\(number) (\(TimeText.bitrate(Int(number))))" : String(number)
        case .string(let text): return text.isEmpty ? "-" : text
        default: return "-"
        }
    }
}
