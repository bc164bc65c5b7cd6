// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// Avahi's D-Bus interface (avahi-daemon(8), org.freedesktop.Avahi.Server.xml, EntryGroup.xml, ServiceBrowser.xml and
/// ServiceResolver.xml), as far as it is used.
enum AvahiWords {
    static let name = "org.freedesktop.Avahi"
    static let server = "org.freedesktop.Avahi.Server"
    static let serverPath = "/"
    static let group = "org.freedesktop.Avahi.EntryGroup"
    static let browser = "org.freedesktop.Avahi.ServiceBrowser"
    static let resolver = "org.freedesktop.Avahi.ServiceResolver"
    static let stateChanged = "StateChanged"
    static let itemNew = "ItemNew"
    static let itemRemove = "ItemRemove"
    static let allForNow = "AllForNow"
    static let found = "Found"
    static let failure = "Failure"
    static let serviceType = "_sill._tcp"

    // AvahiServerState and AvahiEntryGroupState (avahi-common/defs.h).
    static let serverRunning: Int32 = 2
    static let groupRegistering: Int32 = 1
    static let groupEstablished: Int32 = 2
    static let groupCollision: Int32 = 3
    static let groupFailure: Int32 = 4

    // AvahiIfIndex and AvahiProtocol (avahi-common/address.h).
    private static let any: Int32 = -1
    private static let protocols: [IPAddress.Family: Int32] = [.v4: 0, .v6: 1]

    /// The call of a step to the Avahi of this unique name; nil for a step that calls nobody.
    static func call(_ step: AvahiRegistration.Step, to avahi: String) -> BusCall? {
        func toServer(_ member: String, _ arguments: [BusValue] = []) -> BusCall {
            BusCall(to: avahi, path: serverPath, interface: server, member: member, arguments)
        }
        func toGroup(_ path: String, _ member: String, _ arguments: [BusValue] = []) -> BusCall {
            BusCall(to: avahi, path: path, interface: group, member: member, arguments)
        }
        return switch step {
        case .drawTag: nil
        case .askState: toServer("GetState")
        case .rename(let name): toServer("GetAlternativeServiceName", [.string(name)])
        case .makeGroup: toServer("EntryGroupNew")
        case .add(let path, let interface, let content):
            // Host and domain are Avahi's own.
            toGroup(
                path, "AddService",
                head(interface, content) + [.string(""), .string(""), .uint16(content.port), text(content)])
        case .update(let path, let interface, let content):
            toGroup(path, "UpdateServiceTxt", head(interface, content) + [.string(""), text(content)])
        case .commit(let path): toGroup(path, "Commit")
        case .free(let path): toGroup(path, "Free")
        case .lookFor(let interface):
            toServer("GetNetworkInterfaceNameByIndex", [.int32(Int32(clamping: interface))])
        case .farewell(.askDomain): toServer("GetDomainName")
        case .farewell(.makeGroup): toServer("EntryGroupNew")
        case .farewell(.add(let path, let target, let domain)):
            toGroup(
                path, "AddRecord",
                [
                    .int32(Int32(clamping: target.interface)), .int32(any), .uint32(0),
                    .string("\(serviceType).\(domain)"), .uint16(classIN), .uint16(typePTR),
                    .uint32(farewellTTL),
                    .bytes(AvahiFarewell.listed(target.name, type: serviceType, domain: domain)),
                ])
        case .farewell(.commit(let path)): toGroup(path, "Commit")
        case .farewell(.free(let path)): toGroup(path, "Free")
        }
    }

    // DNS: RFC 1035 §3.2.
    private static let classIN: UInt16 = 1
    private static let typePTR: UInt16 = 12
    /// Were it heard at all, it would be forgotten at once.
    private static let farewellTTL: UInt32 = 1

    /// Interface, protocol (unspecified), flags (none), name, type.
    private static func head(_ interface: UInt32, _ content: AvahiRegistration.Content) -> [BusValue] {
        [
            .int32(Int32(clamping: interface)), .int32(any), .uint32(0), .string(content.name),
            .string(serviceType),
        ]
    }

    /// The TXT record of 02 §7.3.
    private static func text(_ content: AvahiRegistration.Content) -> BusValue {
        .byteArrays(HomeRecord.texts(tag: content.tag, isPairingRequired: content.isPairingRequired))
    }

    // MARK: Browsing

    /// The call of a step to the Avahi of this unique name.
    static func call(_ step: AvahiBrowsing.Step, to avahi: String) -> BusCall {
        switch step {
        case .browse:
            // Everywhere, by both protocols, in Avahi's own domain; no flags.
            BusCall(
                to: avahi, path: serverPath, interface: server, member: "ServiceBrowserNew",
                [.int32(any), .int32(any), .string(serviceType), .string(""), .uint32(0)])
        case .resolve(let service):
            // An address of the protocol it was heard by: where both are spoken, both are asked.
            BusCall(
                to: avahi, path: serverPath, interface: server, member: "ServiceResolverNew",
                [
                    .int32(Int32(clamping: service.interface)), number(service.family),
                    .string(service.name), .string(service.type), .string(service.domain),
                    number(service.family), .uint32(0),
                ])
        case .freeBrowser(let path): BusCall(to: avahi, path: path, interface: browser, member: "Free")
        case .freeResolver(let path): BusCall(to: avahi, path: path, interface: resolver, member: "Free")
        }
    }

    private static func number(_ family: IPAddress.Family) -> BusValue {
        .int32(protocols[family] ?? any)
    }

    /// What `ItemNew` and `ItemRemove` are about: interface, protocol, name, type, domain, flags.
    static func service(_ arguments: [BusValue]) -> AvahiService? {
        guard arguments.count == 6, let index = arguments[0].signedNumber, index > 0,
            let family = protocols.first(where: { $0.value == arguments[1].signedNumber })?.key,
            let name = arguments[2].text, !name.isEmpty, let type = arguments[3].text,
            let domain = arguments[4].text
        else { return nil }
        return AvahiService(
            interface: UInt32(index), family: family, name: name, type: type, domain: domain)
    }

    /// What `Found` says after interface, protocol, name, type and domain: host, protocol, address, port, TXT, flags.
    static func record(_ arguments: [BusValue]) -> AvahiRecord? {
        guard arguments.count == 11, let target = arguments[5].text, let address = arguments[7].text,
            case .uint16(let port) = arguments[8], case .array("ay", let texts) = arguments[9]
        else { return nil }
        return AvahiRecord(
            target: target, address: address, port: port,
            texts: texts.compactMap { if case .bytes(let bytes) = $0 { bytes } else { nil } })
    }
}
