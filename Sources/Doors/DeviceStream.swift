// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// The stream from device to host, as a decision for each byte (spec 08 "What the relay itself does", 09.10): kind 21 is
/// the relay's, the first kind 23 is read on its way through, a message above 1 MiB ends the session, all else passes.
/// No I/O and no copy of the stream.
struct DeviceStream: Sendable {
    /// What to do next with the bytes given; counts are from their front.
    enum Step: Equatable, Sendable {
        /// These bytes go to the backend.
        case pass(Int)
        /// These go nowhere (for now: the start of a header comes back as ``held(_:)``).
        case drop(Int)
        /// Bytes of a header, dropped earlier while it was not whole, that go to the backend after all.
        case held([UInt8])
        /// A kind 21 came.
        case pairingWanted
        /// The payload of the first kind 23; the message itself has passed.
        case hello([UInt8])
        /// A message above the cap; its header does not pass, and nothing after it is read.
        case tooLong
    }

    private var follower = MessageFollower(direction: .deviceToHost)
    private var queued: Step?
    private var isDropping = false
    private var isReadingHello = false
    private var sawHello = false
    private var hello: [UInt8] = []

    /// A message was above the cap: the session is over.
    private(set) var isOver = false

    /// A stream whose first message, a hello, was read by the device gate already: it passes like any other.
    init(helloWasRead: Bool) { sawHello = helloWasRead }

    /// The next step for `bytes`, which begin where the last step ended; nil when all are dealt with.
    ///
    /// The caller consumes what a step counts before it asks again.
    mutating func next(_ bytes: Span<UInt8>) -> Step? {
        if let step = queued {
            queued = nil
            return step
        }
        if isOver { return bytes.isEmpty ? nil : .drop(bytes.count) }
        var run = 0
        while true {
            // A header split over two reads: what came first was held back until the whole of it could be judged.
            let earlier = follower.isBetweenMessages ? [] : follower.pendingHeaderBytes
            let (event, consumed) = follower.next(bytes, from: run)
            switch event {
            case .needMore:
                if consumed > 0 { return afterPassing(run, .drop(consumed)) }
                return run > 0 ? .pass(run) : nil
            case .header(let header):
                isDropping = header.kind == .pairingWanted
                isReadingHello = header.kind == .hello && !sawHello
                if isReadingHello { sawHello = true }
                if isDropping { return afterPassing(run, .drop(consumed)) }
                if !earlier.isEmpty {
                    queued = .pass(consumed)
                    return .held(earlier)
                }
                run += consumed
            case .payload(let count):
                if isReadingHello {
                    for index in run..<run + count { hello.append(bytes[index]) }
                }
                run += count
                if isDropping { return .drop(run) }
            case .end:
                if isDropping {
                    isDropping = false
                    return .pairingWanted
                }
                if isReadingHello {
                    isReadingHello = false
                    let payload = hello
                    hello = []
                    return afterPassing(run, .hello(payload))
                }
            case .tooLong:
                isOver = true
                return afterPassing(run, .tooLong)
            }
        }
    }

    /// `step`, after the run before it has passed.
    private mutating func afterPassing(_ run: Int, _ step: Step) -> Step {
        guard run > 0 else { return step }
        queued = step
        return .pass(run)
    }
}
