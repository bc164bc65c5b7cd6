// SPDX-License-Identifier: Apache-2.0

// The API has a `Device` too: this file alone imports its types.
internal import APITypes

/// The words of `latchkey-device help`.
enum DeviceHelp {
    /// The version this program says it is, in hellos too.
    static let version = latchkeyVersion

    /// Help for a command, or the overview for nil and for words that are none.
    static func text(_ command: String?) -> String {
        switch command {
        case "pair": pair
        case "ask": ask
        case "connect": connect
        case "browse": browse
        case "dial": dial
        case "hosts":
            """
            latchkey-device hosts

            Lists the saved hosts: ID, name, when and how paired, last session, addresses.

            """ + everywhere
        case "forget":
            """
            latchkey-device forget HOSTID

            Forgets a saved host. The host keeps this device on its own list until it is
            removed there.

            """ + everywhere
        default: overview
        }
    }

    private static let overview = """
        latchkey-device: a device on the command line, to try a host without a phone

        Usage: latchkey-device [options] COMMAND …

          pair LINK                     pair by the link of a QR code
          pair --code CODE --host H:P   pair by the twelve digits
          ask --host H:P                ask the host to pair, or to show its code
          connect [HOSTID | H:P]        open a session with a saved host
          connect --follow              and keep it: come back after a loss, come
                                        home when the network lists the host
          connect --save FILE           and write every message of the host to FILE
          dial [HOSTID | H:P]           show how the host's addresses are dialled
          browse                        list the hosts on the networks here
          hosts                         list saved hosts
          forget HOSTID                 forget a saved host
          help [COMMAND]                explain a command
          version                       print the version

        H:P is a host's address or name and its port, 192.168.1.20:7455.

        """ + everywhere + exits

    private static let pair = """
        latchkey-device pair LINK [--host HOST:PORT]
        latchkey-device pair --code CODE --host HOST:PORT

        Pairs with a host that shows a pairing window. LINK is the text of its QR
        code (quote it: it holds &). With --host only that place is dialled. The link
        of a window for the host's own network carries no address: it needs --host,
        with the port of the home door (`latchkey status` on the host shows it).
        CODE is the twelve digits; a typing mistake is found here and costs none of
        the host's tries.

          --host HOST:PORT   where the host is
          --name NAME        what the host lists this device as (default: this
                             machine's name)
          --model MODEL      what kind of device it says it is

        """ + everywhere + exits

    private static let ask = """
        latchkey-device ask --host HOST:PORT [--cable] [--then-code CODE]

        Asks a host at its home door. It pairs at once when both ends see that this is
        the USB cable; else it shows its code, says that somebody has to open its
        pairing window, or that it is locked.

          --host HOST:PORT   the home door; over a cable its link-local address,
                             '[fe80::1%usb0]:PORT'
          --cable            claim that this is the cable, when it is: the host's
                             address is IPv6 link-local, the interface is wired, and
                             every address of it is link-local. Else it says why not,
                             and asks without the claim
          --then-code CODE   pair by this code if the host answers that it shows one
          --name NAME        what the host lists this device as (default: this
                             machine's name)
          --model MODEL      what kind of device it says it is

        """ + everywhere + exits

    private static let connect = """
        latchkey-device connect [HOSTID] [--host HOST:PORT] [--door home|remote]
                                [--seconds N] [--follow] [--save FILE]
        latchkey-device connect HOST:PORT

        Opens a session with a saved host and says what comes of it: its signed
        self-description (verified or not), the kinds of messages received, bytes,
        round trip, its goodbye. Without HOSTID exactly one host must be saved. Dials
        a host on this machine whose endpoints.json can be read, then where Avahi
        lists the host on the networks here, then its saved addresses: one a second,
        or as soon as the one before has ended; the first that shows the saved key is
        it (`latchkey-device dial` shows it).

        With --follow the session is kept. When it ends by itself the host is looked
        for on the network and, after 3 seconds, at its remote addresses, for two
        minutes; its goodbye may say otherwise. A remote session moves to the home
        door when the host is listed on this network for 2 seconds, unless
        --door remote was given. Each change is one line; with --json one object.

          --host HOST:PORT   dial only this place
          --door home|remote the door it is; without --host, the door to use
          --seconds N        end after N seconds (default: when the host ends it, or
                             Ctrl-C)
          --follow           keep the session, and print what becomes of it
          --save FILE        write every message of the host to FILE as it came,
                             header and payload; what was in FILE is gone
          --app-version V    the version this device says it has
          --runtime-dir DIR  where a host on this machine keeps endpoints.json

        """ + everywhere + exits

    private static let dial = """
        latchkey-device dial [HOSTID] [--host HOST:PORT] [--door home|remote]
        latchkey-device dial HOST:PORT

        Dials a saved host as `connect` does and shows it: the addresses in their
        order, when each attempt began and ended, how it ended, and which one the host
        served, or else why none. Leaves again after the first window list.

          --host HOST:PORT   dial only this place
          --door home|remote the door it is; without --host, the door to use
          --app-version V    the version this device says it has
          --runtime-dir DIR  where a host on this machine keeps endpoints.json

        """ + everywhere + exits

    private static let browse = """
        latchkey-device browse [--seconds N | --follow]

        Lists the hosts that announce themselves on this machine's networks, as Avahi
        (avahi-daemon) hears them: name, the saved host that it is by its recognition
        tag, whether its home door speaks TLS, addresses. A tag is a hint: who a host
        is shows only when it is dialled. Ends when whoever answers has most likely
        answered, after 3 seconds at most. With --seconds or --follow each line is a
        host that came or changed (+) or went (-). With --json each line is an object
        whose `event` is `listed`, `gone` or `unavailable`.

          --seconds N        list for N seconds
          --follow           list until Ctrl-C; an Avahi that does not run yet is
                             waited for

        Exit: 0 also when no host is listed; 3 no Avahi could be asked; 2 usage.

        """ + everywhere

    private static let everywhere = """

        Everywhere, before or after the command:
          --dir DIR          this device's key and saved hosts
                             (default: $XDG_STATE_HOME/latchkey-device, or
                             ~/.local/state/latchkey-device)
          --json             print JSON

        """

    private static let exits = """

        Exit: 0 done; 1 the host refused; 2 usage; 3 nothing answered; 4 no such saved
        host; 5 another key answered.

        """
}
