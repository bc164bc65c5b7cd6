// SPDX-License-Identifier: Apache-2.0

internal import Sockets
internal import Wire

/// What the process file system says of tunnels and listeners, as far as this user may read it.
struct Processes: Sendable {
    /// Who holds a tun link.
    struct Owner: Sendable, Equatable {
        var process: UInt32
        var name: String
    }

    let root: String

    /// Programs that hold links of their own and have no way to be asked.
    static let programs: Set = ["openvpn", "nebula"]
    private static let mostProcesses = 8192
    private static let mostDescriptors = 1024
    private static let fileLimit = 4 << 20

    /// The owners of tun links, by link.
    func tunOwners(until deadline: MonotonicTime) -> [String: Owner] {
        var owners: [String: Owner] = [:]
        for entry in entries(root).lazy.compactMap({ UInt32($0) }).prefix(Self.mostProcesses) {
            guard monotonicNow() < deadline else { break }
            guard let name = text("\(root)/\(entry)/comm", limit: 64)?.split(separator: "\n").first,
                Self.programs.contains(String(name))
            else { continue }
            let folder = "\(root)/\(entry)/fdinfo"
            for descriptor in entries(folder).prefix(Self.mostDescriptors) {
                // tun_chr_show_fdinfo(): "iff:\ttun0"
                guard let lines = text("\(folder)/\(descriptor)", limit: 4096)?.split(separator: "\n"),
                    let line = lines.first(where: { $0.hasPrefix("iff:") })
                else { continue }
                let link = line.dropFirst(4).drop { $0 == "\t" || $0 == " " }
                if !link.isEmpty { owners[String(link)] = Owner(process: entry, name: String(name)) }
            }
        }
        return owners
    }

    /// The user whose process listens at a port of 127.0.0.1; nil when nobody does.
    func listener(port: UInt16) -> UInt32? {
        guard let table = text("\(root)/net/tcp", limit: Self.fileLimit) else { return nil }
        let hex = String(port, radix: 16, uppercase: true)
        let wanted = String(repeating: "0", count: 4 - hex.count) + hex
        for line in table.split(separator: "\n").dropFirst() {
            // sl local_address rem_address st tx:rx tr:tm retrnsmt uid …; 0A is TCP_LISTEN.
            let words = line.split(separator: " ", maxSplits: 8)
            guard words.count == 9, words[3] == "0A" else { continue }
            if words[1] == "0100007F:\(wanted)" || words[1] == "00000000:\(wanted)" {
                return UInt32(words[7])
            }
        }
        return nil
    }

    private func entries(_ path: String) -> [String] {
        do throws(SocketError) { return try directoryEntries(path) } catch { return [] }
    }

    private func text(_ path: String, limit: Int) -> String? {
        do throws(SocketError) {
            return String(decoding: try readFile(path, limit: limit), as: UTF8.self)
        } catch {
            return nil
        }
    }
}

/// resolv.conf(5), as far as names without dots are completed by it.
enum ResolverFile {
    /// The search domains of the last line that has any.
    static func searchDomains(_ text: String) -> [String] {
        var domains: [String] = []
        for line in text.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == "\t" }
            if words.first == "search" || words.first == "domain" {
                domains = words.dropFirst().prefix(64).map(String.init)
            }
        }
        return domains
    }

    static func read(_ path: String) -> [String] {
        guard fileFacts(path + "/.") == nil else { return [] }
        do throws(SocketError) {
            return searchDomains(String(decoding: try readFile(path, limit: 64 * 1024), as: UTF8.self))
        } catch {
            return []
        }
    }
}
