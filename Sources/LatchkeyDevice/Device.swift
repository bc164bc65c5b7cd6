// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Sockets
internal import Wire

/// A device of its own: one key, the hosts it has paired with, and the way to them.
///
/// ```swift
/// let device = try Device(directory: "/home/me/.local/state/viewer", name: "Viewer")
/// let host = try await device.pair(link: scanned)
/// let session = try await device.connect(to: host)
/// for try await message in session { … }
/// ```
///
/// May be used from any task; sessions of one device run side by side.
public final class Device: Sendable {
    /// What a device says about itself in hellos and pairings.
    public struct Description: Sendable {
        /// The device's name as the host lists it.
        public var name: String
        /// For example `iPad14,1`.
        public var model: String?
        /// What a host's minimum device version is compared with.
        public var appVersion: String
        /// For the host's log only.
        public var build: String?
        /// Codecs this device plays, best first; nil: none.
        public var audio: [String]?

        /// A description; only the name is needed.
        public init(
            name: String, model: String? = nil, appVersion: String = "0.1", build: String? = nil,
            audio: [String]? = nil
        ) {
            self.name = name
            self.model = model
            self.appVersion = appVersion
            self.build = build
            self.audio = audio
        }

        /// The hello's `device`: `iPad (iPad14,1)`.
        var shown: String { model.map { "\(name) (\($0))" } ?? name }
    }

    /// What this device says about itself.
    public let description: Description
    /// Key and saved hosts.
    let store: DeviceStore
    /// The key and a certificate made from it, as TLS takes them.
    let identity: TLSClientContext

    /// Opens the device kept in `directory`, which is made (with a new key) when there is none.
    ///
    /// `keepLoopback` also saves addresses that mean this machine itself, for trying both sides on one machine. Throws
    /// `storage`.
    public init(directory: String, description: Description, keepLoopback: Bool = false) throws(DeviceError) {
        self.description = description
        store = try DeviceStore(directory: directory, keepLoopback: keepLoopback)
        do {
            identity = try TLSClientContext(key: store.key, certificateDER: store.key.certificate())
        } catch {
            throw DeviceError(.storage, "the device's key cannot be used: \(error.message)")
        }
    }

    /// Opens the device kept in `directory` under a name alone.
    public convenience init(directory: String, name: String) throws(DeviceError) {
        try self.init(directory: directory, description: Description(name: name))
    }

    /// This device's ID, as a host lists it.
    public var id: String { store.key.fingerprint.id.text }

    /// SHA-256 of this device's key, unpadded base64url.
    public var fingerprint: String { store.key.fingerprint.base64url }

    /// The saved hosts in the order they were paired.
    public func hosts() throws(DeviceError) -> [SavedHost] { try store.hosts().hosts }

    /// One saved host. Throws `unknownHost`.
    public func host(_ id: String) throws(DeviceError) -> SavedHost {
        guard let host = try store.hosts().host(id) else {
            throw DeviceError(.unknownHost, "no saved host has the ID \(id)")
        }
        return host
    }

    /// Forgets a host; the host keeps this device on its list until it is removed there. Throws `unknownHost`.
    public func forget(_ id: String) throws(DeviceError) {
        guard try store.change({ $0.remove(id) }) else {
            throw DeviceError(.unknownHost, "no saved host has the ID \(id)")
        }
    }
}
