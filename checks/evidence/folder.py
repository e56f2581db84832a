"""Evidence beside a dump: a folder of files named by their sha256 (what `tau-check dump --with-evidence` writes)."""

import hashlib
import os
import stat
from datetime import datetime
from pathlib import Path

from ..contract.envelope import Envelope
from ..contract.envelope import Evidence as Item
from ..facts import Verification, Verified

READER = "folder-1"
_CHUNK = 1024 * 1024


def verify_all(envelope: Envelope | None, folder: Path | None, at: datetime | None) -> dict[str, Verified]:
    """Each piece of an envelope's evidence by name. folder None: nothing was read. at: the time that is noted."""
    if envelope is None or folder is None:
        return {}
    return {item.name: verify(item, folder, at) for item in envelope.evidence}


def verify(item: Item, folder: Path, at: datetime | None) -> Verified:
    """Reads one file in constant memory and compares size, then sha256. Links are not followed."""
    try:
        handle = os.open(folder / item.sha256, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return Verified(Verification.MISSING, at, READER, "no such file in the evidence folder")
    except OSError as error:
        return Verified(Verification.UNVERIFIED, at, READER, f"it cannot be read: {error.strerror}")
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        return Verified(Verification.UNVERIFIED, at, READER, "it is not a file")
    with os.fdopen(handle, "rb") as stream:
        if found.st_size != item.size_bytes:
            return Verified(Verification.MISMATCH, at, READER, f"{found.st_size} bytes instead of {item.size_bytes}")
        digest = hashlib.sha256()
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    if digest.hexdigest() != item.sha256:
        return Verified(Verification.MISMATCH, at, READER, "another sha256")
    return Verified(Verification.VERIFIED, at, READER)
