"""One piece of evidence read to its end and compared with what the result says of it: size first, then sha256."""

import hashlib
import random
import threading
from collections.abc import Callable
from datetime import UTC, datetime

from ..facts import Verification, Verified
from .locating import Piece, Place, Stores
from .stores import Missing, Refused, Unavailable

READER = "stores-1"
LARGEST = 64 * 1024**3
PAUSES = (0.2, 1.0)
NEVER = threading.Event()
STOPPED = "reading was stopped"


def now() -> datetime:
    return datetime.now(UTC)


def verify(
    stores: Stores,
    piece: Piece,
    place: Place,
    *,
    stop: threading.Event = NEVER,
    clock: Callable[[], datetime] = now,
) -> Verified:
    """Reads in constant memory. What is temporary is tried again; then the piece stays unverified, with the reason."""
    why = ""
    for pause in (*PAUSES, None):
        try:
            state, why = _compare(stores, piece, place, stop)
            return Verified(state, clock(), READER, why)
        except Unavailable as error:
            why = str(error)
        if pause is None or stop.wait(pause * random.uniform(0.5, 1.5)):  # noqa: S311  (spreads load, hides nothing)
            break
    return Verified(Verification.UNVERIFIED, clock(), READER, why)


def _compare(stores: Stores, piece: Piece, place: Place, stop: threading.Event) -> tuple[Verification, str]:
    if piece.size_bytes > LARGEST:
        return Verification.UNVERIFIED, f"it is said to be larger than {LARGEST // 1024**3} GiB, which is not read"
    try:
        body = stores.open(piece, place)
    except Refused as error:
        return Verification.UNVERIFIED, str(error)
    except Missing as error:
        return Verification.MISSING, str(error)
    with body:
        if body.size != piece.size_bytes:
            return Verification.MISMATCH, f"{body.size} bytes instead of {piece.size_bytes}"
        digest = hashlib.sha256()
        count = 0
        for chunk in body.chunks:
            digest.update(chunk)
            count += len(chunk)
            if stop.is_set():
                raise Unavailable(STOPPED)
    if count != body.size:
        raise Unavailable(f"the store said {body.size} bytes and sent {count}")
    same = digest.hexdigest() == piece.sha256
    return (Verification.VERIFIED, "") if same else (Verification.MISMATCH, "another sha256")
