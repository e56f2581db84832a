"""What the API says about checks, runs and machines, and to whom."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from checks.contract.document import digest
from checks.models import Cluster as ClusterRow
from checks.models import Evidence
from tests.review.conftest import Cluster
from tests.sync.conftest import named

from .conftest import ADMINS, API, OPERATORS, WEST, Program

Ask = Callable[..., Program]
CHECK = "checks/west-1/team-vision/ib-pair"
RUN = "runs/00000000-0000-4000-8000-000000000003"


@pytest.fixture
def proven(west: Cluster) -> Cluster:
    """The example with its evidence read."""
    Evidence.objects.update(state="verified")
    from checks.sync.judging import all_checks, judge_checks

    row = ClusterRow.objects.get()
    assert row.captured_at is not None
    judge_checks(all_checks(row), row.captured_at)
    return west


def reseal(cluster: Cluster) -> None:
    """Makes the digest of the result right again after a change of its envelope."""
    spec = named(cluster.objects, "TauValidationResult")["spec"]
    spec["digest"] = digest(spec["envelope"])


def another(cluster: Cluster, number: int) -> dict[str, Any]:
    """One more registration, never run."""
    other = copy.deepcopy(cluster.check)
    other["metadata"] |= {"name": f"check-{number:04}", "uid": f"uid-{number}"}
    other["spec"]["title"] = f"Check {number:04}"
    other["metadata"]["annotations"]["tau.azure.com/approved"] = digest(other["spec"])
    return other


def test_a_proven_check_is_passed_with_every_clause(proven: Cluster, program: Ask) -> None:
    check = program(OPERATORS).ask(CHECK)["check"]
    assert (check["state"], check["reason"]) == ("Passed", "proved")
    assert {clause["holds"] for clause in check["proof"]} == {"holds"}
    assert check["details"]["schema"] == "nccl-ib.v1"
    assert check["details"]["data"]["busBandwidthGBps"] == 388.2
    assert [target["name"] for target in check["targets"]] == ["gpu-03", "gpu-12"]
    assert check["cleanup"]["stated"] == "complete"
    assert [item["remains"] for item in check["cleanup"]["objects"]] == [False, False]
    assert check["freshUntil"] == "2026-12-01T05:12:00Z"
    assert check["runbookURL"] == "https://runbooks.example/ib-pair"
    assert check["lastVerdict"]["runUID"] == "00000000-0000-4000-8000-000000000003"
    assert [step["step"] for step in check["lifecycle"]][0::6] == ["Created", "Sealed"]


def test_the_row_the_check_and_its_newest_run_say_the_same(proven: Cluster, program: Ask) -> None:
    client = program(ADMINS)
    [row] = client.ask("checks")["items"]
    check, run = client.ask(CHECK)["check"], client.ask(RUN)["run"]
    words = ("state", "reason", "message", "result", "asOf")
    assert [row[w] for w in words] == [check[w] for w in words] == [run[w] for w in words]
    assert run["newest"] and run["proof"] == check["proof"]
    [told] = client.ask(f"{CHECK}/runs")["items"]
    assert (told["uid"], told["state"], told["runID"]) == (run["uid"], "Passed", run["runID"])


def test_evidence_says_what_the_result_says_and_how_it_was_read(west: Cluster, program: Ask) -> None:
    items = program(OPERATORS).ask(f"{RUN}/evidence")["items"]
    assert [item["name"] for item in items] == ["manifest", "logs", "placement", "image-receipt", "cleanup"]
    assert {item["state"] for item in items} == {"unverified"}
    assert items[0]["sizeBytes"] == 61 and items[0]["required"] is True
    assert items[0]["uri"].startswith("https://artifacts.example/")


def test_a_failed_clause_carries_its_reason_and_what_to_do(west: Cluster, program: Ask) -> None:
    check = program(OPERATORS).ask(CHECK)["check"]
    [fault] = [clause for clause in check["proof"] if clause["holds"] == "does_not_hold"]
    assert (check["state"], fault["reason"], fault["clause"]) == ("Unknown", "evidence_unverified", "evidence")
    assert fault["nextStep"]


def test_every_answer_says_whose_it_is_and_from_what(west: Cluster, program: Ask) -> None:
    answer = program(OPERATORS, username="olu").ask("checks")
    assert answer["scope"] == {
        "viewer": "olu",
        "clusters": [],
        "namespaces": [{"cluster": "west-1", "namespace": "team-vision"}],
        "fleet": [],
        "reviews": False,
        "problem": "",
    }
    [source] = answer["sources"]
    assert (source["cluster"], source["available"], source["dump"]) == ("west-1", True, True)
    assert source["asOf"] == source["seenAt"] == "2026-11-30T08:01:00Z"
    assert answer["generatedAt"].endswith("Z")


def test_the_state_of_the_data_is_not_the_state_of_a_check(west: Cluster, east: Cluster, program: Ask) -> None:
    admin, reader, nobody = program(ADMINS), program(WEST), program("no-such-group")
    assert admin.ask("checks")["dataState"] == "ready"
    assert nobody.ask("checks")["dataState"] == "no_data"
    assert nobody.ask("checks")["sources"] == []
    ClusterRow.objects.filter(name="west-1").update(complete=False)
    assert admin.ask("checks")["dataState"] == "partial"
    answer = reader.ask("checks")
    assert answer["dataState"] == "unavailable"
    assert {item["reason"] for item in answer["items"]} == {"source_unavailable"}


def test_the_summary_counts_what_the_list_holds_and_names_the_worst(proven: Cluster, program: Ask) -> None:
    proven.objects += [another(proven, number) for number in range(3)]
    proven.seen()
    client = program(OPERATORS)
    summary, listed = client.ask("checks/summary"), client.ask("checks")
    assert summary["counts"] == listed["counts"]
    assert sum(summary["counts"].values()) == summary["total"] == listed["total"] == 4
    assert summary["worst"] == listed["items"][0]["state"] == "Unknown"
    assert program("no-such-group").ask("checks/summary")["worst"] is None


def test_an_unknown_schema_keeps_its_row_and_its_metadata_and_nothing_is_interpreted(
    west: Cluster, program: Ask
) -> None:
    spec = named(west.objects, "TauValidationResult")["spec"]
    spec["envelope"]["schema"] = "tau.validation-result.v9"
    spec["envelope"]["details"] = {"anything": ["else"]}
    reseal(west)
    west.seen()
    client = program(OPERATORS)
    [row] = client.ask("checks")["items"]
    assert (row["state"], row["reason"]) == ("Unknown", "unsupported_schema")
    assert row["result"] == {
        "name": "ib-pair-7d0f3c9a51b2e84466aa91c0-1",
        "uid": "00000000-0000-4000-8000-000000000004",
        "schema": "tau.validation-result.v9",
        "digest": spec["digest"],
        "publisher": "system:serviceaccount:tau-system:tau-validation-controller",
        "attempt": 1,
        "runUID": "00000000-0000-4000-8000-000000000003",
        "createdAt": "2026-11-30T05:12:00Z",
    }
    check = client.ask(CHECK)["check"]
    assert check["result"] == row["result"]
    assert check["details"] is None


def test_details_in_a_schema_that_is_not_registered_are_not_interpreted(west: Cluster, program: Ask) -> None:
    named(west.objects, "TauValidationResult")["spec"]["envelope"]["details"]["schema"] = "other.v1"
    reseal(west)
    west.seen()
    check = program(OPERATORS).ask(CHECK)["check"]
    assert (check["reason"], check["details"]) == ("unsupported_schema", None)


HOSTILE: list[Any] = [
    None,
    [],
    "text",
    {},
    {"launch": 7, "targets": "x", "results": []},
    {"title": {"a": 1}, "type": ["x"], "owner": 5},
    {"launch": {"template": {"name": ["nccl-ib-pair"], "digest": {}}}},
]


@pytest.mark.parametrize("spec", HOSTILE)
def test_one_malformed_registration_among_a_thousand_changes_nothing_about_the_others(
    west: Cluster, program: Ask, spec: Any
) -> None:
    numbers = range(1000) if spec is None else range(40)
    west.objects += [another(west, number) for number in numbers]
    west.seen()
    client = program(OPERATORS)
    before = everything(client)
    assert len(before) == len(numbers) + 1
    broken = named(west.objects, "TauValidationCheck", 17)
    name = broken["metadata"]["name"]
    broken["spec"] = spec
    west.seen()
    after = everything(client)
    assert (after[name]["state"], after[name]["reason"]) == ("Unknown", "registration_invalid")
    changing = ("asOf",)
    for row in (*before.values(), *after.values()):
        for key in changing:
            row.pop(key)
    assert {k: v for k, v in after.items() if k != name} == {k: v for k, v in before.items() if k != name}


def everything(client: Program, **query: Any) -> dict[str, Any]:
    """Every row of the list by name, page by page; no row may come twice."""
    found: dict[str, Any] = {}
    cursor: dict[str, str] = {}
    while True:
        page = client.ask("checks", limit=100, **query, **cursor)
        for item in page["items"]:
            assert item["name"] not in found
            found[item["name"]] = item
        if page["nextCursor"] is None:
            return found
        cursor = {"cursor": page["nextCursor"]}


@pytest.mark.parametrize("envelope", [None, [], "x", {"schema": 5}, {"schema": "tau.validation-result.v1"}, {"a": 1}])
def test_a_malformed_result_is_a_row_too(west: Cluster, program: Ask, envelope: Any) -> None:
    named(west.objects, "TauValidationResult")["spec"]["envelope"] = envelope
    west.seen()
    client = program(OPERATORS)
    row = everything(client)["ib-pair"]
    assert row["state"] == "Unknown" and row["reason"] in ("malformed_result", "unsupported_schema", "digest_mismatch")
    check = client.ask(CHECK)["check"]
    assert check["details"] is None and check["state"] == "Unknown"
    assert client.ask(RUN)["run"]["state"] == "Unknown"
    assert client.ask(f"{RUN}/evidence")["items"] is not None


def test_pages_survive_what_is_inserted_and_deleted_between_them(west: Cluster, program: Ask) -> None:
    west.objects += [another(west, number) for number in range(0, 20, 2)]
    west.seen()
    client = program(OPERATORS)
    first = client.ask("checks", limit=5, sort="name")
    names = [item["name"] for item in first["items"]]
    west.objects = [item for item in west.objects if item["metadata"].get("name") not in (names[1], names[4])]
    west.objects.append(another(west, 1))
    west.seen()
    second = client.ask("checks", limit=100, sort="name", cursor=first["nextCursor"])
    assert [item["name"] for item in second["items"]] == [
        *[f"check-{n:04}" for n in range(10, 20, 2)],
        "ib-pair",
    ]
    assert second["nextCursor"] is None


@pytest.mark.parametrize("change", [{"state": "Passed"}, {"sort": "age"}, {"q": "check"}, {"cluster": "west-1"}])
def test_a_cursor_belongs_to_its_filter_and_order(west: Cluster, program: Ask, change: dict[str, str]) -> None:
    west.objects += [another(west, number) for number in range(3)]
    west.seen()
    client = program(OPERATORS)
    cursor = client.ask("checks", limit=1)["nextCursor"]
    assert client.get(API + "checks", {"limit": 1, "cursor": cursor} | change).status_code == 400
    assert client.get(API + "checks", {"limit": 1, "cursor": cursor[:-1] + "x"}).status_code == 400
    assert client.get(API + f"{CHECK}/runs", {"cursor": cursor}).status_code == 400
    assert client.get(API + "checks", {"limit": 2, "cursor": cursor}).status_code == 200


def test_a_cursor_belongs_to_its_viewer(west: Cluster, program: Ask) -> None:
    west.objects += [another(west, number) for number in range(3)]
    west.seen()
    cursor = program(OPERATORS).ask("checks", limit=1)["nextCursor"]
    other = program(OPERATORS, username="ben")
    assert other.get(API + "checks", {"limit": 1, "cursor": cursor}).status_code == 400


def test_the_fleet_is_shown_to_those_who_may_see_nodes(west: Cluster, program: Ask) -> None:
    fleet = program(WEST).ask("fleet")["fleet"]
    assert fleet["nodesReady"]["total"] == 2
    assert sum(pool["nodes"] for pool in fleet["pools"]) == 2
    assert fleet["gpusFree"]["value"] is None, "no queue was read: not known, which is not 0"
    answer = program(OPERATORS).ask("fleet")
    assert answer["fleet"] is None and answer["dataState"] == "no_data"


def test_what_is_gone_is_not_listed_and_improves_nothing(proven: Cluster, program: Ask) -> None:
    proven.objects.remove(named(proven.objects, "TauValidationResult"))
    proven.seen()
    [row] = program(OPERATORS).ask("checks")["items"]
    assert row["state"] == "Unknown"
    assert row["lastVerdict"]["state"] == "Passed"


def test_registrations_are_listed_for_reviewers_with_their_standing(west: Cluster, east: Cluster, program: Ask) -> None:
    client = program(ADMINS)
    answer = client.ask("registrations")
    assert [(i["cluster"], i["name"], i["review"]) for i in answer["items"]] == [
        ("east-1", "ib-pair", "approved"),
        ("west-1", "ib-pair", "approved"),
    ]
    assert answer["items"][1]["specDigest"] == answer["items"][1]["approvedDigest"] == digest(west.check["spec"])
    first = client.ask("registrations", limit=1)
    second = client.ask("registrations", limit=1, cursor=first["nextCursor"])
    assert [p["items"][0]["cluster"] for p in (first, second)] == ["east-1", "west-1"]
    assert second["nextCursor"] is None
    assert client.ask("registrations", review="rejected")["items"] == []
    assert client.get(API + "registrations", {"cluster": "north-1"}).status_code == 400


def test_nothing_of_another_cluster_is_in_any_answer(west: Cluster, east: Cluster, program: Ask) -> None:
    client = program(WEST)
    for path in ("fleet", "checks/summary", "checks", CHECK, f"{CHECK}/runs", RUN, f"{RUN}/evidence"):
        assert "east-1" not in json.dumps(client.ask(path)), path
