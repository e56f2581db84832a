"""Results of the fixed contract to import, changed by one fact at a time, with evidence that can be read."""

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

from checks.rdma import Import, Registered, import_document
from tests.contract.example import at

DOCUMENTS = Path(__file__).parent / "documents"
NOW = at("2026-09-14T22:00:00Z")
Object = dict[str, Any]

LOG = """\
TAUGRID_RANK_LOG_BEGIN rank=0
h200-a:71:71 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth1:10.0.0.10<0>
TAUGRID_RANK_LOG_END rank=0
TAUGRID_RANK_LOG_BEGIN rank=1
h200-b:71:71 [0] NCCL INFO NET/IB : Using [0]mlx5_1:1/IB [RO]; OOB eth2:10.0.0.11<0>
TAUGRID_RANK_LOG_END rank=1
"""


def golden(name: str) -> Object:
    """A recorded document: pass, socket-fail or missing-unknown."""
    document: Object = json.loads((DOCUMENTS / f"{name}.golden.json").read_bytes())
    return document


class Source:
    """The recorded pass, with evidence files that have the digests it names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.document = golden("pass")
        for item in self.document["evidence"]:
            self.write(item["name"], LOG.encode() if item["name"] == "sanitized-logs" else item["name"].encode())

    def write(self, name: str, content: bytes) -> Path:
        """Writes evidence, and its digest and size into the document."""
        item = next(item for item in self.document["evidence"] if item["name"] == name)
        sha256 = hashlib.sha256(content).hexdigest()
        item.update(sha256=f"sha256:{sha256}", size_bytes=len(content))
        path = self.folder / sha256
        path.write_bytes(content)
        return path

    def read(self, document: Object | None = None, check: Registered | None = None) -> Import:
        """The import of a document (its own, if none is given) with the evidence."""
        return import_document(copy.deepcopy(document or self.document), check, self.folder, NOW)


def outcome(read: Import) -> tuple[str, str]:
    """Outcome and reason of an import that gave an envelope."""
    assert read.envelope is not None, read.problems
    return read.envelope["outcome"], read.envelope["reason"]
