// SPDX-License-Identifier: Apache-2.0

/// Which signals are wanted (D-Bus specification, "Match Rules").
package struct BusMatch: Sendable, Equatable {
    /// The bus's own name, the one name that is its own sender.
    package static let busName = "org.freedesktop.DBus"
    /// Where the bus's own object is.
    package static let busPath = "/org/freedesktop/DBus"

    /// Where the object is.
    package enum Place: Sendable, Equatable {
        case at(String)
        /// This object and all below it.
        case under(String)
    }

    /// The sender's **unique** name, or ``busName``. Anybody on the bus can send a signal straight to this process
    /// that looks like a service's; only the unique name, which the bus itself writes, tells them apart. A well-known
    /// name never matches.
    package var sender: String
    package var place: Place
    /// nil: any.
    package var interface: String?
    /// nil: any.
    package var member: String?
    /// The first argument, when it must be this text.
    package var firstArgument: String?

    package init(
        sender: String, place: Place, interface: String? = nil, member: String? = nil,
        firstArgument: String? = nil
    ) {
        self.sender = sender
        self.place = place
        self.interface = interface
        self.member = member
        self.firstArgument = firstArgument
    }

    /// As `AddMatch` takes it.
    var rule: String {
        var parts = [("type", "signal"), ("sender", sender)]
        switch place {
        case .at(let path): parts.append(("path", path))
        case .under(let path): parts.append(("path_namespace", path))
        }
        if let interface { parts.append(("interface", interface)) }
        if let member { parts.append(("member", member)) }
        if let firstArgument { parts.append(("arg0", firstArgument)) }
        return parts.map { "\($0)='\($1.replacing("'", with: "'\\''"))'" }.joined(separator: ",")
    }

    /// Whether a signal that arrived is one of these, its arguments not looked at.
    func fits(sender: String, path: String, interface: String, member: String) -> Bool {
        guard sender == self.sender, self.interface == nil || self.interface == interface,
            self.member == nil || self.member == member
        else { return false }
        switch place {
        case .at(let wanted): return path == wanted
        case .under("/"): return true
        case .under(let wanted): return path == wanted || path.hasPrefix(wanted + "/")
        }
    }
}

/// A signal that arrived.
package struct BusSignal: Sendable, Equatable {
    /// The unique name of who sent it, as the bus wrote it.
    package let sender: String
    package let path: String
    package let interface: String
    package let member: String
    /// Empty also when they cannot be read.
    package let arguments: [BusValue]

    package init(sender: String, path: String, interface: String, member: String, arguments: [BusValue]) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }
}
