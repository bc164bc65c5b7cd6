import CryptoEngine
import Foundation
import Wire

@testable import LatchkeyDevice

/// A device in a directory that goes away with it.
final class TemporaryDevice {
    let directory: String
    let device: Device

    init() throws {
        directory = NSTemporaryDirectory() + "latchkey-device-" + UUID().uuidString
        device = try Device(
            directory: directory, description: .init(name: "Test", model: "T1", appVersion: "1.2"),
            keepLoopback: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// A host as if it had been paired with.
    func saved(_ host: ScriptedHost) throws -> SavedHost {
        guard
            let saved = SavedHost(
                fingerprint: host.key.fingerprint.base64url, name: "Old name",
                recognitionKey: [UInt8](repeating: 1, count: 32),
                remotePort: Int(host.port),
                addresses: [SavedAddress(host: "127.0.0.1", port: nil, kind: "lan", via: "")],
                pairedAt: 1, method: "qr")
        else { throw CocoaError(.featureUnsupported) }
        try device.store.change { $0.add(saved) }
        return saved
    }
}

func link(to host: ScriptedHost, secret: [UInt8], port: UInt16? = nil, addresses: [String] = ["127.0.0.1"])
    throws -> String
{
    let parsed = try addresses.map { try DialAddress.parse($0) }
    return PairingLink(
        fingerprint: host.key.fingerprint, secret: secret, name: "Desk", port: Int(port ?? host.port),
        addresses: parsed
    ).text
}
