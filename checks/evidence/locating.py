"""Which store an address lies in, and whether this result may name it. Decided before any request.

An address is `<base of a store>/<path>`. The path is either the piece's own sha256 (a store by content), or names the
run it belongs to, as TauGrid's `…/run=<run>/…` does.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote

from .directory import Directory
from .stores import Body, Refused, Store

_ODD = re.compile(r"[\x00-\x1f\x7f\\]|%(?:2e|2f|5c)", re.IGNORECASE)
_STEPS = frozenset(("", ".", ".."))
_WORD = re.compile(r"\{(cluster|namespace|workspace|run)\}")


class Piece(Protocol):
    """What is known of one piece of evidence, from an envelope or from its row."""

    @property
    def name(self) -> str: ...
    @property
    def uri(self) -> str: ...
    @property
    def sha256(self) -> str: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def media_type(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Place:
    """Whose evidence it is: where its result stands, which is never taken from what a workload wrote.

    run: the run's id; run_uid: of its object. workspace "" where the namespace is none.
    """

    cluster: str
    namespace: str
    workspace: str
    run: str
    run_uid: str = ""


@dataclass(frozen=True, slots=True)
class Mount:
    """One configured store. base: what addresses in it begin with; prefix: the same part of paths in the store.

    Both may hold {cluster}, {namespace}, {workspace} and {run}, so that a workspace reaches its own part only.
    """

    name: str
    base: str
    prefix: str
    store: Store = field(repr=False)


class Stores:
    """All configured stores. folder: beside a dump, of files named by their sha256; then addresses are not asked."""

    def __init__(self, mounts: Iterable[Mount] = (), folder: Path | None = None) -> None:
        self.mounts = sorted(mounts, key=lambda mount: len(mount.base), reverse=True)
        self.folder = Directory(folder) if folder else None

    def __bool__(self) -> bool:
        return bool(self.mounts or self.folder)

    def locate(self, piece: Piece, place: Place) -> tuple[Store, str]:
        """The store and the path in it. Raises Refused."""
        if self.folder is not None:
            return self.folder, piece.sha256
        for mount in self.mounts:
            base = _filled(mount.base, place)
            if base is not None and piece.uri.startswith(f"{base}/"):
                path = _path(piece.uri[len(base) + 1 :], piece, place, names_run="{run}" in mount.base)
                return mount.store, f"{_filled(mount.prefix, place)}/{path}".lstrip("/")
        raise Refused("its address is outside the evidence stores of this portal")

    def open(self, piece: Piece, place: Place, start: int = 0, end: int | None = None) -> Body:
        """Opens a piece. Raises StoreError."""
        store, path = self.locate(piece, place)
        return store.open(path, start, end)


def _filled(text: str, place: Place) -> str | None:
    """The text with its words replaced; None where the place has none, or one that is no name."""
    for word in _WORD.findall(text):
        value = getattr(place, word)
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", value):
            return None
        text = text.replace(f"{{{word}}}", value)
    return text


def _path(text: str, piece: Piece, place: Place, *, names_run: bool) -> str:
    """The path below a base, decoded once. Raises Refused."""
    if "?" in text or "#" in text:
        raise Refused("its address has a query or a fragment")
    try:
        path = unquote(text, errors="strict")
    except UnicodeDecodeError as error:
        raise Refused("its address is not text") from error
    segments = path.split("/")
    if _ODD.search(path) or not _STEPS.isdisjoint(segments):
        raise Refused("its address has a step upwards, an empty step or a control character")
    if path == piece.sha256:
        return path
    for segment in segments:
        word, _, value = segment.partition("=")
        if word in ("cluster", "namespace", "workspace") and value != getattr(place, word):
            raise Refused(f"its address belongs to another {word}")
    runs = {place.run, place.run_uid} - {""}
    named = [segment.removeprefix("run=") for segment in segments if segment.startswith("run=") or segment in runs]
    if not names_run and not named:
        raise Refused("its address does not name the run")
    if any(name not in runs for name in named):
        raise Refused("its address belongs to another run")
    return path
