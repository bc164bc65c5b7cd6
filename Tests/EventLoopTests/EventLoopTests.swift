// SPDX-License-Identifier: Apache-2.0

import Bytes
import EventLoop
import Sockets
import Synchronization
import Testing
import Wire

/// What happened, in order, from any thread.
final class Journal: Sendable {
    private let lines = Mutex<[String]>([])
    func note(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
}

private func loopbackPair() throws -> (server: Int32, client: Int32) {
    let address = try #require(IPAddress("127.0.0.1"))
    let listener = try Socket.tcpListener(SocketAddress(ip: address, port: 0), v6Only: true)
    guard let bound = listener.localAddress() else { throw SocketError(errno: 0, call: "no address") }
    let client = try Socket.tcpConnect(bound, timeout: .seconds(10))
    _ = try listener.wait(for: .readable, until: monotonicNow() + .seconds(10))
    guard let server = try accept(on: listener) else { throw SocketError(errno: 0, call: "none") }
    return (server.intoSocket().release(), client.release())
}

@Suite("Event loop")
struct EventLoopTests {
    @Test("jobs from another thread run in order on the loop's thread, then it stops")
    func jobs() throws {
        let journal = Journal()
        let mailbox = try Mailbox()
        mailbox.post { journal.note("before the loop") }
        let thread = try runThread(name: "loop") {
            do { try EventLoop(mailbox: mailbox).run() } catch { journal.note("\(error)") }
            journal.note("ended")
        }
        for number in 0..<100 { mailbox.post { journal.note("\(number)") } }
        mailbox.post { [mailbox] in mailbox.post { mailbox.stop() } }
        thread.join()
        thread.join()
        #expect(journal.all == ["before the loop"] + (0..<100).map { "\($0)" } + ["ended"])
    }

    @Test("stopping before the loop runs still runs what was posted")
    func stopFirst() throws {
        let journal = Journal()
        let loop = try EventLoop()
        loop.mailbox.post { journal.note("job") }
        loop.mailbox.stop()
        loop.run()
        #expect(journal.all == ["job"])
    }

    @Test("timers fire in the order of their times, a cancelled or dropped one never")
    func timers() throws {
        let loop = try EventLoop()
        var order: [Int] = []
        var kept: [Timer] = []
        kept.append(loop.timer(after: .milliseconds(20)) { order.append(2) })
        kept.append(loop.timer(after: .milliseconds(1)) { order.append(1) })
        let cancelled = loop.timer(after: .milliseconds(1)) { order.append(8) }
        cancelled.cancel()
        _ = loop.timer(after: .milliseconds(1)) { order.append(9) }
        let last = loop.timer(after: .milliseconds(40)) { loop.mailbox.stop() }
        #expect(last.isPending && !cancelled.isPending)
        loop.run()
        #expect(order == [1, 2])
        #expect(!last.isPending && kept.count == 2)
    }

    @Test("serving what is ready runs jobs and due timers, and comes back when there is nothing")
    func ready() throws {
        let journal = Journal()
        let loop = try EventLoop()
        loop.serveReady()
        loop.mailbox.post { journal.note("job") }
        let due = loop.timer(after: .zero) { journal.note("timer") }
        let later = loop.timer(after: .seconds(3600)) { journal.note("never") }
        // Its clock is coarse: zero may be a round away.
        while due.isPending { loop.serveReady() }
        #expect(Set(journal.all) == ["job", "timer"] && later.isPending)
    }

    @Test("a timer may be started again from its own handler")
    func restart() throws {
        let loop = try EventLoop()
        var rounds = 0
        var timer: Timer?
        timer = loop.timer(after: .zero) {
            rounds += 1
            if rounds < 5 { timer?.start(after: .milliseconds(1)) } else { loop.mailbox.stop() }
        }
        loop.run()
        #expect(rounds == 5)
        timer = nil
    }

    @Test("a watch sees bytes, room to write and the end, and only what it asks for")
    func watching() throws {
        let (serverFD, clientFD) = try loopbackPair()
        let server = Socket(adopting: serverFD)
        let loop = try EventLoop()
        let buffer = ByteBuffer()
        var journal: [String] = []
        var watch: Watch?
        let out = ByteBuffer()
        out.append([1, 2, 3])
        var client: Int32? = clientFD
        watch = loop.watch(serverFD, readable: false, writable: true) { events in
            if events.contains(.writable) {
                journal.append("room")
                watch?.set(readable: true, writable: false)
                let end = Socket(adopting: clientFD)
                _ = try? end.write(from: out)
                client = end.release()
                return
            }
            do {
                let count = try server.read(into: buffer, max: 16)
                journal.append("read \(count.map(String.init) ?? "nothing")")
                if count == 3, let open = client { _ = Socket(adopting: open) }
                if count == 0 {
                    watch = nil
                    loop.mailbox.stop()
                }
            } catch {
                journal.append("\(error)")
                loop.mailbox.stop()
            }
        }
        loop.run()
        #expect(journal == ["room", "read 3", "read 0"])
        #expect(watch == nil)
    }

    @Test("one loop of many watches serves each")
    func many() throws {
        let loop = try EventLoop()
        var watches: [Watch] = []
        var served = 0
        let count = 50
        for _ in 0..<count {
            let (serverFD, clientFD) = try loopbackPair()
            let client = Socket(adopting: clientFD)
            let out = ByteBuffer()
            out.append([7])
            _ = try client.write(from: out)
            let buffer = ByteBuffer()
            let fd = client.release()
            var watch: Watch?
            watch = loop.watch(serverFD, readable: true, writable: false) { _ in
                let server = Socket(adopting: serverFD)
                if (try? server.read(into: buffer, max: 8)) == 1 { served += 1 }
                watch?.set(readable: false, writable: false)
                _ = Socket(adopting: fd)
                if served == count { loop.mailbox.stop() }
            }
            if let watch { watches.append(watch) }
        }
        loop.run()
        #expect(served == count)
        watches.removeAll()
    }
}

@Suite("Wake-up flag")
struct WakeUpTests {
    @Test("stays up until lowered")
    func flag() throws {
        let flag = try WakeUp()
        #expect(!flag.wait(until: monotonicNow()))
        flag.signal()
        flag.signal()
        #expect(flag.wait(until: nil))
        #expect(flag.wait(until: nil))
        flag.clear()
        #expect(!flag.wait(until: monotonicNow()))
    }
}
