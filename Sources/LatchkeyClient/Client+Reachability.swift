// SPDX-License-Identifier: Apache-2.0

package import APITypes

extension Client {
    /// `GET /v1/reachability`; with `refresh` it waits for a new report.
    package func reachability(refresh: Bool = false) throws(ClientError) -> Reply<Reachability> {
        let query = refresh ? [(name: "refresh", value: "true")] : []
        return try send(Request(.get, "/v1/reachability", query: query)).read(Reachability.self)
    }

    /// `POST /v1/reachability/port-mapping`.
    package func mapPort() throws(ClientError) -> Reply<PortMapping> {
        try send(Request(.post, "/v1/reachability/port-mapping")).read(PortMapping.self)
    }

    /// `DELETE /v1/reachability/port-mapping`.
    package func unmapPort() throws(ClientError) -> Reply<PortMapping> {
        try send(Request(.delete, "/v1/reachability/port-mapping")).read(PortMapping.self)
    }
}
