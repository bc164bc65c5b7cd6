internal import Core
internal import CryptoEngine
internal import Doors
internal import EventLoop
internal import Policy
internal import Sockets
internal import StateDirectory
internal import Synchronization
internal import SystemBus
internal import Wire

/// Hands each effect of the core to its one owner. Called under the core's lock, so every hand-over only enqueues.
final class EffectRouter: Sendable {
    /// The owners; they need the core to be made, and the core needs the router, so they are connected afterwards.
    struct Owners: Sendable {
        let core: SharedCore
        let doors: Doors
        let committer: Committer
        /// The service thread.
        let jobs: Mailbox
        /// Key derivation, which takes a tenth of a second.
        let derivation: Mailbox
        /// The addresses the command line puts doors at; a door without one listens at all.
        let addresses: [Door: IPAddress]
        let endpoints: EndpointsPublisher
        /// Announces the home door.
        let advertiser: Advertiser
        /// Has the router asked for what is wanted of it.
        let lookAfterMapping: @Sendable (MappingKeeper.Situation) -> Void
        /// Watches the networks so.
        let watch: @Sendable (ReachabilityWanted) -> Void
        /// Has the router asked again what it forwards.
        let askRouterAgain: @Sendable () -> Void
        let log: LogSink
        /// Runs `tick` at this time; on the service thread.
        let wake: @Sendable (MonotonicTime) -> Void
        let changeDone: @Sendable (ChangeID, ChangeOutcome) -> Void
        let windowReady: @Sendable (WindowOffer) -> Void
        let pairings: PairingDesk
        let event: @Sendable (Event) -> Void
        let hostInfoChanged: @Sendable () -> Void
        /// Raised whenever a session has ended.
        let sessionEnded: WakeUp
        /// Serves another identity from here on.
        let identityChanged: @Sendable (Fingerprint) -> Void
    }

    private let owners = Mutex<Owners?>(nil)

    /// From here on effects are carried out. Before, nothing enters the core in a way that causes one.
    func connect(_ owners: Owners) { self.owners.withLock { $0 = owners } }

    func carryOut(_ effect: Effect) {
        if let owners = owners.withLock({ $0 }) { handOver(effect, to: owners) }
    }

    private func handOver(_ effect: Effect, to owners: Owners) {
        switch effect {
        case .commit(let id, let commit):
            owners.committer.commit(commit) { result in
                owners.core.enter { core, moment in core.committed(id, result, moment) }
            }
        case .record(let commit):
            owners.committer.commit(commit) { result in
                guard case .failed(let message) = result else { return }
                owners.log.log(LogLine(.error, "a record was not kept", [("problem", message)]))
            }
        case .changeDone(let id, let outcome): owners.jobs.post { owners.changeDone(id, outcome) }
        case .answerPairing(let id, let result):
            if id.owner == ConnectionID.delegated {
                owners.pairings.answered(id, result)
            } else {
                owners.doors.answerPairing(id, result)
            }
        case .closeConnection(let id):
            if id.owner == ConnectionID.delegated {
                owners.pairings.closed(id)
            } else {
                owners.doors.closeConnection(id)
            }
        case .endSession(let session, let connection, let goodbye):
            owners.doors.endSession(session, connection, goodbye)
        case .openDoor(let door, let port): open(door, port, owners)
        case .closeDoor(let door): owners.doors.close(door)
        case .advertise(let record): owners.advertiser.announce(record)
        case .identityChanged(let fingerprint): owners.identityChanged(fingerprint)
        case .lookAfterMapping(let situation): owners.lookAfterMapping(situation)
        case .watchReachability(let wanted): owners.watch(wanted)
        case .askRouterAgain: owners.askRouterAgain()
        case .broadcastHostInfo:
            owners.doors.broadcastHostInfo()
            owners.jobs.post { owners.hostInfoChanged() }
        case .judgeAfresh: owners.doors.judgeAfresh()
        case .deriveCodeKey(let window, let code): derive(window, code, owners)
        case .windowReady(let offer): owners.jobs.post { owners.windowReady(offer) }
        case .needEntropy: supplyEntropy(owners)
        case .event(let event): publish(event, owners)
        case .log(let line): owners.log.log(line)
        case .wake(let time): owners.wake(time)
        }
    }

    private func open(_ door: Door, _ port: Int, _ owners: Owners) {
        owners.doors.open(door, port: port, listenOn: owners.addresses[door])
    }

    private func derive(_ window: String, _ code: String, _ owners: Owners) {
        owners.derivation.post {
            do throws(CryptoError) {
                // Many windows may have come and gone meanwhile, and a stop waits for what has begun.
                let host = owners.core.enter { core, _ in
                    core.needsCodeKey(window: window) ? core.host.fingerprint : nil
                }
                guard let host else { return }
                let key = try SecretSource.codeKey(code, host: host)
                owners.core.enter { core, moment in core.codeKeyDerived(window: window, key: key, moment) }
            } catch {
                owners.log.log(LogLine(.error, "the code's key could not be derived; only the link pairs"))
            }
        }
    }

    private func supplyEntropy(_ owners: Owners) {
        owners.jobs.post {
            do throws(CryptoError) {
                let entropy = try SecretSource.window()
                owners.core.enter { core, _ in core.supply(entropy) }
            } catch {
                owners.log.log(LogLine(.error, "the system gives no randomness; asks open no window"))
            }
        }
    }

    private func publish(_ event: Event, _ owners: Owners) {
        owners.jobs.post {
            if case .doorChanged(let door, let state) = event {
                do throws(SocketError) {
                    try owners.endpoints.doorChanged(door, state)
                } catch {
                    owners.log.log(
                        LogLine(.error, "endpoints.json was not written", [("problem", error.message)]))
                }
            }
            owners.event(event)
            if case .sessionClosed = event { owners.sessionEnded.signal() }
        }
    }
}
