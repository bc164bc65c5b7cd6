// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import Core
internal import LocalAPI
internal import Policy
internal import Store
internal import Wire

/// The problems that handlers answer with; the server's own are in LocalAPI. Codes are listed in docs/api.md.
enum APIProblems {
    /// No device has this ID, or one that begins so.
    static let deviceNotFound = Problem(
        404, "deviceNotFound", "Device not found", detail: "No paired device has an ID that begins so.")

    /// Several have.
    static func ambiguousDevice(_ records: [DeviceRecord]) -> Problem {
        var problem = Problem(
            409, "ambiguousDevice", "Several devices match", detail: "Give more characters of the ID.")
        problem.candidates = records.map { APIDeviceRef(id: $0.id.text, name: $0.name) }
        return problem
    }

    /// No session has this ID, or it has ended.
    static let sessionNotFound = Problem(
        404, "sessionNotFound", "Session not found", detail: "There is no such session, or it has ended.")

    /// It was told to go.
    static let sessionClosing = Problem(
        409, "sessionClosing", "The session is ending",
        detail: "It was sent a goodbye; it changes nothing any more.")

    /// No session comes from this address.
    static let noSuchConnection = Problem(
        404, "noSuchConnection", "No such connection", detail: "No session comes from this address and port.")

    /// No window is open; says how the last one ended.
    static func noWindow(last: WindowOutcome?) -> Problem {
        var problem = Problem(
            404, "noWindow", "No pairing window is open", detail: "Open one with POST /v1/pairing/window.")
        problem.last = .some(
            last.map { LastWindow(outcome: $0.outcome.rawValue, at: $0.at, device: $0.device?.text) })
        return problem
    }

    /// A person's window is open already.
    static let windowOpen = Problem(
        409, "windowOpen", "A pairing window is open already",
        detail: "Close it first, or ask again with ?replace=true.")

    /// A member of the body or the query that is not as it should be.
    static func invalid(_ field: String, _ detail: String) -> Problem {
        Problem(400, "invalidRequest", "The request is not valid", detail: detail, field: field)
    }

    /// A fingerprint that is none.
    static let invalidFingerprint = invalid(
        "fingerprint", "fingerprint must be 32 bytes in base64url, or empty for no P-256 key")

    /// A kind 19 that does not decode; one failure was counted.
    static let badPairingMessage = Problem(
        422, "badPairingMessage", "Not a pairing message",
        detail: "The payload is not that of a kind 19. Close the connection without an answer.")

    /// A session that the service carries itself is not a streaming process's to end.
    static let notDelegated = Problem(
        409, "notDelegated", "The session is relayed",
        detail: "An admin ends it with POST /v1/sessions/{id}/close.")

    /// As many sessions as one process may have.
    static let sessionLimit = Problem(
        503, "sessionLimit", "Too many sessions are registered",
        detail: "DELETE those that are over; DELETE /v1/sessions ends all that a former run has left.")

    /// Signatures come too fast.
    static let rateLimited = Problem(
        429, "rateLimited", "Too many signatures",
        detail: "At most 200 handshakes a second are signed. Try again after Retry-After.")

    /// The host's key did not sign.
    static let cannotSign = Problem(
        503, "cannotSign", "The host's key does not sign", detail: "Nothing changed. Try again.")

    /// A setting that was not taken (spec 09.18).
    static func invalidSetting(_ refusal: SettingRefusal) -> Problem {
        Problem(
            400, "invalidSetting", "Not a valid setting", detail: refusal.message,
            field: refusal.field.isEmpty ? nil : refusal.field)
    }

    /// A setting that the command line holds for this run (spec 09.16).
    static func overridden(_ field: String) -> Problem {
        Problem(
            409, "overridden", "Set on the command line",
            detail: "\(field) was given when the service was started, and holds until it is started without.",
            field: field)
    }

    /// The store cannot commit; nothing changed (spec 09.19).
    static func storeUnavailable(_ message: String) -> Problem {
        Problem(
            503, "storeUnavailable", "The database cannot be written", detail: "Nothing changed: \(message).")
    }

    /// The caller meant another host, or none in particular (spec 09.19).
    static let confirmMismatch = Problem(
        409, "confirmMismatch", "Not this host's ID",
        detail: "confirm must be this host's ID, as GET /v1/identity shows it. Nothing changed.",
        field: "confirm")

    /// The identity is being replaced; until that is done nothing else changes.
    static let rotationInProgress = Problem(
        409, "rotationInProgress", "The identity is being rotated",
        detail: "Another identity is on its way to the disk. Try again in a moment.")

    /// The service is on its way out.
    static let stopping = Problem(
        503, "unavailable", "The service is stopping", detail: "Try again when it runs.")

    /// Maps why a change was not even tried.
    static func refusal(_ refusal: ChangeRefusal) -> Problem {
        switch refusal {
        case .deviceNotFound: deviceNotFound
        case .emptyName: invalid("name", "name must hold at least one visible character")
        case .overridden(let field): overridden(field)
        case .confirmMismatch: confirmMismatch
        case .rotationInProgress: rotationInProgress
        case .stopping: stopping
        }
    }

    /// Maps what the store said to a reader.
    static func reading(_ error: StoreError) -> Problem {
        switch error.code {
        case .badCursor: invalid("after", "after must be the next of a page of this list")
        default: storeUnavailable(error.message)
        }
    }
}

extension StoreError {
    /// Runs a read and maps its error.
    static func mapped<T>(_ read: () throws(StoreError) -> T) throws(Problem) -> T {
        do { return try read() } catch { throw APIProblems.reading(error) }
    }
}
