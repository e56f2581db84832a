"""Rules of reports: each gives what breaks it, None where no pod was given. Pure."""

from collections.abc import Callable, Iterable

from ...contract.document import decode, text_problems
from ...contract.parsing import parse
from ...contract.report import MAX_BYTES, Report
from .subject import Look, Said, Subject


def of_reports(look: Callable[[Said, Report, Subject], Iterable[str]]) -> Look:
    def found(subject: Subject) -> list[str] | None:
        if not subject.said:
            return None
        return [f"{_who(each)}: {fault}" for each, report in subject.reports for fault in look(each, report, subject)]

    return found


def of_messages(look: Callable[[str], Iterable[str]]) -> Look:
    def found(subject: Subject) -> list[str] | None:
        if not subject.said:
            return None
        messages = [(each, each.message) for each in subject.said if each.message is not None]
        return [f"{_who(each)}: {fault}" for each, message in messages for fault in look(message)]

    return found


def _who(said: Said) -> str:
    return f"rank {said.rank}" if said.rank is not None else "a pod"


def there(subject: Subject) -> list[str] | None:
    if not subject.said:
        return None
    return [f"{_who(each)} said nothing" for each in subject.said if each.message is None]


def _is_cut(message: str) -> bool:
    return len(message.encode()) >= MAX_BYTES


def size(message: str) -> list[str]:
    return [f"{len(message.encode())} bytes; the kubelet cuts at {MAX_BYTES}"] if _is_cut(message) else []


def is_json(message: str) -> list[str]:
    _, problems = decode(message.encode(), 2**20)
    return [] if _is_cut(message) else [f"{problem.found}, expected {problem.expected}" for problem in problems[:1]]


def report_fields(message: str) -> list[str]:
    value, problems = decode(message.encode(), 2**20)
    if problems or _is_cut(message):
        return []
    return [str(problem) for problem in parse(Report, value).problems]


def rank(said: Said, report: Report, _: Subject) -> list[str]:
    return [f"it reports as rank {report.rank}"] if said.rank is not None and report.rank != said.rank else []


def run(said: Said, report: Report, _: Subject) -> list[str]:
    other = report.run_id is not None and said.run and report.run_id != said.run
    return [f"it reports for run {report.run_id}"] if other else []


def exit_code(said: Said, report: Report, _: Subject) -> list[str]:
    lies = report.outcome == "passed" and said.code not in (0, None)
    return [f"it reports passed and ends with exit code {said.code}"] if lies else []


def data(_: Said, report: Report, subject: Subject) -> list[str]:
    spec, schema = subject.check_spec, report.details_schema
    known = spec.results.details_schemas if spec else ()
    return [f"its data is {schema}"] if spec and schema is not None and schema not in known else []


def message_secrets(message: str) -> list[str]:
    value, problems = decode(message.encode(), 2**20)
    found = text_problems(value if not problems else message[:4096])
    return [f"{p.pointer or 'the message'}: {p.found}" for p in found if "credential" in p.found]
