import Foundation
import Testing

/// The module graph is a promise (docs/architecture.md): what a module may import, and the words its layer may not say.
@Suite("Layering")
struct LayeringTests {
    /// One module and everything its sources may import.
    struct Allowed: Sendable, CustomTestStringConvertible {
        let module: String
        let imports: Set<String>
        var testDescription: String { module }
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Lowest layer first. A C library appears in exactly one row: its owner.
    static let allowed: [Allowed] = [
        Allowed(module: "Bytes", imports: []),
        Allowed(module: "Wire", imports: []),
        Allowed(module: "LatchkeyStream", imports: []),
        Allowed(module: "Policy", imports: ["LatchkeyStream", "Wire"]),
        Allowed(module: "Core", imports: ["LatchkeyStream", "Policy", "Synchronization", "Wire"]),
        Allowed(module: "APITypes", imports: ["Wire"]),
        Allowed(module: "Sockets", imports: ["Bytes", "CLinux", "Glibc", "Synchronization", "Wire"]),
        Allowed(module: "CryptoEngine", imports: ["Bytes", "COpenSSL", "Glibc", "Synchronization", "Wire"]),
        Allowed(
            module: "Store",
            imports: ["CSQLite", "Glibc", "Migrations", "Policy", "Sockets", "Synchronization", "Wire"]),
        Allowed(
            module: "EventLoop", imports: ["Bytes", "CEvent", "Glibc", "Sockets", "Synchronization", "Wire"]),
        Allowed(module: "QRCode", imports: ["CQRencode", "Wire"]),
        Allowed(
            module: "SystemBus",
            imports: ["CSystemd", "EventLoop", "Policy", "Sockets", "Synchronization", "Wire"]),
        Allowed(module: "Terminal", imports: ["Glibc", "Synchronization"]),
        Allowed(
            module: "NetFacts",
            imports: ["CLinux", "EventLoop", "Glibc", "Policy", "Sockets", "Synchronization", "Wire"]),
        Allowed(module: "HTTPFetch", imports: ["Bytes", "Sockets", "Wire"]),
        Allowed(
            module: "RouterProbe",
            imports: [
                "CMiniUPnPC", "CNATPMP", "EventLoop", "Glibc", "HTTPFetch", "Policy", "Sockets",
                "Synchronization", "Wire",
            ]),
        Allowed(
            module: "VPNFacts",
            imports: [
                "Bytes", "EventLoop", "HTTPFetch", "Policy", "Sockets", "Synchronization", "SystemBus",
                "Wire",
            ]),
        Allowed(
            module: "StateDirectory",
            imports: [
                "Core", "CryptoEngine", "Glibc", "Policy", "Sockets", "Store", "Synchronization", "Wire",
            ]),
        Allowed(
            module: "Doors",
            imports: [
                "Bytes", "Core", "CryptoEngine", "EventLoop", "Policy", "Sockets", "Synchronization", "Wire",
            ]),
        Allowed(
            module: "LocalAPI",
            imports: [
                "APITypes", "Bytes", "CMicroHTTPD", "EventLoop", "Glibc", "Sockets", "Synchronization",
                "Wire",
            ]),
        Allowed(
            module: "ReachabilityFacts",
            imports: [
                "APITypes", "EventLoop", "HTTPFetch", "NetFacts", "Policy", "RouterProbe", "Sockets",
                "Synchronization", "SystemBus", "VPNFacts", "Wire",
            ]),
        Allowed(module: "LatchkeyClient", imports: ["APITypes", "Bytes", "Sockets", "Wire"]),
        Allowed(
            module: "LatchkeyDevice",
            imports: [
                "Bytes", "CryptoEngine", "Dispatch", "NetFacts", "Policy", "Sockets", "Synchronization",
                "SystemBus", "Wire",
            ]),
        Allowed(
            module: "Host",
            imports: [
                "APITypes", "Bytes", "Core", "CryptoEngine", "Doors", "EventLoop", "LatchkeyStream",
                "LocalAPI",
                "NetFacts", "Policy", "QRCode", "ReachabilityFacts", "RouterProbe", "Sockets",
                "StateDirectory", "Store",
                "Synchronization", "SystemBus", "VPNFacts", "Wire",
            ]),
        Allowed(
            module: "AdminCLI",
            imports: [
                "APITypes", "Core", "CryptoEngine", "LatchkeyClient", "LatchkeyStream", "NetFacts", "Policy",
                "QRCode", "ReachabilityFacts", "RouterProbe", "Sockets",
                "StateDirectory", "Synchronization", "Terminal", "VPNFacts", "Wire",
            ]),
        Allowed(
            module: "DeviceCLI",
            imports: [
                "APITypes", "Dispatch", "LatchkeyDevice", "Sockets", "Synchronization", "Terminal", "Wire",
            ]),
        Allowed(module: "latchkeyd", imports: ["Glibc", "Host"]),
        Allowed(module: "latchkey", imports: ["AdminCLI", "Glibc"]),
        Allowed(module: "latchkey-device", imports: ["DeviceCLI", "Glibc", "Terminal"]),
    ]

