// Reading and writing the reachability report. SPDX-License-Identifier: Apache-2.0

package import Wire

extension Reachability {
    package init(json: JSON) throws(JSONError) {
        version = try json.requiredInt("version")
        at = try json.requiredTime("at")
        tookMs = try json.requiredInt("tookMs")
        verdict = try json.requiredString("verdict")
        severity = try json.requiredString("severity")
        basis = try json.optionalString("basis") ?? "inferred"
        advice = try json.requiredString("advice")
        summary = try json.optionalString("summary") ?? ""
        remoteAccess = try json.requiredBool("remoteAccess")
        internet = try json.requiredBool("internet")
        port = try json.requiredInt("port")
        listener = try json.required("listener") { json throws(JSONError) in
            Listener(state: try json.requiredString("state"), port: try json.optionalInt("port"))
        }
        addresses = try json.list("addresses", HostAddress.init(json:))
        vpns = try json.list("vpns") { json throws(JSONError) in
            VPN(
                name: try json.requiredString("name"), product: try json.requiredString("product"),
                interface: try json.optionalString("interface"), code: try json.requiredString("code"),
                notes: try json.strings("notes"))
        }
        lanAddress = try json.optionalString("lanAddress")
        gateway = try json.optionalString("gateway")
        router = try json.required("router", Router.init(json:))
        ipv6 = try json.required("ipv6") { json throws(JSONError) in
            IPv6(
                code: try json.requiredString("code"), address: try json.optionalString("address"),
                request: try json.optional("request", Request.init(json:)))
        }
        addressName = try json.optional("addressName") { json throws(JSONError) in
            Name(text: try json.requiredString("text"), code: try json.optionalString("code"))
        }
        notes = try json.strings("notes")
        facts = try json.list("facts") { json throws(JSONError) in
            Fact(
                fact: try json.requiredString("fact"), source: try json.requiredString("source"),
                state: try json.requiredString("state"), ageMs: try json.requiredInt("ageMs"),
                tookMs: try json.requiredInt("tookMs"))
        }
    }

    package func encode(into writer: inout JSONWriter) {
        writer.field("version", version)
        writer.field("at", at.rfc3339)
        writer.field("tookMs", tookMs)
        writer.field("verdict", verdict)
        writer.field("severity", severity)
        writer.field("basis", basis)
        writer.field("advice", advice)
        writer.field("summary", summary)
        writer.field("remoteAccess", remoteAccess)
        writer.field("internet", internet)
        writer.field("port", port)
        writer.object("listener") { writer in
            writer.field("state", listener.state)
            writer.field("port", ifPresent: listener.port)
        }
        writer.list("addresses", addresses)
        writer.array("vpns") { writer in
            for vpn in vpns { writer.object { vpn.encode(into: &$0) } }
        }
        writer.field("lanAddress", ifPresent: lanAddress)
        writer.field("gateway", ifPresent: gateway)
        writer.object("router") { router.encode(into: &$0) }
        writer.object("ipv6") { writer in
            writer.field("code", ipv6.code)
            writer.field("address", ifPresent: ipv6.address)
            ipv6.request?.encode(into: &writer)
        }
        if let addressName {
            writer.object("addressName") { writer in
                writer.field("text", addressName.text)
                writer.field("code", ifPresent: addressName.code)
            }
        }
        writer.strings("notes", notes)
        writer.array("facts") { writer in
            for fact in facts { writer.object { fact.encode(into: &$0) } }
        }
    }
}

extension Reachability.VPN {
    fileprivate func encode(into writer: inout JSONWriter) {
        writer.field("name", name)
        writer.field("product", product)
        writer.field("interface", ifPresent: interface)
        writer.field("code", code)
        writer.strings("notes", notes)
    }
}

extension Reachability.Fact {
    fileprivate func encode(into writer: inout JSONWriter) {
        writer.field("fact", fact)
        writer.field("source", source)
        writer.field("state", state)
        writer.field("ageMs", ageMs)
        writer.field("tookMs", tookMs)
    }
}

extension Reachability.Router {
    fileprivate init(json: JSON) throws(JSONError) {
        func witness(_ json: JSON) throws(JSONError) -> Reachability.Witness {
            Reachability.Witness(
                state: try json.requiredString("state"), type: try json.optionalString("type"),
                address: try json.optionalString("address"))
        }
        code = try json.requiredString("code")
        ifOn = try json.optionalString("ifOn")
        address = try json.optionalString("address")
        masked = try json.optionalString("masked")
        natpmp = try json.optional("natpmp", witness)
        igd = try json.optional("igd", witness)
        stun = try json.optionalString("stun")
        mapping = try json.required("mapping") { json throws(JSONError) in
            Reachability.Mapping(
                state: try json.requiredString("state"), target: try json.optionalString("target"),
                expiresAt: try json.optionalTime("expiresAt"))
        }
        request = try json.optional("request", Reachability.Request.init(json:))
    }

    fileprivate func encode(into writer: inout JSONWriter) {
        writer.field("code", code)
        writer.field("ifOn", ifPresent: ifOn)
        writer.field("address", ifPresent: address)
        writer.field("masked", ifPresent: masked)
        for (name, witness) in [("natpmp", natpmp), ("igd", igd)] {
            guard let witness else { continue }
            writer.object(name) { writer in
                writer.field("state", witness.state)
                writer.field("type", ifPresent: witness.type)
                writer.field("address", ifPresent: witness.address)
            }
        }
        writer.field("stun", ifPresent: stun)
        writer.object("mapping") { writer in
            writer.field("state", mapping.state)
            writer.field("target", ifPresent: mapping.target)
            writer.field("expiresAt", ifPresent: mapping.expiresAt?.rfc3339)
        }
        request?.encode(into: &writer)
    }
}

extension Reachability.Request {
    fileprivate init(json: JSON) throws(JSONError) {
        self.init(
            code: try json.requiredString("code"), detail: try json.optionalString("detail"),
            isSeen: try json.requiredBool("seen"), expiresAt: try json.optionalTime("expiresAt"))
    }

    fileprivate func encode(into writer: inout JSONWriter) {
        writer.object("request") { writer in
            writer.field("code", code)
            writer.field("detail", ifPresent: detail)
            writer.field("seen", isSeen)
            writer.field("expiresAt", ifPresent: expiresAt?.rfc3339)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func strings(_ name: String, _ texts: [String]) {
        array(name) { writer in
            for text in texts { writer.element(text) }
        }
    }
}
