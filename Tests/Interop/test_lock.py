# SPDX-License-Identifier: Apache-2.0
"""The locked host: logind on a real bus, the API's word, and what devices hear of both (spec 03 section 13)."""

import json
import os
import subprocess
import threading

import harness
import pytest
import sill_client as sill
import system_bus
from harness import eventually, judged
from jeepney import DBusAddress, message_bus, new_signal
from system_bus import PROPERTIES, SEAT, SEAT_PATH, SESSION, session, session_path


@pytest.fixture
def bus(scratch):
    system_bus.require()
    bus = system_bus.Bus(f"{scratch}/bus").start()
    yield bus
    bus.stop()


@pytest.fixture
def logind(bus):
    logind = system_bus.Logind(bus).start()
    yield logind
    logind.stop()


class Desk:
    """A service, the logind it hears, and what the lock is once it has heard everything."""

    def __init__(self, service, logind):
        self.service, self.logind = service, logind
        self.name = logind.bus.name_of(service.process.pid)

    def is_locked(self):
        self.logind.settle(self.name)
        return lock(self.service)

    def shows(self, values):
        """Another session is in front of the screen now."""
        self.logind.replace(values)
        return self.is_locked()


@pytest.fixture
def desk(start, bus, logind):
    desk = Desk(start(bus=bus.directory), logind)
    assert desk.is_locked() is False
    return desk


def lock(service):
    return {"locked": True, "unlocked": False}[service.get("/v1/status")["lock"]]


def say(service, locked):
    """The API's word; returns what it led to."""
    answer = service.api("PUT", "/v1/lock", {"locked": locked})
    assert answer.status == 200, answer
    return answer.json["locked"]


def ask(service):
    """What a device on this host hears that asks to pair."""
    with sill.Channel(service.door("home"), sill.Identity(), alpn=(sill.PAIRING,)) as channel:
        return sill.exchange(channel, sill.pair_request("ask", ""))["reason"]


class LockEvents:
    """The service's `lock.changed` events, from now on."""

    def __init__(self, service):
        self.said = []
        self.connection = harness.UnixHTTP(str(service.runtime / "api.sock"))
        self.connection.timeout = 120
        self.connection.request("GET", "/v1/events")
        self.stream = self.connection.getresponse()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        kind = None
        try:
            for line in self.stream:
                name, _, value = line.decode().rstrip("\r\n").partition(": ")
                if name == "event":
                    kind = value
                elif name == "data" and kind == "lock.changed":
                    self.said.append(json.loads(value)["locked"])
        except (OSError, ValueError):
            pass

    def are(self, *wanted):
        eventually(lambda: len(self.said) >= len(wanted))
        assert self.said == list(wanted)


def without(name):
    return {key: value for key, value in session().items() if key != name}


# What is in front of the screen, and what logind thereby says.
ROWS = [
    ("the desktop", session(), "unlocked"),
    ("X", session(shows="x11"), "unlocked"),
    ("Mir", session(shows="mir"), "unlocked"),
    ("somebody's desktop, nobody being configured", session(user=1001), "unlocked"),
    ("the hint set", session(hint=("b", True)), "locked"),
    ("the hint missing", session(hint=None), "locked"),
    ("the hint a string", session(hint=("s", "false")), "locked"),
    ("the hint a number", session(hint=("u", 0)), "locked"),
    ("the greeter", session(user=42, kind="greeter"), "locked"),
    ("a lock screen", session(kind="lock-screen"), "locked"),
    ("a class nobody knows", session(kind="user-early"), "locked"),
    ("a greeter on a console", session(user=42, kind="greeter", shows="tty"), "locked"),
    ("a console", session(shows="tty"), "silent"),
    ("a console with the hint set", session(shows="tty", hint=("b", True)), "silent"),
    ("a type nobody knows", session(shows="holodeck"), "silent"),
    ("no class", without("Class"), "locked"),
    ("no type", without("Type"), "locked"),
    ("no user", without("User"), "locked"),
    ("the user as a bare number", session() | {"User": ("u", 1000)}, "locked"),
    ("the class as a path", session() | {"Class": ("o", "/user")}, "locked"),
]


