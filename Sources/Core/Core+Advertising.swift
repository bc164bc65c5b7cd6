// SPDX-License-Identifier: Apache-2.0

package import Policy

/// The home door's DNS-SD record (02 §7.3).
extension Core {
    /// What became of the record, from whoever registers it.
    package mutating func advertisingState(_ state: AdvertisingState) { advertiser = state }

    /// An interface's name to people; its index when it is gone.
    package func interfaceName(_ index: UInt32) -> String {
        interfaces.interface(index: index)?.name ?? String(index)
    }

    /// For `GET /v1/status`. A record that is wanted and not out is unavailable, whatever the reason.
    var advertising: AdvertisingState {
        if !wantsRecord { return .off }
        return advertised != nil && advertiser == .on ? .on : .unavailable
    }

    /// Has the record made, changed or withdrawn when it should say something else than it does.
    mutating func refreshAdvertisement() {
        let wanted = advertisement
        guard wanted != advertised else { return }
        advertised = wanted
        emit(.advertise(wanted))
    }

    private var wantsRecord: Bool {
        isRunning && !isStopping && settings.advertise && overrides.advertises && overrides.homePort != nil
    }

    /// nil while there is no door to find, or no network to find it on.
    private var advertisement: Advertisement? {
        guard wantsRecord, case .listening(let port) = home.state else { return nil }
        return Advertisement(
            identity: host.fingerprint, host: hostName, port: port,
            isPairingRequired: settings.requirePairing,
            interfaces: Advertisement.interfaces(
                interfaces, direct: settings.direct, listensAt: overrides.homeListen))
    }
}
