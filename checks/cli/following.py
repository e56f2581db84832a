"""Following a run to its end: its phases as they come, then the verdict of its check and the command to go on with.

Progress goes to standard error, the verdict to standard output. Interrupting leaves the run alone.
"""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.status import Status
from rich.text import Text

from ..cluster.errors import ClusterError, NotFound, Overloaded, Unreachable
from ..contract.clock import format_time, parse_time
from ..contract.kinds import RUN
from ..contract.reasons import Reason, State, sentence
from ..evidence.locating import Stores
from ..proof import first_fault, prove
from ..snapshot import Explained
from .connecting import Caller
from .explain import as_document, as_json
from .reading import STYLE, exit_code
from .sources import note_unread, read_cluster
from .terminal import Terminal, complain, print_document, printable

Object = dict[str, Any]
PAUSE_SECONDS = 0.7
PATIENCE_SECONDS = 60.0  # a cluster that does not answer is asked again for so long
INTERRUPTED, NOT_PROVEN = 130, 2
_SAYS = {
    "Pending": "the controller looks whether it may start",
    "Queued": "waits in its queue",
    "Admitted": "has its place, its pods start",
    "Running": "pods are at work",
    "Collecting": "reports and logs are read",
    "Cleaning": "what it created is removed",
    "Sealed": "",
}


@dataclass
class Following:
    """One run. seconds: how long it is followed, None until its end. quiet: phases are not shown."""

    caller: Caller
    name: str
    check: str
    seconds: float | None
    quiet: bool = False
    console: Console = field(default_factory=lambda: Console(stderr=True, highlight=False, markup=False, emoji=False))
    shown: str = ""
    silent_since: float | None = None

    def to_the_end(self) -> Object | None:
        """The run once it is sealed, None where the time is over. Raises ClusterError and KeyboardInterrupt."""
        began = time.monotonic()
        with Status("", console=self.console, spinner="dots", refresh_per_second=4) as spinner:
            if self.quiet or not self.console.is_terminal:
                spinner.stop()
            while True:
                run = self._ask()
                if run is not None:
                    self._show(run, spinner)
                    if _phase(run) == "Sealed":
                        return run
                if self.seconds is not None and time.monotonic() - began >= self.seconds:
                    return None
                time.sleep(PAUSE_SECONDS)

    def _ask(self) -> Object | None:
        """The run as it is; None where the cluster does not answer for a moment."""
        try:
            run = self.caller.get(RUN, self.name)
        except (Unreachable, Overloaded) as error:
            now = time.monotonic()
            if self.silent_since is None:
                self.silent_since = now
                complain(f"{error}; asking again")
            if now - self.silent_since > PATIENCE_SECONDS:
                raise
            return None
        self.silent_since = None
        return run

    def _show(self, run: Object, spinner: Status) -> None:
        phase, status = _phase(run), run.get("status") or {}
        if self.quiet:
            return
        now = datetime.now(UTC)
        begin = parse_time(run["metadata"].get("creationTimestamp")) or now
        if phase != self.shown:
            self.shown = phase
            at = _reached(phase, status) or now
            words = _details(phase, status)
            line = Text.assemble((f"  {_span((at - begin).total_seconds())}  ", "dim"), f"{phase:<11} ", (words, "dim"))
            self.console.print(line, soft_wrap=True)
        spinner.update(Text(f"{phase}, {_span((now - begin).total_seconds())} since it was asked for", "dim"))


def _phase(run: Object) -> str:
    return str((run.get("status") or {}).get("phase") or "Pending")


_REACHED = {"Queued": "queuedAt", "Admitted": "admittedAt", "Running": "startedAt", "Sealed": "sealedAt"}
_REACHED |= {"Collecting": "completedAt"}


def _reached(phase: str, status: Object) -> datetime | None:
    return parse_time(status.get(_REACHED.get(phase, ""))) if phase in _REACHED else None


