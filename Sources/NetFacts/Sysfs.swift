// SPDX-License-Identifier: Apache-2.0

internal import Sockets

/// `/sys/class/net`, read afresh each time: a few look-ups, and only when the network changed.
struct Sysfs {
    /// Another place in tests.
    var root = "/sys/class/net"

    func facts(_ name: String) -> DeviceFacts {
        // The kernel allows neither in a name; nothing else may lead out of the directory.
        guard !name.contains("/"), name != ".", name != ".." else { return DeviceFacts() }
        let folder = "\(root)/\(name)"
        var facts = DeviceFacts()
        facts.isPhysical = fileFacts(folder + "/device") != nil
        facts.isWireless = fileFacts(folder + "/wireless") != nil || fileFacts(folder + "/phy80211") != nil
        if let event = try? readFile(folder + "/uevent", limit: 4096) {
            facts.isModem = event.split(separator: UInt8(ascii: "\n")).contains {
                $0.elementsEqual("DEVTYPE=wwan".utf8)
            }
        }
        return facts
    }
}
