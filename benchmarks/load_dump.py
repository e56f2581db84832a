"""Loading a dump against only parsing it: the same file, the same reader, one run.

    python -m benchmarks.load_dump [RESULTS]      (default 100,000 results of 1,000 checks)

Prints, for YAML and for JSON, seconds to parse, seconds to load, their ratio, and the peak memory of each.

At most four times the parsing is wanted. YAML, which kubectl prints for people, is at half of that. JSON is beyond it:
the C scanner needs 0.07 ms for a result, and what a result costs besides does not depend on its format: 0.3 ms to hash
it, to take out its columns and to write its row, and 0.25 ms on average to judge the newest thirty of each check.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from benchmarks.results import record
from checks.contract.document import digest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "dump" / "west-1.yaml"


def write_dump(path: Path, results: int) -> None:
    """A dump like the example's, with many results of a thousand checks: each of a run of its own, with its digest."""
    documents = list(yaml.load_all(EXAMPLE.read_text(), Loader=yaml.CSafeLoader))
    head, template = documents[0], documents[-1]
    fixed = [d for d in documents[1:] if d["kind"] not in ("TauValidationResult", "TauValidationRun")]
    is_yaml = path.suffix == ".yaml"
    text = yaml.safe_dump(template, sort_keys=False) if is_yaml else json.dumps(template)
    envelope, stated = json.dumps(template["spec"]["envelope"]), template["spec"]["digest"]
    old = template["spec"]["envelope"]["run"]["id"], "00000000-0000-4000-8000-000000000003", template["metadata"]["uid"]
    with path.open("w") as out:
        if is_yaml:
            out.write(yaml.safe_dump_all([head, *fixed], sort_keys=False, explicit_start=True))
        else:
            start = ",\n".join(json.dumps(d) for d in fixed)
            out.write(f'{json.dumps(head)}\n{{"apiVersion":"v1","kind":"List","items":[\n{start}')
        for number in range(results):
            one = renamed(text, number, old).replace(stated, digest(json.loads(renamed(envelope, number, old))))
            out.write(f"---\n{one}" if is_yaml else f",\n{one}")
        if not is_yaml:
            out.write("\n]}\n")


def renamed(form: str, number: int, old: tuple[str, ...]) -> str:
    """The example's text for the check, run and result with this number. old: the example's run id and two UIDs."""
    name, run = f"check-{number % 1000}", f"{number:024x}"
    ids = run, f"00000000-0000-4000-8001-{number:012x}", f"00000000-0000-4000-8002-{number:012x}"
    for was, now in zip(old, ids, strict=True):
        form = form.replace(was, now)
    form = form.replace(f"ib-pair-{run}", f"{name}-{run}").replace("group=ib-pair", f"group={name}")
    return form.replace('"ib-pair"', f'"{name}"').replace(": ib-pair\n", f": {name}\n")


PARSE = """
import sys
from pathlib import Path
from checks.dump import read_files
print(sum(1 for _ in read_files([Path(sys.argv[1])])))
"""
LOAD = """
import sys, django; django.setup()
from pathlib import Path
from django.core.management import call_command
call_command("migrate", verbosity=0, skip_checks=True)
from checks.sync.dump_load import load
done = load([Path(sys.argv[1])])
print(done.objects)
assert not done.problems, done.problems[:3]
"""


def timed(code: str, path: Path, env: dict[str, str]) -> tuple[float, int]:
    """Seconds and peak resident MiB of one process."""
    started = time.perf_counter()
    measured = f"{code}\nimport resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    done = subprocess.run(
        [sys.executable, "-c", measured, str(path)], env=env, cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return time.perf_counter() - started, int(done.stdout.split()[-1])


def main() -> None:
    """Both formats, one after the other."""
    results = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for form in ("json", "yaml"):
            path = Path(folder) / f"dump.{form}"
            write_dump(path, results)
            database = f"sqlite:///{folder}/{form}.sqlite3"
            env = os.environ | {
                "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
                "PORTAL_MODE": "test",
            }
            env = {"DJANGO_SETTINGS_MODULE": "taugrid_portal.settings", "DATABASE_URL": database} | env
            size = path.stat().st_size / 2**20
            parse, parse_memory = timed(PARSE, path, env)
            loading, load_memory = timed(LOAD, path, env)
            print(
                f"load_dump {form}: {results} results, {size:.0f} MiB; parse {parse:.1f} s ({parse_memory} MiB), "
                f"load {loading:.1f} s ({load_memory} MiB), ratio {loading / parse:.2f}"
            )
            figures[form] = {
                "parse_s": round(parse, 1),
                "load_s": round(loading, 1),
                "ratio": round(loading / parse, 2),
            }
            figures[form] |= {"parse_peak_mib": parse_memory, "load_peak_mib": load_memory}
            path.unlink()
    record("load_dump", {"results": results, **figures})


if __name__ == "__main__":
    main()
