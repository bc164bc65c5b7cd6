// SPDX-License-Identifier: Apache-2.0

internal import Core
internal import Policy
internal import Sockets
internal import Wire

/// What the relay tells of its link once a second (06 A6, C2).
extension SessionRelay {
    /// A second ends; nil once the session has begun to end, which nobody judges.
    func closeSecond(at now: MonotonicTime) -> SessionSecond? {
        guard case .no = ending else { return nil }
        let isRead = canTakeFromDevice && !socketHasEnded
        let sockets = SessionMeter.Sockets(
            backendHasBytes: isHolding && backend?.hasBytesReady ?? false,
            unread: isRead ? nil : connection.socket.bytesReady())
        let second = meter.close(sockets, at: now)
        let unsent = meter.unsentInKernel { connection.socket.unsentBytes() }
        return SessionSecond(session: id, second: second, unsentInKernel: unsent)
    }

    /// The stream is another: this second's frames count no more.
    func judgeAfresh(at now: MonotonicTime) { meter.reset(at: now) }
}
