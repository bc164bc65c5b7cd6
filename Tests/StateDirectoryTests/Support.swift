// SPDX-License-Identifier: Apache-2.0

import Foundation
import Policy
import Sockets
import Testing
import Wire

@testable import StateDirectory

/// A directory of a test's own, with a state directory inside it that need not be there.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "latchkey-state-" + UUID().uuidString
        try makeDirectory(path, mode: 0o700)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The state directory.
    var state: StatePaths { StatePaths(path + "/state") }

    /// Every file of the state directory with its bytes.
    func contents() throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for name in try directoryEntries(state.directory)
        where fileFacts("\(state.directory)/\(name)")?.isRegular == true {
            found[name] = try readFile("\(state.directory)/\(name)")
        }
        return found
    }

    /// As the service opens it.
    func open(newIdentity: Bool = false, note: @escaping (String) -> Void = { _ in }) throws(StateError)
        -> OpenedState
    {
        try StateDirectory.open(
            path: state.directory, for: .service(newIdentity: newIdentity), now: Self.now, note: note)
    }

    /// A first start that has come and gone.
    func prepare() throws {
        let opened = try open()
        opened.directory.close()
    }

    /// 2026-11-30T07:14:13.123Z.
    static let now = WallTime(milliseconds: 1_796_022_853_123)
}

/// The error of a call that must fail.
func failure<R>(_ body: () throws(StateError) -> R) -> StateError? {
    do throws(StateError) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// Copies the plain files of one directory to another, as they are at this moment.
func copyFiles(from: String, to: String) throws {
    try makeDirectory(to, mode: 0o700)
    for name in try directoryEntries(from) where fileFacts("\(from)/\(name)")?.isRegular == true {
        try createExclusive("\(to)/\(name)", readFile("\(from)/\(name)"), mode: 0o600)
    }
}

/// A key of another curve, made for this test and used nowhere.
let p384 = """
    -----BEGIN PRIVATE KEY-----
    MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDCz9vWE9J4ODFEt3ofy
    wkSWBtsrJ/xLNedWFhQUG/egTFkwQC2LO2lkpL2tUwQhW+yhZANiAAQnkSfL7+2F
    1kcanyJiYOPnfVIf7IBVDHGS1Q7Grj5Zzqx+ulkG2LqubHcHOUV8o6JmgPYk++YZ
    1hH6EWFSuxRpI4w7GF4Pa6VccFdFLqvihTNvlvBzlgbGFXMT4nnG7Eg=
    -----END PRIVATE KEY-----

    """
