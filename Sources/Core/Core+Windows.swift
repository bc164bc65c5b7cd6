// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// The pairing window as a person sees it (02 §6.1, 09.3, 09.20).
extension Core {
    /// What an ask's window lasts.
    static let windowLifetime: Duration = .seconds(300)
    /// The longest that a link waits for the door and the addresses.
    static let windowReadyWithin: Duration = .seconds(3)

    /// Opens a window, or takes over the one a device's ask opened, or says that one is open. With `replace` the old one
    /// closes first: an admin's `cancelled`, a device's `withdrawn`; replacing quiets nobody.
    package mutating func openWindow(_ wanted: OpenWindow, _ moment: Moment) -> OpenWindowAnswer {
        settle(moment)
        if isStopping { return .alreadyOpen }
        if let old = opened {
            if !wanted.replace {
                return old.isDevices ? takeOver(wanted, moment) : .alreadyOpen
            }
            closeWindow(
                old.isDevices ? .withdrawn : .cancelled, quiets: false, actor: wanted.actor, moment)
        }
        let milliseconds = wanted.lifetime.wholeNanoseconds / 1_000_000
        open(
            OpenedWindow(
                entropy: wanted.entropy,
                judge: PairingWindow(
                    secret: wanted.entropy.secret, expiry: moment.now + wanted.lifetime),
                openedBy: wanted.openedBy, asker: nil, requestedBy: Self.label(wanted.requestedBy),
                isForRemote: wanted.remote,
                expiresAt: WallTime(milliseconds: moment.wall.milliseconds + milliseconds),
                readyBy: moment.now + Self.windowReadyWithin),
            actor: wanted.actor, moment)
        showRequest(in: wanted.entropy.id, until: moment.now + wanted.lifetime)
        return .opened(id: wanted.entropy.id)
    }

    /// A device that wants to pair and was shown nothing has its window now: the request ends with it (03 §12.8).
    private mutating func showRequest(in window: String, until ends: MonotonicTime) {
        guard var shown = request else { return }
        shown.state = .showing
        shown.window = window
        shown.ends = ends
        request = shown
        touchDeadlines()
    }

    /// Cancels the open window; its asker, if a device's ask opened it, goes quiet. False when none is open.
    package mutating func closeWindow(actor: Actor, _ moment: Moment) -> Bool {
        settle(moment)
        guard opened != nil else { return false }
        closeWindow(.cancelled, quiets: true, actor: actor, moment)
        return true
    }

    /// The open window with its secrets.
    package func window(_ moment: Moment) -> WindowOffer? {
        guard let opened, moment.now < opened.judge.expiry else { return nil }
        return offer(opened)
    }

    mutating func open(_ window: OpenedWindow, actor: Actor, _ moment: Moment) {
        opened = window
        publish()
        log(
            .info, "pairing window open",
            [
                ("window", window.id), ("by", window.openedBy.rawValue),
                ("remote", window.isForRemote ? "yes" : "no"),
                ("askedBy", window.asker?.name ?? ""),
            ])
        audit(
            AuditRow(
                at: moment.wall, actor: actor.text, action: "window.open", device: window.asker?.key.id.text,
                remote: window.asker?.source.description, outcome: "ok",
                detail: window.isForRemote ? "for home and remote" : "for home"))
        emit(.deriveCodeKey(window: window.id, code: window.entropy.code))
        updateDoors(moment)
        refreshHostInfo()
        if let opened { emit(.event(.windowOpened(offer(opened)))) }
        refreshWindow(moment)
    }

    /// Ends the open window, if one is. The event of a used one waits for the store's word on who used it.
    mutating func closeWindow(_ why: WindowClose, quiets: Bool, actor: Actor, _ moment: Moment) {
        guard let window = opened else { return }
        opened = nil
        publish()
        let outcome = WindowOutcome(id: window.id, outcome: why, at: moment.wall)
        lastWindow = outcome
        if quiets, let asker = window.asker {
            askLimits.quiet(key: asker.key, source: asker.source, at: moment.now)
            let end = moment.now + AskLimits.span
            keep(
                [
                    lockout(.quietKey, asker.key.base64url, end, moment),
                    lockout(.quietSource, asker.source.description, end, moment),
                ], moment)
        }
        if request?.window == window.id { request = nil }
        log(.info, "pairing window closed", [("window", window.id), ("reason", why.rawValue)])
        audit(
            AuditRow(
                at: moment.wall, actor: actor.text, action: "window.close",
                device: window.asker?.key.id.text, outcome: why.rawValue))
        if why != .used { emit(.event(.windowClosed(outcome))) }
        updateDoors(moment)
        refreshHostInfo()
    }

    /// Its link is complete once the door it needs listens and the addresses are known, or 3 s are over.
    mutating func refreshWindow(_ moment: Moment) {
        guard var window = opened, !window.isReady else { return }
        let isListening = remote.boundPort != nil || !overrides.hasRemoteDoor
        let isKnown = !window.isForRemote || (isListening && knowsAddresses)
        guard isKnown || moment.now >= window.readyBy else { return }
        window.isReady = true
        opened = window
        emit(.windowReady(offer(window)))
    }

    private mutating func takeOver(_ wanted: OpenWindow, _ moment: Moment) -> OpenWindowAnswer {
        guard var window = opened else { return .alreadyOpen }
        // Whoever took it over: from here on it is the host's user's (09.3).
        window.openedBy = .admin
        window.requestedBy = Self.label(wanted.requestedBy)
        window.isForRemote = wanted.remote
        window.isReady = false
        window.readyBy = moment.now + Self.windowReadyWithin
        opened = window
        publish()
        log(
            .info, "pairing window taken over",
            [("window", window.id), ("remote", window.isForRemote ? "yes" : "no")])
        audit(
            AuditRow(
                at: moment.wall, actor: wanted.actor.text, action: "window.takeOver",
                device: window.asker?.key.id.text, outcome: "ok",
                detail: window.isForRemote ? "for home and remote" : "for home"))
        updateDoors(moment)
        refreshHostInfo()
        emit(.event(.windowOpened(offer(window))))
        refreshWindow(moment)
        return .takenOver(id: window.id)
    }

    func offer(_ window: OpenedWindow) -> WindowOffer {
        let addresses = window.isForRemote ? hostInfo.addresses : []
        return WindowOffer(
            id: window.id,
            link: PairingLink(
                fingerprint: host.fingerprint, secret: window.entropy.secret, name: hostName,
                port: hostInfo.remotePort,
                addresses: addresses.prefix(PairingLink.addressLimit).compactMap { Self.dialAddress($0) }),
            code: window.entropy.code, expiresAt: window.expiresAt, triesLeft: window.judge.triesLeft,
            openedBy: window.openedBy, askedBy: window.askedBy, requestedBy: window.requestedBy,
            remote: window.isForRemote, addresses: addresses, isReady: window.isReady)
    }

    private static func dialAddress(_ address: HostAddress) -> DialAddress? {
        let text = address.host.utf8.contains(UInt8(ascii: ":")) ? "[\(address.host)]" : address.host
        guard let parsed = try? DialAddress.parse(text) else { return nil }
        return DialAddress(host: parsed.host, port: address.port)
    }

    private static func label(_ text: String?) -> String? {
        text.map { Label.clean($0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
