internal import Sockets
internal import Wire

/// What to call this machine while nobody named it: its pretty name (machine-info(5)), else its host name.
enum MachineName {
    /// Never empty.
    static func find() -> String {
        for path in ["/etc/machine-info", "/run/host/etc/machine-info"] {
            guard let bytes = try? readFile(path, limit: 64 << 10) else { continue }
            if let name = pretty(String(decoding: bytes, as: UTF8.self)) { return name }
        }
        let name = Label.clean(CurrentProcess.hostName)
        return name.isEmpty ? "Linux" : name
    }

    /// The value of `PRETTY_HOSTNAME` in a machine-info file, cleaned; nil when there is none.
    static func pretty(_ text: String) -> String? {
        for line in text.split(separator: "\n") {
            guard line.hasPrefix("PRETTY_HOSTNAME=") else { continue }
            var value = line.dropFirst("PRETTY_HOSTNAME=".count)
            if let quote = value.first, quote == "\"" || quote == "'", value.count >= 2, value.last == quote {
                value = value.dropFirst().dropLast()
            }
            let name = Label.clean(String(value))
            return name.isEmpty ? nil : name
        }
        return nil
    }
}
