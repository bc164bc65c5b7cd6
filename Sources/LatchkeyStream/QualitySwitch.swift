// SPDX-License-Identifier: Apache-2.0

/// Which of the two pairs runs, and when the stream goes over to the other (06 A2, A3; docs/integrate.md says how a
/// streaming process uses it). One for each stream; a value, without a clock.
///
/// A device that joins brings a wish and, a moment later, its frame rate: the change waits for that, so that both cost one
/// restart. Every input answers what follows of it. Memory grows with the devices connected, and no input costs more with
/// more of them. An `ID` names a session for as long as it lasts.
///
/// Times are `Duration`s since any moment that all calls share, such as `ContinuousClock`'s instants minus the first one.
public struct QualitySwitch<ID: Hashable & Sendable>: Sendable {
    /// What the stream is made from, besides who is connected.
    public struct Inputs: Sendable, Equatable {
        /// What runs when somebody is at home.
        public var home: QualityPair
        /// What runs while everybody is away.
        public var away: QualityPair
        /// The frame rate limit: 24 to 120.
        public var maxFPS: Int
        /// Whether the encoder is one of software, which does less.
        public var softwareEncoder: Bool

        /// The first three as `GET /v1/quality` says them.
        public init(home: QualityPair, away: QualityPair, maxFPS: Int, softwareEncoder: Bool = false) {
            self.home = home
            self.away = away
            self.maxFPS = maxFPS
            self.softwareEncoder = softwareEncoder
        }
    }

    /// The stream goes over to the other pair: one line in the log each.
    public struct Flip: Sendable, Equatable {
        /// Whether it goes to the away pair.
        public var toAway: Bool
        /// The device that brought it: the one that joined or left.
        public var broughtBy: ID?

        /// Both as they are.
        public init(toAway: Bool, broughtBy: ID?) {
            self.toAway = toAway
            self.broughtBy = broughtBy
        }
    }

    /// What follows of one input.
    public struct Outcome: Sendable, Equatable {
        /// The wanted flag is another: everybody is told (the service tells it as `quality.changed`).
        public var wishChanged = false
        /// The stream goes over now.
        public var flip: Flip?
        /// The stream begins anew with this; nil when nothing of it changed.
        public var restart: StreamTarget?

        /// Nothing, but for what is named.
        public init(wishChanged: Bool = false, flip: Flip? = nil, restart: StreamTarget? = nil) {
            self.wishChanged = wishChanged
            self.flip = flip
            self.restart = restart
        }
    }

    /// How long a change waits for the first viewport of the device that brought it.
    public static var viewportLimit: Duration { .seconds(1) }

    private struct Device: Sendable {
        var isAway: Bool
        var fps: Int?
    }

    private struct Waiting: Sendable {
        var device: ID
        var until: Duration
    }

    private var inputs: Inputs
    private var devices: [ID: Device] = [:]
    /// How many devices ask for each rate; the rates there are, are few.
    private var rates: [Int: Int] = [:]
    private var waiting: Waiting?
    private var broughtBy: ID?
    /// Who is connected.
    public private(set) var presence = Presence()
    /// The wanted flag: what every device is told as `awayRunning`.
    public private(set) var wantsAway = false
    /// The pair the stream really has; behind the wish while a viewport is awaited.
    public private(set) var runsAway = false

    /// Nobody is connected, and the home pair runs.
    public init(_ inputs: Inputs) {
        self.inputs = inputs
    }

    /// When to call ``tick(at:)`` next; nil while nothing is awaited.
    public var deadline: Duration? { waiting?.until }

    /// What the user's status says: a wish that nobody is there to have is not shown.
    public var showsAway: Bool { wantsAway && !presence.isEmpty }

    /// What the stream runs with now.
    public var target: StreamTarget { target(runsAway) }

    /// What it will run with when the wish is taken: what kind 16 shows as the target.
    public var wantedTarget: StreamTarget { target(wantsAway) }

    /// A device was admitted. To be called before its catalog is sent; a known one counts once.
    public mutating func joined(_ id: ID, isAway: Bool, at now: Duration) -> Outcome {
        guard devices[id] == nil else { return Outcome() }
        let before = target
        devices[id] = Device(isAway: isAway, fps: nil)
        count(isAway, by: 1)
        countRate(nil, by: 1)
        let changed = wish(by: id)
        if changed {
            waiting = wantsAway == runsAway ? nil : Waiting(device: id, until: now + Self.viewportLimit)
        }
        return finish(before: before, taking: false, changed)
    }

    /// A device said its frame rate, in frames a second; another one than before as well.
    public mutating func viewport(_ id: ID, fps: Int) -> Outcome {
        guard let device = devices[id] else { return Outcome() }
        let before = target
        // Beyond the limit's range there is no difference; within it, few rates to count.
        let range = StreamTarget.frameRates
        let fps = min(max(fps, range.lowerBound), range.upperBound)
        countRate(device.fps, by: -1)
        devices[id]?.fps = fps
        countRate(fps, by: 1)
        return finish(before: before, taking: waiting?.device == id, false)
    }

    /// A device is gone, or was told to go; one that is not known changes nothing.
    public mutating func left(_ id: ID) -> Outcome {
        guard let device = devices.removeValue(forKey: id) else { return Outcome() }
        let before = target
        count(device.isAway, by: -1)
        countRate(device.fps, by: -1)
        let changed = wish(by: id)
        let wasAwaited = waiting?.device == id
        return finish(before: before, taking: changed || wasAwaited, changed)
    }

    /// Settings, or what the encoder is, changed.
    public mutating func changed(_ new: Inputs) -> Outcome {
        let before = target
        inputs = new
        return finish(before: before, taking: false, false)
    }

    /// The stream begins anew for a reason of its own (a window, a rotation): a change that waits goes along. Begin it with
    /// ``target``, whatever follows.
    public mutating func restarting() -> Outcome {
        finish(before: target, taking: true, false)
    }

    /// Time passed. To be called at ``deadline``; earlier or more often does no harm.
    public mutating func tick(at now: Duration) -> Outcome {
        guard let waiting, now >= waiting.until else { return Outcome() }
        return finish(before: target, taking: true, false)
    }

    private func target(_ away: Bool) -> StreamTarget {
        StreamTarget(
            away ? inputs.away : inputs.home, maxFPS: inputs.maxFPS, asked: rates.keys.max(),
            softwareEncoder: inputs.softwareEncoder)
    }

    private mutating func count(_ isAway: Bool, by step: Int) {
        if isAway { presence.away += step } else { presence.home += step }
    }

    private mutating func countRate(_ fps: Int?, by step: Int) {
        let fps = fps ?? StreamTarget.usualFPS
        let count = rates[fps, default: 0] + step
        rates[fps] = count == 0 ? nil : count
    }

    /// Looks at the wish again; whether it is another.
    private mutating func wish(by id: ID) -> Bool {
        let wish = AwayRule.wantsAway(presence, before: wantsAway)
        guard wish != wantsAway else { return false }
        wantsAway = wish
        broughtBy = id
        return true
    }

    /// A restart for whatever reason takes along what waits.
    private mutating func finish(before: StreamTarget, taking: Bool, _ wishChanged: Bool) -> Outcome {
        var outcome = Outcome(wishChanged: wishChanged)
        if taking || before.restarts(to: target) {
            waiting = nil
            if wantsAway != runsAway {
                runsAway = wantsAway
                outcome.flip = Flip(toAway: runsAway, broughtBy: broughtBy)
            }
        }
        if before.restarts(to: target) { outcome.restart = target }
        return outcome
    }
}
