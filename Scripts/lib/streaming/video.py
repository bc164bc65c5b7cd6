# SPDX-License-Identifier: Apache-2.0
"""A pretended encoder, and how its frames reach every client at the pace that the client's link allows (pacing.py).

Nothing here waits for a client: what its socket does not take stays in an `Outbox`, and the `Studio` goes on with the
next frame and the next client.
"""

import collections
import contextlib
import fcntl
import select
import socket
import struct
import termios
import threading
import time

from . import pacing

FRAME = 1
# The capture time, in seconds of CLOCK_MONOTONIC, which all processes of a machine share; then the frame's number.
STAMP = struct.Struct("!dI")
# Asked of the kernel for a client's socket (it takes the double): enough for a frame or two between two looks, and little
# beside the budget, so that what waits is where it can be counted and not sent late.
KERNEL_BUFFER = 32 << 10
# Without the rule what waits has no end but this one; what is not the stream has a smaller one.
MOST_QUEUED, MOST_SAID = 256 << 20, 1 << 20
# Of a frame: the protocol's cap.
LONGEST = 33_554_432
# A keyframe is so many times as long as the frames between.
KEYFRAME_TIMES = 8
# A picture does not change evenly; the mean is 1.
UNEVEN = (0.8, 1.1, 1.0, 1.2, 0.9)


def age(payload, now=None):
    """How long ago a frame was captured, in seconds, for a receiver on the same machine."""
    return (time.monotonic() if now is None else now) - STAMP.unpack_from(payload)[0]


class Encoder:
    """Frames of the sizes that a bitrate gives, without a picture. A keyframe's excess is saved on the frames after it."""

    def __init__(self, fps, bitrate, keyframe_every=0.0):
        self.keyframe_every = keyframe_every
        self.number = 0
        self.configure(fps, bitrate)

    def configure(self, fps, bitrate, scale=1):
        """Begins anew, with a keyframe."""
        self.fps, self.bitrate, self.scale = fps, bitrate, scale
        self._debt = 0.0
        self._keyframe_at = None
        self.wants_keyframe = True

    def encode(self, now):
        """(payload, whether it is a keyframe) of the picture of this moment."""
        mean = self.bitrate / 8 / self.fps
        due = self.keyframe_every and self._keyframe_at is not None and now - self._keyframe_at >= self.keyframe_every
        is_keyframe = bool(self.wants_keyframe or due)
        if is_keyframe:
            self.wants_keyframe, self._keyframe_at = False, now
            size = KEYFRAME_TIMES * mean
            self._debt += size - mean
        else:
            size = mean * UNEVEN[self.number % len(UNEVEN)]
            saved = min(self._debt, size / 2)
            self._debt -= saved
            size -= saved
        self.number = (self.number + 1) & 0xFFFFFFFF
        return STAMP.pack(now, self.number).ljust(min(int(size), LONGEST), b"\0"), is_keyframe


class Outbox:
    """What one client still has to be sent: whole messages, written as far as the socket takes them."""

    def __init__(self, connection):
        self.connection = connection
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BUFFER)
        self.queued = 0  # bytes that the socket has not taken
        self.put_total = 0  # bytes of all messages so far
        self._lock = threading.Lock()
        self._said, self._frames = collections.deque(), collections.deque()
        self._said_bytes = 0
        self._writing = b""  # what is left of the message that is partly written

    def say(self, data):
        """A message that is not the stream: it goes before the frames that wait.

        Raises OSError when the client has let too many of them wait: one that asks on and on and reads nothing.
        """
        if self._said_bytes > MOST_SAID:
            raise OSError("it asks and does not read the answers")
        with self._lock:
            self._said_bytes += len(data)
        self._put(self._said, data)

    def put(self, data):
        """A frame."""
        self._put(self._frames, data)

    def _put(self, messages, data):
        with self._lock:
            messages.append(data)
            self.queued += len(data)
            self.put_total += len(data)
        self.flush()

    def flush(self):
        """Writes what the socket takes now. Whether that was all."""
        with self._lock:
            while self._writing or self._said or self._frames:
                if not self._writing and self._said:
                    self._writing = memoryview(self._said.popleft())
                    self._said_bytes -= len(self._writing)
                elif not self._writing:
                    self._writing = memoryview(self._frames.popleft())
                try:
                    count = self.connection.send(self._writing, socket.MSG_DONTWAIT)
                except BlockingIOError:
                    return False
                self._writing = self._writing[count:]
                self.queued -= count
            return True

    def waiting(self):
        """Bytes that the other side has not read: ours, and those that lie in the kernel (SIOCOUTQ).

        For a Unix socket the kernel counts what they occupy there, which is somewhat more; nothing is nothing.
        """
        held = struct.unpack("i", fcntl.ioctl(self.connection, termios.TIOCOUTQ, b"\0\0\0\0"))[0]
        return self.queued + max(held, 0)


