// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyDevice
internal import Wire

/// How a `connect` ended, the words of its final object.
enum ConnectEnd: String, Sendable {
    /// Its time was over.
    case seconds
    case goodbye
    /// By either side, without a word.
    case closed
    /// Before the host served it.
    case refused
}

/// Everything a `connect` has to say at its end.
struct ConnectReport: Sendable {
    /// As it is saved now.
    var host: SavedHost
    /// The door that was dialled, as far as this side can tell.
    var door: HostDoor
    /// nil when no session came about.
    var summary: SessionSummary?
    /// The word of the final object.
    var ended: ConnectEnd
    /// Why not, when there was no session or it broke off.
    var error: DeviceError?
}

extension DeviceRun {
    enum SessionEnd: Sendable {
        case host(DeviceError?)
        case time
        case stop(ExitCode)
    }

    /// `connect`: dials, follows the session to its end, reports.
    func connect(
        _ word: String?, place: String?, door: HostDoor?, seconds: Double?, isKept: Bool,
        saved: SavedStream?
    ) async throws(DeviceError) -> ExitCode {
        let device = try openDevice()
        let host = try chosenHost(word, device)
        let places = try await places(of: host, place: place, door: door, device)
        let opened = await race { () async -> Result<Session, DeviceError> in
            do throws(DeviceError) {
                return .success(try await device.connect(to: host, at: places))
            } catch {
                return .failure(error)
            }
        }
        switch opened {
        case .stopped(let code):
            let guess = door ?? places.first?.door ?? .remote
            report(ConnectReport(host: host, door: guess, summary: nil, ended: .closed, error: nil))
            return code
        case .finished(.failure(let error)):
            let ended: ConnectEnd =
                error.goodbye != nil ? .goodbye : ExitCode(error) == .noAnswer ? .closed : .refused
            report(
                ConnectReport(
                    host: host, door: door ?? places.first?.door ?? .remote, summary: error.summary,
                    ended: ended,
                    error: error))
            throw error
        case .finished(.success(let session)) where isKept:
            return try await keep(
                session, device: device, seconds: seconds, isConnectRemotely: door == .remote, saved: saved)
        case .finished(.success(let session)):
            return try await follow(session, device: device, seconds: seconds, saved: saved)
        }
    }

    private func follow(
        _ session: Session, device: Device, seconds: Double?, saved: SavedStream?
    ) async throws(DeviceError) -> ExitCode {
        if !command.json { console.write(await DeviceOutput.greeting(session)) }
        let end = await wait(for: session, seconds: seconds, saved: saved)
        await session.close()
        let summary = await session.summary()
        let host = (try? device.host(session.host.id)) ?? session.host
        var result = ConnectReport(host: host, door: session.door, summary: summary, ended: .closed)
        var code = ExitCode.done
        switch end {
        case .time: result.ended = .seconds
        case .stop(let stopped): code = stopped
        case .host(let error):
            if let goodbye = summary.goodbye {
                result.ended = .goodbye
                code = .refused
                console.complain("latchkey-device: \(goodbye.words)\n")
            } else if let error {
                result.error = error
                code = ExitCode(error)
                console.complain("latchkey-device: \(error.message)\n")
            }
        }
        report(result)
        if let problem = saved?.problem { throw problem }
        return code
    }

    private func wait(for session: Session, seconds: Double?, saved: SavedStream?) async -> SessionEnd {
        let console = console
        return await withTaskGroup(of: SessionEnd.self) { group in
            group.addTask {
                do {
                    while let message = try await session.next() { saved?.add(message) }
                    return .host(nil)
                } catch {
                    return .host(error as? DeviceError)
                }
            }
            if let seconds {
                group.addTask {
                    // Cancelled only when another end came first.
                    _ = try? await Task.sleep(for: .seconds(seconds))
                    return .time
                }
            }
            group.addTask { .stop(await console.stopRequest()) }
            let first = await group.next() ?? .time
            group.cancelAll()
            return first
        }
    }

    func report(_ report: ConnectReport) {
        if command.json {
            console.write(DeviceOutput.json(report))
        } else if report.summary != nil {
            console.write(DeviceOutput.text(report))
        }
    }

    /// The host that is meant: the only one, when none is named.
    func chosenHost(_ word: String?, _ device: Device) throws(DeviceError) -> SavedHost {
        if let word { return try find(word, device) }
        let hosts = try device.hosts()
        if hosts.count == 1 { return hosts[0] }
        throw DeviceError(
            .unknownHost,
            hosts.isEmpty
                ? "no host is saved yet; pair first"
                : "\(hosts.count) hosts are saved; say which: \(command.verb) HOSTID")
    }

    /// Where to dial. A named place alone, when there is one; else a host on this machine, then what is saved.
    func places(
        of host: SavedHost, place: String?, door: HostDoor?, _ device: Device
    ) async throws(DeviceError) -> [DialCandidate] {
        if let place {
            let endpoint = try Endpoint(here: place)
            // The remote door's port is known to everybody the host has told; any other port is the home door's.
            let guess: HostDoor = (endpoint.port ?? host.remotePort) == host.remotePort ? .remote : .home
            return [DialCandidate(endpoint, door: door ?? guess)]
        }
        let directories = LocalDoors.directories(
            option: command.runtimeDirectory, isRoot: console.isRoot, environment: console.environment)
        let local = LocalDoors.find(in: directories)
        var places: [DialCandidate] = []
        if door != .remote, let port = local?.home {
            places.append(DialCandidate(onThisMachine: try Endpoint("127.0.0.1:\(port)"), door: .home))
        }
        if door != .remote { places += await device.listedPlaces(of: host) }
        places += device.candidates(for: host).filter { door == nil || $0.door == door }
        if door == .remote, let port = local?.remote {
            places.append(DialCandidate(onThisMachine: try Endpoint("127.0.0.1:\(port)"), door: .remote))
        }
        if places.isEmpty, door == .home {
            throw DeviceError(
                .noAddress,
                "no home door is known here; say where it is: --host HOST:PORT (`latchkey status` on the host shows it)"
            )
        }
        return places
    }
}
