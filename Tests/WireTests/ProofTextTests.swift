// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@Suite struct ProofTextTests {
    private static let mac = "348a629f5ceed032c3e8706ec47d9bfafb00fb4250b018dd965435ca50cb836e"
    private static let device = "263a4dbe41488fb87214b0032339dbb9f0c8da14c16dfcf13084bf3c2552eca5"

    /// File 02 §4.3.
    @Test func vectors() throws {
        let fpMac = try #require(Hex.decode(Self.mac).flatMap { Fingerprint(bytes: $0) })
        let fpDevice = try #require(Hex.decode(Self.device).flatMap { Fingerprint(bytes: $0) })
        #expect(fpMac.base64url == "NIpin1zu0DLD6HBuxH2b-vsA-0JQsBjdllQ1ylDLg24")
        #expect(fpDevice.base64url == "JjpNvkFIj7hyFLADIznbufDI2hTBbfzxMIS_PCVS7KU")
        let device = ProofText.device(fpDevice: fpDevice, fpMac: fpMac)
        #expect(Hex.encode(device) == "73696c6c2d706169722d76312064657669636500" + Self.device + Self.mac)
        #expect(device.count == 84)
        let mac = ProofText.mac(fpDevice: fpDevice, fpMac: fpMac)
        #expect(Hex.encode(mac) == "73696c6c2d706169722d7631206d616300" + Self.mac + Self.device)
        #expect(mac.count == 81)
        #expect(Hex.encode(ProofText.codeSalt(fpMac: fpMac)) == "73696c6c2d706169722d7631" + Self.mac)
        #expect(ProofText.codeRounds == 600_000)
    }

    @Test func tag() {
        #expect(
            ProofText.tag(prefix: [0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6])
                == Array("sill-tag-v1".utf8) + [0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6])
    }
}
