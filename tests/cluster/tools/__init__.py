"""The programs a test cluster is made of, built from Go modules pinned beside this file.

Each family is one module, because their dependencies disagree. A family is built once into a cache outside
the checkout, under a name made from its lock files and its flags; `KUBEBUILDER_ASSETS` comes first where it
has the program.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent


class ToolMissing(Exception):
    """A program is not there; the message says in one sentence how to get it."""


@dataclass(frozen=True)
class Family:
    """One Go module: `programs` maps a binary to its package, `copies` a module to a folder to keep."""

    name: str
    programs: dict[str, str]
    flags: tuple[str, ...] = ()
    ldflags: str = ""
    copies: dict[str, str] = field(default_factory=dict)


def _kubernetes_version() -> str:
    """The version in the kube module; programs built without it report v0.0.0, which clients refuse."""
    for line in (HERE / "kube" / "go.mod").read_text().splitlines():
        words = line.split()
        if words[:1] == ["k8s.io/kubernetes"]:
            return words[1]
    raise ToolMissing("tests/cluster/tools/kube/go.mod does not require k8s.io/kubernetes.")


def _kube_ldflags() -> str:
    version = _kubernetes_version()
    major, minor, _ = version.removeprefix("v").split(".", 2)
    stamp = "-X k8s.io/component-base/version."
    return f"{stamp}gitVersion={version} {stamp}gitMajor={major} {stamp}gitMinor={minor}"


FAMILIES = {
    family.name: family
    for family in (
        Family("etcd", {"etcd": "go.etcd.io/etcd/server/v3"}),
        Family(
            "kube",
            {
                name: f"k8s.io/kubernetes/cmd/{name}"
                for name in (
                    "kube-apiserver",
                    "kube-controller-manager",
                    "kube-scheduler",
                    "kubectl",
                    "kubelet",
                )
            },
            ldflags=_kube_ldflags(),
        ),
        Family(
            "kueue",
            {"kueue": "sigs.k8s.io/kueue/cmd/kueue"},
            copies={"sigs.k8s.io/kueue": "config"},
        ),
        Family(
            "containerd",
            {
                name: f"github.com/containerd/containerd/v2/cmd/{name}"
                for name in ("containerd", "containerd-shim-runc-v2", "ctr")
            },
            flags=("-tags", "no_btrfs no_zfs no_devmapper"),
        ),
        Family("coredns", {"coredns": "."}),
        Family("helm", {"helm": "helm.sh/helm/v4/cmd/helm"}),
        Family(
            "kwok",
            {"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
            copies={"sigs.k8s.io/kwok": "kustomize/stage"},
        ),
    )
}


def cache_root() -> Path:
    """Where built programs are kept: `TAU_TOOLS_CACHE`, else the user's cache directory."""
    if chosen := os.environ.get("TAU_TOOLS_CACHE"):
        return Path(chosen)
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(user) / "taugrid-portal" / "tools"


def folder(family: Family) -> Path:
    """The folder of a family's build; another lock file, source or flag is another folder."""
    key = hashlib.sha256()
    for part in sorted((HERE / family.name).glob("*.*")):  # go.mod, go.sum, and where there is one main.go
        key.update(part.read_bytes())
    key.update(repr((sorted(family.programs.items()), family.flags, family.ldflags, family.copies)).encode())
    return cache_root() / f"{family.name}-{key.hexdigest()[:16]}"


def tool(program: str) -> Path:
    """The path of a built program; raises ToolMissing where it is not built."""
    for family in FAMILIES.values():
        if program in family.programs:
            assets = os.environ.get("KUBEBUILDER_ASSETS")
            if assets and (given := Path(assets) / program).is_file():
                return given
            built = folder(family) / program
            if built.is_file():
                return built
            raise ToolMissing(f"{program} is not built: run `make cluster-tools` (family {family.name}).")
    raise KeyError(program)


def copied(name: str) -> Path:
    """The folder that a family keeps beside its programs (Kueue's manifests, KWOK's stages)."""
    family = FAMILIES[name]
    (source,) = family.copies.values()
    kept = folder(family) / source
    if not kept.is_dir():
        raise ToolMissing(f"{name} is not built: run `make cluster-tools` (family {name}).")
    return kept


def build(family: Family, say: Callable[[str], None] = print) -> Path:
    """Build a family unless it is there; answers its folder."""

    def make(work: Path) -> None:
        if not shutil.which("go"):
            raise ToolMissing(f"Go is not installed, and {family.name} is built with it.")
        say(f"{family.name}: building {', '.join(family.programs)} …")
        _compile(family, work)
        for module, source in family.copies.items():
            shutil.copytree(_module_folder(family, module) / source, work / source)
            _make_writable(work / source)

    return build_once(family.name, folder(family), make, say)


def build_once(name: str, target: Path, make: Callable[[Path], None], say: Callable[[str], None]) -> Path:
    """Let `make` fill a temporary folder and give it its name; a killed build's folder is removed by the next."""
    if target.is_dir():
        say(f"{name}: already built in {target}")
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(name)
    started = time.monotonic()
    work = Path(tempfile.mkdtemp(prefix=f".{name}-{os.getpid()}-", dir=target.parent))
    try:
        make(work)
        try:
            work.rename(target)
        except OSError:
            if not target.is_dir():  # somebody else finished the same build first: theirs is as good
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    say(f"{name}: built in {time.monotonic() - started:.0f} s")
    return target


def _compile(family: Family, work: Path) -> None:
    for program, package in family.programs.items():
        subprocess.run(
            [
                "go",
                "build",
                "-trimpath",
                "-buildvcs=false",
                *family.flags,
                "-ldflags",
                f"-s -w {family.ldflags}".strip(),
                "-o",
                str(work / program),
                package,
            ],
            cwd=HERE / family.name,
            env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly"},
            check=True,
        )


def _module_folder(family: Family, module: str) -> Path:
    found = subprocess.run(
        ["go", "list", "-m", "-f", "{{.Dir}}", module],
        cwd=HERE / family.name,
        check=True,
        capture_output=True,
        text=True,
    )
    return Path(found.stdout.strip())


def _make_writable(top: Path) -> None:
    """The module cache is read-only, and so is a copy of it: a cache that cannot be removed is a nuisance."""
    for path in [top, *top.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)


def _remove_abandoned(name: str) -> None:
    for left in cache_root().glob(f".{name}-*-*"):
        builder = left.name.removeprefix(f".{name}-").split("-")[0]
        if not Path(f"/proc/{builder}").exists():
            shutil.rmtree(left, ignore_errors=True)
