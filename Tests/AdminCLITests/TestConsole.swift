// SPDX-License-Identifier: Apache-2.0

import Glibc
import NetFacts
import Policy
import ReachabilityFacts
import Wire

@testable import AdminCLI

/// A console that remembers what was said, with its own clock and a person who answers as told.
final class TestConsole {
    var output = ""
    var errors = ""
    var outputIsTerminal = false
    var inputIsTerminal = false
    var answers: [String] = []
    var secrets: [String] = []
    var environment: [String: String] = ["HOME": "/nonexistent"]
    var now = Fixtures.now
    /// What the cable rule finds; nil: the kernel does not say.
    var cables: [CableReport]? = []
    /// What a look at this machine finds; nil: the kernel does not say.
    var evidence: ReachabilityEvidence?
    /// What the last look was asked for.
    var scope: ReachabilityGatherer.Scope?
    var takenPorts: [Int] = []
    var portsTried: [Int] = []
    var columns = 80
    /// What the next wait ends with.
    var stop: Console.Stop?
    /// Called before each wait.
    var onWait: () -> Void = {}

    /// Runs `latchkey` with these words.
    @discardableResult
    func run(_ words: String...) -> Int32 { AdminCLI.run(words, console).rawValue }

    var console: Console {
        Console(
            write: { self.output += $0 }, complain: { self.errors += $0 }, outputIsTerminal: outputIsTerminal,
            inputIsTerminal: inputIsTerminal, columns: { self.columns },
            ask: { self.answers.isEmpty ? nil : self.answers.removeFirst() },
            askSecretly: {
                self.errors += $0
                return self.secrets.isEmpty ? nil : self.secrets.removeFirst()
            }, now: { self.now },
            environment: { self.environment[$0] }, isRoot: false, cables: { self.cables },
            reachability: { scope in
                self.scope = scope
                return self.evidence.map {
                    ReachabilityLook(evidence: $0, took: .milliseconds(64), now: .seconds(112))
                }
            },
            isPortTaken: { port in
                self.portsTried.append(port)
                return self.takenPorts.contains(port)
            },
            catchStops: {
                { descriptor, milliseconds in
                    self.onWait()
                    if let stop = self.stop { return stop }
                    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    _ = unsafe poll(&request, 1, milliseconds)
                    return nil
                }
            })
    }
}
