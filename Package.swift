// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func module(
    _ name: String, _ needs: [Target.Dependency] = [], path: String? = nil, resources: [Resource] = []
) -> Target {
    .target(name: name, dependencies: needs, path: path, resources: resources, swiftSettings: strict)
}

func main(_ name: String, _ needs: Target.Dependency...) -> Target {
    .executableTarget(name: name, dependencies: needs, swiftSettings: strict)
}

func tests(_ name: String, _ needs: Target.Dependency...) -> Target {
    .testTarget(name: name + "Tests", dependencies: needs, swiftSettings: strict)
}

func clib(_ name: String, _ pkgConfig: String) -> Target { .systemLibrary(name: name, pkgConfig: pkgConfig) }

// Lowest layer first; every dependency is on an earlier line (docs/architecture.md, Tests/LayeringTests).
let package = Package(
    name: "latchkey",
    products: [
        .library(name: "LatchkeyDevice", targets: ["LatchkeyDevice"]),
        .library(name: "LatchkeyClient", targets: ["LatchkeyClient"]),
        .library(name: "LatchkeyStream", targets: ["LatchkeyStream"]),
    ],
    targets: [
        // 0. C: one module map and one shim header each.
        clib("COpenSSL", "openssl"), clib("CSQLite", "sqlite3"), clib("CEvent", "libevent"),
        clib("CQRencode", "libqrencode"), clib("CMicroHTTPD", "libmicrohttpd"),
        clib("CSystemd", "libsystemd"), clib("CMiniUPnPC", "miniupnpc"),
        .systemLibrary(name: "CNATPMP"),
        .systemLibrary(name: "CLinux"),
        // 1. Pure: values, decisions, the state machine. No Glibc, clock or randomness.
        module("Bytes"), module("Wire"), module("LatchkeyStream"),
        module("Policy", ["LatchkeyStream", "Wire"]),
        module("Core", ["LatchkeyStream", "Policy", "Wire"]), module("APITypes", ["Wire"]),
        // 2. One owner for each C library; Sockets owns Glibc's socket calls.
        module(
            "Migrations", path: "Migrations",
            resources: [.embedInCode("0001_initial.sql"), .embedInCode("0002_lockouts.sql")]),
        module("Sockets", ["Bytes", "CLinux", "Wire"]),
        module("CryptoEngine", ["Bytes", "COpenSSL", "Wire"]),
        module("Store", ["CSQLite", "Migrations", "Policy", "Sockets", "Wire"]),
        module("EventLoop", ["Bytes", "CEvent", "Sockets", "Wire"]),
        module("QRCode", ["CQRencode"]), module("Terminal"),
        module("SystemBus", ["CSystemd", "EventLoop", "Policy", "Sockets", "Wire"]),
        module("NetFacts", ["CLinux", "EventLoop", "Policy", "Sockets", "Wire"]),
        module("HTTPFetch", ["Bytes", "Sockets", "Wire"]),
        module(
            "RouterProbe",
            ["CMiniUPnPC", "CNATPMP", "EventLoop", "HTTPFetch", "Policy", "Sockets", "Wire"]),
        module("VPNFacts", ["Bytes", "EventLoop", "HTTPFetch", "Policy", "Sockets", "SystemBus", "Wire"]),
        module("StateDirectory", ["Core", "CryptoEngine", "Policy", "Sockets", "Store", "Wire"]),
        // 3. What meets the world.
        module("Doors", ["Bytes", "Core", "CryptoEngine", "EventLoop", "Policy", "Sockets", "Wire"]),
        module("LocalAPI", ["APITypes", "CMicroHTTPD", "EventLoop", "Sockets", "Wire"]),
        module(
            "ReachabilityFacts",
            [
                "APITypes", "EventLoop", "HTTPFetch", "NetFacts", "Policy", "RouterProbe", "Sockets",
                "SystemBus", "VPNFacts", "Wire",
            ]),
        module("LatchkeyClient", ["APITypes", "Bytes", "Sockets", "Wire"]),
        module(
            "LatchkeyDevice",
            ["Bytes", "CryptoEngine", "NetFacts", "Policy", "Sockets", "SystemBus", "Wire"]),
        // 4. Composition, then mains of a few lines.
        module(
            "Host",
            [
                "APITypes", "Core", "CryptoEngine", "Doors", "EventLoop", "LatchkeyStream", "LocalAPI",
                "NetFacts", "Policy", "QRCode",
                "ReachabilityFacts", "RouterProbe", "Sockets",
                "StateDirectory", "Store", "SystemBus", "VPNFacts", "Wire",
            ]),
        module(
            "AdminCLI",
            [
                "APITypes", "Core", "CryptoEngine", "LatchkeyClient", "LatchkeyStream", "NetFacts", "Policy",
                "QRCode",
                "ReachabilityFacts", "RouterProbe", "Sockets",
                "StateDirectory", "Terminal", "VPNFacts", "Wire",
            ]),
        module("DeviceCLI", ["APITypes", "LatchkeyDevice", "Sockets", "Terminal", "Wire"]),
        main("latchkeyd", "Host"), main("latchkey", "AdminCLI", "Terminal"),
        main("latchkey-device", "DeviceCLI", "Terminal"),
        .executableTarget(
            name: "bench-judge", dependencies: ["LatchkeyStream", "Policy"], path: "Scripts/bench/judge",
            swiftSettings: strict),
        tests("Wire", "Wire"), tests("LatchkeyStream", "LatchkeyStream"),
        tests("Policy", "LatchkeyStream", "Policy", "Wire"),
        tests("Core", "Core", "CryptoEngine", "LatchkeyStream", "Policy", "Wire"),
        tests("Store", "Migrations", "Policy", "Sockets", "Store", "Wire"),
        tests("CryptoEngine", "Bytes", "COpenSSL", "CryptoEngine", "Wire"),
        tests("QRCode", "QRCode"), tests("NetFacts", "CryptoEngine", "NetFacts", "Policy", "Sockets", "Wire"),
        tests(
            "SystemBus", "CSystemd", "EventLoop", "Policy", "Sockets", "SystemBus", "VPNFacts", "Wire"),
        tests("HTTPFetch", "Bytes", "EventLoop", "HTTPFetch", "Sockets", "Wire"),
        tests("RouterProbe", "Bytes", "EventLoop", "HTTPFetch", "Policy", "RouterProbe", "Sockets", "Wire"),
        tests(
            "VPNFacts", "EventLoop", "HTTPFetch", "Policy", "Sockets", "SystemBus", "VPNFacts", "Wire"),
        tests(
            "ReachabilityFacts", "APITypes", "NetFacts", "Policy", "ReachabilityFacts", "RouterProbe",
            "Sockets",
            "VPNFacts", "Wire"),
        tests("EventLoop", "Bytes", "EventLoop", "Sockets", "Wire"),
        tests("Sockets", "Bytes", "Sockets", "Wire"), tests("Bytes", "Bytes"),
        tests("Doors", "Bytes", "Core", "CryptoEngine", "Doors", "EventLoop", "Policy", "Sockets", "Wire"),
        tests("LocalAPI", "APITypes", "Bytes", "LocalAPI", "Sockets", "Wire"),
        tests(
            "LatchkeyDevice", "Bytes", "CryptoEngine", "DeviceCLI", "LatchkeyDevice", "Policy", "Sockets",
            "SystemBus", "Wire"),
        tests(
            "StateDirectory", "Core", "CryptoEngine", "Policy", "Sockets", "StateDirectory", "Store", "Wire"),
        tests(
            "AdminCLI", "APITypes", "AdminCLI", "Bytes", "Core", "LatchkeyClient", "NetFacts", "Policy",
            "ReachabilityFacts", "Sockets", "StateDirectory", "Wire"),
        tests(
            "Host", "APITypes", "Core", "CryptoEngine", "Host", "LatchkeyClient", "LatchkeyDevice",
            "LocalAPI",
            "Policy", "Sockets", "Wire"),
        tests("Layering"),
    ]
)
