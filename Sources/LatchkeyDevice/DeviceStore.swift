// SPDX-License-Identifier: Apache-2.0

internal import CryptoEngine
internal import Sockets
internal import Synchronization
internal import Wire

/// What a device keeps between runs, in a directory of its own (mode 0700): its key and its saved hosts (both 0600).
///
/// Every change is read, made and replaced as a whole under the directory's lock, so that two programs with one identity
/// never lose each other's hosts. The lock is not held while a session runs: a device may hold several sessions.
final class DeviceStore: Sendable {
    private static let keyName = "device-key.pem"
    private static let hostsName = "hosts.json"
    private static let lockName = ".lock"
    /// Sixteen hosts with all their addresses take some 30 KiB.
    private static let hostsFileLimit = 1 << 20
    private static let keyFileLimit = 16 << 10
    /// How often a held lock is tried again, and how long apart: five seconds in all, where a change takes milliseconds.
    private static let lockTries = 250
    private static let lockPause: Duration = .milliseconds(20)

    /// Where it all is.
    let directory: String
    /// This device's key.
    let key: HostKey
    /// Loopback addresses are worth keeping only where both sides are tried on one machine.
    let keepLoopback: Bool
    /// Orders this process's own changes before the file's lock orders processes.
    private let turn = Mutex(())

    /// Opens the directory, and makes it and the key when they are not there yet.
    ///
    /// A key that is there and cannot be read is an error, never a reason to make a new one: a new key is a new identity.
    init(directory: String, keepLoopback: Bool) throws(DeviceError) {
        self.directory = directory
        self.keepLoopback = keepLoopback
        do {
            try makeDirectory(directory, mode: 0o700)
        } catch {
            throw DeviceError(.storage, error.message)
        }
        let lock = try Self.lock(directory)
        key = try Self.loadOrMakeKey(directory + "/" + Self.keyName)
        _ = consume lock
    }

    private static func loadOrMakeKey(_ path: String) throws(DeviceError) -> HostKey {
        let stored: [UInt8]
        do {
            stored = try readFile(path, limit: keyFileLimit)
        } catch  where error.isMissing {
            return try makeKey(path)
        } catch {
            throw DeviceError(.storage, "the device's key cannot be read: \(error.message)")
        }
        if fileFacts(path)?.isOpenToOthers != false {
            throw DeviceError(.storage, "\(path) can be read by others; make it private: chmod 600 \(path)")
        }
        do {
            return try HostKey(pkcs8PEM: stored)
        } catch {
            throw DeviceError(
                .storage,
                "\(path) holds no P-256 key (\(error.message)); restore it, or move the directory away and pair again"
            )
        }
    }

    private static func makeKey(_ path: String) throws(DeviceError) -> HostKey {
        do {
            let key = try HostKey.generate()
            do {
                try writeFileAtomically(path, try key.pkcs8PEM(), mode: 0o600)
            } catch let error as SocketError {
                throw DeviceError(.storage, "the device's key cannot be stored: \(error.message)")
            }
            return key
        } catch let error as DeviceError {
            throw error
        } catch {
            throw DeviceError(.storage, "no key could be made: \(error)")
        }
    }

    /// The saved hosts as they are now.
    func hosts() throws(DeviceError) -> SavedHostList {
        do {
            return SavedHostList(stored: try readFile(path(Self.hostsName), limit: Self.hostsFileLimit))
        } catch  where error.isMissing {
            return SavedHostList()
        } catch {
            throw DeviceError(.storage, "the saved hosts cannot be read: \(error.message)")
        }
    }

    /// Changes the saved hosts; written only when something changed.
    func change<R>(_ body: (inout SavedHostList) -> R) throws(DeviceError) -> R {
        do {
            return try turn.withLock { _ in
                let lock = try Self.lock(directory)
                var list = try hosts()
                let before = list
                let result = body(&list)
                if list != before {
                    let text = list.encode()
                    // What could not be read again would cost every host.
                    guard text.count <= Self.hostsFileLimit else {
                        throw DeviceError(.storage, "the saved hosts would be too large to read again")
                    }
                    do {
                        try writeFileAtomically(path(Self.hostsName), text, mode: 0o600)
                    } catch let error as SocketError {
                        throw DeviceError(.storage, "the saved hosts cannot be stored: \(error.message)")
                    }
                }
                _ = consume lock
                return result
            }
        } catch let error as DeviceError {
            throw error
        } catch {
            throw DeviceError(.storage, "\(error)")
        }
    }

    private func path(_ name: String) -> String { directory + "/" + name }

    private static func lock(_ directory: String) throws(DeviceError) -> FileLock {
        for _ in 0..<lockTries {
            do {
                return try FileLock(path: directory + "/" + lockName)
            } catch {
                switch error {
                case .held: pause(lockPause)
                case .system(let problem): throw DeviceError(.storage, problem.message)
                }
            }
        }
        throw DeviceError(.storage, "\(directory) is held by another process")
    }
}
