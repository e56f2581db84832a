"""From a draft and the status of a run to the sealed result. Pure: the same input gives the same bytes."""

from datetime import timedelta
from typing import Any

from ..contract.clock import format_time, parse_time
from ..contract.document import canonical, digest_of
from ..contract.envelope import read_envelope
from ..contract.kinds import API_VERSION, RESULT
from ..objects import section
from . import names
from .artifacts import Stored
from .draft import evidence_item

Object = dict[str, Any]


def cleanup_of(status: Object) -> Object:
    """The cleanup as the envelope has it: every object by its UID."""
    cleanup = section(status, "cleanup")
    return {
        "state": cleanup.get("state", "unknown"),
        "owned": [entry for entry in cleanup.get("owned") or () if entry.get("uid")],
        "remaining": list(cleanup.get("remaining") or ()),
    }


def envelope(draft: Object, run: Object, cleanup: Stored) -> Object:
    """The whole envelope. cleanup: the stored evidence of what was removed."""
    status, metadata = section(run, "status"), run["metadata"]
    observed = parse_time(status["sealedAt"])
    assert observed is not None
    times = {
        "created": metadata["creationTimestamp"],
        **{name: status.get(f"{name}At") for name in ("queued", "admitted", "started", "completed", "cleaned")},
        "observed": status["sealedAt"],
    }
    sealed = draft | {
        "times": times,
        "validUntil": format_time(observed + timedelta(seconds=draft["freshForSeconds"])),
        "cleanup": cleanup_of(status),
        "evidence": [*draft["evidence"], evidence_item("cleanup", cleanup, "application/json", observed)],
    }
    if left := sealed["cleanup"]["remaining"]:
        words = f"The run left {len(left)} object{'s' if len(left) > 1 else ''} behind."
        sealed |= {"outcome": "failed", "errors": [{"reason": "cleanup_incomplete", "message": words}]}
    return sealed


def sound(sealed: Object) -> Object:
    """The envelope, or one that says less where the contract refuses it: what a workload wrote may break a result,
    never the sealing of it."""
    problems = [problem for problem in read_envelope(sealed).problems if not problem.clock]
    if not problems:
        return sealed
    observed = [target | {"outcome": _doubted(target["outcome"])} for target in sealed["targets"]["observed"]]
    outcome = _doubted(sealed["outcome"])
    return sealed | {
        "details": None,
        "outcome": outcome,
        "reason": "parser_rejected",
        "message": f"What was reported cannot be sealed: {problems[0].pointer or 'the document'}",
        "evidence": [item for item in sealed["evidence"] if item["name"] in _OWN],
        "targets": sealed["targets"] | {"observed": observed},
    }


_OWN = ("manifest", "logs", "placement", "image-receipt", "cleanup")


def _doubted(outcome: str) -> str:
    return "unknown" if outcome == "passed" else outcome


def result(sealed: Object, run: Object, publisher: str) -> Object:
    """The TauValidationResult, named by run and attempt."""
    metadata = run["metadata"]
    check, identity = sealed["check"], sealed["run"]
    return {
        "apiVersion": API_VERSION,
        "kind": RESULT,
        "metadata": {
            "name": f"{check['name']}-{identity['id']}-{identity['attempt']}",
            "namespace": metadata["namespace"],
            "labels": {names.MANAGED_BY: names.ACCOUNT, names.RUN_ID: identity["id"], names.CHECK_NAME: check["name"]},
        },
        "spec": {
            "publisher": {"username": publisher},
            "digest": digest_of(canonical(sealed)),
            "envelope": sealed,
        },
    }
