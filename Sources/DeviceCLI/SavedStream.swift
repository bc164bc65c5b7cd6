// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyDevice
internal import Sockets
internal import Synchronization
internal import Wire

/// `connect --save FILE`: every message of the host as it came, header and payload (01 section 1), in one file.
final class SavedStream: Sendable {
    private let sink: FileSink
    private let failure = Mutex<DeviceError?>(nil)

    /// Makes the file, readable by its owner alone. Throws `storage`.
    init(path: String) throws(DeviceError) {
        do { sink = try FileSink(path: path, mode: 0o600) } catch {
            throw DeviceError(.storage, "\(path) cannot be written: \(error.message)")
        }
    }

    /// Why something is missing in the file; nil while it is whole.
    var problem: DeviceError? { failure.withLock { $0 } }

    /// Adds a message. After the first failure nothing more is added: what the file has is whole up to there.
    func add(_ message: SessionMessage) {
        failure.withLock { failure in
            guard failure == nil else { return }
            let header = MessageHeader(
                kind: MessageKind(rawValue: message.kind), timestamp: message.timestamp,
                isKeyframe: message.isKeyframe, length: UInt32(clamping: message.payload.count))
            do throws(SocketError) { try sink.write(header.encode() + message.payload) } catch {
                failure = DeviceError(.storage, "the stream was not saved to its end: \(error.message)")
            }
        }
    }
}
