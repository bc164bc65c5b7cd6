// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyDevice
internal import Wire

/// What comes in while `browse` runs.
enum BrowseNews: Sendable {
    /// What is listed now.
    case rows([BrowsedRow])
    case status(HostBrowser.Status)
    /// The time is up.
    case time
    /// A person has had enough.
    case stop(ExitCode)
}

/// What `browse` says of what comes in, and when it is over.
struct BrowseTelling {
    let until: DeviceCommand.BrowseEnd
    let json: Bool
    /// The saved hosts' names by ID.
    let names: [String: String]

    private(set) var out = ""
    private(set) var complaint = ""
    /// What to exit with, once it is over.
    private(set) var end: ExitCode?

    private var rows: [BrowsedRow] = []
    /// The search does not run, for this.
    private var trouble: Trouble?

    /// Somebody was asked at all.
    private var hasBegun = false

    private struct Trouble: Equatable {
        let reason: String
        let message: String
    }

    init(until: DeviceCommand.BrowseEnd, json: Bool, names: [String: String]) {
        self.until = until
        self.json = json
        self.names = names
    }

    /// Takes in the next thing; `out` and `complaint` are then what it gives cause to say.
    mutating func take(_ news: BrowseNews) {
        (out, complaint) = ("", "")
        switch news {
        case .rows(let new):
            if json || until != .complete {
                for change in RowChange.between(rows, new) {
                    out += json ? DeviceOutput.json(change) : DeviceOutput.text(change, names)
                }
            }
            rows = new
        case .status(let status): take(status)
        case .time:
            if !hasBegun { become(Trouble(reason: "noAnswer", message: "Avahi did not answer in time")) }
            finish()
        case .stop(let code): end = code
        }
    }

    private mutating func take(_ status: HostBrowser.Status) {
        let new: Trouble? =
            switch status {
            case .searching, .complete: nil
            case .noAvahi:
                Trouble(
                    reason: "noAvahi",
                    message: "Avahi does not run on this machine: install avahi-daemon, and start it")
            case .noBus(let why):
                Trouble(reason: "noBus", message: "Avahi cannot be asked: there is no system bus (\(why))")
            case .failed(let why): Trouble(reason: "failed", message: "Avahi does not list hosts: \(why)")
            }
        become(new)
        if until == .complete, new != nil || status == .complete { finish() }
    }

    private mutating func become(_ new: Trouble?) {
        hasBegun = true
        if let new, new != trouble {
            if json { out = DeviceOutput.json(unavailable: new.reason, new.message) }
            complaint = "latchkey-device: \(new.message)\n"
        }
        trouble = new
    }

    private mutating func finish() {
        end = trouble == nil ? .done : .noAnswer
        if !json, until == .complete, trouble == nil { out += DeviceOutput.table(rows, names) }
    }
}

extension DeviceOutput {
    /// A change of what is listed: `listed` (also for a row that says something else than before) or `gone`.
    static func json(_ change: RowChange) -> String {
        line { out in
            switch change {
            case .listed(let row):
                out.field("event", "listed")
                write(row.row, to: &out)
                out.field("tls", row.row.isTLS)
                out.field("wired", ifPresent: row.row.wiredInterface)
                out.field("peerToPeer", row.row.isPeerToPeer)
                out.array("addresses") { list in row.endpoints.forEach { list.element($0.description) } }
            case .gone(let row):
                out.field("event", "gone")
                write(row.row, to: &out)
            }
        }
    }

    /// The search does not run.
    static func json(unavailable reason: String, _ message: String) -> String {
        line { out in
            out.field("event", "unavailable")
            out.field("reason", reason)
            out.field("message", message)
        }
    }

    private static func write(_ row: ListedRow, to out: inout JSONWriter) {
        out.field("id", row.id)
        out.field("name", shown(row.name))
        if let host = row.hostID { out.field("hostID", host) } else { out.null("hostID") }
    }

    /// A change of what is listed, as a line that begins with `+` or `-`.
    static func text(_ change: RowChange, _ names: [String: String]) -> String {
        switch change {
        case .listed(let row): "+ " + cells(row, names).joined(separator: "  ") + "\n"
        case .gone(let row): "- " + cells(row, names).prefix(2).joined(separator: "  ") + "\n"
        }
    }

    /// What is listed, under headings.
    static func table(_ rows: [BrowsedRow], _ names: [String: String]) -> String {
        if rows.isEmpty { return "No host is listed on the networks here.\n" }
        return columns([["NAME", "HOST", "DOOR", "ADDRESSES"]] + rows.map { cells($0, names) })
    }

    /// By its tag alone a row is a saved host's: anybody can take its name.
    private static func cells(_ row: BrowsedRow, _ names: [String: String]) -> [String] {
        let host = row.row.hostID.map { id in names[id].map { "\(id) (\(shown($0)))" } ?? id }
        let wired = row.row.wiredInterface.map { ", wired (\($0))" } ?? ""
        return [
            shown(row.row.name), host ?? "not saved", (row.row.isTLS ? "TLS" : "plain") + wired,
            row.endpoints.map(\.description).joined(separator: " "),
        ]
    }

    /// 02 §10: a name from the network.
    private static func shown(_ name: String) -> String {
        let cleaned = Label.clean(name)
        return cleaned.isEmpty ? "(no name)" : cleaned
    }
}
