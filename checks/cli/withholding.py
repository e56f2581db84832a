"""What leaves a cluster in a dump: what verdicts and a person need, without values that somebody may want to keep.

Left out are values of environment variables, whatever looks like a credential, annotations of others, managed fields,
and of nodes everything but their identity, capacity and conditions. Names stay.
"""

from typing import Any

from ..contract.credential import may_hold_credential
from ..contract.kinds import GROUP, TEMPLATE
from ..objects import WITHHELD, section, spec_digest

Object = dict[str, Any]
INSTEAD = "(withheld)"
_METADATA = (
    *("name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp"),
    *("finalizers", "labels", "annotations"),
)
_NODE = {
    "spec": ("providerID", "unschedulable", "taints"),
    "status": ("nodeInfo", "capacity", "allocatable", "conditions"),
}


def withheld(item: Object) -> tuple[Object, int]:
    """The object as it may leave, and how many values were replaced in it."""
    counter = [0]
    metadata = {key: value for key, value in section(item, "metadata").items() if key in _METADATA}
    marks = {key: value for key, value in section(metadata, "annotations").items() if key.startswith(f"{GROUP}/")}
    metadata = {key: value for key, value in metadata.items() if key != "annotations"}
    if marks:
        metadata["annotations"] = marks
    kept: Object = {"apiVersion": item.get("apiVersion"), "kind": item.get("kind")}
    kept["metadata"] = _clean(metadata, counter)
    for key in ("spec", "status"):
        if key in item:
            kept[key] = _clean(_part(item, key), counter)
    if item.get("kind") == TEMPLATE and spec_digest(kept) != spec_digest(item):
        kept[WITHHELD] = {"specDigest": spec_digest(item)}
    return kept, counter[0]


def _part(item: Object, key: str) -> Any:
    if item.get("kind") == "Node":
        return {name: value for name, value in section(item, key).items() if name in _NODE[key]}
    return item[key]


def _clean(value: Any, counter: list[int]) -> Any:
    if isinstance(value, dict):
        return {
            key: _variables(each, counter) if key == "env" else _clean(each, counter) for key, each in value.items()
        }
    if isinstance(value, list):
        return [_clean(each, counter) for each in value]
    if isinstance(value, str) and may_hold_credential(value):
        counter[0] += 1
        return INSTEAD
    return value


def _variables(value: Any, counter: list[int]) -> Any:
    """A container's variables: their names, and where their values come from."""
    if not isinstance(value, list):
        return _clean(value, counter)
    found = []
    for each in value:
        if isinstance(each, dict) and each.get("value"):
            counter[0] += 1
            each = {**each, "value": INSTEAD}
        found.append(_clean(each, counter))
    return found
