"""The contract as JSON Schema, from the types that this product reads with: `python -m checks.contract.schemas DIR`.

The schemas say the shape. What crosses fields (times in order, the digest, exactly one way to launch) is in their
descriptions' place in docs/contract/README.md; the vectors show it.
"""

import json
import sys
from pathlib import Path
from typing import Any

from . import kinds
from .envelope import SCHEMA, Envelope
from .fields import Shape, Tolerant
from .report import SCHEMA as REPORT
from .report import Report

DRAFT = "https://json-schema.org/draft/2020-12/schema"
DOCUMENTS: dict[str, tuple[type[Shape] | type[Tolerant], str]] = {
    SCHEMA: (Envelope, "The sealed result of one attempt"),
    REPORT: (Report, "What one pod reports as its termination message"),
    f"{kinds.TEMPLATE}.spec": (kinds.TemplateSpec, "What a check launches"),
    f"{kinds.CHECK}.spec": (kinds.CheckSpec, "The registration of a check"),
    f"{kinds.RUN}.spec": (kinds.RunSpec, "One attempt to run a check"),
    f"{kinds.RUN}.status": (kinds.RunStatus, "What the controller says of a run"),
    f"{kinds.RESULT}.spec": (kinds.ResultSpec, "A sealed result in the cluster"),
}


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of one document of the contract."""
    shape, title = DOCUMENTS[name]
    body: dict[str, Any] = _published(shape.model_json_schema(by_alias=True))
    if name == f"{kinds.RESULT}.spec":
        body["properties"]["envelope"] = {"$ref": f"{SCHEMA}.schema.json"}
    return {"$schema": DRAFT, "$id": f"{name}.schema.json"} | body | {"title": title}


def _published(schema: Any) -> Any:
    """Without what pydantic adds for itself: titles, and what an absent field means to this reader. A field that may be
    left out is left out, never null."""
    if isinstance(schema, list):
        return [_published(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: _published(value) for key, value in schema.items() if key not in ("default", "title", "properties")}
    if "properties" in schema:
        kept["properties"] = {name: _published(field) for name, field in schema["properties"].items()}
    for name, field in kept.get("properties", {}).items():
        branches = [branch for branch in field.get("anyOf", ()) if branch != {"type": "null"}]
        if len(branches) == 1 and name not in kept.get("required", ()):
            kept["properties"][name] = branches[0]
    return kept


def write(folder: Path) -> None:
    """One file `<name>.schema.json` for each document."""
    for name in DOCUMENTS:
        text = json.dumps(schema_of(name), indent=2, ensure_ascii=False, sort_keys=True)
        (folder / f"{name}.schema.json").write_text(text + "\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
