// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import SystemBus

/// The calls as Avahi declares them, type by type.
struct AvahiWordsTests {
    static let content = AvahiRegistration.Content(
        name: "Desk", port: 54021, tag: "oaKjpKWmL4V47Ctm", isPairingRequired: false)

    @Test(
        "each step is the call Avahi declares",
        arguments: [
            (AvahiRegistration.Step.askState, "/", "Server.GetState", ""),
            (.rename("Desk"), "/", "Server.GetAlternativeServiceName", "s"),
            (.makeGroup, "/", "Server.EntryGroupNew", ""),
            (.add(group: "/g", interface: 2, content), "/g", "EntryGroup.AddService", "iiussssqaay"),
            (.update(group: "/g", interface: 2, content), "/g", "EntryGroup.UpdateServiceTxt", "iiusssaay"),
            (.commit(group: "/g"), "/g", "EntryGroup.Commit", ""),
            (.free(group: "/g"), "/g", "EntryGroup.Free", ""),
            (.lookFor(interface: 2), "/", "Server.GetNetworkInterfaceNameByIndex", "i"),
            (.farewell(.askDomain), "/", "Server.GetDomainName", ""),
            (.farewell(.makeGroup), "/", "Server.EntryGroupNew", ""),
            (
                .farewell(.add(group: "/g", .init(interface: 2, name: "Desk"), domain: "local")), "/g",
                "EntryGroup.AddRecord", "iiusqquay"
            ),
            (.farewell(.commit(group: "/g")), "/g", "EntryGroup.Commit", ""),
            (.farewell(.free(group: "/g")), "/g", "EntryGroup.Free", ""),
        ])
    func signatures(_ step: AvahiRegistration.Step, _ path: String, _ member: String, _ signature: String) {
        let call = AvahiWords.call(step, to: ":1.5")
        #expect(call?.destination == ":1.5" && call?.path == path)
        #expect(call.map { "\($0.interface).\($0.member)" } == "org.freedesktop.Avahi.\(member)")
        #expect(call?.arguments.map(\.signature).joined() == signature)
    }

    static let service = AvahiService(
        interface: 2, family: .v6, name: "Desk", type: "_sill._tcp", domain: "local")

    @Test(
        "and each of a search",
        arguments: [
            (AvahiBrowsing.Step.browse, "/", "Server.ServiceBrowserNew", "iissu"),
            (.resolve(service), "/", "Server.ServiceResolverNew", "iisssiu"),
            (.freeBrowser("/b"), "/b", "ServiceBrowser.Free", ""),
            (.freeResolver("/r"), "/r", "ServiceResolver.Free", ""),
        ])
    func browsing(_ step: AvahiBrowsing.Step, _ path: String, _ member: String, _ signature: String) {
        let call = AvahiWords.call(step, to: ":1.5")
        #expect(call.destination == ":1.5" && call.path == path)
        #expect("\(call.interface).\(call.member)" == "org.freedesktop.Avahi.\(member)")
        #expect(call.arguments.map(\.signature).joined() == signature)
    }

    /// Everywhere, by both protocols; and each service by the one it was heard by.
    @Test func whereIsSearched() {
        #expect(
            AvahiWords.call(AvahiBrowsing.Step.browse, to: ":1.5").arguments == [
                .int32(-1), .int32(-1), .string("_sill._tcp"), .string(""), .uint32(0),
            ])
        #expect(
            AvahiWords.call(.resolve(Self.service), to: ":1.5").arguments == [
                .int32(2), .int32(1), .string("Desk"), .string("_sill._tcp"), .string("local"), .int32(1),
                .uint32(0),
            ])
    }

    /// 02 §7.3: the type, and TXT keys `r` and `p`, on one interface and both families.
    @Test func theRecord() {
        let call = AvahiWords.call(.add(group: "/g", interface: 2, Self.content), to: ":1.5")
        let text = BusValue.byteArrays([Array("r=oaKjpKWmL4V47Ctm".utf8), Array("p=0".utf8)])
        #expect(
            call?.arguments == [
                .int32(2), .int32(-1), .uint32(0), .string("Desk"), .string("_sill._tcp"), .string(""),
                .string(""), .uint16(54021), text,
            ])
    }

    /// A name is one label, whatever it holds (RFC 6763 §4.3).
    @Test func theListedName() {
        let bytes = AvahiFarewell.listed("a.b é", type: "_sill._tcp", domain: "local")
        #expect(
            bytes == [6] + Array("a.b é".utf8) + [5] + Array("_sill".utf8) + [4] + Array("_tcp".utf8)
                + [5] + Array("local".utf8) + [0])
    }

    @Test func drawingATagCallsNobody() { #expect(AvahiWords.call(.drawTag, to: ":1.5") == nil) }
}
