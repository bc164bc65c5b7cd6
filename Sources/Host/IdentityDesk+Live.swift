// SPDX-License-Identifier: Apache-2.0

internal import APITypes
internal import CryptoEngine
internal import Sockets
internal import StateDirectory

extension IdentityDesk {
    /// Over what is served and the state directory's keeper.
    init(_ live: LiveIdentity, _ keeper: IdentityKeeper) {
        self.init(
            current: {
                let served = live.current
                return HostIdentity(
                    fingerprint: served.key.fingerprint, publicKey: served.key.point,
                    certificate: served.certificate, createdAt: served.createdAt)
            },
            stage: {
                do throws(IdentityKeeper.StagingFailure) {
                    let staged = try keeper.stage(now: wallNow())
                    do throws(CryptoError) {
                        live.prepare(try LiveIdentity.Served(staged.identity))
                    } catch {
                        keeper.abandon()
                        throw .failed("OpenSSL: \(error.message)")
                    }
                    return .success(staged.stored)
                } catch {
                    switch error {
                    case .inProgress: return .failure(APIProblems.rotationInProgress)
                    case .failed(let message): return .failure(APIProblems.storeUnavailable(message))
                    }
                }
            },
            abandon: keeper.abandon)
    }
}
