// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyDevice

extension DeviceRun {
    /// `dial`: dials as `connect` would, shows how each place ended, and leaves again.
    func dial(_ word: String?, place: String?, door: HostDoor?) async throws(DeviceError) -> ExitCode {
        let device = try openDevice()
        let host = try chosenHost(word, device)
        let places = try await places(of: host, place: place, door: door, device)
        let outcome = await race { () async -> Result<DialReport, DeviceError> in
            do throws(DeviceError) {
                return .success(try await device.dial(to: host, at: places))
            } catch {
                return .failure(error)
            }
        }
        switch outcome {
        case .stopped(let code): return code
        case .finished(.failure(let error)): throw error
        case .finished(.success(let report)):
            console.write(
                command.json ? DeviceOutput.json(report, of: host) : DeviceOutput.text(report, of: host))
            if let error = report.error { throw error }
            return .done
        }
    }
}
