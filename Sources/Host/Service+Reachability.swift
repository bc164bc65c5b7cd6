internal import Core
internal import NetFacts
internal import Policy
internal import ReachabilityFacts
internal import RouterProbe
internal import Sockets
internal import Wire

extension Service {
    /// What looks at the networks and what asks the router for a mapping; both tell the core.
    static func reachability(
        _ core: SharedCore, _ interfaces: NetworkWatcher, _ log: LogSink
    ) throws(SocketError) -> (ReachabilityWatcher, MappingRunner) {
        let prober = RouterProber()
        let watcher = try ReachabilityWatcher(.system(prober: prober)) { evidence in
            core.enter { core, moment in core.reachabilityRead(evidence, moment) }
        }
        let runner = try MappingRunner(
            MappingRunner.Operations(RouterMapper(prober)),
            link: { LANLink(interfaces.table) },
            told: { standing in
                core.enter { core, moment in
                    var requests = RouterRequests()
                    requests.mapping = standing.mapping.map {
                        RouterRequests.Standing(
                            $0, expiresAt: standing.mappingExpires.map { moment.wallTime(of: $0) })
                    }
                    requests.pinhole = standing.pinhole.map {
                        RouterRequests.Standing(
                            $0, expiresAt: standing.pinholeExpires.map { moment.wallTime(of: $0) })
                    }
                    core.routerRequests(requests, moment)
                    guard standing.isNewlyGranted else { return }
                    // Asked for by name, and granted when nobody waited any more.
                    let change = core.settingsChange { $0.portMapping = "upnp" }
                    _ = core.propose(change, actor: .service, moment)
                }
            })
        return (watcher, runner)
    }
}
