"""docs/settings.md names every variable that the portal reads, and no other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "settings.md").read_text()
READERS = {"string", "boolean", "integer", "words", "choice", "secret", "database"}
# One for each option of each store, so that no call names it.
MADE = {"EVIDENCE_STORE_<NAME>_<OPTION>"}


def calls() -> Iterator[tuple[str, str]]:
    """Every call of `environ.NAME("VARIABLE", …)` in the site: which function, which variable."""
    for path in sorted((ROOT / "taugrid_portal").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            place, first = node.func.value, node.args[0]
            is_environ = isinstance(place, ast.Name) and place.id == "environ"
            if is_environ and node.func.attr in READERS and isinstance(first, ast.Constant):
                yield node.func.attr, str(first.value)


def documented() -> dict[str, str]:
    """Variables in the first column of a table, with their row."""
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]
    return {name: row for row in rows for name in re.findall(r"`([A-Z_<>]+)`", row.split("|")[1])}


def test_every_variable_that_is_read_has_a_row_and_every_row_is_read() -> None:
    read = {name for _, name in calls()}
    assert len(read) > 25
    assert set(documented()) - MADE == read


def test_a_secret_is_marked_as_one() -> None:
    secrets = {name for function, name in calls() if function in ("secret", "database")}
    assert {name for name, row in documented().items() if "**Secret.**" in row} - MADE == secrets


def test_the_chart_sets_only_variables_that_are_read() -> None:
    templates = (ROOT / "deploy" / "chart" / "templates" / "portal").glob("*.yaml")
    named = {name for path in templates for name in re.findall(r"name: ([A-Z][A-Z_]+)\b", path.read_text())}
    assert "SECRET_KEY_FILE" in named
    read = {name for _, name in calls()}
    assert {name.removesuffix("_FILE") for name in named} - read - {"HOME", "TMPDIR", "DJANGO_SETTINGS_MODULE"} == set()
    assert yaml.safe_load((ROOT / "deploy" / "chart" / "values.yaml").read_text())
