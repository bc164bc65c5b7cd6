# SPDX-License-Identifier: Apache-2.0
"""Which frames go to one client, so that a slow link shows a lower frame rate and never a growing delay.

The rule of Sources/LatchkeyStream, line for line, for whoever writes a streaming process in another language. Both must
pass Tests/Vectors/pacing.jsonl. Sizes are bytes, times are seconds on any clock that does not jump; nothing here reads one.
"""

BUDGET = 256 << 10  # a backlog up to this never drops a frame
SLACK = 128 << 10  # growth above what the last keyframe left behind
HOLD_CAP = 512 << 10  # what may wait beyond all keyframes that are still being taken
IDLE = 16 << 10  # a keyframe is asked for only when at most this waits
HOME_UNACKNOWLEDGED = 2  # messages a client at home may have unacknowledged before a delta is dropped
ALONE = 2.0  # between two requests for a keyframe
BESIDE_HOME = 4.0  # beside a client at home, who would see each: also since any keyframe

SEND = "send"  # hand it over, then call handed()
SKIP, SKIP_ASK = "skip", "skip+ask"  # leave it out, and nobody's judge is to know
LOST, LOST_ASK = "lost", "lost+ask"  # leave it out; it counts as withheld. "ask": ask the encoder for a keyframe now


class KeyframeSpacing:
    """How often the clients of one encoder may ask it for a keyframe. One for each encoder."""

    def __init__(self):
        self.has_home_client = False  # keep it current
        self._asked_at = self._keyframe_at = None

    def keyframe(self, now):
        """A keyframe came from the encoder, asked for or not. Call it before the frame is offered to the clients."""
        self._keyframe_at = now

    def ask(self, now, at_once=False):
        """Whether one may be asked for now; then it counts as asked for."""
        if not at_once:
            spacing = BESIDE_HOME if self.has_home_client else ALONE
            if self._asked_at is not None and now - self._asked_at < spacing:
                return False
            if self.has_home_client and self._keyframe_at is not None and now - self._keyframe_at < spacing:
                return False
        self._asked_at = now
        return True


class PacingPolicy:
    """One client. For every frame: took() or left(), offer(), and after SEND hand it over and say handed()."""

    def __init__(self, is_home):
        self._is_home = is_home
        self._handed_total = self._taken_total = 0
        self._keyframes = []  # (size, where its last byte lies in all that was handed over), the oldest first
        self._floor = 0  # what waited when the last keyframe was taken; follows the backlog down
        self._is_fresh = True  # nothing was sent since admission or a restart
        self._is_skipping = True  # a frame was lost: nothing until a keyframe
        self._has_asked = False  # a client at home has asked for the keyframe that it waits for: at once, and once
        self._sent = self._withheld = 0

    @property
    def pending(self):
        """Bytes handed over and not yet taken."""
        return self._handed_total - self._taken_total

    def close_second(self):
        """(sent, withheld) of the judge's second so far; begins another."""
        counts = self._sent, self._withheld
        self._sent = self._withheld = 0
        return counts

    def offer(self, is_keyframe, spacing, now, unacknowledged=0):
        """Judges a frame that is ready. `spacing` is shared by all clients of one encoder."""
        if self._is_skipping:
            goes = is_keyframe and self._may_resume(unacknowledged)
        else:
            goes = not self._is_dropped(is_keyframe, unacknowledged)
        if goes:
            return SEND
        if not self._is_fresh:
            self._withheld += 1
        asks = False
        if not self._is_home:
            asks = self._asks(spacing, now)
        elif is_keyframe:
            # The one asked for came before there was room: another when there is.
            self._has_asked = False
        elif not self._has_asked and (
            not self._is_skipping or self._is_fresh or unacknowledged <= HOME_UNACKNOWLEDGED
        ):
            asks = self._has_asked = spacing.ask(now, at_once=True)
        self._is_skipping = True
        if self._is_fresh:
            return SKIP_ASK if asks else SKIP
        return LOST_ASK if asks else LOST

    def handed(self, size, is_keyframe):
        """A frame was handed over, with the size of its whole message."""
        size = max(size, 0)
        self._handed_total += size
        self._sent += 1
        if is_keyframe:
            self._keyframes.append((size, self._handed_total))
            self._is_fresh = self._is_skipping = self._has_asked = False

    def took(self, size):
        """The connection took so many bytes, in whatever parts."""
        self._taken_total += min(max(size, 0), self.pending)
        was_keyframe = False
        while self._keyframes and self._keyframes[0][1] <= self._taken_total:
            self._keyframes.pop(0)
            was_keyframe = True
        if was_keyframe and not self._keyframes:
            self._floor = self.pending
        else:
            self._floor = min(self._floor, self.pending)

    def left(self, waiting):
        """The same for who measures what waits, instead of counting what is taken: at most so much is pending now."""
        self.took(self.pending - min(max(waiting, 0), self.pending))

    def sweep(self, spacing, now):
        """Once a second: the picture may have gone still while a keyframe is due. Whether to ask the encoder for one."""
        return self._is_skipping and not self._is_home and self._asks(spacing, now)

    def restarted(self):
        """The stream began anew: the next keyframe goes at once, and what is skipped before it is nobody's fault."""
        self._is_fresh = self._is_skipping = True
        self._has_asked = False
        self._sent = self._withheld = 0

    def _may_resume(self, unacknowledged):
        return (
            self._is_fresh or self.pending <= BUDGET or self._is_home and unacknowledged <= HOME_UNACKNOWLEDGED)

    def _is_dropped(self, is_keyframe, unacknowledged):
        if self._is_home:
            return not is_keyframe and unacknowledged > HOME_UNACKNOWLEDGED
        if self._keyframes:
            in_flight = sum(min(size, end - self._taken_total) for size, end in self._keyframes)
            return self.pending - in_flight > HOLD_CAP
        return self.pending > max(BUDGET, self._floor + SLACK)

    def _asks(self, spacing, now):
        return self.pending <= IDLE and spacing.ask(now)
