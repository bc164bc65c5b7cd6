// SPDX-License-Identifier: Apache-2.0

import Sockets
import Testing
import Wire

@Suite("Interfaces")
struct InterfacesTests {
    @Test("this machine has a loopback with its address, under its name and index")
    func loopback() throws {
        let own = try ownAddresses()
        #expect(own.contains(IPAddress(v4: 0x7F00_0001)))
        let index = try #require(interfaceIndex("lo"))
        #expect(interfaceName(index) == "lo")
    }

    @Test("what there is not has neither name nor index")
    func none() {
        #expect(interfaceIndex("no-such-if") == nil && interfaceIndex("") == nil)
        #expect(interfaceName(0) == nil && interfaceName(0x7FFF_FFFF) == nil)
    }
}
