"""The artifact store of a controller from its configuration: `file:///path`, `s3://BUCKET…`, `az://ACCOUNT/CONTAINER…`."""

import os
from collections.abc import Callable
from pathlib import Path

from ..evidence.configuration import ConfigurationError, sound_base, target_of
from .artifacts import ArtifactError, ArtifactFolder, ArtifactStore
from .uploading import Uploads

VARIABLE = "TAU_ARTIFACTS"


def store_at(base: str, option: Callable[[str], str]) -> ArtifactStore:
    """The store. option: gives one of its options ("sas_token"), "" where it has none. Raises ArtifactError.

    Nothing is asked of a container or bucket yet: a wrong credential shows with the first piece, and is tried again.
    """
    if base.startswith("file:"):
        return ArtifactFolder(base)
    try:
        target = target_of("artifacts", sound_base("artifacts", base)) if "{" not in base else None
    except ConfigurationError as error:
        raise ArtifactError(str(error)) from error
    if target is None:
        raise ArtifactError(
            f"{base!r} is no artifact store; give file:///absolute/path, s3://BUCKET/PREFIX, "
            "az://ACCOUNT/CONTAINER/PREFIX or https://ACCOUNT.blob.core.windows.net/CONTAINER/PREFIX"
        )
    return Uploads(target, lambda _, name: option(name))


def from_environment(option: str) -> str:
    """An option of the store: TAU_ARTIFACTS_<OPTION>, or the file that TAU_ARTIFACTS_<OPTION>_FILE names."""
    name = f"{VARIABLE}_{option}".upper()
    path = os.environ.get(f"{name}_FILE")
    try:
        return Path(path).read_text(encoding="utf-8").strip() if path else os.environ.get(name, "")
    except (OSError, UnicodeDecodeError):
        return ""
