"""Runs what a rank of a check runs, once for each rank, as the kubelet would: here, or in its image by an engine.

Here is enough where the command needs nothing but a shell: there is no image, no volume and no limit. An engine is any
program with the command line of docker (podman, nerdctl); it gives no network, no rights and a file system that cannot
be written, so a check that needs more is tried on a cluster.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..contract.pods import pod_spec
from ..contract.report import MAX_BYTES
from ..objects import section
from .conforming import Said
from .terminal import printable

Object = dict[str, Any]
MESSAGE = "/dev/termination-log"
RUN_ID = "0123456789abcdef01234567"
_USER = "65532:65532"


class NotTried(Exception):
    """It cannot be run here; the text says why."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What each rank runs. engine: a container engine, "" for this machine itself; where: the file of its message."""

    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    count: int = 1
    image: str = ""
    engine: str = ""
    where: str = MESSAGE
    values: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 60

    def ranks(self) -> list[Said]:
        """What each rank says. Raises NotTried."""
        if self.engine:
            if shutil.which(self.engine) is None:
                raise NotTried(f"there is no program {self.engine} here; give one that runs containers, such as podman")
        elif not self.command:
            raise NotTried("the template's first container has no command: what its image runs is not known here")
        elif not any(self.where in word for word in (*self.command, *self.args)):
            raise NotTried(f"its command does not name {self.where}; run it in its image, with --engine podman")
        return [self._rank(rank) for rank in range(self.count)]

    def _rank(self, rank: int) -> Said:
        with tempfile.TemporaryDirectory(prefix="tau-check-") as folder:
            message = Path(folder) / "message"
            message.touch()
            message.chmod(0o666)
            Path(folder).chmod(0o755)
            words = {f"TAU_PARAM_{name}": _word(value) for name, value in self.values.items()}
            words |= {"TAU_RUN_ID": RUN_ID, "TAU_ATTEMPT": "1", "NODE_NAME": "this-machine"}
            words |= {"JOB_COMPLETION_INDEX": str(rank)}
            name = f"tau-check-{uuid.uuid4().hex[:12]}"
            line = self._in_a_container(words, message, name) if self.engine else self._here(message)
            # an engine finds its sockets and settings there; what it runs gets the words alone
            here = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": folder}
            environment = dict(os.environ) if self.engine else words | here
            code = self._run(line, environment, folder, name)
            said = message.read_bytes()[:MAX_BYTES].decode("utf-8", "replace")
        return Said(rank, RUN_ID, said or None, code)

    def _here(self, message: Path) -> list[str]:
        return [word.replace(self.where, str(message)) for word in (*self.command, *self.args)]

    def _in_a_container(self, words: Mapping[str, str], message: Path, name: str) -> list[str]:
        line = [self.engine, "run", "--rm", "--name", name, "--network", "none", "--read-only", "--cap-drop", "ALL"]
        line += ["--security-opt", "no-new-privileges", "--user", _USER, "--volume", f"{message}:{self.where}"]
        line += [word for key, value in words.items() for word in ("--env", f"{key}={value}")]
        if self.command:
            line += ["--entrypoint", self.command[0]]
        return [*line, self.image, *self.command[1:], *self.args]

    def _run(self, line: Sequence[str], environment: Mapping[str, str], folder: str, name: str) -> int | None:
        """The exit code; None where it did not end in time."""
        quiet, told = subprocess.DEVNULL, Path(folder) / "stderr"
        try:
            with told.open("wb") as stderr:
                done = subprocess.run(  # noqa: S603 - the author's own command, on the author's own machine, asked for
                    line,
                    env=dict(environment),
                    cwd=folder,
                    stdin=quiet,
                    stdout=quiet,
                    stderr=stderr,
                    timeout=self.seconds,
                    check=False,
                )
        except OSError as error:
            raise NotTried(f"{line[0]}: {error.strerror}") from error
        except subprocess.TimeoutExpired:
            if self.engine:  # the client has gone, the container has not
                with contextlib.suppress(OSError, subprocess.SubprocessError):
                    remove = [self.engine, "rm", "--force", name]
                    subprocess.run(remove, stdout=quiet, stderr=quiet, timeout=30, check=False)  # noqa: S603
            return None
        if self.engine and done.returncode in (125, 126, 127):  # the engine's own words for "it never ran"
            why = f"{self.engine} could not run {self.image or 'it'} (exit code {done.returncode})"
            raise NotTried(": ".join(filter(None, (why, _last_line(told)))))
        return done.returncode


def trial_of(template: Object, parameters: Mapping[str, Any], engine: str = "", seconds: float = 60) -> Trial:
    """What the ranks of a template run. parameters: over the defaults that it gives. Raises NotTried."""
    job = section(section(template, "spec"), "job")
    container = next((each for each in pod_spec(job).get("containers") or () if isinstance(each, dict)), {})
    command, args = (tuple(map(str, container.get(key) or ())) for key in ("command", "args"))
    given = section(template, "spec").get("parameters") or ()
    defaults = {each["name"]: each["default"] for each in given if "default" in each}
    count = section(job, "spec").get("completions", 1)
    return Trial(
        command,
        args,
        count if isinstance(count, int) else 1,
        str(container.get("image", "")),
        engine,
        str(container.get("terminationMessagePath", MESSAGE)),
        {**defaults, **parameters},
        seconds,
    )


def _last_line(file: Path) -> str:
    """The last thing a program said, as far as it can be shown in a sentence."""
    with file.open("rb") as stream:
        stream.seek(max(0, file.stat().st_size - 4096))
        lines = stream.read().decode("utf-8", "replace").strip().splitlines()
    return printable(lines[-1][:300]) if lines else ""


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
