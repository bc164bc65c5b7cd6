// SPDX-License-Identifier: Apache-2.0

package import APITypes
package import LatchkeyClient

// The one place where an error of the service becomes text and an exit code.
extension Failure {
    /// What to tell a person about a call that failed.
    package init(_ error: ClientError) {
        switch error {
        case .refused(let problem): self.init(problem)
        case .notRunning: self.init(.notRunning, error.message, advice: Self.howToStart)
        case .notAllowed:
            self.init(.refused, error.message, advice: [Self.whoMay])
        case .broken, .timedOut:
            self.init(
                .refused, error.message, advice: ["The service's log says more: journalctl -u latchkeyd"])
        }
    }

    /// What to tell a person about an error answer: the service's own words, and a next step.
    package init(_ problem: Problem) {
        self.init(Self.exit(for: problem), Self.detail(of: problem), advice: Self.advice(for: problem))
    }

    /// The service cannot be reached anywhere it might be.
    static func notRunning(tried: [String]) -> Failure {
        Failure(
            .notRunning, "the service is not running",
            advice: ["Tried: \(tried.joined(separator: ", "))"] + howToStart + [whereElse])
    }

    private static let howToStart = [
        "Start it with: systemctl start latchkeyd (or run latchkeyd in a terminal)"
    ]
    private static let whereElse =
        "If it runs with a --runtime-dir of its own, name its socket: --socket RUNTIME/api.sock"
    private static let whoMay =
        "Run this as root or as the service's own user, or start latchkeyd with --admin-group and join that group."

    /// The service's words, with a setting named as `set` names it, and without what only a program could do next.
    private static func detail(of problem: Problem) -> String {
        switch (problem.status, problem.code) {
        case (_, "windowOpen"): return problem.title
        case (401, _): return "the service does not know that token"
        case (404, "notFound"): return "this service does not know that call"
        default: break
        }
        guard problem.code == "invalidSetting", let field = problem.field, let key = SettingKey.named(field),
            problem.detail.hasPrefix(field + " ")
        else { return problem.detail }
        return key.name + problem.detail.dropFirst(field.count)
    }

    private static func exit(for problem: Problem) -> ExitCode {
        switch (problem.status, problem.code) {
        case (404, "deviceNotFound"), (404, "sessionNotFound"): .notFound
        case (409, "ambiguousDevice"): .ambiguous
        default: .refused
        }
    }

    private static func advice(for problem: Problem) -> [String] {
        switch problem.code {
        case "ambiguousDevice": return (problem.candidates ?? []).map { "\($0.id)  \($0.name)" }
        case "deviceNotFound": return ["See the paired devices with: latchkey list"]
        case "sessionNotFound": return ["See the sessions with: latchkey sessions"]
        case "windowOpen":
            return ["Open a fresh one with: latchkey pair --replace (the old link and code stop working)"]
        case "invalidSetting": return ["See the keys and their values with: latchkey help set"]
        case "overridden":
            return [
                "latchkeyd was started with an option that holds for this run; restart it without the option."
            ]
        case "confirmMismatch": return ["Another identity is in force by now; see it with: latchkey identity"]
        case "mappingConflict":
            return ["Change that rule in the router, or use another port: latchkey set remote-port PORT"]
        case "mappingPermanentOnly":
            return ["To allow one without an end: latchkey set permanent-mappings on, then latchkey map-port"]
        case "mappingPortDiffers", "mappingRefused":
            return ["Make the rule by hand in the router's settings; see: latchkey reachability --refresh"]
        case "mappingNotPossible": return ["See what is in the way with: latchkey reachability --refresh"]
        case "storeUnavailable":
            return ["Nothing was changed. Look at the free space and the permissions of the state directory."]
        default: break
        }
        switch problem.status {
        case 401: return ["Name the file of the admin token with --token-file (STATE/admin.token)."]
        case 403: return [whoMay, "With --api the admin token is needed (STATE/admin.token)."]
        case 404 where problem.code == "notFound":
            return ["It may be of another version than this program: latchkey status, latchkey version"]
        default: return []
        }
    }
}
