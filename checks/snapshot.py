"""A whole dump in memory, and the verdict of every check in it: what `tau-check explain` shows, without a database."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from .contract.clock import parse_time
from .contract.guard import Guard, judge
from .contract.kinds import API_VERSION, CHECK, GROUP, RESULT, RUN, TEMPLATE, WORKSPACE_LABEL
from .contract.problem import Problem
from .dump import Item
from .evidence.comparing import verify
from .evidence.folder import verify_all
from .evidence.locating import Place, Stores
from .facts import Inventory, Registration, Result, Run, Source
from .objects import (
    check_name_of,
    labels_of,
    node_from,
    registration_from,
    result_from,
    run_from,
    section,
    template_from,
    text,
)
from .selection import Selection, select
from .verdict import Verdict, evaluate

POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
_GROUPS = {TEMPLATE: GROUP, CHECK: GROUP, RUN: GROUP, RESULT: GROUP, "Node": "", "Namespace": ""}
_GROUPS |= {POLICY: "admissionregistration.k8s.io", BINDING: "admissionregistration.k8s.io"}
Key = tuple[str, str]
TWO_COPIES = Problem("", "two different copies in one dump", "one")


def kind_of_interest(item: dict[str, Any]) -> str:
    """The kind, where this product reads it in that group; "" otherwise."""
    kind, group = text(item, "kind"), text(item, "apiVersion").rpartition("/")[0]
    return kind if _GROUPS.get(kind) == group else ""


def version_problem(item: dict[str, Any]) -> str:
    """Why an object of our own group cannot be read, "" where it can."""
    version = text(item, "apiVersion")
    if kind_of_interest(item) and version.startswith(GROUP + "/") and version != API_VERSION:
        return f"{text(item, 'kind')} in {version[:60]}; this version reads {API_VERSION}"
    return ""


@dataclass(frozen=True, slots=True)
class Explained:
    """One check of a dump with its verdict."""

    cluster: str
    namespace: str
    name: str
    verdict: Verdict


@dataclass
class Snapshot:
    """The objects of one cluster at one time. copies: more than one where a dump holds an object twice, differently."""

    cluster: str
    captured_at: datetime
    complete: bool
    problems: list[str] = field(default_factory=list)
    copies: dict[str, dict[Key, list[dict[str, Any]]]] = field(default_factory=dict)

    def add(self, item: dict[str, Any]) -> None:
        """Takes one object; of two copies the newer resourceVersion stays, or both where neither is newer."""
        kind = kind_of_interest(item)
        if not kind:
            return
        metadata = section(item, "metadata")
        known = self.copies.setdefault(kind, {}).setdefault((text(metadata, "namespace"), text(metadata, "name")), [])
        if item in known:
            return
        mine = resource_version(item)
        if mine is not None and known:
            theirs = [resource_version(other) for other in known]
            if all(other is not None and other != mine for other in theirs):
                if all(other is not None and other > mine for other in theirs):
                    return
                known.clear()
        known.append(item)

    def explain(
        self, now: datetime, evidence: Path | Stores | None, source: Source | None = None
    ) -> Iterator[Explained]:
        """Every check, and every result or run without one, by name.

        evidence: a folder of files named by their sha256, or the stores that it is in. source: how the cluster was
        seen, where that is known otherwise than by the dump.
        """
        source = source or Source(self.cluster, self.complete, now, self.guard(), why=self._why())
        inventory = Inventory({key[1]: tuple(map(node_from, nodes)) for key, nodes in self._all("Node")})
        folder = evidence if isinstance(evidence, Path) else None
        runs, results = self._runs(), self._results(folder, now)
        for key in sorted({*self.copies.get(CHECK, {}), *runs, *results}):
            reg = self._registration(key)
            chosen = select(reg, runs.get(key, ()), results.get(key, ()))
            if isinstance(evidence, Stores):
                chosen = verified(chosen, evidence, self.cluster, reg, now)
            verdict = evaluate(reg, chosen.run, chosen.result, inventory, source, now, chosen.history)
            yield Explained(self.cluster, *key, verdict)

    def sealed(self) -> Iterator[tuple[str, Result, Place]]:
        """Every result with the check it speaks for, the newest of each first, and where its evidence may lie."""
        runs, results = self._runs(), self._results(None, self.captured_at)
        for key, of_check in sorted(results.items()):
            reg = self._registration(key)
            for each in select(reg, runs.get(key, ()), of_check).history:
                yield key[1], each.result, place_of(each.result, each.run, self.cluster, reg)

    def _why(self) -> str:
        return incomplete(self.cluster, self.problems)

    def _all(self, kind: str) -> Iterable[tuple[Key, list[dict[str, Any]]]]:
        return self.copies.get(kind, {}).items()

    def guard(self) -> Guard:
        """Whether publishers are certain, by the policies in the dump."""
        return judge(*([c[0] for _, c in self._all(kind) if len(c) == 1] for kind in (POLICY, BINDING)))

    def _registration(self, key: Key) -> Registration | None:
        copies = self.copies.get(CHECK, {}).get(key)
        if not copies:
            return None
        named = text(section(section(section(copies[0], "spec"), "launch"), "template"), "name")
        templates = self.copies.get(TEMPLATE, {}).get(("", named), [])
        namespaces = self.copies.get("Namespace", {}).get(("", key[0]), [])
        return registration_from(
            copies[0],
            self.cluster,
            template_from(templates[0]) if templates else None,
            labels_of(namespaces[0]) if len(namespaces) == 1 else None,
            ambiguous=len(copies) > 1 or len(templates) > 1,
        )

    def _runs(self) -> dict[Key, list[Run]]:
        found: dict[Key, list[Run]] = {}
        for (namespace, name), copies in self._all(RUN):
            for item in copies:
                run = run_from(item)
                if len(copies) > 1:
                    run = replace(run, problems=(*run.problems, TWO_COPIES))
                found.setdefault((namespace, check_name_of(item) or name), []).append(run)
        return found

    def _results(self, evidence: Path | None, now: datetime) -> dict[Key, list[Result]]:
        """By the check each one claims, or else by the check whose run it is the result of."""
        owners = {(ns, run.name): check for (ns, check), runs in self._runs().items() for run in runs}
        found: dict[Key, list[Result]] = {}
        for (namespace, name), copies in self._all(RESULT):
            for item in copies:
                read = result_from(item, {})
                result = result_from(item, verify_all(read.envelope, evidence, now), conflict=len(copies) > 1)
                owner = owners.get((namespace, name.rpartition("-")[0]))
                claimed = check_name_of(item) or owner or name
                found.setdefault((namespace, claimed), []).append(result)
                if owner and owner != claimed:
                    found.setdefault((namespace, owner), []).append(result)
        return found


def place_of(result: Result, run: Run | None, cluster: str, registration: Registration | None) -> Place:
    """Where the evidence of a result may lie: by the objects around it, not by what it says of itself."""
    said = result.envelope.run if result.envelope else None
    run_id = run.spec.run_id if run and run.spec else said.id if said else ""
    run_uid = run.uid if run else said.uid if said else ""
    labels = (registration.namespace_labels if registration else None) or {}
    return Place(cluster, result.namespace, labels.get(WORKSPACE_LABEL, ""), run_id, run_uid)


def verified(
    chosen: Selection, stores: Stores, cluster: str, registration: Registration | None, now: datetime
) -> Selection:
    """The selection with the evidence read of the result that speaks, and of the newest one before it."""
    speaking = (
        [(chosen.run, chosen.result)] if chosen.result else [(each.run, each.result) for each in chosen.history[:1]]
    )
    read: dict[tuple[str, str], Result] = {}
    for run, result in speaking:
        if result is None or result.envelope is None:
            continue
        place = place_of(result, run, cluster, registration)
        found = {piece.name: verify(stores, piece, place, clock=lambda: now) for piece in result.envelope.evidence}
        read[(result.uid, result.name)] = replace(result, evidence=found)
    mine = chosen.result and read.get((chosen.result.uid, chosen.result.name), chosen.result)
    history = tuple(
        replace(each, result=read.get((each.result.uid, each.result.name), each.result)) for each in chosen.history
    )
    return Selection(chosen.run, mine, history)


def incomplete(cluster: str, problems: list[str]) -> str:
    """The sentence about a dump that is not complete."""
    return f"The dump of {cluster} is not complete: {problems[0] if problems else 'its first document says so'}"


def promised_objects(head: dict[str, Any]) -> int:
    """How many objects follow the first document of a dump, as it says; 0 where it does not."""
    count = head.get("objects")
    return count if type(count) is int and count > 0 else 0


def cut(cluster: str, promised: int, taken: int) -> str:
    """The sentence about a dump that ends before its last object, "" where nothing is missing. A file that was cut
    between two documents of YAML looks whole otherwise."""
    is_short = taken < promised
    return f"the dump of {cluster} has {taken} of its {promised} objects; the file may be cut" if is_short else ""


def resource_version(item: dict[str, Any]) -> int | None:
    """The resourceVersion as a number, by which the copies of one object are ordered; None where there is none."""
    version = text(section(item, "metadata"), "resourceVersion")
    return int(version) if version.isascii() and version.isdigit() and len(version) < 20 else None


class DumpError(ValueError):
    """A dump cannot be read at all; `usage` where the caller can say what is missing."""

    def __init__(self, message: str, *, usage: bool = False) -> None:
        super().__init__(message)
        self.usage = usage


def snapshots(items: Iterable[Item], cluster: str, captured_at: datetime | None) -> list[Snapshot]:
    """Sorts the objects of dumps by cluster. Raises DumpError where it is not known which cluster, or when."""
    found: dict[str, Snapshot] = {}
    problems: list[str] = []
    here: Snapshot | None = None
    file, seen = "", 0
    promised, taken = Counter[str](), Counter[str]()
    for item in items:
        name = item.where.rpartition(", ")[0]
        here, file = (here if name == file else None), name
        if item.value is None:
            problems.append(f"{item.where}: {item.problem}")
            continue
        seen += 1
        if text(item.value, "kind") == "TauDump":
            here = _open(item.value, item.where, found, cluster, captured_at)
            promised[here.cluster] += promised_objects(item.value)
            continue
        here = here or _plain(found, cluster, captured_at, item.where)
        taken[here.cluster] += 1
        if problem := version_problem(item.value):
            problems.append(f"{item.where}: {problem}")
        else:
            here.add(item.value)
    if not seen:
        raise DumpError(problems[0] if problems else "there is no object in it")
    problems += [words for name in found if (words := cut(name, promised[name], taken[name]))]
    for snapshot in found.values():
        snapshot.problems += problems
        snapshot.complete = snapshot.complete and not problems
    return list(found.values())


def _open(head: dict[str, Any], where: str, found: dict[str, Snapshot], cluster: str, at: datetime | None) -> Snapshot:
    name = cluster or text(section(head, "metadata"), "name")
    captured = at or parse_time(head.get("capturedAt"))
    if not name:
        raise DumpError(f"{where}: TauDump has no metadata.name; say --cluster NAME", usage=True)
    if captured is None:
        raise DumpError(f"{where}: TauDump has no capturedAt in UTC; say --captured-at TIME", usage=True)
    snapshot = found.setdefault(name, Snapshot(name, captured, True))
    if snapshot.captured_at != captured:
        raise DumpError(f"{where}: a dump of {name} at another time; explain one time after the other", usage=True)
    snapshot.complete = snapshot.complete and head.get("complete") is True
    return snapshot


def _plain(found: dict[str, Snapshot], cluster: str, at: datetime | None, where: str) -> Snapshot:
    if not cluster:
        raise DumpError(f"{where}: the dump does not say which cluster it is of; say --cluster NAME", usage=True)
    if at is None:
        raise DumpError(f"{where}: the dump does not say when it was captured; say --captured-at TIME", usage=True)
    return found.setdefault(cluster, Snapshot(cluster, at, True))
