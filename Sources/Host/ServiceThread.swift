internal import EventLoop
internal import Sockets

/// A thread that runs jobs in the order they were posted: the service's own housekeeping, and key derivation.
final class ServiceThread: Sendable {
    let mailbox: Mailbox
    private let thread: JoinHandle

    /// Throws when the system has no thread or descriptor left.
    init(name: String) throws(SocketError) {
        let mailbox = try Mailbox()
        self.mailbox = mailbox
        thread = try runLoop(name: name, mailbox)
    }

    /// Runs what was posted so far, then ends.
    func stop() {
        mailbox.stop()
        thread.join()
    }
}
