"""The cache of built programs: its key, what comes first, and what a killed or failing build leaves."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cluster import tools

ETCD = tools.FAMILIES["etcd"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a `go` that writes a script instead of compiling one."""
    monkeypatch.setenv("TAU_TOOLS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    go = tmp_path / "bin" / "go"
    go.parent.mkdir()
    go.write_text(
        '#!/bin/sh\n[ -e "$GO_FAILS" ] && exit 3\n'
        'while [ "$1" != -o ]; do shift; done; printf "#!/bin/sh\\necho built\\n" >"$2"; chmod +x "$2"\n'
    )
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{go.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("GO_FAILS", str(tmp_path / "no-such-file"))
    return tmp_path / "cache"


def test_a_program_that_is_not_built_is_missing_with_a_way_out(cache: Path) -> None:
    with pytest.raises(tools.ToolMissing, match="etcd is not built: run `make cluster-tools`"):
        tools.tool("etcd")


def test_a_family_is_built_once_and_then_found(cache: Path) -> None:
    said: list[str] = []
    first = tools.build(ETCD, said.append)
    assert tools.build(ETCD, said.append) == first
    assert subprocess.run([tools.tool("etcd")], capture_output=True, text=True, check=True).stdout == "built\n"
    assert [line.split(" ")[1] for line in said] == ["building", "built", "already"]


def test_another_flag_is_another_build(cache: Path) -> None:
    assert tools.folder(ETCD) != tools.folder(tools.Family("etcd", ETCD.programs, flags=("-race",)))


def test_a_failing_build_leaves_nothing_behind(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GO_FAILS", str(tools.HERE))
    with pytest.raises(subprocess.CalledProcessError):
        tools.build(ETCD)
    assert list(cache.iterdir()) == []


def test_what_a_killed_build_left_is_removed_by_the_next(cache: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    half = cache / f".etcd-{gone.pid}-abc"
    half.mkdir(parents=True)
    (half / "etcd").write_text("half of a program")
    running = cache / f".etcd-{os.getpid()}-abc"
    running.mkdir()
    built = tools.build(ETCD)
    assert sorted(cache.iterdir()) == sorted([running, built])


def test_programs_a_developer_already_has_come_first(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assets = tmp_path / "assets"
    assets.mkdir()
    (assets / "etcd").write_text("#!/bin/sh\n")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    assert tools.tool("etcd") == assets / "etcd"
    with pytest.raises(tools.ToolMissing, match="kubelet is not built"):
        tools.tool("kubelet")
