// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import EventLoop
internal import Sockets
internal import Wire

/// One connection to a bus, from its first byte to its loss. Lives on the loop's thread.
@safe final class BusConnection {
    /// What happens to it; called on the loop's thread.
    struct Handlers {
        /// The bus has given this process its name: calls can be made.
        var ready: () -> Void
        /// It is gone, or never came about; called once, and nothing else after it.
        var lost: (_ why: String) -> Void
        var signal: (BusMessage) -> Void
    }

    private let bus: OpaquePointer  // sd_bus *, ours
    private let loop: EventLoop
    private let handlers: Handlers
    private var watch: Watch?
    private var timer: Timer?
    private var deadline: Timer?
    private var filter: OpaquePointer?  // sd_bus_slot *, ours
    private var pending: [ObjectIdentifier: PendingCall] = [:]
    private var callCount: UInt64 = 0
    private var isLost = false

    /// Whether the bus has given this process its name and the connection stands.
    private(set) var isReady = false

    /// Messages handled before the loop looks at its other descriptors and timers.
    private static let messagesPerRound = 64

    /// Begins to connect; throws when that fails at once. A bus that has not let this process in after `limit` is lost.
    convenience init(
        address: String, limit: Duration, loop: EventLoop, _ handlers: Handlers
    ) throws(BusError) {
        unsafe self.init(bus: try Self.open(address), loop: loop, handlers)
        unsafe sd_bus_add_filter(
            bus, &filter,
            { message, context, _ in
                guard let message = unsafe message, let context = unsafe context else { return 0 }
                let connection = unsafe Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue()
                let arrived = unsafe BusMessage(lent: message)
                if arrived.isSignal { connection.handlers.signal(arrived) }
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        watch = loop.watch(unsafe sd_bus_get_fd(bus), readable: false, writable: false) { [weak self] _ in
            self?.process()
        }
        deadline = loop.timer(after: limit) { [weak self] in
            self?.lose("the bus did not let this process in in time")
        }
        rearm()
    }

    private init(bus: OpaquePointer, loop: EventLoop, _ handlers: Handlers) {
        unsafe self.bus = bus
        self.loop = loop
        self.handlers = handlers
    }

    deinit {
        // The descriptor must be out of the loop before it is closed.
        watch = nil
        for call in pending.values { call.release() }
        unsafe sd_bus_slot_unref(filter)
        unsafe sd_bus_close_unref(bus)
    }

    private static func open(_ address: String) throws(BusError) -> OpaquePointer {
        var made: OpaquePointer?
        guard unsafe sd_bus_new(&made) >= 0, let bus = unsafe made else {
            throw BusError(.lost, "connect to \(address): out of memory")
        }
        // The environment has no say: sd_bus_open_system(3) would ask it for the address.
        var result = unsafe sd_bus_set_address(bus, address)
        if result >= 0 { result = unsafe sd_bus_set_bus_client(bus, 1) }
        if result >= 0 { result = unsafe sd_bus_negotiate_fds(bus, 0) }
        if result >= 0 { result = unsafe sd_bus_start(bus) }
        if result >= 0 { return unsafe bus }
        unsafe sd_bus_close_unref(bus)
        throw BusError(.lost, SocketError(errno: -result, call: "connect to \(address)").message)
    }

    /// What the bus calls this process; empty before it is ready.
    var ownName: String {
        var name: UnsafePointer<CChar>?
        guard isReady, unsafe sd_bus_get_unique_name(bus, &name) >= 0, let name = unsafe name else {
            return ""
        }
        return unsafe String(cString: name)
    }

    /// Sends a call. `answer` is called once, never before this returns, and with `.lost` when the connection goes.
    ///
    /// Throws when it cannot be sent; then `answer` is not called.
    func call(_ call: BusCall, _ answer: @escaping (BusAnswer) -> Void) throws(BusError) {
        let what = "\(call.interface).\(call.member)"
        guard isReady else { throw BusError(.lost, "\(what): there is no connection to the bus") }
        var made: OpaquePointer?
        let result = unsafe sd_bus_message_new_method_call(
            bus, &made, call.destination, call.path, call.interface, call.member)
        guard result >= 0, let raw = unsafe made else {
            throw BusError(.unsendable, "\(what): a name or path in it is none")
        }
        let message = unsafe BusMessage(adopting: raw)
        do throws(BusMessage.Failure) {
            try message.append(call.arguments)
        } catch {
            throw BusError(.unsendable, "\(what): an argument of it has no place in a message")
        }
        callCount += 1
        let waiting = PendingCall(self, callCount, call, answer)
        try send(message, waiting, limit: call.limit, what)
        pending[ObjectIdentifier(waiting)] = waiting
        rearm()
    }

    private func send(
        _ message: BusMessage, _ waiting: PendingCall, limit: Duration, _ what: String
    ) throws(BusError) {
        let parts = limit.components
        let microseconds =
            UInt64(max(0, parts.seconds)) * 1_000_000 + UInt64(max(0, parts.attoseconds) / 1_000_000_000_000)
        let result = unsafe sd_bus_call_async(
            bus, &waiting.slot, message.pointer,
            { message, context, _ in
                guard let message = unsafe message, let context = unsafe context else { return 0 }
                let waiting = unsafe Unmanaged<PendingCall>.fromOpaque(context).takeUnretainedValue()
                waiting.connection?.answered(waiting, unsafe BusMessage(lent: message))
                return 0
                // sd-bus reads 0 as its own default of 25 s.
            }, Unmanaged.passUnretained(waiting).toOpaque(), max(1, microseconds))
        guard result >= 0 else {
            // The connection broke in the middle of this: what follows is said by `process`.
            rearm()
            throw BusError(.lost, SocketError(errno: -result, call: what).message)
        }
    }

    private func answered(_ waiting: PendingCall, _ message: BusMessage) {
        guard pending.removeValue(forKey: ObjectIdentifier(waiting)) != nil else { return }
        waiting.release()
        let call = waiting.call
        let what = "\(call.interface).\(call.member)"
        if let error = message.error {
            // While it closes, sd-bus answers what is pending by itself.
            let isOpen = unsafe sd_bus_is_open(bus) > 0
            let code: BusError.Code =
                !isOpen ? .lost : Self.noAnswerNames.contains(error.name) ? .unanswered : .refused
            waiting.answer(.failure(BusError(code, name: error.name, "\(what): \(error.message)")))
            return
        }
        guard call.isAnswered(by: message.sender) else {
            waiting.answer(
                .failure(BusError(.unreadable, "\(what): answered by another than the one who was called")))
            return
        }
        do throws(BusMessage.Failure) {
            waiting.answer(.success(try message.values()))
        } catch {
            waiting.answer(.failure(BusError(.unreadable, "\(what): the answer cannot be read")))
        }
    }

    private static let noAnswerNames: Set = [
        "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout",
        "org.freedesktop.DBus.Error.TimedOut",
    ]

    /// Handles what has arrived and what has run out of time.
    private func process() {
        guard !isLost else { return }
        for _ in 0..<Self.messagesPerRound {
            let result = unsafe sd_bus_process(bus, nil)
            if result < 0 { return lose(SocketError(errno: -result, call: "the bus connection").message) }
            if unsafe sd_bus_is_open(bus) <= 0 { return lose("the bus ended the connection") }
            if !isReady, unsafe sd_bus_is_ready(bus) > 0 {
                isReady = true
                deadline = nil
                handlers.ready()
            }
            if result == 0 { break }
        }
        rearm()
    }

    /// Has the loop call ``process()`` when sd-bus next has something to do.
    private func rearm() {
        let events = unsafe sd_bus_get_events(bus)
        // POLLIN is 1 and POLLOUT 4 (poll(2)). Closing, sd-bus wants neither, and its time is now.
        watch?.set(readable: events > 0 && events & 1 != 0, writable: events > 0 && events & 4 != 0)
        var time = UInt64.max
        guard unsafe sd_bus_get_timeout(bus, &time) >= 0, time != .max else {
            timer?.cancel()
            return
        }
        let now = UInt64(max(0, monotonicNow().nanoseconds)) / 1000
        let delay = Duration.microseconds(Int64(clamping: time > now ? time - now : 0))
        let timer = timer ?? loop.timer(after: delay) { [weak self] in self?.process() }
        if self.timer == nil { self.timer = timer } else { timer.start(after: delay) }
    }

    private func lose(_ why: String) {
        guard !isLost else { return }
        isLost = true
        isReady = false
        watch = nil
        timer = nil
        deadline = nil
        let unanswered = pending.values.sorted { $0.number < $1.number }
        pending = [:]
        for call in unanswered { call.release() }
        handlers.lost(why)
        for waiting in unanswered {
            let what = "\(waiting.call.interface).\(waiting.call.member)"
            waiting.answer(.failure(BusError(.lost, "\(what): \(why)")))
        }
    }
}

/// A call that has no answer yet.
@safe private final class PendingCall {
    weak var connection: BusConnection?
    let number: UInt64
    let call: BusCall
    let answer: (BusAnswer) -> Void
    var slot: OpaquePointer?  // sd_bus_slot *, ours until released

    init(
        _ connection: BusConnection, _ number: UInt64, _ call: BusCall,
        _ answer: @escaping (BusAnswer) -> Void
    ) {
        self.connection = connection
        self.number = number
        self.call = call
        self.answer = answer
    }

    /// Takes it out of sd-bus: its callback does not come any more.
    func release() {
        unsafe sd_bus_slot_unref(slot)
        unsafe slot = nil
    }
}
