// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// What the host's key signs for a streaming process (07): limited, and audited as a count.
extension Core {
    /// Signatures a second for all callers together (07); a host does not get as many handshakes.
    static let signaturesPerSecond = 200

    /// `POST /v1/identity/signatures`: nil to sign now, or how long to wait first.
    package mutating func signature(for actor: Actor, _ moment: Moment) -> Duration? {
        settle(moment)
        if let wait = signatureLimit.take(at: moment.now) { return wait }
        counters.signatures += 1
        tell(signatureTally.signed(actor.text, at: moment.now), moment)
        touchDeadlines()
        return nil
    }

    /// One row for each caller of the minute that ended.
    mutating func tellSignatures(_ moment: Moment) {
        // A late tick must not join two minutes.
        while let deadline = signatureTally.deadline, moment.now >= deadline {
            tell(signatureTally.tick(at: moment.now), moment)
        }
    }

    private mutating func tell(_ lines: [SignatureTally.Line], _ moment: Moment) {
        for line in lines {
            audit(
                AuditRow(
                    at: moment.wall, actor: line.actor, action: "identity.sign", outcome: "ok",
                    detail: line.count == 1 ? "1 signature" : "\(line.count) signatures"))
        }
    }
}
