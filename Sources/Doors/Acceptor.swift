// SPDX-License-Identifier: Apache-2.0

internal import Core
internal import EventLoop
internal import Policy
internal import Sockets
internal import Wire

/// One worker's share in one door's listener.
///
/// Every worker waits on the same sockets, so whoever is idle accepts: a worker that is busy with a stream leaves the
/// newcomer to the others.
final class Acceptor {
    /// Taken in one go before other connections get their turn.
    private static let batch = 16
    /// How long accepting rests after descriptors have run out: long enough for some to come back, short for a dialler.
    private static let rest: Duration = .milliseconds(100)

    private let listener: DoorListener
    private unowned let worker: DoorWorker
    private var watches: [Watch] = []
    private var restTimer: Timer?

    init(_ listener: DoorListener, worker: DoorWorker) {
        self.listener = listener
        self.worker = worker
        watches = listener.sockets.map { shared in
            worker.loop.watch(shared.socket.descriptor, readable: true, writable: false) {
                [unowned self] _ in accept(from: shared)
            }
        }
    }

    private func accept(from shared: SharedSocket) {
        do {
            for _ in 0..<Self.batch {
                guard let accepted = try Sockets.accept(on: shared.socket) else { return }
                worker.take(accepted, at: listener.door)
            }
        } catch {
            // Out of descriptors: the newest are shed, and accepting rests.
            // Anything else (the listener was shut down) only waits for the command that ends this.
            if error.isExhausted { worker.shed(from: shared) }
            pause()
        }
    }

    private func pause() {
        for watch in watches { watch.set(readable: false, writable: false) }
        if restTimer == nil {
            restTimer = worker.loop.timer(after: Self.rest) { [unowned self] in
                for watch in watches { watch.set(readable: true, writable: false) }
            }
        } else {
            restTimer?.start(after: Self.rest)
        }
    }
}
