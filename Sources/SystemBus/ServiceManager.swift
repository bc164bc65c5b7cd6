// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

/// The service manager that started this process, when it was systemd; otherwise every call does nothing.
package enum ServiceManager {
    /// Tells it the service's state, in sd_notify(3)'s words: "READY=1", "STOPPING=1", "WATCHDOG=1",
    /// "STATUS=…". Whether it was told: false outside systemd.
    @discardableResult
    package static func notify(_ state: String) -> Bool { unsafe sd_notify(0, state) > 0 }

    /// The sockets it opened for this process (sd_listen_fds_with_names(3)), already listening, with the
    /// `FileDescriptorName=` of each. To be called once: it takes them over, and children do not inherit them.
    package static func listenDescriptors() -> [(name: String, descriptor: Int32)] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(1, &names)
        guard count > 0 else { return [] }
        var result: [(name: String, descriptor: Int32)] = []
        for index in 0..<Int(count) {
            let name = unsafe names?[index]
            let text = unsafe name.map { unsafe String(cString: $0) } ?? ""
            unsafe shim_free(name)
            // SD_LISTEN_FDS_START is 3.
            result.append((text, Int32(index) + 3))
        }
        unsafe shim_free(names)
        return result
    }

    /// How often it wants to hear "WATCHDOG=1"; nil when it does not watch. Half of it is a good interval.
    package static var watchdogInterval: Duration? {
        var microseconds: UInt64 = 0
        guard unsafe sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }
}
