// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyStream
import Testing

/// Tests/Vectors/pacing.jsonl, which the port for other languages (Scripts/lib/streaming/pacing.py) repeats too.
struct PacingVectorTests {
    struct Trace: Decodable, Sendable, CustomTestStringConvertible {
        let name: String
        let clients: [String]
        let steps: [[Item]]
        var testDescription: String { name }
    }

    /// A member of a step.
    enum Item: Decodable, Sendable, Equatable {
        case flag(Bool)
        case number(Int)
        case word(String)

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let flag = try? value.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? value.decode(Int.self) {
                self = .number(number)
            } else {
                self = .word(try value.decode(String.self))
            }
        }
    }

    struct BadStep: Error { let step: [Item] }

    static let traces: [Trace] = {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let text =
            (try? String(contentsOf: tests.appending(path: "Vectors/pacing.jsonl"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Trace.self, from: Data($0.utf8))
        }
    }()

    @Test func allAreRead() {
        #expect(Self.traces.count == 19)
    }

    @Test(arguments: traces)
    func trace(_ trace: Trace) throws {
        var clients = trace.clients.map { PacingPolicy(isHome: $0 == "home") }
        var spacing = KeyframeSpacing()
        for (number, step) in trace.steps.enumerated() {
            let results = try Self.does(step, &clients, &spacing)
            #expect(Array(step.suffix(results.count)) == results, "step \(number): \(step)")
        }
    }

    /// Does a step; what it comes to, in the order in which a step ends with it.
    static func does(
        _ step: [Item], _ clients: inout [PacingPolicy], _ spacing: inout KeyframeSpacing
    ) throws -> [Item] {
        guard case .word(let what)? = step.first else { throw BadStep(step: step) }
        switch what {
        case "key":
            spacing.keyframe(at: try moment(step, 1))
            return []
        case "beside":
            spacing.hasHomeClient = try flag(step, 1)
            return []
        default: break
        }
        let client = try number(step, 1)
        guard clients.indices.contains(client) else { throw BadStep(step: step) }
        switch what {
        case "frame":
            let isKey = try flag(step, 4)
            let verdict = clients[client].offer(
                isKeyframe: isKey, unacknowledged: try number(step, 5), spacing: &spacing,
                at: try moment(step, 2))
            if verdict == .send { clients[client].handed(bytes: try number(step, 3), isKeyframe: isKey) }
            return [.word(word(verdict))]
        case "handed": clients[client].handed(bytes: try number(step, 2), isKeyframe: try flag(step, 3))
        case "took": clients[client].took(bytes: try number(step, 2))
        case "left": clients[client].took(leaving: try number(step, 2))
        case "sweep": return [.flag(clients[client].sweep(spacing: &spacing, at: try moment(step, 2)))]
        case "restart":
            clients[client].restarted()
            return []
        case "second":
            let counts = clients[client].closeSecond()
            return [.number(counts.sent), .number(counts.withheld)]
        default: throw BadStep(step: step)
        }
        return [.number(clients[client].pending)]
    }

    static func word(_ verdict: PacingPolicy.Verdict) -> String {
        switch verdict {
        case .send: "send"
        case .withhold(let counts, let asks): (counts ? "lost" : "skip") + (asks ? "+ask" : "")
        }
    }

    static func number(_ step: [Item], _ at: Int) throws -> Int {
        guard step.count > at, case .number(let number) = step[at] else { throw BadStep(step: step) }
        return number
    }

    static func flag(_ step: [Item], _ at: Int) throws -> Bool {
        guard step.count > at, case .flag(let flag) = step[at] else { throw BadStep(step: step) }
        return flag
    }

    static func moment(_ step: [Item], _ at: Int) throws -> Duration { .milliseconds(try number(step, at)) }
}
