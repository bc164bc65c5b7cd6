// SPDX-License-Identifier: Apache-2.0

/// A method call that did not succeed.
package struct BusError: Error, Equatable, Sendable {
    /// What a caller may decide by.
    package enum Code: String, Sendable {
        /// The connection to the bus is not there, or went away before the answer.
        case lost
        /// No answer within the time limit, or the one who was called went away.
        case unanswered
        /// The answer is an error of the other side; `name` says which.
        case refused
        /// What was to be sent has no place in a D-Bus message: text with a zero byte, a path that is none.
        case unsendable
        /// The answer is not from the one who was called, or holds what cannot be read.
        case unreadable
    }

    package let code: Code
    /// The D-Bus name of the error, such as `org.freedesktop.login1.NoSuchSeat`; empty when the other side named none.
    package let name: String
    /// What was called, then what happened.
    package let message: String

    package init(_ code: Code, name: String = "", _ message: String) {
        self.code = code
        self.name = name
        self.message = message
    }
}
