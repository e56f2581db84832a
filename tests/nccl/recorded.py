"""The judge under test, loaded from examples/nccl-ib, and the recorded logs with the verdict each must get."""

import csv
import importlib.util
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
EXAMPLE = HERE.parent.parent / "examples" / "nccl-ib"


def load(name: str) -> ModuleType:
    """A module of the example, which is no package: it is copied into an image file by file."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, EXAMPLE / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


sys.path.append(str(EXAMPLE))  # the runner imports the judge by its plain name
transport = load("nccl_transport")


@dataclass(frozen=True)
class Recorded:
    """One row of INDEX.tsv."""

    file: str
    expected: str
    acceptable: frozenset[str]
    exit_code: int | None
    nodes: tuple[str, ...] | None

    @property
    def data(self) -> bytes:
        return (CORPUS / self.file).read_bytes()


def recorded() -> list[Recorded]:
    with (CORPUS / "INDEX.tsv").open(encoding="utf-8", newline="") as index:
        rows = list(csv.DictReader(index, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Recorded(
            file=row["file"],
            expected=row["expected_verdict"],
            acceptable=frozenset({row["expected_verdict"]} | set(row["acceptable"].split("|"))),
            exit_code=None if row["exit_code"] == "-" else int(row["exit_code"]),
            nodes=None if row["pod_nodes"] == "-" else tuple(row["pod_nodes"].split(",")),
        )
        for row in rows
    ]


RECORDED = recorded()
PASSING = [log for log in RECORDED if log.expected == "passed"]
BY_NUMBER = {log.file[:3]: log for log in RECORDED}


def judge(*logs: bytes, **request: Any) -> Any:
    """The verdict over one or more logs. Unless said otherwise the run ended well, on two nodes, any link."""
    asked = {"link_layer": "any", "exit_code": 0, "nodes": ("node-1", "node-2"), **request}
    files = [(f"rank{place}.log", io.BytesIO(data)) for place, data in enumerate(logs)]
    return transport.judge(files, transport.Request(**asked))
