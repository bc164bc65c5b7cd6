// SPDX-License-Identifier: Apache-2.0

package import LocalAPI

/// The whole API as one table: method, path, who may call, what answers. docs/openapi.json says the same to others, and
/// a test holds the two together.
package enum APIRoutes {
    /// Every operation of this version.
    package static func all(_ services: APIServices) -> [APIRoute] {
        var routes = ServiceRoutes.routes(services) + IdentityRoutes.routes(services)
        routes += DeviceRoutes.routes(services) + DeviceTransferRoutes.routes(services)
        routes += PairingRoutes.routes(services) + AdmissionRoutes.routes(services)
        routes += DelegatedRoutes.routes(services)
        routes += SessionRoutes.routes(services) + SettingsRoutes.routes(services)
        routes += QualityRoutes.routes(services)
        routes += ReachabilityRoutes.routes(services)
        return routes + AuditRoutes.routes(services)
    }
}
