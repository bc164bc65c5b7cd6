// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

struct CommandFailed: Error { var text: String }

/// `ip` in the namespace of the calling thread, which a child inherits. By the C library: Foundation's `Process` may miss
/// the end of a child that starts beside another.
func ip(_ arguments: String) throws {
    guard unsafe system("ip \(arguments) 2>/dev/null") == 0 else { throw CommandFailed(text: arguments) }
}

/// A network namespace for one thread; it goes when the thread ends.
enum Namespace {
    static let isPossible: Bool = {
        guard geteuid() == 0 else { return false }
        return (try? run { try ip("link set lo up") }) != nil
    }()

    struct NotAllowed: Error {}

    static func run(_ body: @escaping @Sendable () throws -> Void) throws {
        let box = Box()
        let thread = Thread {
            do {
                guard unshareNetwork() else { throw NotAllowed() }
                try body()
            } catch {
                box.result.withLock { $0 = error }
            }
            box.done.signal()
        }
        thread.start()
        box.done.wait()
        if let error = box.result.withLock({ $0 }) { throw error }
    }

    private final class Box: Sendable {
        let result = Mutex<(any Error)?>(nil)
        let done = DispatchSemaphore(value: 0)
    }

    /// unshare(CLONE_NEWNET), which Glibc's module does not declare.
    private static func unshareNetwork() -> Bool {
        guard let symbol = unsafe dlsym(nil, "unshare") else { return false }
        typealias Unshare = @convention(c) (Int32) -> Int32
        let unshare = unsafe unsafeBitCast(symbol, to: Unshare.self)
        return unshare(0x4000_0000) == 0
    }
}
