"""The evidence that the control plane itself writes: what was launched, what was logged, who ran where. Pure.

No environment value of the workload, and no line of a log that looks like a credential, gets in.
"""

import copy
from typing import Any

from ..contract.credential import may_hold_credential
from ..contract.document import canonical
from ..objects import section, text
from .pods import Pod

Object = dict[str, Any]
WITHHELD = b"[a line that looks like a credential is withheld]"


def manifest(job: Object | None, support: list[Object]) -> bytes:
    """The Job and its support objects as the API server has them; of the environment only the names."""
    return canonical({"objects": [_shown(item) for item in [*([job] if job else []), *support]]})


def _shown(item: Object) -> Object:
    shown: Object = {key: copy.deepcopy(item.get(key)) for key in ("apiVersion", "kind", "spec") if key in item}
    metadata = section(item, "metadata")
    shown["metadata"] = {key: metadata[key] for key in ("name", "namespace", "uid", "labels") if key in metadata}
    pod = section(section(section(shown, "spec"), "template"), "spec")
    for group in ("initContainers", "containers"):
        for container in pod.get(group) or ():
            container["env"] = [text(variable, "name") for variable in container.get("env") or ()]
    return shown


def logs(pieces: list[tuple[Pod, bytes | str]], limit: int) -> bytes:
    """The logs of all pods, one after another. A text instead of bytes says why there is no log; limit: in bytes."""
    found = []
    for pod, log in pieces:
        head = f"=== rank {pod.rank} pod {pod.name} node {pod.node or 'none'}\n".encode()
        if isinstance(log, str):
            found.append(head + f"[{log}]\n".encode())
            continue
        cut = b"\n[cut here: the log goes on]\n" if len(log) >= limit else b""
        found.append(head + _without_credentials(log) + cut)
    return b"\n".join(found)


def _without_credentials(log: bytes) -> bytes:
    lines = log.split(b"\n")
    return b"\n".join(WITHHELD if may_hold_credential(line.decode("utf-8", "replace")) else line for line in lines)


def placement(targets: list[Object]) -> bytes:
    """The targets as they were observed."""
    return canonical({"targets": targets})


def image_receipt(pods: list[Pod]) -> bytes:
    """Which image each pod was asked to run, and which one the container runtime says that it ran."""
    return canonical(
        {
            "pods": [
                {"podUID": pod.uid, "rank": pod.rank, "asked": pod.image_asked, "run": pod.image_run or None}
                for pod in pods
            ]
        }
    )


def cleanup(sealed: Object, foreign: str) -> bytes:
    """What was removed, what was not, and what was left alone because it is not the run's."""
    return canonical({"cleanup": sealed, "note": foreign})
