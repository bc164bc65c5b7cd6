// SPDX-License-Identifier: Apache-2.0

/// How often the clients of one encoder may ask it for a keyframe (Sill's pacing; docs/integrate.md). One for each
/// encoder; hand it to every client's ``PacingPolicy``.
///
/// Times are `Duration`s since any moment that all calls share, such as `ContinuousClock`'s instants minus the first one.
public struct KeyframeSpacing: Sendable, Equatable {
    /// Since the last request.
    public static let alone: Duration = .seconds(2)
    /// Beside a client at home, who would see each: since the last request and since any keyframe.
    public static let besideHome: Duration = .seconds(4)

    /// Whether a client at home is connected. Keep it current.
    public var hasHomeClient = false
    private var askedAt: Duration?
    private var keyframeAt: Duration?

    /// Nothing has been asked for, and no keyframe has come.
    public init() {}

    /// A keyframe came from the encoder, asked for or not. Call it before the frame is offered to the clients.
    public mutating func keyframe(at now: Duration) { keyframeAt = now }

    /// Whether one may be asked for now; then it counts as asked for.
    mutating func ask(at now: Duration, atOnce: Bool = false) -> Bool {
        if !atOnce {
            let spacing = hasHomeClient ? Self.besideHome : Self.alone
            if let askedAt, now - askedAt < spacing { return false }
            if hasHomeClient, let keyframeAt, now - keyframeAt < spacing { return false }
        }
        askedAt = now
        return true
    }
}
