// SPDX-License-Identifier: Apache-2.0

extension CommandRun {
    /// The running service, or its state directory while it is down: then it says so on standard error.
    ///
    /// With `--api` a service is meant that need not be this machine's, so nothing stands in for it.
    func desk() throws -> any Desk {
        do {
            return ServiceDesk(client: try client())
        } catch let failure as Failure where failure.exit == .notRunning && options.api == nil {
            let places = ServicePlaces(options, isRoot: console.isRoot, environment: console.environment)
            guard let path = places.stateDirectory, let desk = try OfflineDesk.open(path) else {
                throw failure
            }
            output.remark("the service is not running; working on its state directory \(path)")
            return desk
        }
    }
}
