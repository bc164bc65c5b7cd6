// SPDX-License-Identifier: Apache-2.0

package import Wire

/// Whether a source is at the other end of the USB cable of an iPhone or iPad (04 §3). Pure: what was read arrives as
/// values, and the first row that fails names the reason.
package enum CableRule {
    /// All of 3.1 to 3.4, in this order:
    ///
    /// 1. the source is an IPv6 link-local address with an interface
    /// 2. and none of the machine's own
    /// 3. the interface is the network function of an iPhone or iPad
    /// 4. the neighbour table has a real other end for the source
    package static func judge(_ facts: CableFacts) -> CableVerdict {
        if let reason = source(facts.source) { return .not(reason) }
        if let reason = ownAddress(facts.source, facts.ownAddresses) { return .not(reason) }
        guard let interface = facts.interface else { return .not(.noInterface) }
        let verdict = judge(facts.rows, interface: interface, index: facts.source.scope)
        guard case .cable = verdict else { return verdict }
        if let reason = neighbour(facts.neighbour, own: facts.hardwareAddress) { return .not(reason) }
        return verdict
    }

    /// 3.1: IPv6 link-local with a zone. IPv4 never: USB Ethernet adapters and bridges use 169.254/16 too.
    package static func source(_ source: IPAddress) -> CableReason? {
        guard source.family == .v6, source.isLinkLocal else { return .notLinkLocal }
        return source.scope == 0 ? .noZone : nil
    }

    /// 3.2: no own address, of whatever interface. A local process that dials the interface's own address with its zone
    /// arrives with that very source.
    package static func ownAddress(_ source: IPAddress, _ own: [IPAddress]?) -> CableReason? {
        guard let own else { return .unreadable }
        return own.contains { $0.unscoped == source.unscoped } ? .ownAddress : nil
    }

    /// 3.3, rows 1 to 17 for the interface of this name and index.
    package static func judge(_ rows: CableRows, interface: String, index: UInt32) -> CableVerdict {
        guard let link = rows.interface else { return .not(.unreadable) }
        if let reason = link.failure(index: index) { return .not(reason) }
        guard let function = rows.function else { return .not(.unreadable) }
        if let reason = function.failure { return .not(reason) }
        guard let maker = rows.maker else { return .not(.unreadable) }
        if let reason = maker.failure { return .not(reason) }
        guard let device = rows.device else { return .not(.unreadable) }
        if let reason = device.failure(folder: function.folder) { return .not(reason) }
        guard let plug = rows.plug else { return .not(.unreadable) }
        if let reason = plug.failure(link: link, function: function) { return .not(reason) }
        guard case .device(let id) = device.serial, let name = plug.name(index: index) else {
            return .not(.unreadable)
        }
        return .cable(CableFinding(device: id, plug: name, interface: interface))
    }

    /// 3.4: a handshake has just passed, so a true other end has an entry; one that somebody pinned by hand, or that is
    /// the machine itself, is none.
    package static func neighbour(_ reading: NeighbourReading, own: FileReading) -> CableReason? {
        guard case .entry(let entry) = reading, entry.isReal else { return .neighbour }
        guard case .text(let text) = own, let own = hardwareAddress(text) else { return .unreadable }
        return entry.address == own ? .neighbour : nil
    }

    /// The device's identity: the first 16 bytes of SHA-256 of `sill-cable-v1` and the serial number, base64url
    /// (04 §6). nil when the hash is none.
    package static func device(serial: [UInt8], sha256: ([UInt8]) -> [UInt8]) -> String? {
        let hash = sha256(Array("sill-cable-v1".utf8) + serial)
        return hash.count == 32 ? Base64URL.encode(hash.prefix(16)) : nil
    }
}

extension CableNeighbour {
    // <linux/neighbour.h>: PERMANENT and NOARP are somebody's word, INCOMPLETE and FAILED nobody's.
    private static let reachable: UInt16 = 0x02
    private static let stale: UInt16 = 0x04
    private static let delay: UInt16 = 0x08
    private static let probe: UInt16 = 0x10

    /// It was learned from the link, and is a single Ethernet address.
    package var isReal: Bool {
        [Self.reachable, Self.stale, Self.delay, Self.probe].contains(state) && address.count == 6
            && address.contains { $0 != 0 } && address[0] & 0x01 == 0
    }
}

extension CableRows.Interface {
    // <linux/if.h>.
    private static let up: UInt32 = 0x1
    private static let neverSet: UInt32 = 0x8 | 0x10 | 0x80  // loopback, point-to-point, no ARP

    /// 1. the index of before; 2. Ethernet; 3. up, and no loopback, point-to-point or without ARP; 4. nothing above it.
    package func failure(index: UInt32) -> CableReason? {
        self.index.failure(.indexChanged) { $0.isExactly("\(index)") }
            ?? type.failure(.notEthernet) { $0.isExactly("1") }
            ?? flags.failure(.flags) { text in
                hexValue(text, digits: 8).map { $0 & Self.up != 0 && $0 & Self.neverSet == 0 } ?? false
            }
            ?? (isStacked.map { $0 ? .stacked : nil } ?? .unreadable)
    }
}

extension CableRows.Function {
    private static let communications: UInt32 = 2
    private static let networkControlModel: UInt32 = 13

    /// The device behind the interface hangs on the USB bus (row 6); for reports.
    package var isUSB: Bool { offUSB == nil }

    private var offUSB: CableReason? { subsystem.failure(.notUSB) { $0.last?.isExactly("usb") ?? false } }

