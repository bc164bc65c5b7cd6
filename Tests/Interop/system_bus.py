# SPDX-License-Identifier: Apache-2.0
"""A system bus of the test's own, a logind on it that does what a test says, and where a service finds both.

The service uses one address and no other, so it runs in a mount namespace in which a private bus's directory lies at
/run/dbus. logind is written against org.freedesktop.login1(5), on jeepney, which shares no code with the service.
"""

import os
import pathlib
import shutil
import subprocess
import threading

import harness
import pytest
from jeepney import (
    DBusAddress, HeaderFields, MessageType, message_bus, new_error, new_method_call, new_method_return, new_signal)
from jeepney.io.blocking import open_dbus_connection

# Policy as on a real system bus where it matters: anybody may send a signal to anybody.
CONFIGURATION = """<busconfig><type>system</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/>
</policy></busconfig>
"""

MANAGER = "org.freedesktop.login1.Manager"
SEAT = "org.freedesktop.login1.Seat"
SESSION = "org.freedesktop.login1.Session"
USER = "org.freedesktop.login1.User"
PROPERTIES = "org.freedesktop.DBus.Properties"
SEAT_PATH = "/org/freedesktop/login1/seat/seat0"


def require():
    """Skips where no bus can be put in the place of the machine's."""
    if os.geteuid() != 0:
        pytest.skip("a mount namespace needs root")
    if shutil.which("dbus-daemon") is None:
        pytest.skip("no dbus-daemon: Scripts/setup --test")
    probe = subprocess.run(["unshare", "-m", "true"], capture_output=True, text=True)
    if probe.returncode != 0:
        pytest.skip(f"no mount namespace can be made here: {probe.stderr.strip()}")


class Bus:
    """A dbus-daemon on a socket in a directory of its own."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir()
        self.directory.chmod(0o755)
        self.socket = self.directory / "system_bus_socket"
        self.configuration = self.directory / "bus.conf"
        self.configuration.write_text(CONFIGURATION.format(path=self.socket))
        self.process = None

    @property
    def address(self):
        return f"unix:path={self.socket}"

    def start(self):
        self.socket.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            ["dbus-daemon", f"--config-file={self.configuration}", "--nofork", "--nopidfile", "--print-address"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
        # It says its address once it listens.
        assert self.process.stdout.readline().startswith("unix:")
        return self

    def stop(self):
        """As a crash would."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def connect(self):
        return open_dbus_connection(self.address, auth_timeout=harness.FRIENDLY)

    def name_of(self, process):
        """The unique name of a process's connection, as soon as it has one."""
        with self.connect() as connection:
            def ask(message):
                return connection.send_and_get_reply(message, timeout=harness.FRIENDLY).body[0]

            def find():
                names = [name for name in ask(message_bus.ListNames()) if name.startswith(":")]
                return [name for name in names if ask(message_bus.GetConnectionUnixProcessID(name)) == process]

            return harness.eventually(find)[0]


def session(user=1000, kind="user", shows="wayland", hint=("b", False)):
    """The properties of a session; `hint` None: it has none."""
    values = {
        "Id": ("s", "x"), "Class": ("s", kind), "Type": ("s", shows), "Active": ("b", True),
        "User": ("(uo)", (user, user_path(user))), "VTNr": ("u", 2),
    }
    return values | ({"LockedHint": hint} if hint is not None else {})


def session_path(name):
    return "/org/freedesktop/login1/session/_3" + name


def user_path(user):
    return f"/org/freedesktop/login1/user/_{user}"


def user_of(values):
    """The UID, or None when a test has put something else there."""
    kind, value = values.get("User", ("", None))
    return value[0] if kind == "(uo)" else None


