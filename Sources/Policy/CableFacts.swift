// SPDX-License-Identifier: Apache-2.0

package import Wire

/// What reading one small text file gave (04 §3.3, "How to read").
package enum FileReading: Sendable, Equatable {
    /// At most 4096 bytes of UTF-8, one line feed at the end dropped.
    case text(String)
    /// There is no such file.
    case missing
    /// It is there and cannot be read, is longer, or is no text.
    case unreadable
}

/// Where a symbolic link leads, every link on the way followed.
package enum LinkReading: Sendable, Equatable {
    /// The names from the sysfs root to its end, `["bus", "usb"]`; that of a directory.
    case path([String])
    /// There is no such link.
    case missing
    /// It ends nowhere, at no directory, in a circle, or outside of the sysfs root.
    case astray
    /// It cannot be read.
    case unreadable
}

/// What the device tells about its serial number. The number itself ends in the reader, which hashes it.
package enum CableSerial: Sendable, Equatable {
    /// A number, as its `cableDevice` (04 §6). Never logged, never shown.
    case device(String)
    /// A number without characters.
    case empty
    /// There is none.
    case missing
    /// It cannot be read or hashed.
    case unreadable
}

extension CableSerial: CustomStringConvertible, CustomReflectable {
    /// Whether there is one, and no more.
    package var description: String {
        switch self {
        case .device: "a serial number"
        case .empty: "an empty serial number"
        case .missing: "no serial number"
        case .unreadable: "an unreadable serial number"
        }
    }

    package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .enum) }
}

/// One entry of the kernel's neighbour table (04 §3.4).
package struct CableNeighbour: Sendable, Equatable {
    /// `NUD_*`.
    package var state: UInt16
    /// The link-layer address; empty when there is none.
    package var address: [UInt8]

    package init(state: UInt16, address: [UInt8]) {
        self.state = state
        self.address = address
    }
}

/// What the kernel's neighbour table has for the source on its interface.
package enum NeighbourReading: Sendable, Equatable {
    case entry(CableNeighbour)
    /// No entry.
    case none
    /// The kernel did not say.
    case unreadable
}

/// All that was read about one source (04 §3). What would follow the first failure is not read.
package struct CableFacts: Sendable, Equatable {
    /// Where the connection comes from, with its interface as scope.
    package var source: IPAddress
    /// The machine's own addresses, of every interface; nil when they cannot be read.
    package var ownAddresses: [IPAddress]?
    /// The name of the source's interface; nil when none has that index.
    package var interface: String?
    /// What sysfs says about it.
    package var rows = CableRows()
    /// Who the source is on that interface.
    package var neighbour = NeighbourReading.unreadable
    /// `address` of the interface: its own link-layer address.
    package var hardwareAddress = FileReading.missing

    package init(source: IPAddress, ownAddresses: [IPAddress]? = nil, interface: String? = nil) {
        self.source = source
        self.ownAddresses = ownAddresses
        self.interface = interface
    }
}

/// What sysfs says about one interface, in the groups of 04 §3.3 that are read together. A group is nil when it was not
/// read, because one before it had failed.
package struct CableRows: Sendable, Equatable {
    /// Rows 1 to 4, `R/class/net/IF`.
    package struct Interface: Sendable, Equatable {
        package var index = FileReading.missing
        package var type = FileReading.missing
        package var flags = FileReading.missing
        /// There is a `master` or an `upper_*`; nil when the directory cannot be listed.
        package var isStacked: Bool?

        package init() {}
    }

    /// Rows 5 to 10: the USB interface behind it.
    package struct Function: Sendable, Equatable {
        /// Where the interface's `device` leads.
        package var folder = LinkReading.missing
        package var subsystem = LinkReading.missing
        package var event = FileReading.missing
        package var driver = LinkReading.missing
        package var interfaceClass = FileReading.missing
        package var interfaceSubClass = FileReading.missing

        package init() {}
    }

    /// Rows 11 to 13: whose the USB device is.
    package struct Maker: Sendable, Equatable {
        package var event = FileReading.missing
        package var vendor = FileReading.missing
        package var product = FileReading.missing

        package init() {}
    }

    /// Rows 14 and 15: which device it is, and whether the kernel may use it.
    package struct Device: Sendable, Equatable {
        package var serial = CableSerial.missing
        package var authorized = FileReading.missing

        package init() {}
    }

    /// Row 17: this plugging-in, and what is read a second time.
    package struct Plug: Sendable, Equatable {
        package var bus = FileReading.missing
        package var device = FileReading.missing
        package var indexAgain = FileReading.missing
        package var folderAgain = LinkReading.missing
        package var deviceAgain = FileReading.missing

        package init() {}
    }

    package var interface: Interface?
    package var function: Function?
    package var maker: Maker?
    package var device: Device?
    package var plug: Plug?

    package init() {}
}
