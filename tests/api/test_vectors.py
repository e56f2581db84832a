"""The published vectors, asked of the command line and of the API: same state, reason and sentence, as published."""

import base64
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import time_machine
from click.testing import CliRunner

import checks.contract
from checks.cli import commands
from checks.contract.clock import parse_time
from checks.dump import Item
from checks.models import Cluster, Evidence
from checks.sync.dump_load import load_items
from checks.sync.judging import all_checks, judge_checks

from .conftest import API, Program

VECTORS = sorted((Path(checks.contract.__file__).parent / "vectors").glob("*.json"))
Ask = Callable[..., Program]


def documents(vector: dict[str, Any]) -> list[dict[str, Any]]:
    """The vector as a dump that was captured when it is read."""
    head = {
        "apiVersion": "tau.azure.com/v1alpha1",
        "kind": "TauDump",
        "metadata": {"name": vector["cluster"]},
        "capturedAt": vector["now"],
        "complete": vector["source"]["complete"],
    }
    return [head, *vector["objects"]]


def evidence_folder(vector: dict[str, Any], folder: Path) -> Path | None:
    """The evidence as files; None where the vector has nobody to read any."""
    if vector["evidence"] is None:
        return None
    for name, content in vector["evidence"].items():
        (folder / name).write_bytes(base64.b64decode(content))
    return folder


def by_command_line(vector: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What `tau-check explain` says of the check."""
    dump = folder / "dump.json"
    dump.write_text("\n".join(json.dumps(document) for document in documents(vector)))
    evidence = evidence_folder(vector, folder)
    arguments = ["explain", "-f", str(dump), *(["--evidence", str(evidence)] if evidence else []), "-o", "json"]
    answer = CliRunner().invoke(commands, arguments, standalone_mode=False)
    assert answer.exception is None, answer.output
    found = {item["name"]: item for item in json.loads(answer.stdout)["checks"]}
    return found[vector["expect"]["name"]]  # type: ignore[no-any-return]


def by_api(vector: dict[str, Any], folder: Path, now: datetime, program: Ask) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the API says of the check, in its list and by itself, of a cluster that is as live as the vector has it."""
    items = [Item(f"vector, document {at}", item, "") for at, item in enumerate(documents(vector))]
    load_items(items, evidence=evidence_folder(vector, folder))
    row = Cluster.objects.get()
    row.captured_at, row.complete = None, vector["source"]["complete"]
    row.heartbeat_at = parse_time(vector["source"]["heartbeatAt"])
    row.save()
    if read := vector.get("verification"):
        times = {"verified_at": parse_time(read["at"]), "counts_until": parse_time(read["countsUntil"])}
        Evidence.objects.update(**times)
    judge_checks(all_checks(row), now)
    client = program("platform-admins")
    place = vector["expect"]
    if not row.complete:
        assert client.get(API + "checks").status_code == 503
        Cluster.objects.create(name="east-1", complete=True, heartbeat_at=now)
    listed = {item["name"]: item for item in client.ask("checks", limit=100)["items"]}
    return listed[place["name"]], client.ask(f"checks/{row.name}/{place['namespace']}/{place['name']}")["check"]


WALK = [pytest.param(path, id=path.stem) for path in VECTORS]


@pytest.mark.parametrize("path", WALK)
def test_command_line_and_api_say_what_is_published(path: Path, db: None, program: Ask, tmp_path: Path) -> None:
    vector = json.loads(path.read_text())
    expected, now = vector["expect"], parse_time(vector["now"])
    assert now is not None
    with time_machine.travel(now, tick=False):
        row, check = by_api(vector, tmp_path, now, program)
    answers = [row, check]
    # A dump was seen, and its evidence read, when it was captured.
    if vector["source"]["heartbeatAt"] == vector["now"] and "verification" not in vector:
        answers.append(by_command_line(vector, tmp_path))
    for answer in answers:
        assert (answer["state"], answer["reason"]) == (expected["state"], expected["reason"])
        assert answer["message"] == check["message"]
        last = answer["lastVerdict"]
        assert (last["state"] if last else None) == expected["lastVerdict"]
    for answer in answers[1:]:
        holds = {kind: [c["clause"] for c in answer["proof"] if c["holds"] == word] for kind, word in HOLDS.items()}
        assert holds == expected["proof"]


HOLDS = {"holds": "holds", "doesNotHold": "does_not_hold", "notKnown": "not_known"}


def test_there_are_vectors() -> None:
    assert len(VECTORS) > 100
