// SPDX-License-Identifier: Apache-2.0

/// Avahi's D-Bus interface (avahi-daemon(8), org.freedesktop.Avahi.Server.xml and EntryGroup.xml), as far as it is used.
enum AvahiWords {
    static let name = "org.freedesktop.Avahi"
    static let server = "org.freedesktop.Avahi.Server"
    static let serverPath = "/"
    static let group = "org.freedesktop.Avahi.EntryGroup"
    static let stateChanged = "StateChanged"
    static let serviceType = "_sill._tcp"

    // AvahiServerState and AvahiEntryGroupState (avahi-common/defs.h).
    static let serverRunning: Int32 = 2
    static let groupRegistering: Int32 = 1
    static let groupEstablished: Int32 = 2
    static let groupCollision: Int32 = 3
    static let groupFailure: Int32 = 4

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
                    .int32(Int32(clamping: target.interface)), .int32(-1), .uint32(0),
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
            .int32(Int32(clamping: interface)), .int32(-1), .uint32(0), .string(content.name),
            .string(serviceType),
        ]
    }

    /// The TXT record of 02 §7.3.
    private static func text(_ content: AvahiRegistration.Content) -> BusValue {
        .byteArrays([
            Array("r=\(content.tag)".utf8), Array("p=\(content.isPairingRequired ? 1 : 0)".utf8),
        ])
    }
}
