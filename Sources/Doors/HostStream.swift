// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// The stream from host to device, as a decision for each byte: what passes, what goes, and where the relay's own
/// messages may stand (spec 08 "What the relay itself does"). No I/O and no copy of the stream.
struct HostStream: Sendable {
    /// What to do next with the bytes given; counts are from their front.
    enum Step: Equatable, Sendable {
        /// These bytes go to the device.
        case pass(Int)
        /// These are the backend's own kind 18: gone.
        case drop(Int)
        /// Put a fresh kind 18 here.
        case hostInfo
        /// Put the goodbye here; nothing passes any more.
        case goodbye
        /// The backend's first message has begun: after 500 ms kind 18 is due whatever comes.
        case started
        /// The backend announced a message above its cap, and no device would read on. `isClean`: none of it has passed,
        /// so a goodbye may still follow.
        case broken(isClean: Bool)
    }

    private var follower = MessageFollower(direction: .hostToDevice)
    // Of the message in progress, or of the last one; known from its first byte.
    private var kind = MessageKind.tick
    // Of the message in progress, once its header is whole.
    private var isKeyframe = false
    private var brokenStep: Step?
    private var hasStarted = false
    private var sentHostInfo = false
    private var hostInfoDue = false
    private var goodbyeDue = false
    private var passedPartialHeader = false

    /// The goodbye was placed: nothing passes any more.
    private(set) var isClosed = false
    /// The backend has said goodbye itself, so nothing is put behind it (09.9).
    private(set) var backendSaidGoodbye = false
    /// The stream broke a cap; see ``Step/broken(isClean:)``.
    private(set) var isBroken = false

    /// Kind 18 is to be sent because something changed: at the next boundary, once the first one was sent.
    mutating func hostInfoChanged() { if sentHostInfo { hostInfoDue = true } }

    /// 500 ms have passed since ``Step/started``: kind 18 is due at the next boundary, unless it was sent.
    mutating func hostInfoWaitEnded() { if !sentHostInfo { hostInfoDue = true } }

    /// A goodbye is to stand at the next boundary.
    mutating func requestGoodbye() { goodbyeDue = true }

    /// The next step for `bytes`, which begin where the last step ended; nil when all are dealt with.
    ///
    /// The caller consumes what a step counts before it asks again. Constant memory, and time in the number of messages.
    /// Frames (kind 1) that end in what passes are noted in `frames`; `position` is where the first of `bytes` would be in
    /// the stream to the device, if it passes.
    mutating func next(
        _ bytes: Span<UInt8>, at position: UInt64, noting frames: inout FrameEnds
    ) -> Step? {
        if let step = brokenStep {
            brokenStep = nil
            return step
        }
        if let step = boundaryStep() { return step }
        if isClosed || isBroken { return bytes.isEmpty ? nil : .drop(bytes.count) }
        var run = 0
        while true {
            if follower.isBetweenMessages, run < bytes.count {
                if !hasStarted {
                    hasStarted = true
                    return .started
                }
                kind = MessageKind(rawValue: bytes[run])
                if kind == .hostInfo, run > 0 { return .pass(run) }
                passedPartialHeader = false
            }
            let (event, consumed) = follower.next(bytes, from: run)
            switch event {
            case .needMore:
                run += consumed
                if consumed > 0, kind != .hostInfo { passedPartialHeader = true }
                return run > 0 ? step(run) : nil
            case .header(let header):
                isKeyframe = header.isKeyframe
                run += consumed
            case .payload:
                run += consumed
            case .end:
                if kind == .frame { frames.add(end: position + UInt64(run), isKeyframe: isKeyframe) }
                if finishMessage() || kind == .hostInfo { return step(run) }
            case .tooLong:
                isBroken = true
                let broken = Step.broken(isClean: !passedPartialHeader)
                guard run > 0 else { return broken }
                brokenStep = broken
                return .pass(run)
            }
        }
    }

    private func step(_ run: Int) -> Step { kind == .hostInfo ? .drop(run) : .pass(run) }

    /// Notes the end of a message; whether the stream has to stop here for something of the relay's own.
    private mutating func finishMessage() -> Bool {
        switch kind {
        case .hostSettings where !sentHostInfo: hostInfoDue = true
        case .goodbye:
            backendSaidGoodbye = true
        default: break
        }
        return (hostInfoDue || goodbyeDue) && !backendSaidGoodbye
    }

    private mutating func boundaryStep() -> Step? {
        // Inside a message that is dropped the device sees a boundary too.
        guard !isClosed, !isBroken, !backendSaidGoodbye, follower.isBetweenMessages || kind == .hostInfo
        else {
            return nil
        }
        if goodbyeDue {
            isClosed = true
            return .goodbye
        }
        guard hostInfoDue else { return nil }
        hostInfoDue = false
        sentHostInfo = true
        return .hostInfo
    }
}
