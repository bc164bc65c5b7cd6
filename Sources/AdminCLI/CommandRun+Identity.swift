// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import LatchkeyClient

extension CommandRun {
    /// `latchkey identity show`.
    func showIdentity() throws {
        output.print(try client().identity()) {
            IdentityText.details($0, now: console.now(), style: output.style)
        }
    }

    /// `latchkey identity rotate`: says what it costs, and has the host's ID typed before anything happens.
    func rotateIdentity(isConfirmed: Bool) throws {
        if !isConfirmed, !console.inputIsTerminal {
            throw Failure(
                .usage, "identity rotate asks first, and there is no terminal to ask on",
                advice: ["Add --yes to rotate without asking: every device must then pair again."])
        }
        let client = try client()
        let identity = try client.identity().value
        if !isConfirmed {
            let status = try client.status().value
            console.complain(
                IdentityText.question(identity, devices: status.devices, sessions: status.sessions))
            // People type IDs; their letters are all capitals.
            let typed = console.ask()?.uppercased().filter { !$0.isWhitespace }
            guard typed == identity.hostID else {
                throw Failure(
                    .refused, "that is not the host's ID; nothing was changed",
                    advice: ["It is \(identity.hostID), as latchkey identity shows it."])
            }
        }
        output.print(try client.rotate(confirm: identity.hostID)) {
            IdentityText.rotated(from: identity, to: $0)
        }
    }
}
