// SPDX-License-Identifier: Apache-2.0

package import RouterProbe
internal import Sockets
internal import VPNFacts

extension ReachabilityWitnesses {
    /// This machine's own. `prober` may be shared with what asks for mappings: the two know the same routers then.
    package static func system(prober: RouterProber) -> ReachabilityWitnesses {
        let (vpns, names, firewall) = (VPNReader(), NameResolver(), HostFirewallReader())
        var witnesses = ReachabilityWitnesses(
            vpns: { vpns.read($0, hostName: CurrentProcess.hostName) }, router: { prober.ask($0) },
            resolve: { names.addresses(of: $0) }, firewall: { firewall.read(port: $0, $1) })
        witnesses.followTailscale = { changed in
            do throws(SocketError) {
                let follower = try TailscaleFollower(onChange: changed)
                try follower.start()
                return { follower.stop() }
            } catch {
                return nil
            }
        }
        witnesses.followGateway = { question, changed in
            guard let gateway = question.gateway else { return nil }
            do throws(SocketError) {
                let announcements = try GatewayAnnouncements(
                    gateway: gateway, interfaceIndex: question.interfaceIndex, heard: changed)
                return { announcements.end() }
            } catch {
                return nil
            }
        }
        return witnesses
    }
}
