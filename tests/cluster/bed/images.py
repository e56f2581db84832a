"""Container images made on the spot, as OCI archives: no registry, no network.

The busybox image is Debian's static busybox with a link per command; the Python image is the interpreter
that runs the tests, with its standard library and the shared libraries it needs. Equal content gives equal
digests.
"""

import gzip
import hashlib
import io
import json
import platform
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BUSYBOX = Path("/bin/busybox")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
LEFT_OUT = {
    "site-packages",
    "dist-packages",
    "test",
    "tests",
    "__pycache__",
    "idlelib",
    "tkinter",
    "ensurepip",
}
USER = 65532  # nobody in particular: pods that must not run as root say no more


@dataclass(frozen=True)
class Image:
    """An image in an archive; a pod names it by `tag` or `by_digest`, with `imagePullPolicy: Never`."""

    archive: Path
    name: str
    digest: str

    @property
    def tag(self) -> str:
        """The name with a tag."""
        return f"{self.name}:bed"

    @property
    def by_digest(self) -> str:
        """The name with the digest of the manifest."""
        return f"{self.name}@{self.digest}"


def busybox_image(folder: Path) -> Image:
    """An image with a shell and Debian's busybox commands; what it runs by itself is `sleep`."""
    commands = subprocess.run([BUSYBOX, "--list"], check=True, capture_output=True, text=True).stdout.split()
    layer = _Layer()
    layer.add_base()
    layer.add_file(BUSYBOX, "bin/busybox")
    for command in commands:
        if command != "busybox":
            layer.add_link(f"bin/{command}", "busybox")
    return _write(folder, "bed.invalid/busybox", layer, ["/bin/sleep", "infinity"])


def python_image(
    folder: Path,
    name: str = "bed.invalid/python",
    files: Mapping[str, Path] | None = None,
    entrypoint: Sequence[str] = (),
) -> Image:
    """The busybox image plus this Python, as /usr/bin/python3; takes a few seconds.

    files: more of them, by their place in the image. entrypoint: what a pod's `args` are given to.
    """
    layer = _Layer()
    layer.add_base()
    layer.add_file(BUSYBOX, "bin/busybox")
    layer.add_link("bin/sh", "busybox")
    interpreter = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    layer.add_file(interpreter, str(interpreter).lstrip("/"))
    library = Path(sysconfig.get_path("stdlib", vars={"base": sys.base_prefix}))
    modules = list(_standard_library(library))
    for path in modules:
        layer.add_file(path, str(path).lstrip("/"))
    natives = [interpreter, *(p for p in modules if p.suffix == ".so")]
    for path in sorted({lib for native in natives for lib in _shared_libraries(native)}):
        layer.add_file(path, str(path).lstrip("/"))
    if interpreter != Path("/usr/bin/python3"):
        layer.add_link("usr/bin/python3", str(interpreter))
    for target, source in sorted((files or {}).items()):
        layer.add_file(source, target)
    return _write(folder, name, layer, [] if entrypoint else ["/usr/bin/python3"], entrypoint)


class _Layer:
    """A tar with fixed times and owners, so that equal content has equal digests."""

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._tar = tarfile.TarFile(fileobj=self._buffer, mode="w", format=tarfile.PAX_FORMAT)
        self._folders: set[str] = set()

    def add_base(self) -> None:
        """What programs expect of any system: users, and a place for temporary files."""
        self.add_bytes("etc/passwd", f"root:x:0:0::/:/bin/sh\nbed:x:{USER}:{USER}::/tmp:/bin/sh\n".encode())
        self.add_bytes("etc/group", f"root:x:0:\nbed:x:{USER}:\n".encode())
        self._folder("tmp", 0o1777)

    def add_file(self, source: Path, target: str) -> None:
        """A file with its own mode."""
        self.add_bytes(target, source.read_bytes(), 0o755 if source.stat().st_mode & 0o111 else 0o644)

    def add_bytes(self, target: str, content: bytes, mode: int = 0o644) -> None:
        """A file from memory."""
        self._parents(target)
        entry = tarfile.TarInfo(target)
        entry.size, entry.mode = len(content), mode
        self._tar.addfile(entry, io.BytesIO(content))

    def add_link(self, target: str, points_to: str) -> None:
        """A symbolic link."""
        self._parents(target)
        entry = tarfile.TarInfo(target)
        entry.type, entry.linkname = tarfile.SYMTYPE, points_to
        self._tar.addfile(entry)

    def close(self) -> bytes:
        """The whole tar."""
        self._tar.close()
        return self._buffer.getvalue()

    def _parents(self, target: str) -> None:
        for parent in reversed(Path(target).parents[:-1]):
            self._folder(str(parent), 0o755)

    def _folder(self, name: str, mode: int) -> None:
        if name not in self._folders:
            self._folders.add(name)
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            self._tar.addfile(entry)


def _write(folder: Path, name: str, layer: _Layer, command: list[str], entrypoint: Sequence[str] = ()) -> Image:
    content = layer.close()
    packed = gzip.compress(content, compresslevel=1, mtime=0)
    configuration = {
        "architecture": ARCHITECTURES[platform.machine()],
        "os": "linux",
        "config": {"Entrypoint": [*entrypoint], "Cmd": command, "Env": ["PATH=/usr/bin:/bin"], "User": str(USER)},
        "rootfs": {"type": "layers", "diff_ids": [_digest(content)]},
    }
    blobs: dict[str, bytes] = {}

    def put(media_type: str, data: bytes) -> dict[str, Any]:
        blobs[_digest(data)] = data
        return {
            "mediaType": f"application/vnd.oci.image.{media_type}",
            "digest": _digest(data),
            "size": len(data),
        }

    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": put("config.v1+json", json.dumps(configuration).encode()),
        "layers": [put("layer.v1.tar+gzip", packed)],
    }
    entry = put("manifest.v1+json", json.dumps(manifest).encode())
    image = Image(folder / f"{name.rpartition('/')[2]}.tar", name, entry["digest"])
    index = {
        "schemaVersion": 2,
        "manifests": [{**entry, "annotations": {"io.containerd.image.name": image.tag}}],
    }
    with tarfile.open(image.archive, "w") as archive:
        files = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.json": json.dumps(index).encode()}
        files |= {f"blobs/{digest.replace(':', '/')}": data for digest, data in blobs.items()}
        for path, data in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return image


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _standard_library(library: Path) -> Iterator[Path]:
    for path in sorted(library.rglob("*")):
        parts = path.relative_to(library).parts
        if path.is_file() and path.suffix != ".a" and not any(p in LEFT_OUT or p.startswith("config-3") for p in parts):
            yield path


def _shared_libraries(program: Path) -> set[Path]:
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return {Path(word) for word in listed.split() if word.startswith("/")}
