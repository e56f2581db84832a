"""Loading a dump against only parsing it: the same file, the same reader, one run.

    python benchmarks/load_dump.py [RESULTS]      (default 100,000 results of 1,000 checks)

Prints, for YAML and for JSON, seconds to parse, seconds to load, their ratio, and the peak memory of each.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "dump" / "west-1.yaml"


def write_dump(path: Path, results: int) -> None:
    """A dump like the example's, with many results of a thousand checks; digests are right."""
    sys.path.insert(0, str(ROOT))
    from checks.contract.document import digest

    documents = list(yaml.load_all(EXAMPLE.read_text(), Loader=yaml.CSafeLoader))
    head, template = documents[0], documents[-1]
    fixed = [d for d in documents[1:] if d["kind"] not in ("TauValidationResult", "TauValidationRun")]
    text = yaml.safe_dump(template, sort_keys=False) if path.suffix == ".yaml" else json.dumps(template)
    with path.open("w") as out:
        if path.suffix == ".json":
            out.write(json.dumps(head) + '\n{"apiVersion":"v1","kind":"List","items":[\n')
        else:
            out.write(yaml.safe_dump_all([head, *fixed], sort_keys=False, explicit_start=True))
        stated = template["spec"]["digest"]
        for number in range(results):
            name, run = f"check-{number % 1000}", f"{number:024x}"
            envelope = json.loads(json.dumps(template["spec"]["envelope"]))
            envelope["check"]["name"] = name
            text_of = text.replace("ib-pair-7d0f3c9a51b2e84466aa91c0-1", f"{name}-{run}-1").replace(
                ": ib-pair\n", f": {name}\n"
            )
            text_of = text_of.replace('"ib-pair"', f'"{name}"').replace("00000000-0000-4000-8000-000000000004", run)
            if number == 0:
                text_of = text_of.replace(stated, digest(envelope))
            out.write(f"---\n{text_of}" if path.suffix == ".yaml" else (",\n" if number else "") + text_of)
        if path.suffix == ".json":
            out.write("\n]}\n")


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
print(load([Path(sys.argv[1])]).objects)
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
            path.unlink()


if __name__ == "__main__":
    main()
