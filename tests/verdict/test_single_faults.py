"""One field of the example wrong at a time: it is never Passed, unless the field truly proves nothing.

Every field of every object is taken away, set to null and changed; the result is sealed again over what it then is, so
that it is not the digest alone that finds out.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from checks.contract.document import digest
from checks.contract.reasons import BY_CODE
from checks.dump import Item
from checks.snapshot import snapshots
from checks.verdict import Verdict
from tests.contract.example import DUMP, NOW, Example

# Kind, field, how it may be wrong (all: removed, null or changed; absent: removed or null), why that proves nothing.
PROVES_NOTHING: list[tuple[str, str, str, str]] = [
    ("Namespace|.*Policy|.*Binding|.*Template", "metadata/uid", "all", "these are known by name"),
    (".*Binding", "metadata(/name)?", "all", "a binding acts by what it says, under any name"),
    (".*Policy", "spec/paramKind/apiVersion", "changed", "a version that the server does not know denies everything"),
    ("Namespace|Node|.*Policy|.*Binding", "apiVersion", "all", "the group counts, and it is the same or none"),
    ("Node|.*Template|.*Check", "metadata/creationTimestamp", "all", "what it is counts, not since when"),
    (
        "Node",
        "metadata/labels.*|status/(capacity|allocatable|conditions).*",
        "all",
        "a node's health is not what was tested",
    ),
    ("Node", "spec", "all", "the machine's own ids are compared where both sides know them; the UID decides"),
    ("Node", "spec/providerID|status/nodeInfo/(machineID|systemUUID)", "absent", "as above"),
    (".*Check", "metadata/generation|status.*", "all", "the reader computes the digest itself and believes no status"),
    (".*Check", "metadata/annotations/tau.azure.com/reviewed-by", "changed", "that somebody reviewed counts"),
    (".*Run", "metadata/name", "all", "a run is known by its UID"),
    (".*Run", "spec/parameters|status/cleanup/(owned|owned/[0-9]|remaining)", "removed", "absent is empty"),
    (".*Run", "status/[a-zA-Z]+At", "absent", "the result says when"),
    (".*Run", "status/(job|workload)", "absent", "how it was launched is not what it found"),
    (
        ".*Run",
        "status/(job|workload)/(name|uid)|status/targets/[0-9]/kind",
        "all",
        "as above; and only nodes are targets",
    ),
    (".*Run", "status/cleanup/owned/[0-9]/.*", "all", "what remains counts, not what was made"),
    (".*Result", "spec/digest", "all", "it is sealed again here"),
    (
        ".*Result",
        "spec/envelope/targets/requested/nodes|spec/envelope/times/(queued|admitted)",
        "absent",
        "null is: any, never",
    ),
    (
        ".*Result",
        "spec/envelope/targets/observed/[0-9]/(providerID|machineID|systemUUID|image|accelerators)",
        "absent",
        "not seen",
    ),
    (".*Result", "spec/envelope/targets/observed/[0-9]/(image|accelerators/.*)", "all", "what it ran on is the node"),
    (".*Result", "spec/envelope/(parser|details)", "absent", "null is: none"),
    (
        ".*Result",
        "spec/envelope/(reason|message|producer/.*|parser/.*|details/data/.*)",
        "all",
        "words; the facts are judged",
    ),
    (".*Result", "spec/envelope/freshForSeconds", "changed", "longer, while validUntil ends as before"),
    (".*Result", "spec/envelope/cleanup/owned/.*", "all", "what remains counts, not what was made"),
    (".*Result", "spec/envelope/evidence/[0-9]/(uri|mediaType)", "changed", "evidence is known by its sha256"),
]


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place in a value."""
    if path:
        yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths(item, (*path, key))


def another(value: Any) -> Any:
    """A value of the same kind that is not the same; a list for an object, an object for a list, text for null."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return value[:-1] + ("1" if value.endswith("0") else "0")
        case dict():
            return []
        case list():
            return {}
    return "x"


def verdicts(example: Example) -> list[Verdict]:
    items = [Item("dump, object", value) for value in (example.head, *example.objects)]
    (snapshot,) = snapshots(items, "", None)
    return [each.verdict for each in snapshot.explain(NOW, DUMP / "evidence")]


def is_free(kind: str, path: str, how: str) -> bool:
    """Whether a fault of this field is one that proves nothing."""
    ways = {"all", how} if how == "changed" else {"all", how, "absent"}
    return any(
        re.fullmatch(kinds, kind) and re.fullmatch(fields, path) and way in ways
        for kinds, fields, way, _ in PROVES_NOTHING
    )


OBJECTS = Example().objects


@pytest.mark.parametrize(
    "number", range(len(OBJECTS)), ids=[item["kind"] + "-" + item["metadata"]["name"][:12] for item in OBJECTS]
)
@pytest.mark.parametrize("how", ["removed", "null", "changed"])
def test_no_single_fault_is_passed_unless_it_proves_nothing(number: int, how: str) -> None:
    kind, wrong = OBJECTS[number]["kind"], []
    for path in paths(OBJECTS[number]):
        example = Example()
        inner: Any = example.objects[number]
        for step in path[:-1]:
            inner = inner[step]
        if how == "removed":
            del inner[path[-1]]
        else:
            inner[path[-1]] = None if how == "null" else another(inner[path[-1]])
        spec = example.objects[number].get("spec")
        if kind.endswith("Result") and isinstance(spec, dict) and isinstance(spec.get("envelope"), dict):
            spec["digest"] = digest(spec["envelope"])
        found, where = verdicts(example), "/".join(map(str, path))
        assert all(verdict.reason in BY_CODE for verdict in found), where
        if any(verdict.state == "Passed" for verdict in found) and not is_free(kind, where, how):
            wrong.append(where)
    assert wrong == []


@pytest.mark.parametrize(
    "number", range(len(OBJECTS)), ids=[item["kind"] + "-" + item["metadata"]["name"][:12] for item in OBJECTS]
)
def test_no_object_can_be_missed(number: int) -> None:
    example = Example()
    example.drop(example.objects[number])
    assert verdicts(example) and all(verdict.state != "Passed" for verdict in verdicts(example))


@pytest.mark.parametrize("line", PROVES_NOTHING, ids=lambda line: f"{line[0]} {line[1]}")
def test_every_field_that_proves_nothing_is_one_of_the_example(line: tuple[str, str, str, str]) -> None:
    everywhere = [(item["kind"], "/".join(map(str, path))) for item in OBJECTS for path in paths(item)]
    assert any(re.fullmatch(line[0], kind) and re.fullmatch(line[1], path) for kind, path in everywhere)
