"""A dump without the values of environment variables is judged as the cluster it is of: by file and in the portal."""

import json
from pathlib import Path
from typing import Any

import pytest

from checks.assembly import verdicts
from checks.cli.withholding import INSTEAD, withheld
from checks.contract.reasons import State
from checks.models import Check
from checks.sync.dump_load import load
from tests.cli.invoke import invoke
from tests.contract.example import NOW, Example

Object = dict[str, Any]


@pytest.fixture
def example() -> Example:
    """The example, approved with a value in its template that is nobody else's business."""
    example = Example()
    container = example.template["spec"]["job"]["spec"]["template"]["spec"]["containers"][0]
    container.setdefault("env", []).append({"name": "PROXY_USER", "value": "hunter2"})
    example.template["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "hunter2"}
    example.template["metadata"]["managedFields"] = [{"manager": "hunter2"}]
    example.approve()
    return example


def dumped(example: Example, folder: Path) -> tuple[Path, Path]:
    example.objects = [withheld(item)[0] for item in example.objects]
    dump, evidence = example.write(folder)
    assert evidence is not None
    return dump, evidence


def test_values_are_withheld_and_the_verdict_is_the_same(example: Example, tmp_path: Path) -> None:
    dump, evidence = dumped(example, tmp_path)
    text = dump.read_text()
    assert "hunter2" not in text and "PROXY_USER" in text and INSTEAD in text
    answer = invoke("explain", "-f", dump, "--evidence", evidence, "-o", "json")
    assert json.loads(answer.stdout)["checks"][0]["state"] == "Passed"


@pytest.mark.django_db
def test_the_portal_judges_such_a_dump_alike(example: Example, tmp_path: Path) -> None:
    dump, evidence = dumped(example, tmp_path)
    load([dump], evidence=evidence)
    check = Check.objects.select_related("cluster").get()
    assert verdicts([check], NOW)[check.pk].state is State.PASSED


def test_what_was_changed_in_such_a_dump_is_seen(example: Example, tmp_path: Path) -> None:
    """The digest it states is compared with what the registration pins: another template stays another one."""
    other = Example()
    other.template["spec"]["job"]["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A", "value": "b"}]
    example.objects = [other.template if item is example.template else item for item in example.objects]
    dump, evidence = dumped(example, tmp_path)
    answer = invoke("explain", "-f", dump, "--evidence", evidence, "-o", "json")
    assert json.loads(answer.stdout)["checks"][0]["reason"] == "template_changed"


def test_credentials_and_addresses_of_nodes_stay_behind() -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "a", "uid": "1", "annotations": {"cloud/credentials": "x"}},
        "spec": {"providerID": "p", "podCIDR": "10.0.0.0/24"},
        "status": {"nodeInfo": {"bootID": "b"}, "addresses": [{"address": "10.1.1.1"}], "images": []},
    }
    kept, _ = withheld(node)
    assert kept["metadata"] == {"name": "a", "uid": "1"}
    assert kept["spec"] == {"providerID": "p"} and kept["status"] == {"nodeInfo": {"bootID": "b"}}
    check, count = withheld({"kind": "TauValidationCheck", "spec": {"title": "see https://ada:pa55word@host/"}})
    assert (check["spec"]["title"], count) == (INSTEAD, 1)
