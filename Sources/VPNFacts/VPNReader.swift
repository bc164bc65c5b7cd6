// SPDX-License-Identifier: Apache-2.0

package import Policy

/// What the machine's VPNs say of themselves, beside the link table (05 B4, B5).
package struct VPNReading: Sendable, Equatable {
    package var vpns: [VPNEvidence] = []
    package var sources: [FactSource] = []

    package init() {}
}

/// Asks all VPN daemons, the service manager and NetworkManager side by side, each at most 1 s.
package final class VPNReader: Sendable {
    package init() {}

    /// Reads, on the calling thread and threads of its own. `hostName` serves the guess of 05 A6.
    package func read(_ table: InterfaceTable, hostName: String) -> VPNReading { VPNReading() }
}
