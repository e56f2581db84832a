"""The closed vocabulary of states and reasons, each with the sentence that people read.

`Reason` holds every code that a verdict can have of its own. A check may give codes of its own for what it found
(`CHECK_REASONS` are the known ones); they are shown as they are, and can never turn a verdict green.
"""

from enum import StrEnum


class State(StrEnum):
    """The verdict, in one word."""

    PASSED = "Passed"
    FAILED = "Failed"
    RUNNING = "Running"
    UNKNOWN = "Unknown"
    STALE = "Stale"


class Reason(StrEnum):
    """Why a verdict is what it is: the code, its sentence and what to do next."""

    sentence: str
    next_step: str

    def __new__(cls, code: str, sentence: str, next_step: str = "") -> "Reason":
        member = str.__new__(cls, code)
        member._value_ = code
        member.sentence, member.next_step = sentence, next_step
        return member

    PROVED = "proved", "Every clause of the proof holds."

    SOURCE_UNAVAILABLE = (
        "source_unavailable",
        "The cluster has not been seen completely, or not recently enough.",
        "Look at the source's row on the fleet page; verdicts return by themselves once it is seen again.",
    )
    NOT_REGISTERED = (
        "not_registered",
        "There are results or runs, but no registration that asked for them.",
        "Register the check again, or remove what is left of it.",
    )
    REGISTRATION_INVALID = (
        "registration_invalid",
        "The registration, or the template it names, does not keep the contract.",
        "Run tau-check validate on the registration and mend the fields it names.",
    )
    NOT_APPROVED = (
        "not_approved",
        "No platform admin has approved this registration.",
        "Ask a platform admin to review it.",
    )
    REJECTED = "rejected", "A platform admin rejected this registration.", "Talk to the reviewer named on it."
    APPROVAL_OUTDATED = (
        "approval_outdated",
        "The registration has changed since it was approved.",
        "Ask a platform admin to review the change.",
    )
    TEMPLATE_CHANGED = (
        "template_changed",
        "The template is gone, or is no longer the one that was approved.",
        "Register the check with the template that is there now, and have it approved.",
    )

    PENDING = "pending", "A run was asked for; the controller has not taken it up yet."
    QUEUED = "queued", "A run waits in its queue for capacity."
    ADMITTED = "admitted", "Kueue admitted a run; its pods are being placed."
    RUNNING = "running", "The pods of a run are at work."
    COLLECTING = "collecting", "A run ended; its reports are being collected."
    CLEANING = "cleaning", "A run ended; what it created is being removed."
    RUN_LOST = (
        "run_lost",
        "A run should have ended by now, or nothing has been heard of it for too long.",
        "Look at the run's Job and the controller's log, then run the check again.",
    )
    NO_RESULT = "no_result", "The check has never run.", "Run it: tau-check run."
    RESULT_MISSING = (
        "result_missing",
        "The newest run ended without a sealed result, or its result is gone.",
        "Run the check again.",
    )
    LAUNCH_FAILED = (
        "launch_failed",
        "The newest run could not be started.",
        "Read the API server's message on the run, mend what it names, run again.",
    )
    WORKLOAD_FAILED = (
        "workload_failed",
        "The control plane saw the workload itself fail.",
        "Read the pod's log and exit code on the run.",
    )
    DEADLINE_EXCEEDED = (
        "deadline_exceeded",
        "The newest run did not end within its deadline.",
        "Look at the last phase it reached; capacity, image and nodes are the usual causes.",
    )
    EVICTED = "evicted", "The newest run was evicted before it ended.", "Run it again when there is capacity."

    MALFORMED_RESULT = (
        "malformed_result",
        "The result does not keep the contract.",
        "The publisher must mend the fields named; nothing of it is interpreted.",
    )
    DIGEST_MISMATCH = (
        "digest_mismatch",
        "The result is not the one that was sealed: its digest does not match its bytes.",
        "Treat it as tampered with: find out who wrote it, and run the check again.",
    )
    UNSUPPORTED_SCHEMA = (
        "unsupported_schema",
        "The result is written in a schema that is not supported here.",
        "Upgrade the portal, or add the schema to the registration.",
    )
    UNSUPPORTED_VERSION = (
        "unsupported_version",
        "The result comes from a version of the check that the registration does not list.",
        "Add the version to the registration and have it approved, or run the listed one.",
    )
    UNAUTHORIZED_PUBLISHER = (
        "unauthorized_publisher",
        "Somebody other than the registered publisher wrote the result.",
        "Find out who wrote it; only the registered publisher's results count.",
    )
    PUBLISHER_UNVERIFIED = (
        "publisher_unverified",
        "The admission policy that makes the publisher certain is not in force.",
        "Install the policy tau-validation-result-publisher and its binding as shipped.",
    )
    IDENTITY_MISMATCH = (
        "identity_mismatch",
        "The result is not of this check, this run, these targets or this place.",
        "Run the check again; if it stays, the publisher mixes runs up.",
    )
    CLOCK_INVALID = (
        "clock_invalid",
        "A time lies in the future, is out of order, or is not UTC.",
        "Compare the clocks of the control plane and the portal, then run again.",
    )
    OUTCOME_MISMATCH = (
        "outcome_mismatch",
        "The outcome it states is not the one its own targets and errors give.",
        "The publisher must state what it saw; run again after it is mended.",
    )
    TARGET_REPLACED = (
        "target_replaced",
        "A node that was tested is another machine now, under the same name.",
        "Run the check again on the node that is there now.",
    )
    TARGET_REBOOTED = (
        "target_rebooted",
        "A node that was tested has been rebooted since, and the check is bound to the boot.",
        "Run the check again.",
    )
    TARGET_GONE = (
        "target_gone",
        "A node that was tested is no longer there.",
        "Run the check again on other nodes.",
    )
    EXPIRED = (
        "expired",
        "The result is older than it may be.",
        "Run the check again, or look why its schedule did not.",
    )
    CLEANUP_INCOMPLETE = (
        "cleanup_incomplete",
        "The run left something behind in the cluster.",
        "Remove what the Cleanup panel lists, then run again.",
    )
    CLEANUP_UNKNOWN = (
        "cleanup_unknown",
        "Nobody could see whether the run left something behind.",
        "Look for objects with the run's id, then run again.",
    )
    TARGETS_INCOMPLETE = (
        "targets_incomplete",
        "Not every target that was asked for was tested.",
        "The Targets panel lists the ones left out; run again when they are available.",
    )
    EVIDENCE_MISSING = (
        "evidence_missing",
        "Evidence that the registration requires is not there.",
        "Look whether the artifact was deleted or never written, then run again.",
    )
    EVIDENCE_UNVERIFIED = (
        "evidence_unverified",
        "Required evidence has not been read and compared yet.",
        "Wait for the next verification, or look at the artifact store's health.",
    )
    EVIDENCE_MISMATCH = (
        "evidence_mismatch",
        "Required evidence is not what the result says it is: size or sha256 differs.",
        "Treat the artifact as changed: find out by whom, and run again.",
    )
    CHECK_FAILED = "check_failed", "The check found a fault."
    CHECK_UNDECIDED = "check_undecided", "The check could not tell."


