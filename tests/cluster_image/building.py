"""Builds deploy/Dockerfile with buildah, on a base image made of Debian packages: no Docker, no registry.

The base is kept under the cache folder, by the digest of its recipe (`base.sh`). Everything else is built anew each
time, in a storage of its own, so that other images on the machine are neither used nor touched.
"""

import hashlib
import json
import os
import shutil
import ssl
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.bed.images import Image
from tests.cluster.tools import ToolMissing, cache_root

ROOT = Path(__file__).parents[2]
RECIPE = Path(__file__).with_name("base.sh")
BASE = "localhost/python-stand-in"
NAME = "bed.invalid/taugrid-portal"
MINUTES = 15


class BuildFailed(AssertionError):
    """A command of the build ended with an error; the message is the end of what it wrote."""


def check_builder() -> None:
    """Raise ToolMissing with what is missing to build an image here."""
    if os.geteuid() != 0:
        raise ToolMissing("Building the image needs root on this machine.")
    for program in ("buildah", "debootstrap"):
        if not shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin"):
            raise ToolMissing(f"{program} is missing: run tests/cluster_image/install-debian.sh.")


@dataclass(frozen=True)
class Builder:
    """buildah with a storage of its own below `folder`."""

    folder: Path

    def __call__(self, *words: str | Path) -> str:
        """What buildah says."""
        storage, run = self.folder / "storage", self.folder / "run"
        return _run("buildah", "--storage-driver", "vfs", "--root", storage, "--runroot", run, *words)

    def add_base(self) -> None:
        """Make the base image known, from the cache or by its recipe."""
        kept = cache_root().with_name("images") / f"base-{hashlib.sha256(RECIPE.read_bytes()).hexdigest()[:16]}.tar"
        if not kept.exists():
            self._make_base(kept)
        self("tag", self("pull", "--quiet", f"oci-archive:{kept}").strip(), BASE)

    def build(self, label: str) -> Image:
        """deploy/Dockerfile, unchanged, from the checkout; its archive is below `folder`."""
        where = ROOT / "deploy"
        how = ["--isolation=chroot", "--pull-never", f"--tag={NAME}", f"--build-arg=BASE={BASE}", *self._trust()]
        what = [f"--file={where / 'Dockerfile'}", f"--ignorefile={where / 'Dockerfile.dockerignore'}"]
        self("build", *how, *what, ROOT)
        layout = self.folder / "layout"
        self("push", "--quiet", "--disable-compression", NAME, f"oci:{layout}:{label}")
        return _pack(layout, self.folder / "portal.tar")

    def _trust(self) -> list[str]:
        """pip in the build trusts whom this machine trusts; nothing of that is in the image."""
        authorities = ssl.get_default_verify_paths().cafile
        if not authorities:
            return []
        configuration = self.folder / "pip.conf"
        configuration.write_text("[global]\ncert = /run/authorities.crt\n")
        return [
            f"--volume={Path(authorities).resolve()}:/run/authorities.crt:ro",
            f"--volume={configuration}:/etc/pip.conf:ro",
        ]

    def _make_base(self, kept: Path) -> None:
        root = self.folder / "base"
        _run("sh", RECIPE, root)
        container = self("from", "scratch").strip()
        self("add", "--quiet", container, root, "/")
        self("config", "--env", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "--cmd", "python", container)
        partial = kept.with_suffix(f".{os.getpid()}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        self("commit", "--quiet", "--rm", container, f"oci-archive:{partial}")
        partial.rename(kept)
        shutil.rmtree(root)


@contextmanager
def built() -> Iterator[tuple[Builder, Image]]:
    """The product's image as an archive, for as long as it is needed."""
    folder = Path(tempfile.mkdtemp(prefix="taugrid-image-"))
    builder = Builder(folder)
    try:
        builder.add_base()
        yield builder, builder.build("bed")
    finally:
        shutil.rmtree(folder)


def _pack(layout: Path, archive: Path) -> Image:
    """The layout as an archive that containerd imports under the image's own name."""
    index = json.loads((layout / "index.json").read_text())
    (manifest,) = index["manifests"]
    image = Image(archive, NAME, manifest["digest"])
    manifest["annotations"] = {"io.containerd.image.name": image.tag}
    (layout / "index.json").write_text(json.dumps(index))
    with tarfile.open(archive, "w") as out:
        out.add(layout, "")
    shutil.rmtree(layout)
    return image


def _run(*words: str | Path) -> str:
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False, timeout=MINUTES * 60
    )
    if done.returncode:
        said = (done.stdout + done.stderr).splitlines()[-30:]
        raise BuildFailed(f"{' '.join(map(str, words[:6]))} … ended with {done.returncode}:\n" + "\n".join(said))
    return done.stdout
