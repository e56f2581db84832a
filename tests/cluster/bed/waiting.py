"""Wait for what a cluster does in its own time."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class TooLate(AssertionError):
    """It did not come true in time."""


def eventually(question: Callable[[], T], what: str, seconds: float = 30, pause: float = 0.1) -> T:
    """Ask until the answer is true, and give that answer; TooLate names `what` and the last answer."""
    deadline = time.monotonic() + seconds
    while not (answer := question()):
        if time.monotonic() > deadline:
            raise TooLate(f"{what}: not within {seconds:.0f} s; last answer {answer!r}")
        time.sleep(pause)
    return answer
