// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Synchronization

/// Reads all devices at a start; many of them on two connections at once, since turning rows into records takes longer
/// than reading them. Nobody writes meanwhile: the writer is still checking the file.
enum ParallelLoad {
    /// Row numbers above this are worth a second thread.
    static let threshold: Int64 = 10_000

    static func devices(
        _ connection: Connection, path: String, threshold: Int64 = threshold
    ) throws(StoreError) -> [DeviceRecord] {
        let last = try connection.int("SELECT max(rowid) FROM devices") ?? 0
        let count = Int(try connection.int("SELECT count(*) FROM devices") ?? 0)
        guard last > threshold else {
            return try connection.loadDevices(after: .min, upTo: .max, expecting: count)
        }
        let middle = last / 2
        let second = Half()
        let thread = WriterThread {
            second.keep { () throws(StoreError) in
                try Connection(path: path, access: .readOnly)
                    .loadDevices(after: middle, upTo: .max, expecting: count / 2 + 1)
            }
        }
        guard let thread else { return try connection.loadDevices(after: .min, upTo: .max, expecting: count) }
        var devices: [DeviceRecord]
        do throws(StoreError) {
            devices = try connection.loadDevices(after: .min, upTo: middle, expecting: count)
        } catch {
            thread.join()
            throw error
        }
        thread.join()
        devices += try second.devices()
        return devices
    }

    /// What the other thread read.
    private final class Half: Sendable {
        private let result = Mutex<Result<[DeviceRecord], StoreError>>(.success([]))

        func keep(_ body: () throws(StoreError) -> [DeviceRecord]) {
            let done: Result<[DeviceRecord], StoreError>
            do throws(StoreError) { done = .success(try body()) } catch { done = .failure(error) }
            result.withLock { $0 = done }
        }

        func devices() throws(StoreError) -> [DeviceRecord] { try result.withLock { $0 }.get() }
    }
}
