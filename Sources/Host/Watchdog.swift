internal import Core
internal import EventLoop
internal import Sockets
internal import Synchronization
internal import SystemBus
internal import Wire

/// Tells the service manager, while it asks to hear it, that the core still decides (spec 08). A service whose core
/// stands still is ended and started again.
final class Watchdog: Sendable {
    private let flag: WakeUp
    private let isStopped = Atomic(false)
    private let thread = Mutex<JoinHandle?>(nil)

    /// nil when nobody watches. Throws when the system has no thread or descriptor left.
    init?(_ core: SharedCore) throws(SocketError) {
        guard let interval = ServiceManager.watchdogInterval else { return nil }
        flag = try WakeUp()
        let handle = try runThread(name: "watchdog") { [self] in
            while !isStopped.load(ordering: .acquiring) {
                core.enter { _, _ in }
                ServiceManager.notify("WATCHDOG=1")
                if flag.wait(until: monotonicNow() + interval / 2) { flag.clear() }
            }
        }
        thread.withLock { $0 = handle }
    }

    /// Says nothing more.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        flag.signal()
        thread.withLock { $0 }?.join()
    }
}
