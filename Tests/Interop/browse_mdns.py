# SPDX-License-Identifier: Apache-2.0
"""What a device hears of hosts on one network: prints each record that comes, changes or goes as a line of JSON.

Usage: browse_mdns.py ADDRESS, an IPv4 address of the network's interface. With --publish NAME PORT it is also another host:
it defends that name against others, as mDNS asks of it.
"""

import json
import queue
import sys

import zeroconf

TYPE = "_sill._tcp.local."


def text(properties):
    return {key.decode(): None if value is None else value.decode() for key, value in properties.items()}


def main(address, *more):
    events = queue.SimpleQueue()
    # mDNS needs no more than the one interface, and a namespace has no other.
    zc = zeroconf.Zeroconf(interfaces=[address], ip_version=zeroconf.IPVersion.V4Only)
    if more:
        _, name, port = more
        info = zeroconf.ServiceInfo(
            TYPE, f"{name}.{TYPE}", port=int(port), properties={"p": "1"}, server="stranger.local.",
            parsed_addresses=[address])
        zc.register_service(info)
        print(json.dumps({"event": "published", "name": name}), flush=True)

    def heard(zeroconf, service_type, name, state_change):
        events.put((state_change.name.lower(), name))

    browser = zeroconf.ServiceBrowser(zc, TYPE, handlers=[heard])
    print(json.dumps({"event": "browsing"}), flush=True)
    try:
        while True:
            event, name = events.get()
            line = {"event": event, "name": name.removesuffix("." + TYPE)}
            if event != "removed":
                info = zc.get_service_info(TYPE, name, timeout=3000)
                if info is None:
                    continue
                line |= {"port": info.port, "txt": text(info.properties), "server": info.server,
                         "addresses": info.parsed_addresses()}
            print(json.dumps(line), flush=True)
    except KeyboardInterrupt:
        pass
    finally:
        browser.cancel()
        zc.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
