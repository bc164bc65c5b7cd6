// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyDevice

extension DeviceRun {
    /// Asks the host to pair or to show its code; with `code`, pairs by it once the host shows one.
    func ask(_ place: String, cable: Bool, code: String?) async throws(DeviceError) -> ExitCode {
        let endpoint = try Endpoint(here: place)
        guard endpoint.port != nil else {
            throw DeviceError(
                .badAddress,
                "\(place) has no port: the home door's is needed (`latchkey status` on the host shows it)"
            )
        }
        let device = try openDevice()
        let outcome = await race { () async -> Result<AskAnswer, DeviceError> in
            do throws(DeviceError) {
                return .success(try await device.ask(at: endpoint, mayClaimCable: cable))
            } catch {
                return .failure(error)
            }
        }
        switch outcome {
        case .stopped(let code): return code
        case .finished(.failure(let error)):
            if command.json { console.write(DeviceOutput.json(pairingFailed: error)) }
            throw error
        case .finished(.success(let answer)):
            if case .fails(let reason) = answer.claim {
                console.complain("latchkey-device: not claimed as the cable: \(reason.words)\n")
            }
            return try await report(answer, device, endpoint, code)
        }
    }

    private func report(
        _ answer: AskAnswer, _ device: Device, _ endpoint: Endpoint, _ code: String?
    ) async throws(DeviceError) -> ExitCode {
        switch answer.outcome {
        case .paired(let host):
            console.write(
                command.json
                    ? DeviceOutput.json(pairedWith: host, device: device, claim: answer.claim)
                    : """
                    Paired with \(host.name) (\(host.id)) over the cable.
                    Connect with: latchkey-device connect \(host.id) --door home --host '\(endpoint)'

                    """)
            return .done
        case .told(let refusal):
            if refusal.reason == "shown", let code {
                return try await pair { device throws(DeviceError) in
                    try await device.pair(code: code, at: endpoint, after: answer)
                }
            }
            if command.json { console.write(DeviceOutput.json(told: refusal, claim: answer.claim)) }
            console.complain("latchkey-device: \(refusal.askWords)\n")
            return .refused
        }
    }
}
