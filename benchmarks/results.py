"""The figures that benchmarks measured last, in `benchmarks/results.json`, by the name of the benchmark."""

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_suffix(".json")


def record(name: str, figures: dict[str, Any]) -> None:
    """Puts the figures of one benchmark beside those of the others."""
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    FILE.write_text(json.dumps(known | {name: figures}, indent=2, sort_keys=True) + "\n")
