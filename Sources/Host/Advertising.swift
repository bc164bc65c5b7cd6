// SPDX-License-Identifier: Apache-2.0

internal import Core
internal import CryptoEngine
internal import SystemBus
internal import Wire

extension Advertiser {
    /// Tells the core what became of the record, and people what they should know. The recognition key of the
    /// moment makes the record's `r` and goes nowhere else.
    convenience init(on bus: Bus, core: SharedCore, log: LogSink) {
        self.init(
            on: bus,
            AvahiUser.Handlers(
                tag: {
                    let key = core.enter { core, _ in core.host.recognitionKey }
                    return RecognitionTag.text(prefix: try Entropy.bytes(RecognitionTag.prefixLength)) {
                        Digest.hmacSHA256(key: key, message: $0)
                    }
                },
                state: { state in core.enter { core, _ in core.advertisingState(state) } },
                note: { note in
                    log.log(LogLine(note) { index in core.enter { core, _ in core.interfaceName(index) } })
                }))
    }
}

extension LogLine {
    /// `name` is an interface's to people.
    init(_ note: AdvertisingNote, interface name: (UInt32) -> String) {
        switch note {
        case .announced(let service, let port, let interfaces):
            let names = interfaces.map(name).joined(separator: ",")
            self.init(
                .info, "advertised", [("name", service), ("port", String(port)), ("interfaces", names)])
        case .absent:
            self.init(
                .info,
                "not advertised: Avahi is not running. Devices find this host when avahi-daemon is started")
        case .refused(let interface, let why):
            self.init(
                .warning, "Avahi does not advertise on an interface",
                [("interface", name(interface)), ("problem", why)])
        case .failed(let why):
            self.init(.warning, "not advertised, will be tried again", [("problem", why)])
        }
    }

    init(_ state: BusState) {
        switch state {
        case .connected: self.init(.debug, "the system bus is there")
        case .lost(let why): self.init(.info, "there is no system bus", [("problem", why)])
        }
    }
}
