"""`make cluster`: what it prints works as printed, and Ctrl-C ends it cleanly."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.bed import ledger

pytestmark = pytest.mark.cluster


@pytest.fixture
def running(machine: None) -> Iterator["subprocess.Popen[str]"]:
    """The command, started as `make cluster` starts it; killed where the test did not end it."""
    command = [sys.executable, "-m", "tests.cluster.bed"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()
    ledger.sweep_abandoned()


def test_what_make_cluster_prints_can_be_typed(running: "subprocess.Popen[str]") -> None:
    assert running.stdout is not None
    printed: list[str] = []
    while "Ctrl-C" not in "".join(printed[-1:]):
        printed.append(running.stdout.readline())
        assert printed[-1], f"it ended early:\n{''.join(printed)}"
    exports = [line.strip() for line in printed if line.startswith("  export ")]
    commands = [line.strip() for line in printed if line.startswith("  kubectl ")]
    commands.insert(-2, "kubectl -n demo wait --for=condition=Complete job/two-nodes --timeout=60s")
    typed = subprocess.run(
        ["bash", "-ec", "\n".join([*exports, *commands])], capture_output=True, text=True, timeout=120, check=False
    )
    assert typed.returncode == 0, typed.stderr
    assert "gpu-node-2" in typed.stdout
    assert "TauValidationCheck" in typed.stdout
    assert '{"index": 1}' in typed.stdout

    folder = Path(exports[0].partition("=")[2]).parents[1]
    assert folder.is_dir()
    running.send_signal(signal.SIGINT)
    assert "nothing is left behind" in running.communicate(timeout=60)[0]
    assert running.returncode == 0
    assert not folder.exists()
