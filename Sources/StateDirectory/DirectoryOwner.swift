// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Sockets

/// Whose a state directory is, and so whose its files must be. Another than this process's user only for root, who restores
/// what a service's own user will open.
struct DirectoryOwner {
    let uid: UInt32
    let gid: UInt32

    /// Gives a file that this process made to the directory's owner.
    func take(_ path: String) throws(StateError) {
        guard uid != geteuid() else { return }
        do throws(SocketError) { try giveFile(path, uid: uid, gid: gid) } catch {
            throw StateError(making: error)
        }
    }
}

extension StatePaths {
    /// The directory for a restore: made when it is not there, refused when it is another user's, but to root.
    func prepareForRestore() throws(StateError) -> DirectoryOwner {
        if let facts = fileFacts(directory + "/."), facts.isDirectory, geteuid() == 0, facts.uid != 0 {
            return DirectoryOwner(uid: facts.uid, gid: facts.gid)
        }
        try prepareDirectory(mayMake: true, note: { _ in })
        return DirectoryOwner(uid: geteuid(), gid: getegid())
    }
}
