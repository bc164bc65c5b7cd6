// SPDX-License-Identifier: Apache-2.0

internal import Policy
internal import Wire

/// What a NAT-PMP datagram (RFC 6886 section 3) says. Pure. libnatpmp looks neither at a datagram's length nor at the
/// address that comes beside an error, so each one is looked at here before the library takes it.
struct NATPMPDatagram: Sendable, Equatable {
    let version: UInt8
    let operation: UInt8
    let result: UInt16
    /// The outside address: of operation 128, when it is long enough to have one.
    let address: IPAddress?

    /// nil when it is too short for anything the library would read of it.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 4 else { return nil }
        version = bytes[0]
        operation = bytes[1]
        result = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        let needed = operation == 128 ? 12 : 16
        // An error need not be whole; a success must.
        guard version != 0 || result != 0 || bytes.count >= needed else { return nil }
        address =
            version == 0 && operation == 128 && bytes.count >= 12
            ? IPAddress(bytes: Array(bytes[8..<12])) : nil
    }

    /// The answer to the question for the address; nil when it answers another question.
    var addressAnswer: NATPMPAnswer? {
        guard version == 0 else { return .unsupported }
        // Bit 128 alone: some answer an unknown operation with their own number.
        guard operation == 128 || result == 5 else { return nil }
        // Some send the address beside an error: it is an answer all the same.
        if let address, !address.isUnspecified { return .answered(address) }
        return switch result {
        case 0, 3: .withheld
        case 2: .refused
        case 1, 5: .unsupported
        // Out of resources and what later versions add: it speaks, and tells no address.
        default: .withheld
        }
    }
}
