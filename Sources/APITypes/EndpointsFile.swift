// Where the service listens, for tools and tests. SPDX-License-Identifier: Apache-2.0

package import Wire

/// `RUNTIME/endpoints.json` (spec 07, 09.28).
package struct EndpointsFile: APIObject {
    /// Path of the API's Unix socket.
    package var unix: String?
    /// The API's TCP addresses: "127.0.0.1:7456".
    package var tcp: [String]
    /// The home door's port; nil while it does not listen.
    package var home: Int?
    /// The remote door's port; nil while it does not listen.
    package var remote: Int?

    /// What listens now.
    package init(unix: String?, tcp: [String], home: Int?, remote: Int?) {
        self.unix = unix
        self.tcp = tcp
        self.home = home
        self.remote = remote
    }

    package init(json: JSON) throws(JSONError) {
        let api = try json.requiredObject("api")
        unix = try api.optionalString("unix")
        tcp = api["tcp"] == nil ? [] : try api.strings("tcp")
        let doors = try json.requiredObject("doors")
        home = try doors.optionalInt("home")
        remote = try doors.optionalInt("remote")
    }

    package func encode(into writer: inout JSONWriter) {
        writer.object("api") { api in
            api.field("unix", ifPresent: unix)
            api.list("tcp", tcp)
        }
        writer.object("doors") { doors in
            doors.field("home", ifPresent: home)
            doors.field("remote", ifPresent: remote)
        }
    }
}