class Logind:
    """org.freedesktop.login1 as far as the lock asks; a thread answers, a test changes it."""

    def __init__(self, bus):
        self.bus = bus
        self.sessions = {"c1": session()}
        self.active = "c1"
        self.has_seat = True
        self.preparing = False
        self.held = set()  # members that are not answered
        self.refused = {}  # member -> name of the error
        self.lock = threading.RLock()
        self.connection = None
        self.thread = None
        self.pings = {}  # serial -> the event to set

    def start(self):
        self.connection = self.bus.connect()
        self.connection.send_and_get_reply(message_bus.RequestName("org.freedesktop.login1"), timeout=harness.FRIENDLY)
        self.thread = threading.Thread(target=self._serve, args=(self.connection,), daemon=True)
        self.thread.start()
        return self

    def stop(self):
        """Leaves the bus, as a crash would."""
        if self.connection:
            self.connection.sock.shutdown(2)
            self.thread.join(harness.FRIENDLY)
            self.connection.close()
            self.connection = None

    def settle(self, name):
        """Returns when the one of this unique name has taken in all that was sent to it, and what it asked for because
        of that: it answers a ping after all before it, and this thread answers its questions before it sees that."""
        for _ in range(5):
            answered = threading.Event()
            with self.lock:
                serial = next(self.connection.outgoing_serial)
                self.pings[serial] = answered
                ping = new_method_call(DBusAddress("/", name, "org.freedesktop.DBus.Peer"), "Ping")
                self.connection.send(ping, serial=serial)
            assert answered.wait(harness.FRIENDLY)

    # -- what it answers

    def _serve(self, connection):
        while True:
            try:
                message = connection.receive()
            except (OSError, ValueError):
                return
            if message.header.message_type != MessageType.method_call:
                answered = self.pings.pop(message.header.fields.get(HeaderFields.reply_serial), None)
                if answered:
                    answered.set()
                continue
            with self.lock:
                try:
                    reply = self._reply(message)
                    if reply is not None:
                        connection.send(reply)
                except OSError:
                    return

    def _reply(self, call):
        fields = call.header.fields
        path, member = fields[HeaderFields.path], fields[HeaderFields.member]
        if member in self.held:
            return None
        if member in self.refused:
            return new_error(call, self.refused[member], "s", ("as the test says",))
        if member == "GetSeat":
            if call.body[0] == "seat0" and self.has_seat:
                return new_method_return(call, "o", (SEAT_PATH,))
            return new_error(call, "org.freedesktop.login1.NoSuchSeat", "s", (f"No seat '{call.body[0]}' known",))
        if member == "GetUser":
            if any(user_of(values) == call.body[0] for values in self.sessions.values()):
                return new_method_return(call, "o", (user_path(call.body[0]),))
            return new_error(call, "org.freedesktop.login1.NoSuchUser", "s", ("not logged in or lingering",))
        if member == "Get":
            value = self.properties(path, call.body[0]).get(call.body[1])
            if value is not None:
                return new_method_return(call, "v", (value,))
            return new_error(call, "org.freedesktop.DBus.Error.UnknownProperty", "s", ("no such property",))
        if member == "GetAll":
            return new_method_return(call, "a{sv}", (self.properties(path, call.body[0]),))
        return new_error(call, "org.freedesktop.DBus.Error.UnknownMethod", "s", (f"no method {member}",))

    def properties(self, path, interface):
        if interface == MANAGER:
            return {"PreparingForSleep": ("b", self.preparing)}
        if interface == SEAT and path == SEAT_PATH:
            return {"ActiveSession": ("(so)", self._active_value())}
        for name, values in self.sessions.items():
            if interface == SESSION and path == session_path(name):
                return values
        if interface == USER:
            return {"Sessions": ("a(so)", [
                (name, session_path(name)) for name, values in self.sessions.items()
                if user_path(user_of(values)) == path])}
        return {}

    def _active_value(self):
        return (self.active, session_path(self.active)) if self.active else ("", "/")

    # -- what changes it

    def signal(self, path, interface, member, signature=None, body=()):
        with self.lock:
            self.connection.send(new_signal(DBusAddress(path, interface=interface), member, signature, body))

    def _manager(self, member, signature, *body):
        self.signal("/org/freedesktop/login1", MANAGER, member, signature, body)

    def _changed(self, path, interface, values):
        self.signal(path, PROPERTIES, "PropertiesChanged", "sa{sv}as", (interface, values, []))

    def change(self, name="c1", **values):
        """Properties of a session, each with its D-Bus type."""
        with self.lock:
            self.sessions[name] |= values
            self._changed(session_path(name), SESSION, values)

    def hint(self, locked, name="c1"):
        self.change(name, LockedHint=("b", locked))

    def replace(self, values, name="c1"):
        """The session is another one from now on: it leaves, and comes to the front anew."""
        with self.lock:
            self.activate(None)
            self.remove(name)
            self.add(name, values)
            self.activate(name)

    def activate(self, name):
        with self.lock:
            if self.active in self.sessions:
                self.change(self.active, Active=("b", False))
            self.active = name
            if name:
                self.change(name, Active=("b", True))
            self._changed(SEAT_PATH, SEAT, {"ActiveSession": ("(so)", self._active_value())})

    def add(self, name, values):
        with self.lock:
            user = user_of(values)
            is_new = user is not None and not any(user_of(other) == user for other in self.sessions.values())
            self.sessions[name] = values
            if is_new:
                self._manager("UserNew", "uo", user, user_path(user))
            self._manager("SessionNew", "so", name, session_path(name))

    def remove(self, name):
        with self.lock:
            values = self.sessions.pop(name, None)
            if values is None:
                return
            user = user_of(values)
            self._manager("SessionRemoved", "so", name, session_path(name))
            if user is not None and not any(user_of(other) == user for other in self.sessions.values()):
                self._manager("UserRemoved", "uo", user, user_path(user))

    def tell(self, member, name="c1"):
        """`Lock` or `Unlock`."""
        self.signal(session_path(name), SESSION, member)

    def sleep(self, starts):
        with self.lock:
            self.preparing = starts
            self._manager("PrepareForSleep", "b", starts)

    def seat(self, is_there):
        with self.lock:
            self.has_seat = is_there
            self._manager("SeatNew" if is_there else "SeatRemoved", "so", "seat0", SEAT_PATH)
