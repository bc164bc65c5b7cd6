// SPDX-License-Identifier: Apache-2.0

package import Policy
package import Wire

/// Reads what the cable rule judges, group by group, and stops where the rule does (04 §3.3). Keeps nothing: each look
/// is a new one. May wait for the kernel; ``CableWitness`` is what answers in time.
package struct CableReader: Sendable {
    let network: CableNetwork
    private let root: String
    private let sha256: @Sendable ([UInt8]) -> [UInt8]
    /// Called between the first look at a plugging-in and the second; for what changes meanwhile.
    var beforeSecondLook: @Sendable () -> Void = {}

    /// Reads the tree at `sysfs`; `sha256` hashes the serial number, which nothing else sees.
    package init(
        sysfs root: String = "/sys", network: CableNetwork = .kernel,
        sha256: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.root = root
        self.network = network
        self.sha256 = sha256
    }

    /// The whole rule for one source.
    package func judge(_ source: IPAddress) -> CableVerdict { CableRule.judge(facts(of: source)) }

    /// What is to be judged about one source.
    func facts(of source: IPAddress) -> CableFacts {
        var facts = CableFacts(source: source)
        if CableRule.source(source) != nil { return facts }
        facts.ownAddresses = network.ownAddresses()
        if CableRule.ownAddress(source, facts.ownAddresses) != nil { return facts }
        facts.interface = network.interfaceName(source.scope).flatMap { Self.isName($0) ? $0 : nil }
        guard let interface = facts.interface else { return facts }
        let look = look(at: interface)
        facts.rows = rows(look, index: source.scope)
        guard case .cable = CableRule.judge(facts.rows, interface: interface, index: source.scope) else {
            return facts
        }
        facts.neighbour = network.neighbour(source, source.scope)
        facts.hardwareAddress = look.hardwareAddress
        return facts
    }

    /// Begins a look at one interface.
    func look(at interface: String) -> CableLook {
        CableLook(tree: SysfsTree(root: root), interface: interface)
    }

    /// Rows 1 to 17.
    func rows(_ look: CableLook, index: UInt32) -> CableRows {
        var rows = CableRows()
        let interface = look.link
        rows.interface = interface
        if interface.failure(index: index) != nil { return rows }
        let function = look.function
        rows.function = function
        guard function.failure == nil, case .path(let folder) = function.folder else { return rows }
        let maker = look.maker(of: folder)
        rows.maker = maker
        if maker.failure != nil { return rows }
        let device = look.device(of: folder, sha256: sha256)
        rows.device = device
        if device.failure(folder: function.folder) != nil { return rows }
        rows.plug = look.plug(of: folder, beforeSecondLook)
        return rows
    }

    /// The kernel allows neither in a name; nothing else may lead out of the directory.
    private static func isName(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.contains("/")
    }
}

/// One look at one interface in sysfs.
struct CableLook {
    private let tree: SysfsTree
    private let interface: String
    /// The interface's own directory, its link followed; nil when it has none in the tree.
    private let home: SysfsTree.Path?

    init(tree: SysfsTree, interface: String) {
        self.tree = tree
        self.interface = interface
        if case .path(let path) = tree.link(["class", "net"], interface) { home = path } else { home = nil }
    }

    /// Rows 1 to 4.
    var link: CableRows.Interface {
        var found = CableRows.Interface()
        found.index = text("ifindex")
        found.type = text("type")
        found.flags = text("flags")
        found.isStacked = home.flatMap { tree.names($0) }?.contains {
            $0 == "master" || $0.utf8.starts(with: "upper_".utf8)
        }
        return found
    }

    /// Rows 5 to 10.
    var function: CableRows.Function {
        var found = CableRows.Function()
        found.folder = folder
        guard case .path(let folder) = found.folder else { return found }
        found.subsystem = tree.link(folder, "subsystem")
        found.event = tree.text(folder, "uevent")
        found.driver = tree.link(folder, "driver")
        found.interfaceClass = tree.text(folder, "bInterfaceClass")
        found.interfaceSubClass = tree.text(folder, "bInterfaceSubClass")
        return found
    }

    /// Rows 11 to 13, in the directory above the function's.
    func maker(of folder: SysfsTree.Path) -> CableRows.Maker {
        let above = folder.dropLast()
        var found = CableRows.Maker()
        found.event = tree.text(Array(above), "uevent")
        found.vendor = tree.text(Array(above), "idVendor")
        found.product = tree.text(Array(above), "product")
        return found
    }

    /// Rows 14 and 15. The serial number goes from the file into the hash.
    func device(of folder: SysfsTree.Path, sha256: ([UInt8]) -> [UInt8]) -> CableRows.Device {
        let above = Array(folder.dropLast())
        var found = CableRows.Device()
        found.serial =
            switch tree.text(above, "serial") {
            case .text(""): .empty
            case .text(let text):
                CableRule.device(serial: Array(text.utf8), sha256: sha256).map { .device($0) } ?? .unreadable
            case .missing: .missing
            case .unreadable: .unreadable
            }
        found.authorized = tree.text(above, "authorized")
        return found
    }

    /// Row 17: the numbers of this plugging-in, then all that would be another one after a new one.
    func plug(of folder: SysfsTree.Path, _ beforeSecondLook: () -> Void) -> CableRows.Plug {
        let above = Array(folder.dropLast())
        var found = CableRows.Plug()
        found.bus = tree.text(above, "busnum")
        found.device = tree.text(above, "devnum")
        beforeSecondLook()
        // From the name again: another interface may have it by now.
        let again = CableLook(tree: tree, interface: interface)
        found.indexAgain = again.text("ifindex")
        found.folderAgain = again.folder
        found.deviceAgain = tree.text(above, "devnum")
        return found
    }

    /// The interface's own link-layer address.
    var hardwareAddress: FileReading { text("address") }

    /// For the report alone.
    func productID(of folder: SysfsTree.Path) -> FileReading {
        tree.text(Array(folder.dropLast()), "idProduct")
    }

    private var folder: LinkReading { home.map { tree.link($0, "device") } ?? .missing }

    private func text(_ name: String) -> FileReading { home.map { tree.text($0, name) } ?? .missing }
}
