// SPDX-License-Identifier: Apache-2.0

package import Wire

/// How the requests to the router stand that the owner has asked for, as reports show them (05 B8, B9).
package struct RouterRequests: Sendable, Equatable {
    /// One of them.
    package struct Standing: Sendable, Equatable {
        /// `mappingActive`, `mappingPending`, …; `pinholeOpen`, ….
        package var code: String
        /// More for people: the router's own error in words, where the port leads.
        package var detail: String?
        /// Whether the router was asked again, and shows it.
        package var isSeen: Bool
        /// When it ends unless it is renewed.
        package var expiresAt: WallTime?

        package init(code: String, detail: String? = nil, isSeen: Bool = false, expiresAt: WallTime? = nil) {
            self.code = code
            self.detail = detail
            self.isSeen = isSeen
            self.expiresAt = expiresAt
        }
    }

    /// nil while none is wanted and none is left.
    package var mapping: Standing?
    package var pinhole: Standing?

    package init() {}

    /// The same without what changes at every renewal.
    var lasting: RouterRequests {
        var lasting = self
        lasting.mapping?.expiresAt = nil
        lasting.pinhole?.expiresAt = nil
        return lasting
    }
}

extension RouterRequests.Standing {
    /// Of a mapping, which ends at `expiresAt` unless it is renewed.
    package init(_ outcome: MappingOutcome, expiresAt: WallTime?) {
        self.init(code: outcome.code, detail: outcome.detail)
        guard case .active(let grant) = outcome else { return }
        isSeen = grant.isSeen
        self.expiresAt = expiresAt
    }

    /// Of a pinhole.
    package init(_ outcome: PinholeOutcome, expiresAt: WallTime?) {
        self.init(code: outcome.code)
        switch outcome {
        case .open(let grant):
            isSeen = grant.isWorking ?? false
            self.expiresAt = expiresAt
        case .refused(let words): detail = words
        case .pending, .notPossible: break
        }
    }
}

extension MappingOutcome {
    /// What people need beside the code; nil when the code says it all.
    package var detail: String? {
        switch self {
        case .active, .pending, .toThisHost: nil
        case .refused(let words): "The router refuses: \(words)."
        case .portDiffers(let port):
            "The router would only give outside port \(port); saved addresses need the port to be the same."
        case .conflict(let target):
            "The router leads the port to \(target). Change that there, or use another outside port."
        case .notPossible(let why): why
        case .permanentOnly:
            "The router makes only mappings without an end: latchkey set permanent-mappings on, and ask again."
        }
    }
}
