"""What is looked at: a registration, its template, what pods said; and what a rule is. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ...contract.document import decode
from ...contract.kinds import CheckSpec
from ...contract.parsing import parse
from ...contract.report import MAX_BYTES, Report
from ...objects import section, text

Object = dict[str, Any]
INDEX = "batch.kubernetes.io/job-completion-index"


@dataclass(frozen=True, slots=True)
class Said:
    """What one pod left behind. rank, run: as the control plane knows them; None, "" where it was not told.

    message: the termination message, None where there is none. code: the exit code, None where it is not known.
    """

    rank: int | None
    run: str
    message: str | None
    code: int | None


@dataclass
class Subject:
    """What is looked at. check, template: objects, None where they were not given. said: one for each pod."""

    check: Object | None = None
    template: Object | None = None
    said: list[Said] = field(default_factory=list)

    @property
    def check_spec(self) -> CheckSpec | None:
        """The registration's spec, where it can be read."""
        return parse(CheckSpec, section(self.check, "spec")).value if self.check else None

    @property
    def template_spec(self) -> Object:
        """The template's spec as it is."""
        return section(self.template, "spec")

    @property
    def reports(self) -> list[tuple[Said, Report]]:
        """Those reports that can be read."""
        found = []
        for each in self.said:
            value, problems = decode(each.message.encode(), MAX_BYTES) if each.message is not None else (None, [])
            report = parse(Report, value).value if not problems else None
            if report is not None:
                found.append((each, report))
        return found


Look = Callable[[Subject], Iterable[str] | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """id: a word for it; sentence: what a check has to do; look: what breaks it."""

    id: str
    sentence: str
    look: Look


def said_by(pod: Object) -> Said:
    """What a pod object, as kubectl prints it, says of its first container."""
    metadata = section(pod, "metadata")
    statuses = section(pod, "status").get("containerStatuses")
    first = statuses[0] if isinstance(statuses, list) and statuses and isinstance(statuses[0], dict) else {}
    ended = section(section(first, "state"), "terminated")
    index, code = text(section(metadata, "annotations"), INDEX), ended.get("exitCode")
    return Said(
        int(index) if index.isascii() and index.isdigit() and len(index) < 7 else None,
        text(section(metadata, "labels"), "tau.azure.com/run-id"),
        text(ended, "message") or None,
        code if isinstance(code, int) and not isinstance(code, bool) else None,
    )
