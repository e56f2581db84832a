"""What waits to be sent, on disk: one SQLite file, so that a line is in it wholly or not at all, whatever crashes.

A line and the fact that it was said are written in one transaction: a run is told of once, an ended one never again.
The file is bounded; where there is no room nothing is taken, and the caller offers it again later.
"""

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SCHEMA = """
CREATE TABLE IF NOT EXISTS line (seq INTEGER PRIMARY KEY AUTOINCREMENT, tab TEXT NOT NULL, body TEXT NOT NULL, at REAL);
CREATE TABLE IF NOT EXISTS said (id TEXT PRIMARY KEY, run TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS said_of_run ON said (run);
CREATE TABLE IF NOT EXISTS run (uid TEXT PRIMARY KEY, state TEXT, ended INTEGER, facts TEXT, at REAL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sink (name TEXT PRIMARY KEY, sent INTEGER NOT NULL, upto INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refused (seq INTEGER, sink TEXT, body TEXT, why TEXT, PRIMARY KEY (seq, sink));
"""
FILE = "telemetry.sqlite3"
LEAST_BYTES = 1024 * 1024
_PAGE = 4096
_BUSY_SECONDS = 2.0
_ENDED_KEPT = 200_000  # about 20 MB; the clusters' own history limits end long before
_REFUSED_KEPT = 1000


class SpoolError(Exception):
    """The spool cannot be used now; the text says why."""


class SpoolFull(SpoolError):
    """There is no room; nothing was taken."""


@dataclass(frozen=True, slots=True)
class Said:
    """One line to be said. id: its observation_id or event_id; table: where it belongs; body: the line, without end."""

    id: str
    table: str
    body: str


