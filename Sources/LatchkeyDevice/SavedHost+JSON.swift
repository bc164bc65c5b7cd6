// SPDX-License-Identifier: Apache-2.0

internal import Wire

extension SavedHost {
    /// Reads one stored record; nil for one that cannot be trusted: its ID does not follow from its fingerprint, or
    /// something required is missing or of another type.
    init?(_ json: JSON) {
        guard let stored = try? json.requiredString("macID"),
            let fingerprint = try? json.requiredString("fingerprint"),
            let name = try? json.requiredString("name"),
            let keyText = try? json.requiredString("recognitionKey"), let key = Base64URL.decode(keyText),
            key.count == 32, let port = try? json.requiredInt("remotePort"), (1...65535).contains(port),
            let addresses = try? json.requiredArray("addresses"),
            let pairedAt = try? json.requiredDouble("pairedAt"),
            let method = try? json.requiredString("method")
        else { return nil }
        self.init(
            fingerprint: fingerprint, name: name, recognitionKey: key, remotePort: port,
            addresses: addresses.compactMap { SavedAddress($0) }, pairedAt: pairedAt, method: method)
        guard id == stored else { return nil }
        typedAddresses = (json["typedAddresses"]?.array ?? []).compactMap { SavedAddress($0) }
        infoIssuedAt = json["infoIssuedAt"]?.double ?? 0
        bonjourName = json["bonjourName"]?.string
        lastWorked = json["lastWorked"]?.string
        lastConnectedAt = json["lastConnectedAt"]?.double
        lastRoute = json["lastRoute"]?.string
        homeTLS = json["homeTLS"]?.bool ?? false
        revoked = json["revoked"]?.bool ?? false
        newKey = json["newKey"]?.bool ?? false
    }

    /// Writes the record's fields into an open object.
    func write(to out: inout JSONWriter) {
        out.field("macID", id)
        out.field("fingerprint", fingerprint)
        out.field("name", name)
        out.field("recognitionKey", Base64URL.encode(recognitionKey))
        out.field("remotePort", remotePort)
        out.array("addresses") { list in addresses.forEach { $0.write(to: &list) } }
        if !typedAddresses.isEmpty {
            out.array("typedAddresses") { list in typedAddresses.forEach { $0.write(to: &list) } }
        }
        out.field("infoIssuedAt", infoIssuedAt)
        out.field("bonjourName", ifPresent: bonjourName)
        out.field("lastWorked", ifPresent: lastWorked)
        out.field("pairedAt", pairedAt)
        out.field("method", method)
        out.field("lastConnectedAt", ifPresent: lastConnectedAt)
        out.field("lastRoute", ifPresent: lastRoute)
        if homeTLS { out.field("homeTLS", true) }
        if revoked { out.field("revoked", true) }
        if newKey { out.field("newKey", true) }
    }
}

extension SavedAddress {
    /// Reads one address; nil without host or kind.
    init?(_ json: JSON) {
        guard let host = json["host"]?.string, !host.isEmpty, let kind = json["kind"]?.string else {
            return nil
        }
        self.init(host: host, port: json["port"]?.int, kind: kind, via: json["via"]?.string ?? "")
    }

    /// Writes the address as an element of an open array.
    func write(to list: inout JSONWriter) {
        list.object { out in
            out.field("host", host)
            out.field("port", ifPresent: port)
            out.field("kind", kind)
            out.field("via", via)
        }
    }
}
