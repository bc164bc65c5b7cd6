// What libmicrohttpd calls: recover the object, hand over. SPDX-License-Identifier: Apache-2.0

internal import CMicroHTTPD
internal import Glibc
internal import Sockets

/// A request: first its headers, then its body in parts, then its end; after a suspension its end once more.
func httpHandle(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ path: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ part: UnsafePointer<CChar>?,
    _ count: UnsafeMutablePointer<Int>?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context = unsafe context, let raw = unsafe connection, let count = unsafe count,
        let state = unsafe state
    else { return .NO }
    let server = unsafe Unmanaged<ServerThread>.fromOpaque(context).takeUnretainedValue()
    let connection = unsafe HTTPConnection(raw)
    guard let known = unsafe state.pointee else {
        guard let path = unsafe path, let method = unsafe method else { return .NO }
        let begun = unsafe server.begin(
            connection, method: String(cString: method), path: String(cString: path))
        unsafe state.pointee = Unmanaged.passRetained(begun.exchange).toOpaque()
        return begun.goesOn ? .YES : .NO
    }
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
    guard unsafe count.pointee > 0, let part = unsafe part else {
        return server.finish(exchange, connection) ? .YES : .NO
    }
    let bytes = unsafe UnsafeRawBufferPointer(start: part, count: count.pointee)
        .assumingMemoryBound(to: UInt8.self)
    unsafe count.pointee = 0
    return unsafe exchange.append(bytes) ? .YES : .NO
}

/// A request is over, well or not.
func httpCompleted(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
    guard let context = unsafe context, let state = unsafe state, let known = unsafe state.pointee else {
        return
    }
    unsafe state.pointee = nil
    let exchange = unsafe Unmanaged<Exchange>.fromOpaque(known).takeRetainedValue()
    unsafe Unmanaged<ServerThread>.fromOpaque(context).takeUnretainedValue().completed(exchange)
}

/// A connection begins or ends.
func httpNotify(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ what: MHD_ConnectionNotificationCode
) {
    guard let context = unsafe context, let raw = unsafe connection, let state = unsafe state else { return }
    let server = unsafe Unmanaged<ServerThread>.fromOpaque(context).takeUnretainedValue()
    if what == .CONNECTION_NOTIFY_STARTED {
        let descriptor = unsafe HTTPConnection(raw).descriptor
        unsafe state.pointee = Unmanaged.passRetained(server.caller(at: descriptor)).toOpaque()
    } else if let known = unsafe state.pointee {
        unsafe state.pointee = nil
        server.left(unsafe Unmanaged<Caller>.fromOpaque(known).takeRetainedValue())
    }
}

/// The library's decoding loses where segments end and cuts at %00: we decode after splitting.
func httpKeepEscapes(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ text: UnsafeMutablePointer<CChar>?
) -> Int {
    guard let text = unsafe text else { return 0 }
    return unsafe strlen(text)
}

/// One header.
func httpHeader(
    _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ nameCount: Int, _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
    guard let context = unsafe context, let name = unsafe name else { return .YES }
    let scan = unsafe Unmanaged<HeaderScan>.fromOpaque(context).takeUnretainedValue()
    let nameBytes = unsafe UnsafeRawBufferPointer(start: name, count: nameCount)
        .assumingMemoryBound(to: UInt8.self)
    // A header without a value has a null pointer: an empty buffer stands for it.
    let valueBytes = unsafe UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueCount)
        .assumingMemoryBound(to: UInt8.self)
    unsafe scan.header(nameBytes.span, valueBytes.span)
    return .YES
}

/// One argument of the query.
func httpArgument(
    _ context: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?,
    _ nameCount: Int, _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
    guard let context = unsafe context, let name = unsafe name else { return .YES }
    let list = unsafe Unmanaged<QueryList>.fromOpaque(context).takeUnretainedValue()
    let nameBytes = unsafe UnsafeRawBufferPointer(start: name, count: nameCount)
    let valueBytes = unsafe UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueCount)
    unsafe list.items.append((PercentEncoding.decode(nameBytes), PercentEncoding.decode(valueBytes)))
    return .YES
}

/// The next bytes of an event stream; 0 only after the connection was suspended.
func httpRead(
    _ context: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?,
    _ room: Int
) -> Int {
    guard let context = unsafe context, let buffer = unsafe buffer else { return shim_stream_error() }
    let stream = unsafe Unmanaged<HTTPStream>.fromOpaque(context).takeUnretainedValue()
    switch stream.step() {
    case .sleep: return 0
    case .breakOff: return shim_stream_error()
    case .end: return shim_stream_end()
    case .send:
        let events = stream.stream
        let count = unsafe events.block.withUnsafeBytes { block in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: block[events.offset...])
            let count = min(room, rest.count)
            unsafe UnsafeMutableRawBufferPointer(start: buffer, count: count).copyBytes(
                from: rest.prefix(count))
            return count
        }
        events.sent(count, now: monotonicNow())
        return count
    }
}

/// The stream's response is gone.
func httpReadEnded(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<HTTPStream>.fromOpaque(context).takeRetainedValue().ended()
}
