"""What a developer sees where something is missing: a skip with one sentence, and a failure with it under CI."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.bed.control import ControlPlane
from tests.cluster.tools import tool

ONE_TEST = "tests/cluster/test_control_plane.py::test_a_person_is_who_the_certificate_says"


def _run(tmp_path: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """One test of the control plane, in a pytest of its own with an empty cache of tools and no Go."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "setpriv").symlink_to("/usr/bin/setpriv")
    own = {"TAU_TOOLS_CACHE": str(tmp_path / "cache"), "PATH": str(tmp_path / "bin"), **environment}
    inherited = {k: v for k, v in os.environ.items() if k not in {"CI", "KUBEBUILDER_ASSETS", "PYTEST_ADDOPTS"}}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", ONE_TEST]
    return subprocess.run(command, env=inherited | own, capture_output=True, text=True, timeout=120, check=False)


def test_without_tools_a_test_is_skipped_and_says_what_to_run(tmp_path: Path) -> None:
    done = _run(tmp_path)
    assert done.returncode == 0
    assert "1 skipped" in done.stdout
    assert "etcd is not built: run `make cluster-tools` (family etcd)." in done.stdout


def test_without_tools_ci_fails(tmp_path: Path) -> None:
    done = _run(tmp_path, CI="true")
    assert done.returncode == 1
    assert "etcd is not built: run `make cluster-tools` (family etcd)." in done.stdout


@pytest.mark.cluster
def test_given_programs_are_enough_for_an_api_server(apiserver: ControlPlane, tmp_path: Path) -> None:
    assets = tmp_path / "assets"
    assets.mkdir()
    for program in ("etcd", "kube-apiserver", "kubectl"):
        (assets / program).symlink_to(tool(program))
    done = _run(tmp_path, KUBEBUILDER_ASSETS=str(assets))
    assert "1 passed" in done.stdout, done.stdout
