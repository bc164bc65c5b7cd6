// SPDX-License-Identifier: Apache-2.0

package import APITypes
internal import Wire

/// What a person names a device by: an ID, the start of one, or an exact name when it is unique (spec 08).
/// Pure.
package struct DeviceReference: Equatable, Sendable {
    /// As it was typed.
    package let text: String

    package init(_ text: String) { self.text = text }

    /// The letters of an ID or of the start of one, in upper case; nil when it cannot be one.
    var idPrefix: String? {
        let upper = text.uppercased()
        let letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
        guard (4...16).contains(upper.count), upper.allSatisfy({ letters.contains($0) }) else { return nil }
        return upper
    }

    /// Whether it is a whole ID, which then means that device and no name.
    var isWholeID: Bool { idPrefix?.count == 16 }

    /// The one device that is meant among `devices`. First match wins: 1. a whole ID; 2. what a start of an
    /// ID or an exact name fits, if it is one device.
    ///
    /// Throws exit code 4 when none fits, 5 with the candidates when several do.
    package func find(in devices: [Device]) throws(Failure) -> Device {
        if isWholeID, let exact = devices.first(where: { $0.id == idPrefix }) { return exact }
        var found: [Device] = []
        for device in devices {
            let startFits = idPrefix.map { device.id.hasPrefix($0) } ?? false
            if startFits || device.name == text, !found.contains(where: { $0.id == device.id }) {
                found.append(device)
            }
        }
        if found.count == 1 { return found[0] }
        if found.isEmpty {
            throw Failure(
                .notFound, "no paired device is \"\(text)\"",
                advice: ["See the paired devices with: latchkey list"])
        }
        let shown = found.prefix(20).map { "\($0.id)  \($0.name)" }
        let more = found.count > shown.count ? ["and \(found.count - shown.count) more"] : []
        throw Failure(.ambiguous, "\"\(text)\" could be \(found.count) devices", advice: shown + more)
    }
}