    /// Sources that may hold `unsafe` expressions: the wrappers of C, and nothing above them.
    static let wrappers: Set<String> = [
        "Bytes", "CryptoEngine", "EventLoop", "LocalAPI", "NetFacts", "QRCode", "RouterProbe", "Sockets",
        "Store",
        "SystemBus",
        "Terminal",
    ]

    @Test("imports", arguments: allowed)
    func imports(_ row: Allowed) throws {
        for file in try Self.sources(of: row.module) {
            for line in file.lines {
                let words = line.split(separator: " ")
                guard let at = words.firstIndex(of: "import"), at + 1 < words.count, at <= 2,
                    !line.hasPrefix(" "), !line.hasPrefix("/")
                else { continue }
                let name = String(words[at + 1])
                #expect(row.imports.contains(name), "\(file.name) imports \(name)")
            }
        }
    }

    @Test("every source folder is listed")
    func complete() throws {
        let folders = try FileManager.default.contentsOfDirectory(
            atPath: Self.root.appending(path: "Sources").path)
        let listed = Set(Self.allowed.map(\.module))
        let clibs: Set = [
            "CEvent", "CLinux", "CMicroHTTPD", "CMiniUPnPC", "CNATPMP", "COpenSSL", "CQRencode", "CSQLite",
            "CSystemd",
        ]
        #expect(Set(folders).subtracting(clibs) == listed)
    }

    /// Rules take time and chance as arguments.
    @Test(
        "the pure layers name no clock, chance or outside",
        arguments: ["Wire", "LatchkeyStream", "Policy", "Core", "APITypes"])
    func pure(_ module: String) throws {
        let banned = [
            "ContinuousClock", "SuspendingClock", " Date(", ".random(", "SystemRandomNumberGenerator",
            "Glibc",
            "getenv",
            "Task {", "DispatchQueue", " print(",
        ]
        for file in try Self.sources(of: module) {
            for word in banned { #expect(!file.code.contains(word), "\(file.name) says \(word)") }
        }
    }

    @Test("no source traps on what it is given", arguments: allowed.map(\.module))
    func traps(_ module: String) throws {
        let banned = ["try!", " as! ", "fatalError(", "nonisolated(unsafe)", "catch {}"]
        for file in try Self.sources(of: module) {
            for word in banned { #expect(!file.code.contains(word), "\(file.name) says \(word)") }
        }
    }

    @Test("unsafe stays in the wrappers", arguments: allowed.map(\.module))
    func unsafeWords(_ module: String) throws {
        guard !Self.wrappers.contains(module) else { return }
        for file in try Self.sources(of: module) {
            for line in file.lines where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                let words = line.split { !$0.isLetter && $0 != "_" }
                #expect(!words.contains("unsafe"), "\(file.name): \(line)")
            }
        }
    }

    @Test("@unchecked Sendable carries its proof", arguments: allowed.map(\.module))
    func unchecked(_ module: String) throws {
        for file in try Self.sources(of: module) {
            for (index, line) in file.lines.enumerated() where line.contains("@unchecked Sendable") {
                let next = file.lines.dropFirst(index + 1).first ?? ""
                #expect(next.contains("//"), "\(file.name): no proof after \(line)")
            }
        }
    }

    @Test("C headers leave Glibc's declarations to Glibc's module")
    func cModules() throws {
        let sources = Self.root.appending(path: "Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
        let headers = paths.filter { $0.hasPrefix("C") && $0.hasSuffix(".h") }
        #expect(headers.count >= 9)
        for header in headers {
            let text = try String(contentsOf: sources.appending(path: header), encoding: .utf8)
            let lines = text.components(separatedBy: "\n").filter {
                $0.hasPrefix("#include") || $0.hasPrefix("#pragma clang module import")
            }
            #expect(
                lines.first?.hasPrefix("#pragma clang module import SwiftGlibc") == true,
                "\(header) includes before it imports Glibc's module (docs/architecture.md, C modules)")
        }
    }

    // MARK: Reading sources

    struct Source {
        let name: String
        let text: String
        var lines: [String] { text.components(separatedBy: "\n") }
        /// The text without whole-line comments.
        var code: String {
            lines.filter { !$0.drop(while: { $0 == " " }).hasPrefix("//") }.joined(separator: "\n")
        }
    }

    /// Every Swift file of one module; a listed folder that is gone is a failure.
    static func sources(of module: String) throws -> [Source] {
        let folder = root.appending(path: "Sources/\(module)")
        let names = try #require(
            FileManager.default.subpaths(atPath: folder.path), "no folder Sources/\(module)")
        let files = names.filter { $0.hasSuffix(".swift") }
        try #require(!files.isEmpty, "no sources in \(module)")
        return try files.map {
            Source(
                name: "\(module)/\($0)",
                text: try String(contentsOf: folder.appending(path: $0), encoding: .utf8))
        }
    }
}
