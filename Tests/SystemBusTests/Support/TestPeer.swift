// SPDX-License-Identifier: Apache-2.0

import CSystemd
import EventLoop
import Foundation
import Sockets
import Synchronization

@testable import SystemBus

/// A call that a test's service was sent.
struct PeerCall: Sendable, Equatable {
    var path: String
    var interface: String
    var member: String
    var arguments: [BusValue]
}

/// A signal that a test's service sends; to everybody, or straight to one.
struct PeerSignal: Sendable {
    var path: String
    var interface: String
    var member: String
    var arguments: [BusValue] = []
    var destination: String?
}

/// What a test's service does with a call.
enum PeerReply: Sendable {
    case values([BusValue])
    case error(String)
    case silence
    /// The signals leave before the answer does.
    case after([PeerSignal], [BusValue])
}

/// A service on the bus that does what a test says; on sd-bus's server side, which the module has no use for.
final class TestPeer: Sendable {
    private let shared: Shared
    private let thread: JoinHandle
    /// What the bus calls it.
    let uniqueName: String

    /// Returns when it owns `name` (nil: none, it only sends).
    init(
        _ address: String, name: String? = nil,
        _ answer: @escaping @Sendable (PeerCall) -> PeerReply = { _ in .silence }
    ) throws {
        let shared = Shared(flag: try WakeUp())
        self.shared = shared
        let ready = DispatchSemaphore(value: 0)
        thread = try runThread(name: "peer") {
            let server = PeerServer(address, name, answer)
            shared.uniqueName.withLock { $0 = server?.uniqueName ?? "" }
            ready.signal()
            server?.serve(shared)
        }
        ready.wait()
        uniqueName = shared.uniqueName.withLock { $0 }
        if uniqueName.isEmpty { throw CannotRun(what: "peer \(name ?? "without a name")") }
    }

    deinit { stop() }

    /// Sends signals, in this order.
    func send(_ signals: PeerSignal...) {
        shared.signals.withLock { $0 += signals }
        shared.flag.signal()
    }

    /// Leaves the bus.
    func stop() {
        shared.isStopping.withLock { $0 = true }
        shared.flag.signal()
        thread.join()
    }
}

private final class Shared: Sendable {
    let flag: WakeUp
    let uniqueName = Mutex("")
    let signals = Mutex<[PeerSignal]>([])
    let isStopping = Mutex(false)

    init(flag: WakeUp) { self.flag = flag }
}

@safe private final class PeerServer {
    private var bus: OpaquePointer?
    private let answer: (PeerCall) -> PeerReply

    init?(_ address: String, _ name: String?, _ answer: @escaping (PeerCall) -> PeerReply) {
        self.answer = answer
        guard unsafe sd_bus_new(&bus) >= 0, unsafe sd_bus_set_address(bus, address) >= 0,
            unsafe sd_bus_set_bus_client(bus, 1) >= 0, unsafe sd_bus_start(bus) >= 0
        else { return nil }
        unsafe sd_bus_add_filter(
            bus, nil,
            { message, context, _ in
                guard let message = unsafe message, let context = unsafe context else { return 0 }
                let server = unsafe Unmanaged<PeerServer>.fromOpaque(context).takeUnretainedValue()
                return unsafe server.arrived(message)
            }, Unmanaged.passUnretained(self).toOpaque())
        if let name, unsafe sd_bus_request_name(bus, name, 0) < 0 { return nil }
    }

    deinit { unsafe sd_bus_flush_close_unref(bus) }

    var uniqueName: String {
        var name: UnsafePointer<CChar>?
        guard unsafe sd_bus_get_unique_name(bus, &name) >= 0, let name = unsafe name else { return "" }
        return unsafe String(cString: name)
    }

    func serve(_ shared: Shared) {
        while true {
            while unsafe sd_bus_process(bus, nil) > 0 {}
            let isOpen = unsafe sd_bus_is_open(bus) > 0
            if !isOpen || shared.isStopping.withLock({ $0 }) { return }
            let signals = shared.signals.withLock { signals in
                let taken = signals
                signals = []
                return taken
            }
            for signal in signals { send(signal) }
            unsafe sd_bus_flush(bus)
            var polled = [
                pollfd(fd: unsafe sd_bus_get_fd(bus), events: Int16(POLLIN), revents: 0),
                pollfd(fd: shared.flag.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            _ = unsafe poll(&polled, 2, -1)
            shared.flag.clearIfUp(polled[1].revents != 0)
        }
    }

    private func arrived(_ message: OpaquePointer) -> Int32 {
        var type: UInt8 = 0
        guard unsafe sd_bus_message_get_type(message, &type) >= 0, type == 1 else { return 0 }
        let call = unsafe BusMessage(lent: message)
        let values = (try? call.values()) ?? []
        let reply = answer(
            PeerCall(path: call.path, interface: call.interface, member: call.member, arguments: values))
        switch reply {
        case .values(let values): unsafe self.reply(message, values)
        case .error(let name):
            var error = unsafe sd_bus_error(name: nil, message: nil, _need_free: 0)
            unsafe sd_bus_error_set(&error, name, "as the test says")
            unsafe sd_bus_reply_method_error(message, &error)
            unsafe sd_bus_error_free(&error)
        case .silence: break
        case .after(let signals, let values):
            for signal in signals { send(signal) }
            unsafe self.reply(message, values)
        }
        return 1
    }

    private func reply(_ call: OpaquePointer, _ values: [BusValue]) {
        var made: OpaquePointer?
        guard unsafe sd_bus_message_new_method_return(call, &made) >= 0, let made = unsafe made else {
            return
        }
        let message = unsafe BusMessage(adopting: made)
        try? message.append(values)
        unsafe sd_bus_send(bus, message.pointer, nil)
    }

    private func send(_ signal: PeerSignal) {
        var made: OpaquePointer?
        guard
            unsafe sd_bus_message_new_signal(bus, &made, signal.path, signal.interface, signal.member) >= 0,
            let made = unsafe made
        else { return }
        let message = unsafe BusMessage(adopting: made)
        try? message.append(signal.arguments)
        if let destination = signal.destination {
            unsafe sd_bus_message_set_destination(message.pointer, destination)
        }
        unsafe sd_bus_send(bus, message.pointer, nil)
    }
}

extension WakeUp {
    fileprivate func clearIfUp(_ isUp: Bool) { if isUp { clear() } }
}
