// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import LatchkeyClient

extension CommandRun {
    /// `latchkey list`.
    func list() throws {
        output.print(try desk().devices()) { DeviceText.list($0, now: console.now(), style: output.style) }
    }

    /// `latchkey show DEVICE`.
    func show(_ text: String) throws {
        let desk = try desk()
        let reply = try desk.device(try find(text, desk).id)
        output.print(reply) { DeviceText.details($0, now: console.now(), style: output.style) }
    }

    /// `latchkey rename DEVICE NAME`.
    func rename(_ text: String, to name: String) throws {
        let desk = try desk()
        let device = try find(text, desk)
        output.print(try desk.rename(device.id, to: name)) {
            "Renamed \(device.name.visible) to \(DeviceText.called($0)).\n"
        }
    }

    /// `latchkey remove DEVICE…`: all of them are found before the first is removed.
    func remove(_ texts: [String], isConfirmed: Bool) throws {
        if !isConfirmed, !console.inputIsTerminal {
            throw Failure(
                .usage, "remove asks first, and there is no terminal to ask on",
                advice: ["Add --yes to remove without asking."])
        }
        let desk = try desk()
        var devices: [Device] = []
        for text in texts {
            let device = try find(text, desk)
            if !devices.contains(where: { $0.id == device.id }) { devices.append(device) }
        }
        if !isConfirmed, !agrees(to: devices) {
            throw Failure(.refused, "nothing was removed")
        }
        for device in devices {
            output.print(try desk.remove(device.id)) { removed in
                let closed =
                    removed.closedSessions == 0
                    ? "It had no session."
                    : "Closed \(TimeText.count(removed.closedSessions, "session"))."
                return "Removed \(DeviceText.called(device)). \(closed)\n"
            }
        }
    }

    private func find(_ text: String, _ desk: any Desk) throws -> Device {
        let reference = DeviceReference(text)
        return try reference.find(in: try desk.candidates(for: reference))
    }

    private func agrees(to devices: [Device]) -> Bool {
        if devices.count == 1 {
            console.complain("Remove \(DeviceText.called(devices[0]))? It must pair again. [y/N] ")
        } else {
            for device in devices { console.complain("  \(DeviceText.called(device))\n") }
            console.complain("Remove these \(devices.count) devices? They must pair again. [y/N] ")
        }
        let answer = console.ask()?.lowercased().filter { !$0.isWhitespace }
        return answer == "y" || answer == "yes"
    }
}
