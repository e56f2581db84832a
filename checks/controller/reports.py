"""Joins what the pods of a run say with what the control plane saw: one outcome per rank, one for the run. Pure.

Only a whole report of this run, from the rank that it names, out of a container that ended with 0, passes. Every way
of missing that has a reason of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..contract.problem import Problem
from ..contract.report import MAX_BYTES, Report, parse_report
from .pods import Pod


@dataclass(frozen=True, slots=True)
class Part:
    """How one rank did. report: where it gave a sound one; pod_uid: "" for a rank without a pod."""

    rank: int | None
    pod_uid: str
    outcome: str
    reason: str
    message: str
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a run was ended before its Job was: a reason code and a sentence; empty where the Job ended by itself."""

    reason: str = ""
    message: str = ""


def parts(pods: Sequence[Pod], run_id: str, reporters: int, ending: Ending) -> list[Part]:
    """One part for each pod, and one for each rank that has none. Ordered by rank."""
    by_rank: dict[int | None, list[Pod]] = {}
    for pod in pods:
        by_rank.setdefault(pod.rank, []).append(pod)
    found = []
    for rank, same in by_rank.items():
        for pod in same:
            if len(same) > 1:
                words = f"{len(same)} pods stand for rank {rank}."
                found.append(Part(rank, pod.uid, "unknown", "report_repeated", words))
            else:
                found.append(_part(pod, run_id, reporters, ending))
    missing = [rank for rank in range(reporters) if rank not in by_rank]
    reason, why = ending.reason or "workload_deleted", ending.message or "its pod is gone"
    found += [Part(rank, "", "unknown", reason, f"Rank {rank} did not report: {why}") for rank in missing]
    return sorted(found, key=lambda part: (part.rank is None, part.rank or 0, part.pod_uid))


def _part(pod: Pod, run_id: str, reporters: int, ending: Ending) -> Part:
    def unknown(reason: str, message: str) -> Part:
        return Part(pod.rank, pod.uid, "unknown", reason, message)

    def failed(reason: str, message: str) -> Part:
        return Part(pod.rank, pod.uid, "failed", reason, message)

    who = f"Rank {pod.rank}" if pod.rank is not None else f"Pod {pod.name}"
    broken = pod.exit_code not in (0, None) or pod.phase == "Failed"
    crashed = broken and not pod.leaving and not pod.disrupted
    began = pod.exit_code is not None
    ended = f"{who} ended with exit code {pod.exit_code}" if began else f"{who} failed before its container began"
    if not pod.message:
        if crashed and not ending.reason:
            return failed("workload_failed", f"{ended} and without a report.")
        if ending.reason:
            return unknown(ending.reason, ending.message)
        if pod.disrupted:
            return unknown("evicted", f"{who}: {pod.disrupted}")
        if pod.leaving or pod.exit_code is None:
            return unknown("workload_deleted", f"{who} was ended from outside before it reported.")
        return unknown("report_missing", f"{ended} and without a report.")
    report = parse_report(pod.message.encode("utf-8", "surrogatepass"))
    if isinstance(report, list):
        reason, why = _unreadable(pod.message, report)
        if crashed:
            return failed("workload_failed", f"{ended}; its report is of no use: {why}")
        return unknown(reason, f"The report of {who.lower()} is of no use: {why}")
    if report.run_id is not None and report.run_id != run_id:
        return unknown("report_of_another_run", f"{who} reports for run {report.run_id}.")
    if pod.rank is None or pod.rank >= reporters:
        return unknown("report_unexpected", f"{who} reports, although only {reporters} should.")
    if report.rank != pod.rank:
        return unknown("report_rank_mismatch", f"{who} reports as rank {report.rank}.")
    if report.outcome == "passed" and pod.exit_code != 0:
        if not crashed:
            return unknown(ending.reason or "workload_deleted", f"{who} reports passed, but was ended from outside.")
        return failed("nonzero_exit", f"{ended}, although it reports passed.")
    return Part(pod.rank, pod.uid, report.outcome, report.reason, report.message, report)


def _unreadable(message: str, problems: list[Problem]) -> tuple[str, str]:
    why = str(problems[0])
    if len(message.encode("utf-8", "surrogatepass")) >= MAX_BYTES:
        return "report_truncated", f"it was cut at {MAX_BYTES} bytes"
    if problems[0].pointer == "" and ("no JSON" in problems[0].found or "UTF-8" in problems[0].found):
        return "report_not_json", why
    return "report_malformed", why


@dataclass(frozen=True, slots=True)
class Overall:
    """What the whole run gave."""

    outcome: str
    reason: str
    message: str


def overall(found: Sequence[Part], ending: Ending, count: int) -> Overall:
    """The worst part speaks; a run that was ended from outside never passes. count: how many targets are asked for."""
    failed = [part for part in found if part.outcome == "failed"]
    if failed:
        return _of(failed[0], "failed")
    if ending.reason:
        return Overall("unknown", ending.reason, ending.message)
    unknown = [part for part in found if part.outcome != "passed"]
    if unknown:
        return _of(unknown[0], "unknown")
    if len(found) < count:
        return Overall("unknown", "report_missing", f"{len(found)} of {count} targets reported.")
    return _of(found[0], "passed")


def _of(part: Part, outcome: str) -> Overall:
    return Overall(outcome, part.reason, part.message)