def test_the_table_alone_and_with_the_api_s_word(desk):
    for word in (None, False, True):
        if word is not None:
            say(desk.service, word)
        for what, values, says in ROWS:
            want = word is True or says == "locked" or (says == "silent" and word is None)
            assert desk.shows(values) == want, (what, word)
            assert ask(desk.service) == ("locked" if want else "openOnMac"), (what, word)


def test_what_changes_while_it_is_in_front(desk, logind):
    events = LockEvents(desk.service)
    logind.hint(True)
    assert desk.is_locked()
    logind.hint(False)
    assert not desk.is_locked()
    logind.tell("Lock")
    assert desk.is_locked()
    logind.tell("Unlock")
    assert not desk.is_locked()
    logind.tell("Lock")
    logind.hint(True)
    logind.tell("Unlock")
    assert desk.is_locked()
    logind.hint(False)
    assert not desk.is_locked()
    logind.tell("Lock")
    logind.hint(True)
    logind.hint(False)
    assert not desk.is_locked()
    logind.sleep(True)
    assert desk.is_locked()
    logind.sleep(False)
    assert not desk.is_locked()
    logind.change(LockedHint=("s", "no"))
    assert desk.is_locked()
    logind.hint(False)
    assert not desk.is_locked()
    logind.activate(None)
    assert desk.is_locked()
    logind.activate("c1")
    assert not desk.is_locked()
    logind.seat(False)
    assert desk.is_locked()  # Silent, and so is the API.
    logind.seat(True)
    assert not desk.is_locked()
    events.are(*[True, False] * 8)


def test_lock_sent_to_a_session_that_comes_to_the_front_later(desk, logind):
    logind.add("c2", session())
    logind.tell("Lock", "c2")
    assert not desk.is_locked()
    logind.activate("c2")
    assert desk.is_locked()
    logind.activate("c1")
    assert not desk.is_locked()
    logind.activate("c2")
    logind.tell("Unlock", "c2")
    assert not desk.is_locked()


def test_a_window_that_is_up_stays_and_its_proofs_are_judged_while_new_asks_hear_locked(start, sample, bus, logind):
    service = start(backend=sample.address, bus=bus.directory)
    desk = Desk(service, logind)
    assert not desk.is_locked()
    assert ask(service) == "openOnMac"
    link = sill.parse_link(service.window(remote=False)["url"])
    assert ask(service) == "shown"
    first = sill.Identity()
    assert judged(lambda: sill.pair_link(link, first, service.door("home")))["ok"]
    with service.session(first) as kept:
        again = sill.parse_link(service.window(remote=False)["url"])
        logind.hint(True)
        assert desk.is_locked()
        assert ask(service) == "locked"
        assert service.get("/v1/status")["window"]["open"]
        wrong = {**again, "secret": bytes(16)}
        judged_wrong = judged(lambda: sill.pair_link(wrong, sill.Identity(), service.door("home"), source="127.0.0.2"))
        assert (judged_wrong["ok"], judged_wrong["reason"]) == (False, "code")
        identity = sill.Identity()
        assert judged(lambda: sill.pair_link(again, identity, service.door("home")))["ok"]
        assert ask(service) == "locked"
        # And sessions go on.
        with service.session(identity) as fresh:
            assert fresh.window_list is not None
        kept.follow(0.2)
        assert kept.end is None
    logind.hint(False)
    assert not desk.is_locked()
    assert ask(service) == "openOnMac"


def test_a_device_of_the_network_opens_a_window_only_while_unlocked(lab, scratch, bus, logind):
    service = lab.service(f"{scratch}/one", bus=bus.directory)

    def knock(identity):
        address = ("192.168.1.20", service.port("home"))
        with lab.inside("home"):
            channel = sill.Channel(address, identity, alpn=(sill.PAIRING,), source="192.168.1.23")
        with channel:
            return sill.exchange(channel, sill.pair_request("ask", "", name="Pad"))["reason"]

    try:
        desk = Desk(service.start(), logind)
        logind.hint(True)
        assert desk.is_locked()
        assert knock(sill.Identity()) == "locked"
        status = service.get("/v1/status")
        assert not status["window"]["open"]
        assert (status["request"]["name"], status["request"]["state"]) == ("Pad", "locked")
        logind.hint(False)
        assert not desk.is_locked()
        asker = sill.Identity()
        assert knock(asker) == "shown"
        assert service.get("/v1/status")["window"]["openedBy"] == "device"
        # It stays up, and the code on the screen still pairs; only a new ask hears of the lock.
        logind.tell("Lock")
        assert desk.is_locked()
        assert knock(sill.Identity()) == "locked"
        assert service.get("/v1/status")["window"]["open"]
        code = service.get("/v1/pairing/window")["code"]
        with lab.inside("host"):
            answer = judged(lambda: sill.pair(service.door("home"), asker, code=code))
        assert answer["ok"] and asker.id in service.devices()
    finally:
        service.stop()


