"""docs/writing-a-check.md as it is written: `make cluster`, and the commands of the guide one after the other."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.bed import ledger

pytestmark = pytest.mark.cluster
ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "writing-a-check.md"


@pytest.fixture
def printed(machine: None) -> Iterator[list[str]]:
    """The lines of `make cluster`, which runs until the test ends."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.cluster.bed"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        lines: list[str] = []
        while "Ctrl-C" not in "".join(lines[-1:]):
            lines.append(process.stdout.readline())
            assert lines[-1], f"it ended early:\n{''.join(lines)}"
        yield lines
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=90)
    ledger.sweep_abandoned()


def test_every_command_of_the_guide_works_and_ends_green(printed: list[str], tmp_path: Path) -> None:
    exports = [line.strip() for line in printed if line.startswith("  export ")]
    blocks = re.findall(r"^```sh\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 6
    said: list[str] = []
    for block in blocks:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "\n".join([*exports, block])],
            cwd=tmp_path,
            env=os.environ | {"HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"
        said.append(done.stdout + done.stderr)
    assert "0 broken, 0 not looked at" in said[2]
    assert "Passed  demo/my-check" in said[4]
    assert "Failed  demo/my-check  (path_missing)" in said[5]
    assert "There is no /not/there" in said[5]
