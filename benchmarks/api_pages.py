"""Pages and API of a large fleet against an empty view of the same server: the same bytes, middleware and sign-in.

    python benchmarks/api_pages.py [--results 1000000] [--requests 300] [--database URL] [--keep FOLDER] [--write]

Makes a fleet (10,000 nodes and 1,000 checks through the loader, then results straight into rows), serves it with the
production server on loopback, and asks each address and its empty twin in turn. Prints p50 and p99 in milliseconds,
their ratio and the number of queries; `first…` is the same with nothing kept, each answer made from the database.
`processor…` is what one answer costs both sides of the wire, which a busy machine changes less than the time.
--write adds them to benchmarks/results.json; --keep uses the fleet in FOLDER (or DATABASE) again, if it is there.
"""

import argparse
import copy
import http.client
import json
import os
import platform
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
RESULTS_FILE = ROOT / "benchmarks" / "results.json"
EXAMPLE = ROOT / "examples" / "dump"
NODES, CHECKS, POOLS, SITES = 10_000, 1_000, 40, 8
NAMESPACE, CLUSTER = "team-vision", "west-1"
ACCESS = "rules: [{groups: [admins], clusters: [west-1], fleet: [west-1], reviews: true}]\n"
Object = dict[str, Any]


def configure(database: str, folder: Path) -> None:
    """Settings of a portal that reads dumps, as production has them otherwise."""
    (folder / "access.yaml").write_text(ACCESS)
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "taugrid_portal.settings",
        "PORTAL_MODE": "test",
        "DATABASE_URL": database or f"sqlite:///{folder}/fleet.sqlite3",
        "ACCESS_FILE": str(folder / "access.yaml"),
        "SECRET_KEY": "benchmark " * 8,
        "LOG_LEVEL": "ERROR",
        "ANSWERS_KEPT_SECONDS": "30",
    }
    import django
    from django.conf import settings

    settings.ROOT_URLCONF = "benchmarks_api_pages"
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def objects() -> Iterator[Object]:
    """A dump of the fleet: every check registered, approved, and run once; every tenth of them failed."""
    import yaml

    from checks.contract.document import digest

    text = (EXAMPLE / "west-1.yaml").read_text()
    example: list[Object] = json.loads(json.dumps(list(yaml.load_all(text, Loader=yaml.CSafeLoader)), default=str))
    per_check = ("TauValidationCheck", "TauValidationRun", "TauValidationResult")
    yield from (item for item in example if item["kind"] not in per_check)
    node = next(item for item in example if item["kind"] == "Node")
    for number in range(NODES - 2):
        yield _node(node, number)
    check, run, result = (next(item for item in example if item["kind"] == kind) for kind in per_check)
    for number in range(CHECKS):
        registered, ran, sealed = (copy.deepcopy(item) for item in (check, run, result))
        name, uid, run_uid = f"check-{number:04}", f"check-uid-{number}", f"run-uid-{number}"
        registered["spec"]["title"] = f"Check {number:04}"
        spec_digest = digest(registered["spec"])
        registered["metadata"] |= {"name": name, "uid": uid}
        registered["metadata"]["annotations"]["tau.azure.com/approved"] = spec_digest
        reference = {"name": name, "uid": uid, "specDigest": spec_digest}
        ran["metadata"] |= {"name": f"{name}-{number:024x}", "uid": run_uid}
        ran["spec"] |= {"checkRef": reference, "runID": f"{number:024x}"}
        ran["status"]["resultRef"] = {"name": f"{name}-{number:024x}-1", "uid": f"result-uid-{number}"}
        envelope = sealed["spec"]["envelope"]
        envelope["check"] |= reference
        envelope["run"] |= {"id": f"{number:024x}", "uid": run_uid}
        if number % 10 == 0:
            envelope |= {"outcome": "failed", "reason": "transport_failure", "message": "The link went down"}
            envelope["targets"]["observed"][0]["outcome"] = "failed"
        sealed["metadata"] |= ran["status"]["resultRef"]
        sealed["spec"]["digest"] = digest(envelope)
        yield from (registered, ran, sealed)