class Client:
    """One client of a studio."""

    def __init__(self, outbox, is_home, session=None):
        self.outbox, self.is_home, self.session = outbox, is_home, session
        self.pacing = pacing.PacingPolicy(is_home)
        self.frames = self.withheld = 0
        self.heard = False
        self.ended = None  # why nothing is sent any more
        self._ends = collections.deque()  # where the frames under way end, in all that was put
        self._counted = 0  # bytes taken when the last second was closed

    @property
    def taken(self):
        return max(self.outbox.put_total - self.outbox.waiting(), 0)

    def look(self):
        """Tells the policy what was taken meanwhile."""
        self.pacing.left(self.outbox.waiting())
        taken = self.taken
        while self._ends and self._ends[0] <= taken:
            self._ends.popleft()

    def offer(self, data, is_keyframe, spacing, now, paced):
        """One frame: sent or left out. Whether to ask for a keyframe."""
        verdict = pacing.SEND
        if paced:
            self.look()
            verdict = self.pacing.offer(is_keyframe, spacing, now, unacknowledged=len(self._ends))
        elif self.outbox.queued > MOST_QUEUED:
            self.ended = "too much waits for it"
            return False
        elif self.frames == 0 and not is_keyframe:
            return True
        if verdict == pacing.SEND:
            self.outbox.put(data)
            self.pacing.handed(len(data), is_keyframe)
            self._ends.append(self.outbox.put_total)
            self.frames += 1
        elif verdict in (pacing.LOST, pacing.LOST_ASK):
            self.withheld += 1
        return verdict.endswith("ask")

    def close_second(self):
        """The judge's counts of the second that ends (POST /v1/sessions/{id}/seconds)."""
        sent, withheld = self.pacing.close_second()
        taken, heard, self.heard = self.taken, self.heard, False
        counts = {"sent": sent, "withheld": withheld, "taken": max(taken - self._counted, 0),
                  "waiting": self.outbox.waiting(), "heard": heard}
        self._counted = max(taken, self._counted)
        return counts


class Studio:
    """One encoder and all its clients, on a thread of its own."""

    def __init__(self, encoder, message, paced=True, on_second=lambda client, counts: None):
        self.encoder, self.message, self.paced, self.on_second = encoder, message, paced, on_second
        self.over = threading.Event()
        self._spacing = pacing.KeyframeSpacing()
        self._lock = threading.RLock()
        self._clients = []

    def join(self, client):
        with self._lock:
            self._clients.append(client)
            self._spacing.has_home_client = any(c.is_home for c in self._clients)

    def leave(self, client):
        with self._lock:
            self._clients = [c for c in self._clients if c is not client]
            self._spacing.has_home_client = any(c.is_home for c in self._clients)

    def configure(self, fps, bitrate, scale):
        """The stream begins anew when it is to be another. Whether it did."""
        with self._lock:
            if (fps, bitrate, scale) == (self.encoder.fps, self.encoder.bitrate, self.encoder.scale):
                return False
            self.encoder.configure(fps, bitrate, scale)
            for client in self._clients:
                client.pacing.restarted()
            return True

    def start(self):
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        next_frame = next_second = time.monotonic()
        while not self.over.is_set():
            now = time.monotonic()
            if now >= next_frame:
                self.frame(now)
                # After a pause the frames that were not captured are no more.
                next_frame = max(next_frame + 1 / self.encoder.fps, now - 0.1)
            if now >= next_second:
                self.second(now)
                next_second = now + 1
            self.flush(max(min(next_frame, next_second) - time.monotonic(), 0))

    def frame(self, now):
        """One picture for everybody."""
        with self._lock:
            if not self._clients:
                return
            payload, is_keyframe = self.encoder.encode(now)
            data = self.message(FRAME, payload, keyframe=is_keyframe)
            if is_keyframe:
                self._spacing.keyframe(now)
            for client in self._alive():
                if self._tried(client, lambda: client.offer(data, is_keyframe, self._spacing, now, self.paced)):
                    self.encoder.wants_keyframe = True

    def second(self, now):
        with self._lock:
            for client in self._alive():
                self._tried(client, client.look)
                if self.paced and client.pacing.sweep(self._spacing, now):
                    self.encoder.wants_keyframe = True
                counts = self._tried(client, client.close_second)
                if counts:
                    self.on_second(client, counts)

    def flush(self, limit):
        """Waits until a frame is due, writing to the clients that take something meanwhile."""
        end = time.monotonic() + limit
        while True:
            with self._lock:
                behind = [c for c in self._alive() if c.outbox.queued and not self._tried(c, c.outbox.flush) and not c.ended]
            left = end - time.monotonic()
            if left <= 0:
                return
            poll = select.poll()
            for client in behind:
                with contextlib.suppress(ValueError):  # closed meanwhile
                    poll.register(client.outbox.connection, select.POLLOUT)
            poll.poll(left * 1000)

    def _alive(self):
        return [client for client in self._clients if not client.ended]

    @staticmethod
    def _tried(client, what):
        """A client that is gone is nobody else's trouble; its reader says why it went."""
        try:
            return what()
        except (OSError, ValueError) as error:
            client.ended = str(error) or type(error).__name__
            return None

