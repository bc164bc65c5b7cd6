import CryptoEngine
import Testing
import Wire

@testable import LatchkeyDevice

@Suite("The specification's vectors")
struct VectorTests {
    static let info = """
        eyJ2IjoxLCJtYWNJRCI6IkI5WDdISzU0TTNUMjFQRFciLCJuYW1lIjoiTWFjIG1pbmkiLCJpc3N1ZWRBdCI6MTc5MDI2NTYwMC41LCJyZW1vd\
        GVBY2Nlc3MiOnRydWUsInJlbW90ZVBvcnQiOjc0NTUsImludGVybmV0IjpmYWxzZSwiYWRkcmVzc2VzIjpbeyJob3N0IjoibWFjLW1pbmkudGFpb\
        DEyMzQudHMubmV0Iiwia2luZCI6InZwbiIsInZpYSI6IlRhaWxzY2FsZSJ9LHsiaG9zdCI6IjEwMC4xMDEuMTAyLjEwMyIsImtpbmQiOiJ2cG4iL\
        CJ2aWEiOiJUYWlsc2NhbGUifSx7Imhvc3QiOiJmZDdhOjExNWM6YTFlMDo6MTIzNCIsImtpbmQiOiJ2cG4iLCJ2aWEiOiJUYWlsc2NhbGUifSx7I\
        mhvc3QiOiIxOTIuMTY4LjEuMjAiLCJraW5kIjoibGFuIiwidmlhIjoiV2nigJFGaSJ9XX0=
        """
    static let key =
        "BGD+1LolWp0xyWHrdMY1bWjASbiSO2H6bOZpYi5g8p+2eQP+EAi4vJmkGunpVii8ZPLxsgwtfp9Rd6PClNRGIpk="
    static let signature =
        "MEUCIQDZG64U47EPcOFYTBMxRt/cf4So4U797Mr+ZyjJ+orJAAIgevJU/6IWj3kqZYBiz7WeM44qHc9ANcJ7j9eK6NJ6T1w="

    static func payload(info: String = info, key: String = key, signature: String = signature) -> [UInt8] {
        Array("{\"info\":\"\(info)\",\"key\":\"\(key)\",\"sig\":\"\(signature)\"}".utf8)
    }

    @Test("host info of 01 section 6.5")
    func hostInfo() throws {
        let keyA = try #require(Fingerprint(base64url: "Wnp4zKSg9CDZvGK7Zpw8J1njn3I9OuENy-DwgVoH7NQ"))
        let verified = try #require(HostInfoCheck.verify(payload: Self.payload(), session: keyA))
        #expect(verified.info.issuedAt == 1_790_265_600.5)
        #expect(verified.info.addresses.count == 4)
        #expect(verified.signer == keyA)
    }

    @Test("a host info with one thing wrong is worth nothing")
    func badHostInfo() throws {
        let keyA = try #require(Fingerprint(base64url: "Wnp4zKSg9CDZvGK7Zpw8J1njn3I9OuENy-DwgVoH7NQ"))
        let other = try HostKey.generate()
        #expect(HostInfoCheck.verify(payload: Self.payload(), session: other.fingerprint) == nil)
        let bad = [
            Self.payload(key: Base64.encode(other.point)), Self.payload(signature: "AAAA"),
            Self.payload(info: "e30="), Self.payload(key: "BGD+"), Array("{}".utf8), [],
        ]
        for payload in bad { #expect(HostInfoCheck.verify(payload: payload, session: keyA) == nil) }
        // Signed rightly, under an ID that is not the signer's.
        let stolen = HostInfo(
            macID: "B9X7HK54M3T21PDW", name: "x", issuedAt: 1, remoteAccess: true, remotePort: 1,
            internet: false,
            addresses: []
        ).encode()
        let signed = try SignedHostInfo(info: stolen, key: other.point, signature: other.sign(stolen))
            .encode()
        #expect(HostInfoCheck.verify(payload: signed, session: other.fingerprint) == nil)
    }

    @Test("proofs of 02 section 4.3")
    func proofs() throws {
        let host = try #require(Fingerprint(base64url: "NIpin1zu0DLD6HBuxH2b-vsA-0JQsBjdllQ1ylDLg24"))
        let device = try #require(Fingerprint(base64url: "JjpNvkFIj7hyFLADIznbufDI2hTBbfzxMIS_PCVS7KU"))
        let proofs = PairingProofs(
            device: device, host: host, key: SecretBytes([UInt8](repeating: 0x22, count: 16)))
        #expect(proofs.sent == "AyZAJqNTU5nSKEaHx6RZOf0K5dOeygR_8JSrCV_gNOo")
        var result = PairResult(
            ok: true, proof: "XAX-uZPsq_Ax8fvI_sV7Ex0a-ROi19rI-FW-ykPh9TE", macID: "6J5657TWXV835GZ8",
            name: " \n",
            recognitionKey: "ERERERERERERERERERERERERERERERERERERERERERE")
        #expect(
            proofs.accept(result)
                == AcceptedPairing(name: "Mac", recognitionKey: [UInt8](repeating: 0x11, count: 32)))
        result.proof = proofs.sent
        #expect(proofs.accept(result) == nil)
        result.proof = "XAX-uZPsq_Ax8fvI_sV7Ex0a-ROi19rI-FW-ykPh9TE"
        result.ok = false
        #expect(proofs.accept(result) == nil)
    }

    @Test("a session is silent after six seconds, or four times its worst round trip")
    func liveness() {
        var liveness = Liveness(now: .seconds(10))
        #expect(!liveness.isSilent(at: .seconds(16)))
        #expect(liveness.isSilent(at: .seconds(16.001)))
        liveness.heard(at: .seconds(16))
        #expect(!liveness.isSilent(at: .seconds(22)))
        liveness.measured(roundTrip: 2, at: .seconds(22.1))
        liveness.measured(roundTrip: 0.1, at: .seconds(22.2))
        #expect(liveness.limit == .seconds(8))
        // The next second that measures counts beside the last whole one, and alone once it is over.
        liveness.measured(roundTrip: 0.1, at: .seconds(23.1))
        #expect(liveness.limit == .seconds(8))
        liveness.measured(roundTrip: 0.1, at: .seconds(24.1))
        #expect(liveness.limit == .seconds(6))
    }

    @Test("percentiles")
    func percentiles() {
        var trips = RoundTrips()
        #expect(trips.milliseconds(atShare: 0.5) == nil)
        for number in 1...100 { trips.add(Double(number) / 1000) }
        #expect(trips.milliseconds(atShare: 0.5) == 50)
        #expect(trips.milliseconds(atShare: 0.99) == 99)
    }

    static let goodbyes: [(String, Bool?, Bool)] = [
        ("quit", nil, true), ("busy", nil, true), ("removed", true, false), ("pairingRequired", true, false),
        ("update", nil, false), ("update", true, true), ("later", nil, false), ("later", true, true),
        ("Quit", nil, false), ("remoteOff", false, true),
    ]

    @Test("whether a device comes back by itself", arguments: goodbyes)
    func comesBack(_ reason: String, _ reconnect: Bool?, _ want: Bool) {
        #expect(SessionGoodbye(Goodbye(reason: reason, reconnect: reconnect)).comesBack == want)
    }
}
