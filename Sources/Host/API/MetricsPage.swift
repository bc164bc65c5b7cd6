// SPDX-License-Identifier: Apache-2.0

internal import Core
internal import LocalAPI
internal import Policy
internal import Synchronization
internal import Store

/// `GET /metrics` (spec 07). No label ever holds a name, an address or a key.
enum MetricsPage {
    static func make(_ services: APIServices) -> [UInt8] {
        var page = MetricsText()
        let (status, counters) = services.core.enter { core, moment in (core.status(moment), core.counters) }
        page.gauge("latchkey_devices", "Paired devices.", [([], status.devices)])
        page.gauge("latchkey_sessions", "Sessions now.", [([], status.sessions)])
        page.counter("latchkey_sessions_total", "Sessions registered.", [([], counters.sessions)])
        page.counter(
            "latchkey_admissions_total", "Connections by door and decision.",
            Door.allCases.flatMap { door in
                AdmissionOutcome.allCases.map { outcome in
                    (
                        [("door", door.rawValue), ("decision", outcome.rawValue)],
                        counters.admissions(door, outcome)
                    )
                }
            })
        page.counter(
            "latchkey_refusals_total", "Refused connections by door and word.",
            Door.allCases.flatMap { door in
                RefusalWord.counted.map { word in
                    ([("door", door.rawValue), ("word", word.rawValue)], counters.refusals(door, word))
                }
            })
        page.counter(
            "latchkey_handshake_failures_total", "Handshakes that failed, by reason.",
            counters.handshakeFailures.map { ([("reason", $0.key.rawValue)], $0.value) }.sorted(by: byLabel))
        page.counter(
            "latchkey_pairings_total", "Answers to pairing requests: ok or the reason.",
            counters.pairings.map { ([("outcome", $0.key)], $0.value) }.sorted(by: byLabel))
        page.counter(
            "latchkey_goodbyes_total", "Goodbyes by reason.",
            counters.goodbyes.map { ([("reason", $0.key)], $0.value) }.sorted(by: byLabel))
        if let reachability = status.reachability {
            page.gauge(
                "latchkey_reachability", "The verdict of the last reachability report: 1 for its code.",
                OverallCode.allCases.map {
                    ([("verdict", $0.rawValue)], $0 == reachability.verdict ? 1 : 0)
                })
        }
        addRelay(services, counters, to: &page)
        services.moreMetrics(&page)
        addStore(services.store.checkHealth(), to: &page)
        addAPI(services, to: &page)
        return Array(page.text.utf8)
    }

    /// Sessions that run count with what they have so far, so that the sum never falls.
    private static func addRelay(
        _ services: APIServices, _ counters: CoreCounters, to page: inout MetricsText
    ) {
        var (bytesIn, bytesOut) = (counters.endedBytesIn, counters.endedBytesOut)
        for session in services.core.enter({ core, _ in core.sessions() }) {
            bytesIn += session.counters.bytesIn.load(ordering: .relaxed)
            bytesOut += session.counters.bytesOut.load(ordering: .relaxed)
        }
        page.counter(
            "latchkey_session_bytes_total", "Decrypted bytes of sessions, from and to their devices.",
            [([("direction", "in")], bytesIn), ([("direction", "out")], bytesOut)])
    }

    private static func addStore(_ health: StoreHealth, to page: inout MetricsText) {
        page.gauge(
            "latchkey_store_writable", "Whether the last commit reached the disk.",
            [([], health.isWritable ? 1 : 0)])
        page.counter(
            "latchkey_store_commits_total", "Commits by outcome.",
            [
                ([("outcome", "committed")], UInt64(max(0, health.commits))),
                ([("outcome", "failed")], UInt64(max(0, health.failures))),
            ])
        page.histogram(
            "latchkey_store_commit_seconds", "Time of a transaction, its sync to disk included.",
            bounds: StoreHealth.latencyBounds,
            [([], health.latencies.map { UInt64(max(0, $0)) }, health.totalSeconds)])
    }

    private static func addAPI(_ services: APIServices, to page: inout MetricsText) {
        let counts = services.metrics.counts
        page.counter(
            "latchkey_api_responses_total", "Answers of the local API by status.",
            counts.statuses.enumerated().filter { $0.element > 0 }.map {
                ([("status", "\($0.offset)")], $0.element)
            })
        let called = zip(APIRoutes.all(services), counts.routes).filter { $1.buckets.contains { $0 > 0 } }
        page.histogram(
            "latchkey_api_request_seconds", "From a request's first line to its answer.",
            bounds: Metrics.latencyBounds,
            called.map { route, histogram in
                (
                    [("method", route.method.rawValue), ("path", route.path)], histogram.buckets,
                    histogram.sum
                )
            })
    }

    private static func byLabel(
        _ left: (labels: MetricsText.Labels, value: UInt64),
        _ right: (labels: MetricsText.Labels, value: UInt64)
    ) -> Bool {
        (left.labels.first?.value ?? "") < (right.labels.first?.value ?? "")
    }
}
