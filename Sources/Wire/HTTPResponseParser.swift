// SPDX-License-Identifier: Apache-2.0

/// Follows one HTTP/1.1 answer (RFC 9112) over any split of its bytes. Pure: bytes in, pieces out.
package struct HTTPResponseParser: Sendable {
    /// The status line and header fields.
    package struct Head: Equatable, Sendable {
        package var status: Int
        /// Names in lower case, in the order they came.
        package var fields: [(name: String, value: String)]

        /// The first field of that name (lower case).
        package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

        package static func == (left: Head, right: Head) -> Bool {
            left.status == right.status && left.fields.elementsEqual(right.fields, by: ==)
        }
    }

    /// What the next bytes turned out to be.
    package enum Piece: Equatable, Sendable {
        case head(Head)
        case body([UInt8])
        /// The answer is complete; `reusable` when the connection may carry another.
        case end(reusable: Bool)
    }

    /// Why an answer cannot be followed.
    package struct Malformed: Error, Equatable, Sendable { package let what: String }

    /// The service's own limit for what it reads (spec 07); an answer has no reason to be longer.
    package static let headLimit = 16 * 1024
    /// A chunk's size line, extensions included.
    private static let lineLimit = 1024

    private enum State: Equatable, Sendable {
        case head
        case fixed(left: Int)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case trailers
        case untilClose
        case done
    }

    private var state = State.head
    private var line: [UInt8] = []
    private var lines: [String] = []
    private var held = 0
    private var keepsConnection = false

    package init() {}

    /// Takes in bytes; throws when they are no HTTP/1.1.
    package mutating func feed(_ bytes: ArraySlice<UInt8>) throws(Malformed) -> [Piece] {
        var pieces: [Piece] = []
        var rest = bytes
        while !rest.isEmpty {
            switch state {
            case .head:
                guard let text = try takeLine(&rest, limit: Self.headLimit) else { break }
                held += text.utf8.count + 2
                guard held <= Self.headLimit else { throw Malformed(what: "its header is too long") }
                if text.isEmpty, !lines.isEmpty { try headComplete(&pieces) } else { lines.append(text) }
            case .fixed(let left):
                let part = rest.prefix(left)
                rest = rest.dropFirst(part.count)
                pieces.append(.body(Array(part)))
                state = .fixed(left: left - part.count)
                if left == part.count { finishBody(&pieces) }
            case .chunkSize:
                guard let text = try takeLine(&rest, limit: Self.lineLimit) else { break }
                let digits = text.prefix { $0 != ";" && $0 != " " }
                guard digits.count <= 8, let size = Int(digits, radix: 16), size >= 0 else {
                    throw Malformed(what: "a chunk of its body has no size")
                }
                state = size == 0 ? .trailers : .chunk(left: size)
            case .chunk(let left):
                let part = rest.prefix(left)
                rest = rest.dropFirst(part.count)
                pieces.append(.body(Array(part)))
                state = left == part.count ? .chunkEnd : .chunk(left: left - part.count)
            case .chunkEnd:
                guard let text = try takeLine(&rest, limit: Self.lineLimit) else { break }
                guard text.isEmpty else {
                    throw Malformed(what: "a chunk of its body is longer than its size")
                }
                state = .chunkSize
            case .trailers:
                guard let text = try takeLine(&rest, limit: Self.headLimit) else { break }
                if text.isEmpty { finishBody(&pieces) }
            case .untilClose:
                pieces.append(.body(Array(rest)))
                rest = []
            case .done:
                throw Malformed(what: "more follows its end")
            }
        }
        return pieces
    }

    /// The connection has ended. Throws when the answer had not.
    package mutating func finish() throws(Malformed) -> [Piece] {
        switch state {
        case .done: return []
        case .untilClose:
            state = .done
            return [.end(reusable: false)]
        default: throw Malformed(what: "it breaks off")
        }
    }

    /// The next whole line without its end; nil when it is not all there yet.
    private mutating func takeLine(
        _ rest: inout ArraySlice<UInt8>, limit: Int
    ) throws(Malformed) -> String? {
        let part = rest.prefix { $0 != 0x0A }
        line += part
        rest = rest.dropFirst(part.count)
        guard line.count <= limit else { throw Malformed(what: "a line of it is too long") }
        guard rest.first == 0x0A else { return nil }
        rest = rest.dropFirst()
        if line.last == 0x0D { line.removeLast() }
        defer { line = [] }
        return String(decoding: line, as: UTF8.self)
    }

    private mutating func headComplete(_ pieces: inout [Piece]) throws(Malformed) {
        let words = lines[0].split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3,
            let status = Int(words[1]), (100...599).contains(status)
        else { throw Malformed(what: "it does not begin as HTTP/1.1 does") }
        var fields: [(name: String, value: String)] = []
        for text in lines.dropFirst() {
            guard let colon = text.firstIndex(of: ":") else {
                throw Malformed(what: "a header field has no colon")
            }
            let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            fields.append((text[..<colon].lowercased(), trimmedEnd(value)))
        }
        lines = []
        held = 0
        // 1xx answers are only on the way to the real one (RFC 9110 section 15.2).
        if status < 200 { return }
        let head = Head(status: status, fields: fields)
        pieces.append(.head(head))
        keepsConnection =
            words[0] == "HTTP/1.1" && head["connection"]?.lowercased().contains("close") != true
        try chooseBody(head, &pieces)
    }

    /// RFC 9112 section 6.3, for the answers of a service that never tunnels and is never asked HEAD.
    private mutating func chooseBody(_ head: Head, _ pieces: inout [Piece]) throws(Malformed) {
        if head.status == 204 || head.status == 304 { return finishBody(&pieces) }
        if let coding = head["transfer-encoding"] {
            guard coding.lowercased() == "chunked" else {
                throw Malformed(what: "its body has an unknown coding")
            }
            state = .chunkSize
        } else if let length = head["content-length"] {
            guard let length = Int(length), length >= 0 else {
                throw Malformed(what: "its length is no number")
            }
            state = .fixed(left: length)
            if length == 0 { finishBody(&pieces) }
        } else {
            keepsConnection = false
            state = .untilClose
        }
    }

    private mutating func finishBody(_ pieces: inout [Piece]) {
        state = .done
        pieces.append(.end(reusable: keepsConnection))
    }

    private func trimmedEnd(_ text: Substring) -> String {
        var text = text
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