def _node(example: Object, number: int) -> Object:
    node = copy.deepcopy(example)
    node["metadata"] |= {"name": f"gpu-{number + 100:05}", "uid": f"node-{number}"}
    node["metadata"]["labels"] |= {
        "kubernetes.azure.com/agentpool": f"pool-{number % POOLS:02}",
        "unbounded-cloud.io/site": f"site-{number % SITES}",
    }
    return node


def fill(results: int) -> None:
    """Loads the fleet, then adds older results until there are this many."""
    from django.db import connection

    from checks.dump import Item
    from checks.models import Check, Result

    if Result.objects.count() >= results:
        return
    from checks.sync.dump_load import load_items

    load_items(
        (Item(f"fleet, object {at}", item, "") for at, item in enumerate(objects())), evidence=EXAMPLE / "evidence"
    )
    pattern = Result.objects.order_by("pk").last()
    assert pattern is not None
    each = max(0, results // CHECKS - 1)
    columns = [field.column for field in Result._meta.concrete_fields if not field.primary_key]
    changed = {"name": "'old-' || c.id || '-' || s.n", "uid": "'old-uid-' || c.id || '-' || s.n", "subject_id": "c.id"}
    changed |= {"run_id": "NULL", "run_uid": "'old-run-' || c.id || '-' || s.n", "created_at": "%s", "ordered_at": "%s"}
    values = ", ".join(changed.get(column, f"r.{column}") for column in columns)
    sqlite = connection.vendor == "sqlite"
    series = "(WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < %s) SELECT n FROM t) s"
    numbers = series if sqlite else "generate_series(1, %s) s(n)"
    made = f"SELECT {values} FROM checks_check c, {numbers}, checks_result r WHERE r.id = %s"
    if each:
        old = "2026-10-01 00:00:00"
        with connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO checks_result ({', '.join(columns)}) {made}", [old, old, each, pattern.pk])
            cursor.execute("ANALYZE")
    assert Result.objects.count() >= results and Check.objects.count() == CHECKS


BODIES: dict[str, tuple[bytes, str]] = {}


def empty(request: Any, name: str) -> Any:
    """The same bytes, without asking anything."""
    from django.http import HttpResponse

    body, content_type = BODIES[name]
    return HttpResponse(body, content_type=content_type)


def __getattr__(name: str) -> Any:
    """urlpatterns: those of the portal and the empty twins, made when the settings are there."""
    if name != "urlpatterns":
        raise AttributeError(name)
    from django.urls import include, path

    return [path("empty/<str:name>", empty), path("", include("taugrid_portal.urls"))]


def signed_in() -> str:
    """The cookie of an admin's session."""
    from django.test import Client

    from tests.site.people import sign_in

    client = Client()
    sign_in(client, "ada@example.org", ["admins"])
    return f"taugrid-session={client.cookies['taugrid-session'].value}"


ADDRESSES = {
    "fleet page": "/",
    "checks page": "/checks/",
    "checks page, failed": "/checks/?state=Failed",
    "check page": f"/checks/{CLUSTER}/{NAMESPACE}/check-0500/",
    "api fleet": "/api/portal/fleet",
    "api summary": "/api/portal/checks/summary",
    "api checks": "/api/portal/checks",
    "api check": f"/api/portal/checks/{CLUSTER}/{NAMESPACE}/check-0500",
}


def measure(requests: int) -> dict[str, Any]:
    """Each address and its empty twin in turn, over one kept connection."""
    from django.conf import settings
    from waitress.server import create_server

    from taugrid_portal.wsgi import application

    cookie = signed_in()
    server = create_server(application, host="127.0.0.1", port=0, threads=2)
    threading.Thread(target=server.run, daemon=True).start()
    wire = http.client.HTTPConnection("127.0.0.1", server.effective_port)

    def ask(path: str) -> tuple[float, float, bytes, str]:
        began, worked = time.perf_counter(), time.process_time()
        wire.request("GET", path, headers={"Cookie": cookie, "Host": "localhost:8000"})
        answer = wire.getresponse()
        body = answer.read()
        took, work = time.perf_counter() - began, time.process_time() - worked
        assert answer.status == 200, (path, answer.status, body[:300])
        return took * 1000, work * 1000, body, answer.headers["Content-Type"]

    found = {}
    for name, path in ADDRESSES.items():
        *_, body, content_type = ask(path)
        BODIES[name] = (body, content_type)
        twin = "/empty/" + name.replace(" ", "%20").replace(",", "%2C")
        figures: dict[str, Any] = {"bytes": len(body)}
        for prefix, seconds, times in (("", 30, requests), ("first", 0, max(20, requests // 6))):
            settings.ANSWERS_KEPT_SECONDS = seconds
            pairs = [(ask(path)[:2], ask(twin)[:2]) for _ in range(times)]
            figures |= _compared(prefix, *([each[side][0] for each in pairs] for side in (0, 1)))
            own, empty = (statistics.median(each[side][1] for each in pairs) for side in (0, 1))
            figures |= {_named(prefix, "processorMilliseconds"): round(own, 1)}
            figures |= {_named(prefix, "processorRatio"): round(own / empty, 2)}
            figures[_named(prefix, "queries")] = _queries(path, cookie)
        settings.ANSWERS_KEPT_SECONDS = 30
        found[name] = figures
        print(f"{name:22} {json.dumps(found[name])}", flush=True)
    server.close()
    return found


def _compared(prefix: str, own: list[float], other: list[float]) -> dict[str, float]:
    figures: dict[str, float] = {}
    own, other = sorted(own), sorted(other)
    for percent in (50, 99):
        mine, empty = _at(own, percent), _at(other, percent)
        figures[_named(prefix, f"p{percent}Milliseconds")] = round(mine, 1)
        figures[_named(prefix, f"emptyP{percent}Milliseconds")] = round(empty, 1)
        figures[_named(prefix, f"ratioP{percent}")] = round(mine / empty, 2)
    return figures


def _named(prefix: str, name: str) -> str:
    return prefix + name[0].upper() + name[1:] if prefix else name


def _at(values: list[float], percent: int) -> float:
    return values[min(len(values) - 1, len(values) * percent // 100)]


def _queries(path: str, cookie: str) -> int:
    from django.db import connection
    from django.test import Client

    client, counted = Client(headers={"host": "localhost:8000", "cookie": cookie}), []

    def count(execute: Any, sql: str, *rest: Any) -> Any:
        counted.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(count):
        assert client.get(path).status_code == 200
    return len(counted)


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--results", type=int, default=1_000_000)
    asked.add_argument("--requests", type=int, default=300)
    asked.add_argument("--database", default=os.environ.get("DATABASE_URL", ""))
    asked.add_argument("--keep", type=Path)
    asked.add_argument("--write", action="store_true")
    options = asked.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = options.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        configure(options.database, folder)
        from django.db import connection

        began = time.perf_counter()
        fill(options.results)
        print(f"made in {time.perf_counter() - began:.0f} s on {connection.vendor}", flush=True)
        found = measure(options.requests)
        if options.write:
            _write(
                f"api_pages on {connection.vendor}",
                {
                    "results": options.results,
                    "nodes": NODES,
                    "checks": CHECKS,
                    "requests": options.requests,
                    "load_average": round(os.getloadavg()[0], 1),
                }
                | found,
            )
    return 0


def _write(name: str, figures: dict[str, Any]) -> None:
    known = json.loads(RESULTS_FILE.read_text()) if RESULTS_FILE.exists() else {}
    known[name] = {"python": platform.python_version(), "processors": os.cpu_count(), **figures}
    RESULTS_FILE.write_text(json.dumps(known, indent=2) + "\n")


if __name__ == "__main__":
    sys.modules["benchmarks_api_pages"] = sys.modules["__main__"]
    sys.exit(main())