def _details(phase: str, status: Object) -> str:
    if phase == "Running":
        nodes = [str(each.get("name")) for each in status.get("targets") or () if isinstance(each, dict)]
        return printable(f"on {', '.join(nodes[:8])}{' …' if len(nodes) > 8 else ''}") if nodes else _SAYS[phase]
    if phase == "Queued" and (until := parse_time(status.get("deadlineAt"))):
        return f"{_SAYS[phase]}, until {format_time(until)} at the latest"
    if phase == "Sealed":
        return printable(str(status.get("message") or ""))
    return _SAYS.get(phase, "")


def _span(seconds: float) -> str:
    whole = max(0, int(seconds))
    return f"{whole // 60:02}:{whole % 60:02}"


def follow(
    caller: Caller, run: Object, evidence: Path | Stores | None, known_as: str, seconds: float | None, output: str
) -> int:
    """Follows a run and prints how it ended and what its check proves now; the exit code. Raises ClusterError."""
    name, check = run["metadata"]["name"], run["spec"]["checkRef"]["name"]
    following = Following(caller, name, check, seconds, quiet=output == "name")
    try:
        sealed = following.to_the_end()
    except KeyboardInterrupt:
        click.echo("", err=True)
        _leave(caller, name, "The run goes on without you.")
        return INTERRUPTED
    except NotFound:
        complain(f"the run {name} was deleted while it was followed; nothing is known of it any more")
        return NOT_PROVEN
    except ClusterError:
        _leave(caller, name, "Whether the run goes on is not known here.")
        raise
    if sealed is None:
        _leave(caller, name, f"It has not ended after {seconds:g} s and goes on.")
        return NOT_PROVEN
    return conclude(caller, check, name, evidence, known_as, output)


def _leave(caller: Caller, name: str, words: str) -> None:
    click.echo(words, err=True)
    click.echo(f"  Watch it:   {printable(caller.command('watch', name))}", err=True)
    click.echo(f"  Cancel it:  {printable(caller.command('cancel', name))}", err=True)


def conclude(caller: Caller, check: str, run: str, evidence: Path | Stores | None, known_as: str, output: str) -> int:
    """The verdict of the check now, and what to do next; the exit code."""
    reading = read_cluster(caller, evidence, known_as)
    found = [item for item in reading.explained if item.name == check]
    if output == "name":
        click.echo(f"validationrun.tau.azure.com/{run}")
    elif output != "table":
        document = as_document(reading) | {"run": run, "checks": [as_json(item) for item in found]}
        print_document(document, output)
    else:
        for item in found:
            _print(caller, item, run)
    note_unread(reading, found)
    if any(_another(item, run) for item in found):
        complain("a newer run speaks for this check now; the verdict above is not of the run that was followed")
        return exit_code([State.UNKNOWN])
    return exit_code([item.verdict.state for item in found])


def _another(item: Explained, run: str) -> bool:
    speaking = item.verdict.case.run
    return speaking is None or speaking.name != run


def _print(caller: Caller, item: Explained, run: str) -> None:
    verdict = item.verdict
    console = Terminal(highlight=False, soft_wrap=True, markup=False, emoji=False)
    state = (str(verdict.state), f"bold {STYLE[verdict.state]}")
    console.print()
    console.print(
        Text.assemble(state, "  ", (printable(f"{item.namespace}/{item.name}"), "bold"), f"  ({verdict.reason})")
    )
    console.print(f"  {printable(verdict.message)}")
    if verdict.state is not State.PASSED:
        last = verdict.last
        own = verdict.case.run.status.reason if verdict.case.run and verdict.case.run.status else None
        if own and own != verdict.reason:
            console.print(f"  The run ended as {printable(own)}: {sentence(own)}")
        if last and last.state is not verdict.state:
            console.print(f"  The last sealed verdict was {last.state} ({printable(last.reason)}).")
        fault = first_fault(prove(verdict), verdict)
        if fault and fault.next_step and verdict.reason != Reason.EVIDENCE_UNVERIFIED:
            console.print(f"  {fault.next_step}")
    console.print(f"  Next: {printable(caller.command('explain', item.name))}")
