"""Runs that do not simply pass: cancelled, interrupted, late, rejected; and what a dump of them leaves out."""

import json
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from tests.cluster_cli.conftest import Cli
from tests.cluster_runs.scene import PASS, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("controller")]


def test_a_cancelled_run_proves_nothing_and_says_so(scene: Scene, olga: Cli) -> None:
    scene.ready(scene.template("sleep 100\n" + PASS))
    run = olga("run", "paths", "-o", "name", code=0).out.strip().removeprefix("validationrun.tau.azure.com/")
    scene.until(run, "Running")
    assert f"Asked for the end of {run}" in olga("cancel", "paths", code=0).out
    said = olga("watch", run, "--evidence", scene.artifacts, code=2)
    assert said.out.startswith("\nUnknown  "), said.out
    assert "cancelled" in said.out
    assert "nothing to cancel" in olga("cancel", run, code=65).err


@pytest.mark.deep
def test_interrupting_leaves_the_run_and_says_how_to_go_on(scene: Scene, olga: Cli) -> None:
    scene.ready(scene.template("sleep 6\n" + PASS))
    words = olga.command("run", "paths", "--wait")
    process = subprocess.Popen(words, env=olga.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    seen = ""
    while "Running" not in seen:
        line = process.stderr.readline()
        assert line, seen
        seen += line
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    (run,) = re.findall(r"tau-check watch (\S+) --namespace", err)
    assert "The run goes on without you." in err and f"tau-check cancel {run} --namespace {scene.namespace}" in err
    assert scene.status(run)["phase"] != "Sealed"
    assert olga("watch", run, "--evidence", scene.artifacts, code=0).out.startswith("\nPassed  ")


@pytest.mark.deep
def test_a_wait_that_is_over_leaves_the_run_going(scene: Scene, olga: Cli) -> None:
    scene.ready(scene.template("sleep 100\n" + PASS))
    began = time.monotonic()
    said = olga("run", "paths", "--wait", "--timeout", "3s", code=2)
    assert time.monotonic() - began >= 3
    assert said.out == "" and "has not ended after 3 s and goes on" in said.err
    assert "tau-check watch paths-" in said.err
    olga("cancel", "paths", code=0)


@pytest.mark.deep
def test_a_rejected_check_runs_no_more_and_says_why(scene: Scene, olga: Cli, petra: Cli) -> None:
    scene.ready(scene.template(PASS))
    said = petra("reject", "paths", "--reason", "Ask for two GPUs", "--yes", code=0)
    assert said.out.rstrip().endswith(f"Rejected {scene.namespace}/paths as petra: Ask for two GPUs")
    marks = scene.get("validationcheck", "paths")["metadata"]["annotations"]
    assert marks == {"tau.azure.com/rejected": "Ask for two GPUs", "tau.azure.com/reviewed-by": "petra"}
    said = olga("run", "paths", code=2)
    assert "no run was asked for" in said.err
    assert json.loads(olga("status", "-o", "json", code=2).out)["checks"][0]["reason"] == "rejected"


def test_a_dump_holds_no_value_that_somebody_may_want_to_keep(scene: Scene, olga: Cli, tmp_path: Path) -> None:
    scene.ready(scene.template(PASS))
    olga("run", "paths", "--wait", "--evidence", scene.artifacts, code=0)
    live = json.loads(olga("explain", "--evidence", scene.artifacts, "-o", "json", code=0).out)["checks"]
    for output in ("yaml", "json"):
        dump = tmp_path / f"dump.{output}"
        said = olga("dump", "--to", dump, "-o", output, code=0)
        assert "values were withheld" in said.err
        text = dump.read_text()
        assert "hunter2" not in text and "managedFields" not in text and "FROM_THE_TEMPLATE" in text
        offline = olga("explain", "-f", dump, "--evidence", scene.artifacts, "-o", "json", code=0).out
        assert [c["state"] for c in json.loads(offline)["checks"]] == [c["state"] for c in live] == ["Passed"]
    head = next(yaml.safe_load_all((tmp_path / "dump.yaml").read_text()))
    assert (head["kind"], head["complete"], head["namespaces"]) == ("TauDump", True, [scene.namespace])


def test_an_api_server_keeps_no_word_about_withheld_values(scene: Scene) -> None:
    template = scene.template(PASS)
    name = template["metadata"]["name"]
    change = json.dumps({"withheld": {"specDigest": "sha256:" + "0" * 64}})
    scene.admin.kubectl("patch", "validationtemplate", name, "--type=merge", "--patch", change)
    assert "withheld" not in scene.control.get("validationtemplate", name)
