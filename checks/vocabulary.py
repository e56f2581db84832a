"""The words on the screen: for states, signals, evidence and times, and for characters that must not be obeyed."""

import re
from datetime import datetime, timedelta
from typing import NamedTuple

from .contract.reasons import State
from .facts import Verification
from .proof import Holds


class Word(NamedTuple):
    """A word, the icon that stands beside it (a symbol of components/icons.html), and the colour it takes."""

    text: str
    icon: str
    tone: str


STATES = {
    State.FAILED: Word("Failed", "failed", "Failed"),
    State.STALE: Word("Stale", "stale", "Stale"),
    State.UNKNOWN: Word("Unknown", "unknown", "Unknown"),
    State.RUNNING: Word("Running", "running", "Running"),
    State.PASSED: Word("Passed", "passed", "Passed"),
}
"""In the order of summaries: what needs a person first."""

HOLDS = {
    Holds.YES: Word("holds", "passed", "Passed"),
    Holds.NO: Word("does not hold", "failed", "Failed"),
    Holds.NOT_KNOWN: Word("not known", "unknown", "Unknown"),
}

EVIDENCE = {
    Verification.VERIFIED: Word("Verified", "passed", "Passed"),
    Verification.MISMATCH: Word("Differs", "failed", "Failed"),
    Verification.MISSING: Word("Missing", "failed", "Failed"),
    Verification.UNVERIFIED: Word("Not verified", "unknown", "Unknown"),
}

OUTCOMES = {
    "passed": Word("passed", "passed", "Passed"),
    "failed": Word("failed", "failed", "Failed"),
    "unknown": Word("unknown", "unknown", "Unknown"),
}

CLEANUP = {
    "complete": Word("Complete", "passed", "Passed"),
    "incomplete": Word("Incomplete", "failed", "Failed"),
    "unknown": Word("Unknown", "unknown", "Unknown"),
}

# Node health has words of its own, on purpose.
CONDITIONS = {
    "fault": "Fault",
    "not-ready": "Not ready",
    "unknown": "Unknown",
    "ok": "Observed OK",
}

_ODD = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """The text with every character that hides, reverses or controls shown by its code, in brackets.

    Plain text in and out, so that it can be done to a whole page, inside attributes too.
    """
    return _ODD.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def duration(length: timedelta) -> str:
    """A length of time in its two largest units: "3 h 12 min". Under a minute in seconds."""
    seconds = max(0, round(length.total_seconds()))
    units = ((86400, 172_800, "d", 3600, "h"), (3600, 3600, "h", 60, "min"), (60, 60, "min", 1, "s"))
    for size, least, unit, below, smaller in units:
        if seconds >= least:
            rest = seconds % size // below
            return f"{seconds // size} {unit}" + (f" {rest} {smaller}" if rest else "")
    return f"{seconds} s"


def distance(length: timedelta) -> str:
    """How far a moment is away, to the minute at best: the text of a page must not change with every second."""
    seconds = abs(length.total_seconds())
    if seconds < 60:
        return "under 1 min"
    for size, unit in ((172_800, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // (86400 if unit == 'd' else size))} {unit}"
    return "under 1 min"


def ago(at: datetime, as_of: datetime) -> str:
    """How long before (or after) `as_of` a moment lies."""
    if at > as_of:
        return f"in {distance(at - as_of)}"
    return f"{distance(as_of - at)} ago"


def steady_until(at: datetime, as_of: datetime) -> datetime:
    """Until when `ago` has the same words for `at`, while `as_of` moves on."""
    seconds = abs((as_of - at).total_seconds())
    unit = 60 if seconds < 3600 else 3600 if seconds < 172_800 else 86400
    passed = int(seconds // unit)
    return at - timedelta(seconds=passed * unit) if at > as_of else at + timedelta(seconds=(passed + 1) * unit)


def moment(at: datetime) -> str:
    """A moment as people read it, in UTC."""
    return f"{at.day} {at:%b %Y, %H:%M} UTC"


def size(count: int) -> str:
    """A number of bytes in its best unit."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1024
    return f"{count} B"
