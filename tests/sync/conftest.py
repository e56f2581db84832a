"""Dumps for these tests: the published example, changed one fact at a time."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from checks.contract.document import digest

EXAMPLE = Path(__file__).parents[2] / "examples" / "dump" / "west-1.yaml"
EVIDENCE = EXAMPLE.parent / "evidence"
Objects = list[dict[str, Any]]


def example_objects() -> Objects:
    """The objects of the example, TauDump first."""
    return copy.deepcopy(list(yaml.load_all(EXAMPLE.read_text(), Loader=yaml.CSafeLoader)))


def named(objects: Objects, kind: str, index: int = 0) -> dict[str, Any]:
    """One object of a dump, to be changed in place."""
    return [item for item in objects if item["kind"] == kind][index]


def seal(objects: Objects) -> None:
    """Makes the digests right again after a change of an envelope."""
    spec = named(objects, "TauValidationResult")["spec"]
    spec["digest"] = digest(spec["envelope"])


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes objects as a dump file."""

    def _write(objects: Objects, name: str = "dump.yaml") -> Path:
        path = tmp_path / name
        text = json.dumps({"kind": "List", "apiVersion": "v1", "items": objects}) if name.endswith("json") else None
        path.write_text(text or yaml.safe_dump_all(objects, sort_keys=False))
        return path

    return _write
