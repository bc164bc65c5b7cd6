# SPDX-License-Identifier: Apache-2.0
"""What a streaming process does about quality: what the local API says goes to devices as kind 16, what devices pick by
kind 17 goes to the API, and the counts of every second too. The service decides; nothing here knows a rule of it.
"""

import contextlib
import http.client
import json
import queue
import socket
import threading
import time
import urllib.parse

LINK = ("state", "withheldPerSecond", "bitrate", "carriedKbps", "suggestedBitrate", "suggestedCaptureScale")
# After these the view is read again.
TELLING = ("quality.changed", "link.changed", "settings.changed", "session.opened", "session.closed", "reset")
LIMIT = 5.0  # seconds that the API has for an answer
RETRY = 1.0  # between two tries to follow the events
MOST_SECONDS = 10  # one call takes


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class API:
    """The local API, at a Unix socket or a URL (then with a token)."""

    def __init__(self, where, token=None):
        self.where, self.token = where, token

    def _connection(self, timeout):
        if not self.where.startswith("http"):
            return UnixConnection(self.where, timeout)
        url = urllib.parse.urlsplit(self.where)
        return http.client.HTTPConnection(url.hostname, url.port, timeout=timeout)

    def _headers(self):
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def call(self, method, path, body=None):
        """The answer as an object; None when there is none, or it is a refusal."""
        status, answer = self.ask(method, path, body)
        return answer if status == 200 else None

    def ask(self, method, path, body=None):
        """The answer's status and its object; (None, None) when there is none."""
        connection = self._connection(LIMIT)
        try:
            headers = self._headers() | ({"Content-Type": "application/json"} if body is not None else {})
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            return None, None
        finally:
            connection.close()

    def events(self):
        """Names of events, until the stream ends. The first is "reset": before it nothing was followed."""
        connection = self._connection(60)  # a comment comes every 15 s
        try:
            connection.request("GET", "/v1/events", headers=self._headers())
            answer = connection.getresponse()
            if answer.status != 200:
                return
            yield "reset"
            for line in answer:
                if line.startswith(b"event:"):
                    yield line[6:].strip().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            return
        finally:
            connection.close()


def running(view, encoder_fps):
    """{"bitrate", "fps", "captureScale"} that a view wants to run, at most at the rate the encoder has."""
    pair = view[view["runs"]]
    return {"bitrate": pair["bitrate"], "fps": int(min(view["maxFPS"], encoder_fps)), "captureScale": pair["captureScale"]}


def settings_message(view, session, stream, answering=None):
    """Kind 16 for one session: what `GET /v1/quality` says of it, and what runs (`stream`, from `running`)."""
    mine = next((item for item in view.get("sessions", []) if item["id"] == session), None)
    pair = mine["settings"] if mine else view["home"]
    target = stream["bitrate"] * stream["fps"] // 60
    said = {
        "settings": {
            "maxFPS": view["maxFPS"], "bitrate": pair["bitrate"], "captureScale": pair["captureScale"],
            "prioritizeSpeed": False, "virtualDisplay": False,
        },
        "persistent": True, "virtualDisplayAvailable": False, "softwareEncoder": False,
        "stream": {
            "width": 1280 * stream["captureScale"], "height": 720 * stream["captureScale"], "fps": stream["fps"],
            "mbps": target // 1_000_000, "onVirtualDisplay": False,
        },
        "away": {
            "homeBitrate": view["home"]["bitrate"], "homeCaptureScale": view["home"]["captureScale"],
            "awayBitrate": view["away"]["bitrate"], "awayCaptureScale": view["away"]["captureScale"],
            "thisConnectionAway": bool(mine and mine["away"]), "awayRunning": view["runs"] == "away",
        },
    }
    if answering is not None:
        said["answering"] = answering
    link = (mine or {}).get("link") or {}
    # One that was made under another bitrate says nothing of what runs now.
    if link.get("state", "fine") != "fine" and link.get("bitrate") == target:
        said["link"] = {name: link[name] for name in LINK if link.get(name) is not None}
    return said


class QualityKeeper:
    """Keeps sessions told, and the encoder at what is wanted.

    `apply(running)` is called with what is to run when it may have changed.
    """

    def __init__(self, api, encoder_fps, apply):
        self.api, self.encoder_fps, self.apply = api, encoder_fps, apply
        self.view = None
        self._lock = threading.Lock()
        # Held from a pick to its answer, so that nothing that follows from the pick overtakes the answer.
        self._order = threading.RLock()
        self._told = {}  # by session: how to send, and what was sent last
        self._seconds = queue.Queue(maxsize=1000)

    def start(self):
        self.refresh()
        for loop in (self._follow, self._post):
            threading.Thread(target=loop, daemon=True).start()

    @property
    def stream(self):
        return running(self.view, self.encoder_fps)

    def join(self, session, send):
        """A session began: the kind 16 it is told first, None when the API says nothing. `send` is for later ones."""
        self.refresh()
        with self._lock:
            if self.view is None:
                return None
            said = settings_message(self.view, session, self.stream)
            self._told[session] = [send, said]
            return said

    def leave(self, session):
        with self._lock:
            self._told.pop(session, None)

    def picked(self, session, payload, send):
        """A device's kind 17. `send` gets its answer, a kind 16, before the stream begins anew: `apply` comes with the
        event. One that does not decode is ignored without an answer: the service says so of the members it reads.
        """
        try:
            change = json.loads(payload)
        except (ValueError, RecursionError):  # the latter for thousands of brackets
            return
        if not isinstance(change, dict):
            return
        with self._order:
            # As it came: the service reads what is its own, and names what no device may set.
            status, _ = self.api.ask("POST", f"/v1/sessions/{session}/settings", change)
            if status == 400:
                return
            view = self.api.call("GET", "/v1/quality") or self.view
            if view is not None:
                send(settings_message(view, session, running(view, self.encoder_fps), change.get("token")))

    def second(self, session, counts):
        """One second of a session's counts, for the judge. Never waits."""
        try:
            self._seconds.put_nowait((session, counts))
        except queue.Full:
            pass  # the judge's next second is as good

    def refresh(self):
        """Reads the view again, and tells everybody for whom it is another."""
        with self._order:
            view = self.api.call("GET", "/v1/quality")
            if view is None:
                return
            with self._lock:
                self.view = view
                stream = self.stream
                changed = []
                for session, told in self._told.items():
                    said = settings_message(view, session, stream)
                    if said != told[1]:
                        told[1] = said
                        changed.append((told[0], said))
            for send, said in changed:
                # A client that is gone is nobody else's trouble; its reader says why it went.
                with contextlib.suppress(OSError):
                    send(said)
            self.apply(stream)

    def _follow(self):
        while True:
            for event in self.api.events():
                if event in TELLING:
                    self.refresh()
            time.sleep(RETRY)

    def _post(self):
        while True:
            waiting = {}
            session, counts = self._seconds.get()
            waiting.setdefault(session, []).append(counts)
            while not self._seconds.empty():
                session, counts = self._seconds.get()
                waiting.setdefault(session, []).append(counts)
            for session, seconds in waiting.items():
                body = {"seconds": seconds[-MOST_SECONDS:]}
                if self.view is not None:
                    body["running"] = self.stream
                self.api.call("POST", f"/v1/sessions/{session}/seconds", body)
