// SPDX-License-Identifier: Apache-2.0
// lead's file: only what the doors call, until the judging that belongs here is merged.

package import Policy

/// One session's second, as its door or its streaming process counted it (06 A6).
package struct SessionSecond: Sendable {
    /// Whose.
    package var session: SessionID
    /// What it was like.
    package var second: LinkSecond
    /// Bytes the kernel held unsent at its end: for the report, never for a threshold (06 C2).
    package var unsentInKernel: Int

    package init(session: SessionID, second: LinkSecond, unsentInKernel: Int) {
        self.session = session
        self.second = second
        self.unsentInKernel = unsentInKernel
    }
}

extension Core {
    /// One worker's seconds, all in one entry.
    package mutating func linkSeconds(_ seconds: [SessionSecond], _ moment: Moment) {}
}
