// SPDX-License-Identifier: Apache-2.0

extension CommandRun {
    /// The running service.
    func desk() throws -> any Desk { ServiceDesk(client: try client()) }
}
