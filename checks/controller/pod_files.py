"""What the pods of a run left on their volume, brought to the artifact store under its sha256.

A pod writes a file under its sha256, or as `run=<run id>/rank=<rank>/<name>`, and says name, size and sha256 in its
report. Only what is exactly that is stored. Whatever else is there (a link, a larger file, other bytes) stays away, and
readers find the piece missing: what a workload does to its files never keeps its run from being sealed.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import structlog

from ..contract.report import ReportedEvidence
from ..evidence.directory import Directory
from ..evidence.stores import Missing, StoreError
from .artifacts import ArtifactConflict, ArtifactError, ArtifactStore, NotAsSaid

log = structlog.get_logger(__name__)
LARGEST = 1024**3


@dataclass(frozen=True, slots=True)
class PodFiles:
    """base: where the volumes of workspaces are mounted here; may hold {namespace}. limit: bytes of one piece."""

    base: str
    limit: int = LARGEST

    def __post_init__(self) -> None:
        parts = urlsplit(self.base)
        if parts.scheme != "file" or parts.netloc or not parts.path.startswith("/") or parts.query or parts.fragment:
            raise ArtifactError(f"{self.base!r} is no folder of pods; give file:///absolute/path or …/{{namespace}}")
        if set(re.findall(r"\{.*?\}", self.base)) - {"{namespace}"}:
            raise ArtifactError(f"{self.base!r}: only {{namespace}} can stand in it")

    def bring(self, store: ArtifactStore, namespace: str, run_id: str, rank: int, item: ReportedEvidence) -> str:
        """Stores one piece; a sentence where it cannot be, "" where it is there. Raises ArtifactError."""
        if item.size_bytes > self.limit:
            return f"it is larger than {self.limit} bytes"
        mounted, root = self._root(namespace)
        if not mounted.is_dir():
            raise ArtifactError("the volume of the pods is not mounted")
        folder = Directory(root)
        try:
            try:
                body = folder.open(item.sha256)
            except Missing:
                body = folder.open(f"run={run_id}/rank={rank}/{item.name}")
            with body:
                if body.size != item.size_bytes:
                    return f"it has {body.size} bytes instead of {item.size_bytes}"
                store.copy(body.chunks, item.sha256, item.size_bytes)
        except (StoreError, NotAsSaid, ArtifactConflict) as error:
            return str(error)
        return ""

    def _root(self, namespace: str) -> tuple[Path, Path]:
        """What must be mounted, and the folder of one namespace."""
        path = unquote(urlsplit(self.base).path)
        before, _, _ = path.partition("{namespace}")
        return Path(before), Path(path.replace("{namespace}", namespace))
