"""Whose credentials count, and what somebody is told who may not."""

import json
import os
import pty
import stat
import subprocess
from pathlib import Path

import pytest

from tests.cluster.bed.control import ControlPlane
from tests.cluster.bed.waiting import eventually
from tests.cluster_cli.conftest import CLUSTER_VIEWER, PLUGIN, Cli, binding, bound
from tests.cluster_runs.scene import PASS, Object, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("controller")]


def test_who_may_nothing_is_told_which_right_is_missing(scene: Scene, nobody: Cli) -> None:
    for words in (("status",), ("explain",), ("evidence",), ("dump",)):
        said = nobody(*words, code=77)
        assert said.out == ""
        assert (
            f"nobody may not list validationchecks.tau.azure.com in the namespace {scene.namespace}. "
            "The role tau-validation-viewer (part of view) would allow it." in said.err
        )
    assert "nobody may not get validationchecks.tau.azure.com" in nobody("run", "paths", code=77).err


def test_without_the_right_to_see_nodes_nothing_is_passed(scene: Scene, control: ControlPlane, olga: Cli) -> None:
    scene.ready(scene.template(PASS))
    olga("run", "paths", "--wait", "--evidence", scene.artifacts, code=0)
    wanda = bound(control, scene, "wanda", "view")
    cli = Cli(wanda.kubeconfig, scene.namespace)
    said = cli("explain", "--evidence", scene.artifacts, "-o", "json", code=2)
    (check,) = json.loads(said.out)["checks"]
    assert (check["state"], check["reason"]) == ("Unknown", "source_unavailable")
    assert "wanda may not list validationtemplates.tau.azure.com in the whole cluster" in check["message"]
    assert f"The role {CLUSTER_VIEWER} would allow it." in said.err
    control.apply([binding("cluster-cli-wanda", CLUSTER_VIEWER, "wanda")])
    try:
        assert cli("status", "--evidence", scene.artifacts, code=0).out.count("Passed") == 2
    finally:
        control.kubectl("delete", "clusterrolebinding", "cluster-cli-wanda")


def test_acting_as_others_counts_as_with_kubectl(scene: Scene, control: ControlPlane) -> None:
    scene.register(scene.template(PASS))
    scene.condition("paths", "Ready")
    admin = Cli(control.kubeconfig, scene.namespace)
    words = ("reject", "paths", "--reason", "not yet", "--yes")
    said = admin(*words, "--as", "olga", "--as-group", "system:authenticated", code=77)
    assert "may change the annotations" in said.err
    groups = ("--as-group", "system:authenticated", "--as-group", "tau-platform-admins")
    assert "as petra: not yet" in admin(*words, "--as", "petra", *groups, code=0).out
    assert scene.get("validationcheck", "paths")["metadata"]["annotations"]["tau.azure.com/reviewed-by"] == "petra"


def answered(cli: Cli, answer: str, *words: str) -> int:
    """The exit code of a command that asks at a terminal."""
    master, slave = pty.openpty()
    try:
        os.write(master, f"{answer}\n".encode())
        done = subprocess.run(cli.command(*words), env=cli.environment, stdin=slave, capture_output=True, check=False)
        assert b"Approve paths in" in done.stderr, done.stderr
        return done.returncode
    finally:
        os.close(master)
        os.close(slave)


def test_at_a_terminal_it_asks(scene: Scene, petra: Cli) -> None:
    scene.register(scene.template(PASS))
    eventually(lambda: scene.condition("paths", "Ready"), "the controller has looked at it")
    assert answered(petra, "n", "approve", "paths") == 64
    assert "annotations" not in scene.get("validationcheck", "paths")["metadata"]
    assert answered(petra, "y", "approve", "paths") == 0
    eventually(lambda: scene.condition("paths", "Ready").get("status") == "True", "the check is ready")


def changed(original: Path, target: Path, **parts: Object) -> Path:
    """A kubeconfig with another user or cluster in it."""
    content = json.loads(original.read_text())
    for kind, value in parts.items():
        content[f"{kind}s"][0][kind] = value
    target.write_text(json.dumps(content))
    return target


def test_a_plugin_of_the_kubeconfig_signs_in(scene: Scene, control: ControlPlane, tmp_path: Path) -> None:
    scene.control.kubectl("create", "serviceaccount", "robot", "--namespace", scene.namespace)
    name = f"system:serviceaccount:{scene.namespace}:robot"
    control.apply([binding("robot", "view", name, scene.namespace)])
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": control.token(scene.namespace, "robot")},
    }
    login = tmp_path / "login"
    login.write_text(f"#!/bin/sh\necho '{json.dumps(credential)}'\n")
    login.chmod(login.stat().st_mode | stat.S_IXUSR)
    plugin = {"apiVersion": credential["apiVersion"], "command": "./login", "interactiveMode": "Never"}
    kubeconfig = changed(
        scene.operator.kubeconfig, tmp_path / "robot.yaml", user={"exec": plugin | {"command": str(login)}}
    )
    said = Cli(kubeconfig, scene.namespace)("status", code=2)
    assert f"there is no check in the namespace {scene.namespace}" in said.out
    assert f"{name} may not list nodes in the whole cluster." in said.err
    login.write_text("#!/bin/sh\necho 'the smart card is not there' >&2\nexit 1\n")
    said = Cli(kubeconfig, scene.namespace)("status", code=77)
    assert "gave no credentials: exec: process returned 1. the smart card is not there" in said.err


def test_credentials_that_are_not_accepted_are_77(scene: Scene, tmp_path: Path) -> None:
    kubeconfig = changed(scene.operator.kubeconfig, tmp_path / "old.yaml", user={"token": "an-old-token"})
    assert "does not accept these credentials (401): sign in again" in Cli(kubeconfig, "")("status", code=77).err


def test_a_server_with_another_certificate_is_not_trusted(scene: Scene, control: ControlPlane, tmp_path: Path) -> None:
    kubeconfig = changed(scene.operator.kubeconfig, tmp_path / "other.yaml", cluster={"server": control.url})
    said = Cli(kubeconfig, "")("status", code=69)
    assert said.err == f"tau-check: {control.url} cannot be trusted: its certificate is another\n"


def test_it_is_a_plugin_of_kubectl(scene: Scene, olga: Cli, control: ControlPlane) -> None:
    plugin = Cli(olga.kubeconfig, scene.namespace, PLUGIN)
    said = plugin("status", code=2)
    assert f"there is no check in the namespace {scene.namespace}" in said.out
    assert "Usage: kubectl tau-check" in Cli(olga.kubeconfig, "", PLUGIN)("--help", code=0).out
