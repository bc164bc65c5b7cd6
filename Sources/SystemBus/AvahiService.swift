// SPDX-License-Identifier: Apache-2.0

package import Wire

/// A service as Avahi lists it: its name on one interface, heard by one protocol. The same one may be there several times.
package struct AvahiService: Sendable, Hashable {
    /// The kernel's index of the interface.
    package var interface: UInt32
    /// By which of the two it was heard.
    package var family: IPAddress.Family
    /// Its name, which anybody on the network can take: not empty, and otherwise any text at all.
    package var name: String
    /// Such as ``homeDoorType``.
    package var type: String
    /// Such as `local`.
    package var domain: String

    /// A service.
    package init(interface: UInt32, family: IPAddress.Family, name: String, type: String, domain: String) {
        self.interface = interface
        self.family = family
        self.name = name
        self.type = type
        self.domain = domain
    }
}

extension AvahiService {
    /// The type of a home door (02 §7.3).
    package static let homeDoorType = AvahiWords.serviceType
}

/// What a service's records say, as the network said it.
package struct AvahiRecord: Sendable, Hashable {
    /// The machine's name.
    package var target: String
    /// One address of it, without an interface.
    package var address: String
    package var port: UInt16
    /// The TXT record.
    package var texts: [[UInt8]]

    /// A record.
    package init(target: String, address: String, port: UInt16, texts: [[UInt8]]) {
        self.target = target
        self.address = address
        self.port = port
        self.texts = texts
    }
}

/// What a browser is told by Avahi.
package enum AvahiEvent: Sendable, Equatable {
    /// Avahi lists from now on; nothing is listed yet.
    case began
    /// Nothing is listed any more.
    case ended(Ending)
    /// A service came.
    case listed(AvahiService)
    /// It went.
    case unlisted(AvahiService)
    /// What is known about it, for the first time or anew.
    case found(AvahiService, AvahiRecord)
    /// It cannot be found out; it may still be later.
    case notFound(AvahiService)
    /// Whoever answers has most likely answered.
    case allForNow

    /// Why it is over, until it begins again by itself.
    package enum Ending: Sendable, Equatable {
        /// Nobody on the bus is Avahi.
        case noAvahi
        /// There is no bus.
        case noBus
        /// Avahi did not do it; why, for people.
        case failed(String)
    }
}
