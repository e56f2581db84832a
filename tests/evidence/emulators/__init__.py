"""Stores that are real servers: moto's S3 and Azurite. `python -m tests.evidence.emulators` installs them, once.

moto stands in an environment of its own, since its AWS client wants another python-dateutil than the Kubernetes client.
"""

import os
from pathlib import Path

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "taugrid-portal" / "emulators"
MOTO = CACHE / "moto" / "bin" / "moto_server"
AZURITE = CACHE / "azurite" / "node_modules" / ".bin" / "azurite-blob"