BY_CODE: dict[str, Reason] = {reason.value: reason for reason in Reason}

CHECK_REASONS: dict[str, str] = {
    "validation_passed": "Everything the check asks for was seen.",
    "socket_fallback_observed": "NCCL fell back to sockets; InfiniBand was not the only data path.",
    "ib_transport_not_proven": "No proof that the data went over InfiniBand.",
    "transport_failure": "The transport failed while data was exchanged.",
    "peer_authentication_failed": "The peers could not authenticate each other.",
    "placement_mismatch": "The pods did not run where the check needs them.",
    "topology_mismatch": "The topology is not the one the check asks for.",
    "correctness_error": "The data that arrived was wrong.",
    "nonzero_exit": "The workload ended with an exit code that is not 0.",
    "missing_required_evidence": "Evidence the check needs was not produced.",
    "topology_evidence_incomplete": "The topology could not be seen completely.",
    "invalid_measurement": "A measurement is missing or is not a number.",
    "evidence_integrity_missing": "Evidence came without its digest.",
    "parser_rejected": "The output of the workload could not be understood.",
    "runtime_error": "The check met an error of its own.",
    "other_network_observed": "The data went over another network than InfiniBand.",
    "nic_bypassed": "The nodes talked without their network adapters, so nothing is proven about InfiniBand.",
    "hca_not_accepted": "An adapter was used that this check does not accept.",
    "roce_not_infiniband": "The link layer is Ethernet (RoCE), not InfiniBand.",
    "nccl_version_mismatch": "The ranks ran different versions of NCCL.",
    "bandwidth_below_minimum": "The bus bandwidth is below the floor.",
    "untested_nccl_version": "The log of this NCCL version has not been studied yet.",
    "unknown_network": "NCCL used a network that is not known here.",
    "nccl_warning": "NCCL warned of something that may spoil the proof.",
    "rendezvous_failed": "The pods did not find each other in time.",
    "peer_lost": "One pod lost the other while the test ran.",
    "environment_mismatch": "The settings that make a fallback loud were not in force.",
    "cancelled": "The run was cancelled before it ended.",
    "report_missing": "A pod ended without its report.",
    "report_malformed": "A pod's report does not keep the contract.",
    "report_not_json": "A pod's report is not JSON.",
    "report_truncated": "A pod's report was cut at 4096 bytes.",
    "report_of_another_run": "A pod reported for another run.",
    "report_rank_mismatch": "A pod reported as another rank than its own.",
    "report_repeated": "More than one pod stood for one rank.",
    "report_unexpected": "A pod reported although no report was asked of it.",
    "workload_deleted": "Somebody deleted the Job or a pod before the run had ended.",
}


def sentence(code: str) -> str:
    """The sentence of any reason code; a generic one for a check's own code that is not known here."""
    if code in CHECK_REASONS:
        return CHECK_REASONS[code]
    own = BY_CODE.get(code)
    return own.sentence if own else "The check gives a reason of its own."


def next_step(code: str) -> str:
    """What to do next about a reason; "" where there is nothing to do."""
    own = BY_CODE.get(code)
    return own.next_step if own else "The check's runbook says what this reason means and how to mend it."


# Worst first. A stale verdict whose last sealed verdict was Failed stands with the failures.
_SEVERITY = {State.FAILED: 0, State.UNKNOWN: 2, State.STALE: 3, State.RUNNING: 4, State.PASSED: 5}


def severity(state: State, last: State | None) -> int:
    """0 (worst) to 5 (Passed), by state and last sealed state."""
    return 1 if state is not State.FAILED and state is not State.PASSED and last is State.FAILED else _SEVERITY[state]
