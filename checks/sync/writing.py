"""Objects to rows, batch by batch: what is new is written, what is the same is left alone, what is older is refused.

A `Writer` collects which checks its writes concern; `judging` then makes their verdicts anew in the same transaction.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import models

from ..contract.kinds import CHECK, RESULT, RUN, TEMPLATE
from ..models import Check, Cluster, Policy, Result, Run, Seen, SpecCopy, TargetNode
from ..objects import check_name_of, section, text
from ..snapshot import BINDING, POLICY, resource_version, version_problem
from .kinds import KINDS, Kind, content_hash, kind_of, result_columns, sealed_bytes, storable
from .statements import insert, update

Object = dict[str, Any]
Key = tuple[str, ...]
BATCH = 500


@dataclass
class Writer:
    """Writes the objects of one cluster. counts: created, changed, unchanged, older, ignored. problems: named.

    written: the kinds of which a row is another one now. touched: checks to be judged, everything: all of them.
    """

    cluster: Cluster
    now: datetime
    load: int
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    touched: set[int] = field(default_factory=set)
    everything: bool = False
    written: set[str] = field(default_factory=set)

    def write(self, items: Iterable[tuple[str, Object]]) -> None:
        """Writes a batch of (place, object). An object that is no row becomes a problem."""
        sorted_items: dict[str, list[tuple[Key, Object]]] = {}
        for where, item in items:
            kind = kind_of(item)
            if kind is None:
                self.counts["ignored"] += 1
            elif problem := version_problem(item) or _nameless(item, kind):
                self.problems.append(f"{where}: {problem}")
            else:
                sorted_items.setdefault(kind.name, []).append((_key(item, kind), item))
        for name, kind in KINDS.items():
            if name in sorted_items:
                self._write_kind(kind, sorted_items[name])

    def delete(self, kind: Kind, item: Object, at: datetime) -> None:
        """Marks the row of a deleted object as gone, unless the name belongs to another object by now."""
        if _nameless(item, kind):
            return
        row = self._rows(kind, {_key(item, kind)}).get(_key(item, kind))
        if row is not None and row.uid == text(section(item, "metadata"), "uid")[:128] and row.gone_at is None:
            row.gone_at = at
            row.save(update_fields=["gone_at"])
            self.counts["gone"] += 1
            self._touch(kind, [row])

    def _write_kind(self, kind: Kind, items: list[tuple[Key, Object]]) -> None:
        rows = self._rows(kind, {key for key, _ in items})
        subjects = self._subjects(kind, [item for _, item in items])
        created: dict[Key, Seen] = {}
        changed: dict[Key, Seen] = {}
        for key, item in items:
            row = created.get(key) or rows.get(key)
            if row is not None and self._is_older(row, item):
                continue
            sealed = sealed_bytes(item)
            content = content_hash(item, sealed)
            if row is None:
                row = kind.model(cluster=self.cluster)
                created[key] = row
            elif not self._is_news(row, content):
                continue
            else:
                twice = self._is_another_copy(row, item)
                if key not in created:
                    changed[key] = row
                    self.counts["changed"] += 1
                if twice:
                    row.ambiguous = True
                    continue
            self._fill(row, kind, item, sealed)
            row.content = content
            if isinstance(row, (Run, Result)):
                row.subject_id = subjects[id(item)]
        self.counts["created"] += len(created)
        self._save(kind, list(created.values()), list(changed.values()))

    def _save(self, kind: Kind, created: list[Seen], changed: list[Seen]) -> None:
        if kind.name == RESULT:
            self._join_runs([row for row in (*created, *changed) if isinstance(row, Result)])
        if kind.name in (RUN, RESULT):
            insert(kind.model, created)
        else:
            kind.model._default_manager.bulk_create(created, batch_size=BATCH)
        update(kind.model, changed, _columns_of(kind.model))
        if kind.name == RUN:
            self._join_results([row.uid for row in created])
        self._touch(kind, [*created, *changed])
        self._keep_specs(kind, [*created, *changed])

    def _join_runs(self, results: list[Result]) -> None:
        """Joins results with the runs that they name."""
        uids = {row.run_uid for row in results} - {""}
        runs = dict(Run.objects.filter(cluster=self.cluster, uid__in=uids).values_list("uid", "pk")) if uids else {}
        for row in results:
            row.run_id = runs.get(row.run_uid)

    def _join_results(self, uids: list[str]) -> None:
        """Joins new runs with the results that name them and were written first."""
        named = Run.objects.filter(cluster=self.cluster, uid=models.OuterRef("run_uid")).values("pk")[:1]
        alone = Result.objects.filter(cluster=self.cluster, run=None, run_uid__in={uid for uid in uids if uid})
        alone.update(run=models.Subquery(named))

    def _is_another_copy(self, row: Seen, item: Object) -> bool:
        """Whether this reading has already seen the object, differently, and neither copy says that it is newer."""
        if row.load != self.load:
            return False
        mine, theirs = resource_version(item), row.resource_version
        return mine is None or theirs is None or mine == theirs

    def _rows(self, kind: Kind, keys: set[Key]) -> dict[Key, Seen]:
        """The rows of these keys, as they were; those that are there count as seen by this reading."""
        manager: Any = kind.model._default_manager
        found = manager.filter(cluster=self.cluster, name__in={key[0] if len(key) == 1 else key[1] for key in keys})
        if kind.namespaced:
            found = found.filter(namespace__in={key[0] for key in keys})
        if kind.name in (POLICY, BINDING):
            found = found.filter(kind=kind.name)
        if kind.name in (RUN, RESULT):  # many, large, and mostly as they were
            found = found.defer(*(("body", "envelope") if kind.name == RESULT else ("body",)))
        rows = {key: row for row in found if (key := _row_key(row)) in keys}
        same = [row.pk for row in rows.values() if row.gone_at is None and row.load != self.load]
        if same:
            manager.filter(pk__in=same).update(load=self.load)
        return rows

    def _is_older(self, row: Seen, item: Object) -> bool:
        mine, theirs = resource_version(item), row.resource_version
        is_older = mine is not None and theirs is not None and mine < theirs
        self.counts["older"] += is_older
        return is_older

    def _is_news(self, row: Seen, content: str) -> bool:
        settled = not row.ambiguous or row.load == self.load
        if row.content == content and row.gone_at is None and settled:
            self.counts["unchanged"] += 1
            return False
        return True

    def _fill(self, row: Seen, kind: Kind, item: Object, sealed: bytes | None) -> None:
        metadata = section(item, "metadata")
        columns = result_columns(item, sealed) if kind.name == RESULT else kind.columns(item, self.now)
        row.name, row.uid = text(metadata, "name"), text(metadata, "uid")[:128]
        row.resource_version = resource_version(item)
        row.load, row.gone_at, row.ambiguous = self.load, None, False
        if kind.namespaced:
            columns["namespace"] = text(metadata, "namespace")
        for name, value in columns.items():
            setattr(row, name, storable(value))

    def _subjects(self, kind: Kind, items: list[Object]) -> dict[int, int]:
        """The check (primary key) of each run or result, made where nothing is known of it but what is said of it."""
        if kind.name not in (RUN, RESULT):
            return {}
        keys = self._subject_keys(kind, items)
        found = self._known_checks(set(keys.values()))
        missing = [
            Check(
                cluster=self.cluster, namespace=ns, name=name, search=f"{name} {ns}".lower(), title=name, load=self.load
            )
            for ns, name in sorted(set(keys.values()) - found.keys())
        ]
        Check.objects.bulk_create(missing, batch_size=BATCH)
        found |= {(check.namespace, check.name): check.pk for check in missing}
        return {item: found[key] for item, key in keys.items()}

    def _subject_keys(self, kind: Kind, items: list[Object]) -> dict[int, Key]:
        """The check that a run or a result says it belongs to; else that of the run whose result it is; else itself."""
        keys: dict[int, Key] = {}
        alone: dict[int, Key] = {}
        for item in items:
            namespace = text(section(item, "metadata"), "namespace")
            name = storable(check_name_of(item))
            if 0 < len(name) <= 253:
                keys[id(item)] = (namespace, name)
            else:
                alone[id(item)] = (namespace, storable(text(section(item, "metadata"), "name")))
        owners: dict[Key, str] = {}
        if alone and kind.name == RESULT:
            spaces, names = {ns for ns, _ in alone.values()}, {own.rpartition("-")[0] for _, own in alone.values()}
            runs = Run.objects.filter(cluster=self.cluster, namespace__in=spaces, name__in=names).order_by("-pk")
            owners = {(ns, run): check for ns, run, check in runs.values_list("namespace", "name", "subject__name")}
        for nameless, (namespace, own) in alone.items():
            keys[nameless] = (namespace, owners.get((namespace, own.rpartition("-")[0])) or own)
        return keys

    def _known_checks(self, wanted: set[Key]) -> dict[Key, int]:
        found = Check.objects.filter(cluster=self.cluster, name__in={name for _, name in wanted})
        found = found.filter(namespace__in={namespace for namespace, _ in wanted})
        rows = found.values_list("namespace", "name", "pk")
        return {(namespace, name): pk for namespace, name, pk in rows if (namespace, name) in wanted}

    def _touch(self, kind: Kind, rows: list[Seen]) -> None:
        if not rows:
            return
        self.written.add(kind.name)
        if kind.name == CHECK:
            self.touched.update(row.pk for row in rows)
        elif kind.name in (RUN, RESULT):
            self.touched.update(row.subject_id for row in rows if isinstance(row, (Run, Result)))
        elif kind.name in (POLICY, BINDING):
            self.everything = True
        else:
            self.touched.update(concerned(kind.name, self.cluster, {row.name for row in rows}))

    def _keep_specs(self, kind: Kind, rows: list[Seen]) -> None:
        """Keeps each spec by its digest, so that a reviewer can see what was approved."""
        if kind.name in (CHECK, TEMPLATE):
            copies = [
                SpecCopy(digest=row.digest, kind=kind.name, body=row.body, first_seen_at=self.now)  # type: ignore[attr-defined]
                for row in rows
                if row.digest  # type: ignore[attr-defined]
            ]
            SpecCopy.objects.bulk_create(copies, ignore_conflicts=True)


def mark_gone(kind: Kind, writer: Writer, load: int, at: datetime) -> None:
    """Marks every row of a kind that a complete reading (`load`) did not see as gone."""
    rows: models.QuerySet[Any] = kind.model._default_manager.filter(cluster=writer.cluster, gone_at=None)
    rows = rows.exclude(load=load)
    if kind.model is Policy:
        rows = rows.filter(kind=kind.name)
    if kind.model is Check:
        rows = rows.filter(registered=True)
    if kind.model in (Run, Result):
        writer.touched.update(rows.values_list("subject_id", flat=True).distinct())
    elif kind.model in (Check, Policy):
        writer.touched.update(rows.values_list("pk", flat=True) if kind.model is Check else ())
        writer.everything = writer.everything or kind.model is Policy
    else:
        writer.touched |= concerned(kind.name, writer.cluster, set(rows.values_list("name", flat=True)))
    if gone := rows.update(gone_at=at):
        writer.counts["gone"] += gone
        writer.written.add(kind.name)


_POINTERS = (
    "cluster",
    "run",
    "result",
    "last_run",
    "last_result",
    "last_state",
    "newest_unknown",
    "review",
    "conflict",
    "sound",
    "digest_read",
    "claimed_at",
)


def _columns_of(model: type[Seen]) -> list[str]:
    """What an object itself gives; what is judged from it and others is left alone. A result names its run itself."""
    kept = [name for name in _POINTERS if not (model is Result and name == "run")]
    return [field.name for field in model._meta.concrete_fields if not field.primary_key and field.name not in kept]


def concerned(kind: str, cluster: Cluster, names: set[str]) -> set[int]:
    """Checks whose verdict may change with these namespaces, templates or nodes."""
    checks = Check.objects.filter(cluster=cluster)
    found: models.QuerySet[Any, int]
    if kind == "Namespace":
        found = checks.filter(namespace__in=names).values_list("pk", flat=True)
    elif kind == TEMPLATE:
        found = checks.filter(template_name__in=names).values_list("pk", flat=True)
    elif kind == "Node":
        targets = TargetNode.objects.filter(subject__cluster=cluster, name__in=names)
        found = targets.values_list("subject_id", flat=True)
    else:
        return set()
    return set(found)


def _key(item: Object, kind: Kind) -> Key:
    metadata = section(item, "metadata")
    name = storable(text(metadata, "name"))
    if kind.name in (RUN, RESULT):
        return text(metadata, "namespace"), name, text(metadata, "uid")
    return (text(metadata, "namespace"), name) if kind.namespaced else (name,)


def _row_key(row: Any) -> Key:
    if isinstance(row, (Run, Result)):
        return row.namespace, row.name, row.uid
    return (row.namespace, row.name) if hasattr(row, "namespace") else (row.name,)


def _nameless(item: Object, kind: Kind) -> str:
    metadata = section(item, "metadata")
    for part in ("name", "namespace") if kind.namespaced else ("name",):
        if not 0 < len(text(metadata, part)) <= 253:
            return f"{kind.name} without a usable metadata.{part}"
    return f"{kind.name} with a metadata.uid that is too long" if len(text(metadata, "uid")) > 128 else ""
