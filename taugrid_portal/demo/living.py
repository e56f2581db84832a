"""Sample data for the demo: written as dumps, read like any other dump, and moved on every few seconds.

`checks.sample` writes the dumps and knows what happens next in them, `checks.sync.dump_load` reads them; nothing
here knows what is in them. Moving is a process of its own, as the sync is in a cluster, so that pages stay quick.
"""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import django

_SECONDS_BETWEEN_STEPS = 4


def load(folder: Path, *, is_first: bool = False) -> None:
    """Writes the sample dumps, as of now, into a folder and reads them.

    The first time those of some days before are read first, so that a reviewer sees what changed since an approval.
    """
    from checks import sample

    now = datetime.now(UTC)
    if is_first:
        _read(sample.write_earlier(folder, now), folder)
    _read(sample.write_dumps(folder, now), folder)


@contextmanager
def moving(folder: Path, *, reload: bool) -> Iterator[Callable[[float], None]]:
    """Moves the sample on in another process while the context lasts. `reload` begins with everything anew.

    Gives a function that waits for that, for so many seconds at most: then no page shows what was read the last time.
    """
    command = [sys.executable, "-m", "taugrid_portal.demo.living", str(folder), *(["reload"] if reload else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: S603  # ourselves, with a path of our own

        def wait(seconds: float) -> None:
            if reload and seconds > 0 and process.stdout is not None:
                select.select([process.stdout], [], [], seconds)

        try:
            yield wait
        finally:
            process.terminate()


def _move(folder: Path, *, reload: bool) -> None:
    from checks import sample

    parent = os.getppid()
    if reload:
        load(folder)
        sys.stdout.write("read\n")  # to the demo, which waits for it
        sys.stdout.flush()
    while True:
        time.sleep(_SECONDS_BETWEEN_STEPS)
        if os.getppid() != parent:
            return  # the demo was killed
        _read(sample.advance(folder, datetime.now(UTC)), folder)


def _read(paths: list[Path], folder: Path) -> None:
    from checks.sync import dump_load

    dump_load.load(paths, evidence=folder / "evidence")


if __name__ == "__main__":
    # Ctrl-C reaches the whole process group; the demo ends this process when it has ended itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(5)
    django.setup()
    _move(Path(sys.argv[1]), reload=sys.argv[2:] == ["reload"])
