"""A controller that dies: `python -m tests.cluster_runs.crashing`, with the options of the real one.

It kills itself, as `kill -9` does, after as many writes for runs as TAU_TEST_WRITES says: the last of them has been
done, and its answer is never looked at. With TAU_TEST_BEFORE=1 that last one is not sent.
"""

import os
import signal
import threading
from collections.abc import Iterable
from typing import Any

from checks.cluster.client import Object, Query
from checks.cluster.writing import WritingApi
from checks.controller import __main__ as entry
from checks.controller import artifacts, stores

_allowed = int(os.environ["TAU_TEST_WRITES"])
_before = os.environ.get("TAU_TEST_BEFORE") == "1"
_lock = threading.Lock()
_done = 0


def _is_for_a_run(method: str, path: str, query: Query) -> bool:
    return (
        method != "GET"
        and "/namespaces/" in path
        and not any(word in path for word in ("/validationchecks", "/leases", "/events"))
        and ("dryRun", "All") not in query
    )


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class MortalApi(WritingApi):
    """Counts what it writes."""

    def _call(self, method: str, path: str, query: Query, read_seconds: int, body: Object | None = None) -> Any:
        global _done
        if not _is_for_a_run(method, path, query):
            return super()._call(method, path, query, read_seconds, body)
        with _lock:
            _done += 1
            if _done >= _allowed and _before:
                _die()
            answer = super()._call(method, path, query, read_seconds, body)
            if _done >= _allowed:
                _die()
        return answer


class MortalFolder(artifacts.ArtifactFolder):
    """A piece of evidence counts as a write too."""

    def _write(self, name: str, chunks: Iterable[bytes]) -> None:
        global _done
        with _lock:
            _done += 1
            if _done >= _allowed and _before:
                _die()
            super()._write(name, chunks)
            if _done >= _allowed:
                _die()


if __name__ == "__main__":
    vars(entry).update(WritingApi=MortalApi)
    vars(stores).update(ArtifactFolder=MortalFolder)
    entry.main()
