// SPDX-License-Identifier: Apache-2.0

package import Policy

/// What the cable rule finds on one interface, as `print-cable` shows it (04 §8). Holds no serial number and nothing made
/// from one.
package struct CableReport: Sendable, Equatable {
    /// The kernel's name.
    package var interface: String
    package var index: UInt32
    /// The driver of the device behind it; nil for a virtual interface.
    package var driver: String?
    /// `idVendor`, `idProduct` and `product` of its USB device, as it says them; nil for anything else.
    package var vendor: String?
    package var productID: String?
    package var product: String?
    /// Why rows 1 to 17 are not all true; nil when they are: it is the cable.
    package var reason: CableReason?
    /// It has an IPv6 link-local address, without which nothing comes over it that could be the cable.
    package var hasLinkLocal: Bool
    /// Neighbours on it that were learned from the link.
    package var neighbours: Int
    /// This plugging-in, `3:17/9`; nil for what is not the cable.
    package var plug: String?

    package init(
        interface: String, index: UInt32, driver: String? = nil, vendor: String? = nil,
        productID: String? = nil, product: String? = nil, reason: CableReason?, hasLinkLocal: Bool,
        neighbours: Int, plug: String? = nil
    ) {
        self.interface = interface
        self.index = index
        self.driver = driver
        self.vendor = vendor
        self.productID = productID
        self.product = product
        self.reason = reason
        self.hasLinkLocal = hasLinkLocal
        self.neighbours = neighbours
        self.plug = plug
    }
}

extension CableReader {
    /// Rows 1 to 17 for every interface, in the kernel's order; nil when the kernel does not list them. One that does
    /// not answer within the rule's time is told as unreadable.
    package func survey() -> [CableReport]? { survey(within: CableWitness.budget) }

    /// The same with another limit for each interface.
    func survey(within limit: Duration) -> [CableReport]? {
        network.links()?.map { link in
            NetFacts.within(limit) { report(on: link) }
                ?? CableReport(
                    interface: link.name, index: link.index, reason: .unreadable,
                    hasLinkLocal: link.hasLinkLocal, neighbours: link.neighbours)
        }
    }

    private func report(on link: CableNetwork.Link) -> CableReport {
        let look = look(at: link.name)
        let rows = rows(look, index: link.index)
        var report = CableReport(
            interface: link.name, index: link.index, reason: nil, hasLinkLocal: link.hasLinkLocal,
            neighbours: link.neighbours)
        switch CableRule.judge(rows, interface: link.name, index: link.index) {
        case .cable(let finding): report.plug = finding.plug
        case .not(let reason): report.reason = reason
        }
        // A person wants to know what it is also when an early row failed.
        let function = rows.function ?? look.function
        report.driver = function.driver.last
        guard case .path(let folder) = function.folder, function.isUSB else { return report }
        let maker = rows.maker ?? look.maker(of: folder)
        report.vendor = maker.vendor.text
        report.product = maker.product.text
        report.productID = look.productID(of: folder).text
        return report
    }
}

extension FileReading {
    fileprivate var text: String? { if case .text(let text) = self { text } else { nil } }
}

extension LinkReading {
    fileprivate var last: String? { if case .path(let path) = self { path.last } else { nil } }
}
