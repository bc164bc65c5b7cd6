// The only file that talks to libmicrohttpd (with HTTPCallbacks). SPDX-License-Identifier: Apache-2.0

internal import CMicroHTTPD
internal import Glibc
internal import Sockets
internal import Wire

/// One libmicrohttpd daemon without a thread or listener of its own: the server's thread hands it connections, waits
/// for `descriptor` and calls `run`. Every method belongs to that thread, and so every call of the library happens there.
///
/// (With the library's own thread there would be one daemon and one thread a listener, the limits would count each
/// listener apart, and answers from other threads would need locks.)
@safe final class HTTPDaemon {
    private var raw: OpaquePointer?  // struct MHD_Daemon *, ours

    /// Starts it; nil when the system has no descriptor left. `server` outlives the daemon.
    init?(server: ServerThread) {
        let context = unsafe Unmanaged.passUnretained(server).toOpaque()
        unsafe raw = shim_start_daemon(
            httpHandle, httpCompleted, httpNotify, httpKeepEscapes, context, ServerLimits.connections,
            ServerLimits.connectionsPerAddress, ServerLimits.idleSeconds, ServerLimits.connectionMemory)
        guard unsafe raw != nil else { return nil }
    }

    deinit { stop() }

    /// Readable when there is something to do.
    var descriptor: Int32 { unsafe shim_daemon_descriptor(raw) }

    /// Milliseconds until `run` has something to do even if nothing arrives; nil: none.
    var timeout: Int32? {
        var milliseconds: UInt64 = 0
        guard unsafe MHD_get_timeout(raw, &milliseconds) == .YES else { return nil }
        return Int32(clamping: milliseconds)
    }

    /// Does what can be done without waiting.
    func run() { _ = unsafe MHD_run(raw) }

    /// Hands over a connection. Above the limits the library closes it: the newest makes room.
    func add(_ socket: consuming Socket) {
        let descriptor = socket.release()
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe getpeername(descriptor, address, &length) == 0 else {
                    close(descriptor)
                    return
                }
                _ = unsafe MHD_add_connection(raw, descriptor, address, length)
            }
        }
    }

    /// Closes every connection. None may be suspended any more.
    func stop() {
        if let daemon = unsafe raw { unsafe MHD_stop_daemon(daemon) }
        unsafe raw = nil
    }
}

/// A connection of the daemon, lent for the length of a callback or while it is suspended.
@safe struct HTTPConnection {
    private let raw: OpaquePointer  // struct MHD_Connection *, the daemon's

    init(_ raw: OpaquePointer) { unsafe self.raw = raw }

    /// Its socket.
    var descriptor: Int32 { unsafe shim_connection_descriptor(raw) }

    /// Bytes of request line and headers.
    var headerBytes: Int { unsafe shim_header_size(raw) }

    /// What `httpNotify` made when it was accepted.
    var caller: Caller? {
        guard let context = unsafe shim_socket_context(raw) else { return nil }
        return unsafe Unmanaged<Caller>.fromOpaque(context).takeUnretainedValue()
    }

    /// Goes once over the request's headers.
    func scan(into scan: HeaderScan) {
        let context = unsafe Unmanaged.passUnretained(scan).toOpaque()
        _ = unsafe MHD_get_connection_values_n(raw, .HEADER_KIND, httpHeader, context)
    }

    /// The query's names and values, decoded.
    var query: [(name: String, value: String)] {
        // Nearly no request has any: counting them costs nothing.
        guard unsafe MHD_get_connection_values_n(raw, .GET_ARGUMENT_KIND, nil, nil) > 0 else { return [] }
        let list = QueryList()
        let context = unsafe Unmanaged.passUnretained(list).toOpaque()
        _ = unsafe MHD_get_connection_values_n(raw, .GET_ARGUMENT_KIND, httpArgument, context)
        return list.items
    }

    /// Stops reading and writing until `resume`.
    func suspend() { unsafe MHD_suspend_connection(raw) }

    /// Goes on.
    func resume() { unsafe MHD_resume_connection(raw) }

    /// Answers with bytes. False when the library is out of memory; then the connection is closed.
    func send(_ answer: Answer, _ bytes: [UInt8]) -> Bool {
        // A HEAD answer keeps its body: the library counts it for Content-Length and does not send it.
        let response = unsafe bytes.withUnsafeBytes { bytes in
            // The library takes a mutable pointer for its other memory modes; with MUST_COPY it only reads.
            unsafe MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
        }
        return unsafe queue(answer, response)
    }

    /// Answers with a stream; the library holds `stream` until it ends.
    func send(_ answer: Answer, _ stream: HTTPStream) -> Bool {
        let context = unsafe Unmanaged.passRetained(stream)
        let response = unsafe shim_stream_response(
            ServerLimits.streamBlock, httpRead, context.toOpaque(), httpReadEnded)
        guard unsafe response != nil else {
            unsafe context.release()
            return false
        }
        return unsafe queue(answer, response)
    }

    private func queue(_ answer: Answer, _ response: OpaquePointer?) -> Bool {
        guard let response = unsafe response else { return false }
        defer { unsafe MHD_destroy_response(response) }
        unsafe MHD_add_response_header(response, "Content-Type", answer.contentType.rawValue)
        for header in answer.headers { unsafe MHD_add_response_header(response, header.name, header.value) }
        return unsafe MHD_queue_response(raw, UInt32(answer.status), response) == .YES
    }
}

/// Query arguments while the library goes over them.
final class QueryList {
    var items: [(name: String, value: String)] = []
}

/// An event stream and the connection it is sent on.
final class HTTPStream {
    let stream: EventStream
    let connection: HTTPConnection
    private weak var server: ServerThread?

    init(_ stream: EventStream, on connection: HTTPConnection, of server: ServerThread) {
        self.stream = stream
        self.connection = connection
        self.server = server
    }

    /// What to give the library next: see `httpRead`.
    func step() -> EventStream.Step {
        let step = stream.step()
        if step == .sleep {
            stream.isAsleep = true
            connection.suspend()
        }
        return step
    }

    /// Goes on with whatever is there now.
    func wake() {
        guard stream.isAsleep else { return }
        stream.isAsleep = false
        connection.resume()
    }

    /// The library has let go of it.
    func ended() { server?.streamEnded(self) }
}
