// SPDX-License-Identifier: Apache-2.0

/// One method call.
package struct BusCall: Sendable, Equatable {
    /// How long an answer may take, unless a call says otherwise (03 §13).
    package static let usualLimit: Duration = .seconds(1)

    /// A bus name. When it is a unique one (or the bus's own), the answer must come from it.
    package var destination: String
    package var path: String
    package var interface: String
    package var member: String
    package var arguments: [BusValue]
    package var limit: Duration

    package init(
        to destination: String, path: String, interface: String, member: String, _ arguments: [BusValue] = [],
        limit: Duration = usualLimit
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
        self.limit = limit
    }

    /// Whether an answer from this sender is one to this call. A well-known name's owner is not known here; the bus
    /// lets only the one who was asked answer.
    func isAnswered(by sender: String) -> Bool {
        if destination.hasPrefix(":") || destination == BusMatch.busName { return sender == destination }
        return true
    }

    /// To the bus itself.
    static func toBus(_ member: String, _ argument: String) -> BusCall {
        BusCall(
            to: BusMatch.busName, path: BusMatch.busPath, interface: BusMatch.busName, member: member,
            [.string(argument)])
    }
}

/// What came of a call: the values of the answer, or why there are none.
package typealias BusAnswer = Result<[BusValue], BusError>