def test_logind_that_dies_is_silent_and_is_read_again_when_it_is_back(desk, logind):
    service = desk.service
    logind.stop()
    eventually(lambda: lock(service))
    assert say(service, False) is False
    logind.sessions["c1"]["LockedHint"] = ("b", True)
    logind.start()
    assert desk.is_locked()
    logind.stop()
    eventually(lambda: not lock(service))
    logind.sessions["c1"]["LockedHint"] = ("b", False)
    logind.start()
    assert not desk.is_locked()
    say(service, True)
    assert desk.is_locked()


def test_a_bus_that_dies_and_comes_back(desk, logind, bus):
    service = desk.service
    logind.tell("Lock")
    assert desk.is_locked()
    say(service, False)
    assert desk.is_locked()
    bus.stop()
    eventually(lambda: not lock(service))  # The API's word is the only one left.
    assert ask(service) == "openOnMac"
    logind.stop()
    bus.start()
    logind.sessions["c1"]["LockedHint"] = ("b", True)
    logind.start()
    eventually(lambda: lock(service))
    desk.name = bus.name_of(service.process.pid)
    logind.hint(False)
    assert not desk.is_locked()
    log = service.log()
    assert log.count("there is no system bus") == 1 and log.count("the system bus is there") == 2


def test_without_a_bus_only_the_api_speaks(start, scratch):
    system_bus.require()
    os.mkdir(f"{scratch}/empty")
    service = start(bus=f"{scratch}/empty")
    assert lock(service) and ask(service) == "locked"
    assert say(service, False) is False and ask(service) == "openOnMac"
    assert say(service, True) is True and ask(service) == "locked"


def test_the_environment_shows_the_service_no_other_bus(start, scratch, bus, logind):
    """An unlocked desktop on a bus that only variables name."""
    os.mkdir(f"{scratch}/empty")
    service = start(
        bus=f"{scratch}/empty",
        env={name: bus.address for name in (
            "DBUS_SYSTEM_BUS_ADDRESS", "DBUS_SESSION_BUS_ADDRESS", "LATCHKEY_BUS", "LATCHKEY_SYSTEM_BUS_ADDRESS")})
    eventually(lambda: "there is no system bus" in service.log())
    with bus.connect() as connection:
        names = connection.send_and_get_reply(message_bus.ListNames(), timeout=harness.FRIENDLY).body[0]
        for name in names:
            if name.startswith(":"):
                process = connection.send_and_get_reply(
                    message_bus.GetConnectionUnixProcessID(name), timeout=harness.FRIENDLY).body[0]
                assert process != service.process.pid
    assert lock(service)


def test_what_another_process_sends_unlocks_nothing(desk, logind, bus):
    """Anybody on the bus may send a signal straight to the service, in any name but a sender's own."""
    events = LockEvents(desk.service)
    logind.hint(True)
    logind.tell("Lock")
    assert desk.is_locked()
    with bus.connect() as forger:
        for destination in (desk.name, None):
            for path, interface, member, signature, body in [
                (session_path("c1"), SESSION, "Unlock", None, ()),
                (session_path("c1"), PROPERTIES, "PropertiesChanged", "sa{sv}as",
                 (SESSION, {"LockedHint": ("b", False)}, [])),
                (SEAT_PATH, PROPERTIES, "PropertiesChanged", "sa{sv}as",
                 (SEAT, {"ActiveSession": ("(so)", ("c1", session_path("c1")))}, [])),
                ("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "SeatRemoved", "so",
                 ("seat0", SEAT_PATH)),
                ("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
                 ("org.freedesktop.login1", logind.connection.unique_name, forger.unique_name)),
                ("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
                 ("org.freedesktop.login1", logind.connection.unique_name, "")),
            ]:
                address = DBusAddress(path, bus_name=destination, interface=interface)
                forger.send(new_signal(address, member, signature, body))
        # The bus has passed them on when it answers this.
        forger.send_and_get_reply(message_bus.GetId(), timeout=harness.FRIENDLY)
    assert desk.is_locked()
    logind.tell("Unlock")
    logind.hint(False)
    assert not desk.is_locked()
    events.are(True, False)


