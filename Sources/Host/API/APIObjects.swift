// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import Policy
internal import Synchronization
internal import Wire

// The core's values as the API shows them.

extension Device {
    /// A record and how many sessions it has.
    init(_ record: DeviceRecord, connected: Int) {
        self.init(
            id: record.id.text, name: record.name, model: record.model,
            fingerprint: record.fingerprint.base64url, shortName: record.fingerprint.shortName,
            pairedAt: record.pairedAt, pairedHow: record.pairedHow, lastSeenAt: record.lastSeenAt,
            lastRoute: record.lastRoute, connected: connected, cableBound: record.cableDevice != nil)
    }
}

extension APIDeviceRef {
    /// A device by ID and name.
    init(_ device: CoreDeviceRef) { self.init(id: device.id.text, name: device.name) }
}

extension SessionItem {
    /// A session, with its goodbye once it was told to go.
    init(_ view: SessionView) {
        self.init(
            id: view.id.text, device: view.device.map { APIDeviceRef($0) }, door: view.door.rawValue,
            origin: view.origin.rawValue, cable: view.cable, route: view.route, away: view.away,
            paired: view.paired, mode: view.mode.rawValue, startedAt: view.startedAt,
            remote: view.remote.description, bytesIn: view.counters.bytesIn.load(ordering: .relaxed),
            bytesOut: view.counters.bytesOut.load(ordering: .relaxed), hello: view.hello.map(HelloItem.init),
            link: LinkItem(view.link), goodbye: view.goodbye.map(GoodbyeItem.init))
    }
}

extension LinkItem {
    /// How a session's link does.
    init(_ link: SessionLinkView) {
        self.init(
            state: link.state.rawValue, carriedKbps: link.carriedKbps,
            suggestion: link.suggestion.map {
                Suggestion(bitrate: $0.bitrate, captureScale: $0.captureScale)
            })
    }
}

extension HelloItem {
    /// What a hello said.
    init(_ hello: Hello) {
        self.init(
            appVersion: hello.appVersion, build: hello.build, device: hello.device,
            protocolGeneration: hello.protocolGeneration, audio: hello.audio)
    }
}

extension GoodbyeItem {
    /// A goodbye.
    init(_ goodbye: Goodbye) {
        self.init(
            reason: goodbye.reason, message: goodbye.message, minimumVersion: goodbye.minimumVersion,
            reconnect: goodbye.reconnect)
    }
}

extension Window {
    /// An open window with its secrets.
    init(_ offer: WindowOffer) {
        self.init(
            id: offer.id, url: offer.link.text, code: offer.code, groupedCode: TypedCode.grouped(offer.code),
            expiresAt: offer.expiresAt, triesLeft: offer.triesLeft, openedBy: offer.openedBy.rawValue,
            askedBy: offer.askedBy.map { APIDeviceRef(id: $0.id.text, name: $0.name) },
            requestedBy: offer.requestedBy, remote: offer.remote,
            addresses: offer.addresses)
    }
}

extension WindowSummary.Open {
    /// An open window without its secrets.
    init(_ offer: WindowOffer) {
        self.init(
            remote: offer.remote, expiresAt: offer.expiresAt, triesLeft: offer.triesLeft,
            openedBy: offer.openedBy.rawValue)
    }
}

extension DoorStatus {
    /// A door. One that is about to listen is still closed.
    init(_ state: DoorState) {
        switch state {
        case .off, .starting: self.init(state: "closed")
        case .listening(let port): self.init(state: "open", port: Int(port))
        case .portInUse(let port):
            self.init(
                state: "failed", port: Int(port),
                problem: "Port \(port) is in use by another program.")
        case .failed(let problem): self.init(state: "failed", problem: problem)
        }
    }

    /// Whether it should listen and cannot.
    var isFailed: Bool { state == "failed" }
}

extension SettingsBody {
    /// Settings in force. `fallbackName`: the machine's own.
    init(_ settings: Settings, fallbackName: String, overridden: [String]) {
        self.init(
            name: settings.name ?? fallbackName, requirePairing: settings.requirePairing,
            remoteAccess: settings.remoteAccess, remotePort: settings.remotePort,
            internetAccess: settings.internetAccess, addressName: settings.addressName,
            home: .init(settings.home), away: .init(settings.away),
            maxFPS: settings.maxFPS, minimumDeviceVersion: settings.minimumDeviceVersion,
            portMapping: settings.portMapping, advertise: settings.advertise, stunServer: settings.stunServer,
            permanentMappings: settings.permanentMappings, ipv6Pinhole: settings.ipv6Pinhole,
            direct: settings.direct, overridden: overridden)
    }
}

extension PairingRequestItem {
    /// A device that wants to pair.
    init(_ request: PairingRequest) {
        self.init(
            name: request.name, place: request.place, at: request.at, state: request.state.rawValue)
    }
}