    /// 5. a device behind it; 6. on the USB bus; 7. a USB interface; 8. not Personal Hotspot's; 9. CDC NCM; 10. by the
    /// driver for it.
    package var failure: CableReason? {
        folder.failure(.notUSB) { $0.first == "devices" && $0.count > 1 }
            ?? offUSB
            ?? event.failure(.notUSB) { deviceType($0)?.isExactly("usb_interface") ?? false }
            ?? hotspot
            ?? interfaceClass.failure(.wrongFunction) { hexValue($0, digits: 2) == Self.communications }
            ?? interfaceSubClass.failure(.wrongFunction) {
                hexValue($0, digits: 2) == Self.networkControlModel
            }
            ?? driver.failure(.wrongDriver) { $0.last?.isExactly("cdc_ncm") ?? false }
    }

    /// `ipheth` leads through the phone to its carrier. A missing driver passes here.
    private var hotspot: CableReason? {
        switch driver {
        case .path(let path): path.last?.isExactly("ipheth") == true ? .personalHotspot : nil
        case .unreadable: .unreadable
        case .missing, .astray: nil
        }
    }
}

extension CableRows.Maker {
    /// 11. a USB device; 12. Apple's; 13. an iPhone or iPad by its product name.
    package var failure: CableReason? {
        event.failure(.notUSB) { deviceType($0)?.isExactly("usb_device") ?? false }
            ?? vendor.failure(.wrongVendor) { $0.utf8.count == 4 && hexValue($0, digits: 4) == 0x05AC }
            ?? product.failure(.wrongProduct) { $0.isExactly("iPhone") || $0.isExactly("iPad") }
    }
}

extension CableRows.Device {
    private static let virtualHosts = ["vhci_hcd", "dummy_hcd"]

    /// 14. it has a serial number; 15. the kernel may use it; 16. it hangs on no emulated host. `folder` is its
    /// function's.
    package func failure(folder: LinkReading) -> CableReason? {
        switch serial {
        case .device: break
        case .empty, .missing: return .noSerial
        case .unreadable: return .unreadable
        }
        if authorized != .missing,
            let reason = authorized.failure(.unauthorized, { $0.isExactly("1") })
        {
            return reason
        }
        guard case .path(let path) = folder else { return .notUSB }
        let isVirtual = path.dropLast().contains { part in
            Self.virtualHosts.contains { part.utf8.starts(with: $0.utf8) }
        }
        return isVirtual ? .virtualBus : nil
    }
}

extension CableRows.Plug {
    /// 17. both numbers are numbers; index, folder and device number are those of before.
    package func failure(link: CableRows.Interface, function: CableRows.Function) -> CableReason? {
        bus.failure(.unreadable) { decimalValue($0) != nil }
            ?? device.failure(.unreadable) { decimalValue($0) != nil }
            ?? indexAgain.failure(.changed) { _ in indexAgain == link.index }
            ?? (folderAgain == .unreadable ? .unreadable : nil)
            ?? (folderAgain == function.folder ? nil : .changed)
            ?? deviceAgain.failure(.changed) { _ in deviceAgain == device }
    }

    /// `3:17/9`; nil when a number is none.
    func name(index: UInt32) -> String? {
        guard case .text(let bus) = bus, case .text(let device) = device, let bus = decimalValue(bus),
            let device = decimalValue(device)
        else { return nil }
        return "\(bus):\(device)/\(index)"
    }
}

// MARK: - Reading what was read

extension FileReading {
    /// nil when the text is as a row wants it; a file without a text fails whatever the row.
    fileprivate func failure(_ reason: CableReason, _ holds: (String) -> Bool) -> CableReason? {
        guard case .text(let text) = self else { return .unreadable }
        return holds(text) ? nil : reason
    }
}

extension LinkReading {
    /// nil when the path is as a row wants it; a link that leads nowhere fails the row.
    fileprivate func failure(_ reason: CableReason, _ holds: ([String]) -> Bool) -> CableReason? {
        switch self {
        case .path(let path): holds(path) ? nil : reason
        case .missing, .astray: reason
        case .unreadable: .unreadable
        }
    }
}

extension String {
    /// Byte for byte: `==` takes canonically equivalent texts as the same.
    fileprivate func isExactly(_ word: String) -> Bool { utf8.elementsEqual(word.utf8) }
}

/// The value of the one `DEVTYPE=` line of a uevent; nil without one, or with two that might disagree.
private func deviceType(_ event: String) -> String? {
    let key = "DEVTYPE="
    let lines = event.utf8.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: key.utf8) }
    guard lines.count == 1, let line = lines.first else { return nil }
    return String(Substring(line.dropFirst(key.utf8.count)))
}

/// `0d`, `0D`, `d` or `0x0d`, of at most so many digits; nil for anything else.
private func hexValue(_ text: String, digits: Int) -> UInt32? {
    var units = Substring(text).utf8
    if units.starts(with: "0x".utf8) { units = units.dropFirst(2) }
    guard (1...digits).contains(units.count) else { return nil }
    var value: UInt32 = 0
    for unit in units {
        guard let digit = Hex.value(of: unit) else { return nil }
        value = value << 4 | UInt32(digit)
    }
    return value
}

/// ASCII digits alone, at most nine; nil for anything else.
private func decimalValue(_ text: String) -> UInt32? {
    let units = text.utf8
    guard (1...9).contains(units.count), units.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return units.reduce(0) { $0 * 10 + UInt32($1 - 0x30) }
}

/// `02:11:22:33:44:55`; nil for anything but six bytes in hex.
private func hardwareAddress(_ text: String) -> [UInt8]? {
    let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == 6 else { return nil }
    var bytes: [UInt8] = []
    for part in parts {
        guard part.count == 2, let value = hexValue(String(Substring(part)), digits: 2) else { return nil }
        bytes.append(UInt8(truncatingIfNeeded: value))
    }
    return bytes
}