def test_answers_that_do_not_come_or_are_errors(start, bus, logind):
    logind.held = {"GetAll"}
    desk = Desk(start(bus=bus.directory), logind)
    service = desk.service
    say(service, False)
    # Silent until the limit is up, then locked.
    eventually(lambda: lock(service))
    eventually(lambda: "logind cannot be read" in service.log())
    logind.held = set()
    eventually(lambda: not lock(service))
    logind.refused = {"GetAll": "org.freedesktop.DBus.Error.AccessDenied"}
    logind.replace(session())
    assert desk.is_locked()
    logind.refused = {}
    eventually(lambda: not lock(service))
    assert service.log().count("logind cannot be read") == 2


def test_rubbish_and_floods_leave_it_standing_and_right(desk, logind):
    path = session_path("c1")
    for signature, body in [
        (None, ()), ("s", ("",)), ("sa{sv}as", (SESSION, {}, ["LockedHint", "Class", "Nothing"])),
        ("sa{sv}as", (SESSION, {"LockedHint": ("a{sv}", {})}, [])), ("sas", (SESSION, ["LockedHint"])),
        ("sa{sv}as", (SESSION, {"x" * 60_000: ("ay", bytes(60_000))}, ["y" * 60_000] * 10)),
    ]:
        for where in (path, SEAT_PATH, "/org/freedesktop/login1"):
            logind.signal(where, PROPERTIES, "PropertiesChanged", signature, body)
    for member, signature, body in [
        ("PrepareForSleep", "s", ("true",)), ("PrepareForSleep", "b", (False,)), ("SessionNew", None, ()),
        ("SessionRemoved", "u", (1,)), ("SeatNew", "b", (True,)), ("UserNew", "s", ("root",)), ("UserRemoved", None, ()),
    ]:
        logind.signal("/org/freedesktop/login1", "org.freedesktop.login1.Manager", member, signature, body)
    assert not desk.shows(session())
    for number in range(3000):
        logind.hint(number % 2 == 0)
    for number in range(500):
        logind.add(f"s{number}", session(user=2000 + number, shows="tty"))
    for number in range(500):
        logind.remove(f"s{number}")
    # An answer that was late in all this counts as unreadable, so locked, until it is asked for again.
    eventually(lambda: not desk.is_locked())
    logind.hint(True)
    assert desk.is_locked()
    assert desk.service.process.poll() is None


def test_whose_desktop_it_is(start, bus, logind):
    desk = Desk(start("--desktop-user", "root", bus=bus.directory), logind)
    assert desk.is_locked()
    assert not desk.shows(session(user=0))
    assert desk.shows(session(user=1000))
    assert desk.shows(session(user=1000, shows="tty"))
    desk.service.stop()
    # Without it: the service's own user, while it has a session somewhere.
    logind.replace(session(user=1000))
    desk = Desk(start(bus=bus.directory, name="two"), logind)
    assert not desk.is_locked()
    logind.add("c2", session(user=os.geteuid(), shows="tty"))
    assert desk.is_locked()
    logind.remove("c2")
    assert not desk.is_locked()


def test_a_desktop_user_that_is_none(scratch):
    code, said = harness.Service(f"{scratch}/one", "--desktop-user", "nobody-of-that-name").fails()
    assert code == 64 and "there is no user 'nobody-of-that-name'" in said and "--desktop-user" in said
    service = harness.Service(f"{scratch}/two", env={"LATCHKEY_DESKTOP_USER": "nobody-of-that-name"})
    code, said = service.fails()
    assert code == 64 and not service.state.exists()


def test_it_stops_while_logind_hangs(desk, logind):
    logind.held = {"GetAll", "Get", "GetUser"}
    logind.replace(session())
    logind.settle(desk.name)
    assert desk.service.stop() == 0


def test_it_stops_while_the_bus_hangs(desk, bus):
    bus.process.send_signal(19)
    try:
        assert desk.service.stop() == 0
    finally:
        bus.process.send_signal(18)