@dataclass(frozen=True, slots=True)
class Known:
    """What was said of a run: the state of its last row ("" where nothing), whether it has ended, what was kept."""

    state: str = ""
    ended: bool = False
    facts: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines of one table that are sent together. first, last: their numbers; a retry has the same ones."""

    first: int
    last: int
    table: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Depth:
    """What one sink still has to get. age: of the oldest line, in seconds."""

    lines: int
    age: float


class Spool:
    """sinks: their names; each gets every line. max_bytes: of the whole file."""

    def __init__(self, folder: Path, sinks: Sequence[str], max_bytes: int, clock: Callable[[], float] = time.time):
        """Opens the file, or sets a broken one aside and begins anew. Raises SpoolError."""
        self._clock, self._lock, self.broken = clock, threading.Lock(), ""
        path = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            try:
                self._db = _open(path, max_bytes)
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                self.broken = f"{path.name}.broken-{int(clock())}"
                path.replace(folder / self.broken)
                for rest in ("-wal", "-shm"):
                    Path(f"{path}{rest}").unlink(missing_ok=True)
                self._db = _open(path, max_bytes)
            self._know_sinks(sinks)
        except (OSError, sqlite3.Error) as error:
            raise SpoolError(f"the spool in {folder} cannot be opened: {error}") from error

    def close(self) -> None:
        """Nothing is written after it."""
        with self._lock:
            self._db.close()

    def known(self, run: str) -> Known:
        """What was said of the run with this UID. Raises SpoolError."""
        with self._transaction() as db:
            row = db.execute("SELECT state, ended, facts FROM run WHERE uid = ?", (run,)).fetchone()
        return Known(row[0], bool(row[1]), json.loads(row[2])) if row else Known()

    def append(self, run: str, lines: Sequence[Said], state: str, *, ended: bool, facts: dict[str, str]) -> int:
        """Takes those lines that were not said yet, all of them or none; how many. state: of the run's last row.

        Of an ended run nothing is taken. Raises SpoolFull, SpoolError.
        """
        with self._transaction() as db:
            there = db.execute("SELECT ended FROM run WHERE uid = ?", (run,)).fetchone()
            if there is not None and there[0]:
                return 0
            now, taken = self._clock(), 0
            for line in lines:
                if db.execute("INSERT OR IGNORE INTO said VALUES (?, ?)", (line.id, run)).rowcount:
                    db.execute("INSERT INTO line (tab, body, at) VALUES (?, ?, ?)", (line.table, line.body, now))
                    taken += 1
            if ended:  # from here on the run itself says that nothing more is taken
                db.execute("DELETE FROM said WHERE run = ?", (run,))
            kept = (run, state, int(ended), json.dumps(facts), now)
            db.execute("INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?)", kept)
        return taken

    def forget(self, run: str) -> None:
        """An ended run that is no longer in the cluster will not be offered again. Raises SpoolError."""
        with self._transaction() as db:
            db.execute("DELETE FROM run WHERE uid = ? AND ended", (run,))

    def batch(self, sink: str, most_lines: int, most_bytes: int) -> Batch | None:
        """The next lines for a sink; the same ones until `done`, also after a crash. Raises SpoolError."""
        with self._transaction() as db:
            sent, upto = db.execute("SELECT sent, upto FROM sink WHERE name = ?", (sink,)).fetchone()
            limit = (sent, upto if upto > sent else 2**62, most_lines)
            found = db.execute(
                "SELECT seq, tab, body FROM line WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?", limit
            ).fetchall()
            chosen: list[tuple[int, str, str]] = []
            size = 0
            for seq, table, body in found:
                size += len(body) + 1
                if chosen and (table != chosen[0][1] or size > most_bytes):
                    break
                chosen.append((seq, table, body))
            if not chosen:
                return None
            if chosen[-1][0] != upto:
                db.execute("UPDATE sink SET upto = ? WHERE name = ?", (chosen[-1][0], sink))
        return Batch(chosen[0][0], chosen[-1][0], chosen[0][1], tuple(body for _, _, body in chosen))

    def done(self, sink: str, batch: Batch, refused: str = "") -> None:
        """The sink has these lines, or will never have them (refused: why); what all have is removed."""
        with self._transaction() as db:
            if refused:
                kept = [(batch.first + n, sink, body, refused) for n, body in enumerate(batch.lines)]
                db.executemany("INSERT OR IGNORE INTO refused VALUES (?, ?, ?, ?)", kept)
                db.execute(
                    "DELETE FROM refused WHERE seq <= (SELECT seq FROM refused ORDER BY seq DESC LIMIT 1 OFFSET ?)",
                    (_REFUSED_KEPT,),
                )
            db.execute("UPDATE sink SET sent = ? WHERE name = ?", (batch.last, sink))
            db.execute("DELETE FROM line WHERE seq <= (SELECT min(sent) FROM sink)")

    def smaller(self, sink: str) -> None:
        """The next batch may be another one: the last was too much for the sink."""
        with self._transaction() as db:
            db.execute("UPDATE sink SET upto = sent WHERE name = ?", (sink,))

    def depth(self, sink: str) -> Depth:
        """How much waits for a sink. Raises SpoolError."""
        with self._transaction() as db:
            query = "SELECT count(*), min(at) FROM line WHERE seq > (SELECT sent FROM sink WHERE name = ?)"
            lines, oldest = db.execute(query, (sink,)).fetchone()
        return Depth(lines, max(0.0, self._clock() - oldest) if lines else 0.0)

    def _know_sinks(self, sinks: Sequence[str]) -> None:
        """A new sink gets what still waits for others; one that is no longer configured keeps nothing waiting."""
        with self._transaction() as db:
            for (name,) in db.execute("SELECT name FROM sink").fetchall():
                if name not in sinks:
                    db.execute("DELETE FROM sink WHERE name = ?", (name,))
            first = db.execute("SELECT coalesce(min(seq) - 1, 0) FROM line").fetchone()[0]
            for name in sinks:
                db.execute("INSERT OR IGNORE INTO sink VALUES (?, ?, ?)", (name, first, first))
            oldest = "SELECT uid FROM run WHERE ended ORDER BY at DESC LIMIT -1 OFFSET ?"
            db.execute(f"DELETE FROM run WHERE uid IN ({oldest})", (_ENDED_KEPT,))  # noqa: S608 - a constant

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    yield self._db
                except BaseException:
                    if self._db.in_transaction:  # SQLite itself has ended it where the disk was full
                        self._db.execute("ROLLBACK")
                    raise
                self._db.execute("COMMIT")
            except sqlite3.Error as error:
                if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
                    raise SpoolFull("the spool is full") from error
                raise SpoolError(f"the spool cannot be written: {error}") from error


def _open(path: Path, max_bytes: int) -> sqlite3.Connection:
    db: Any = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        db.execute(f"PRAGMA page_size = {_PAGE}")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA journal_size_limit = 1048576")
        if db.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("it is damaged")
        db.executescript(_SCHEMA)
        db.execute(f"PRAGMA max_page_count = {max(LEAST_BYTES, max_bytes) // _PAGE}")
    except BaseException:
        db.close()
        raise
    return db  # type: ignore[no-any-return]
