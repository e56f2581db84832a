"""Vectors of rows 1 to 7: may anything be said about this check at all, and has its newest run ended?"""

from datetime import timedelta
from typing import Any

from checks.contract.kinds import APPROVED, REJECTED, REVIEWED_BY
from tests.contract.example import MICROSECOND, NOW, Example
from tests.contract.vector import CLAUSES, NO_REGISTRATION, NO_RESULT, Table

TABLE = Table()
case = TABLE.add


def untouched(example: Example) -> None:
    """Nothing is changed."""


# Row 1. A heartbeat counts for two minutes; one that lies in the future by more than 60 seconds does not count.
for word, age, known in (
    ("just before its limit", timedelta(minutes=2) - MICROSECOND, True),
    ("exactly at its limit", timedelta(minutes=2), True),
    ("just after its limit", timedelta(minutes=2) + MICROSECOND, False),
    ("just within the skew", -timedelta(seconds=60) + MICROSECOND, True),
    ("exactly at the skew", -timedelta(seconds=60), True),
    ("just beyond the skew", -timedelta(seconds=60) - MICROSECOND, False),
):
    row: tuple[Any, ...] = (22, "Passed", "proved") if known else (1, "Unknown", "source_unavailable", "source")
    about = f"The cluster's heartbeat is {word}."
    case(*row, name=f"heartbeat-{word.replace(' ', '-')}", about=about, heartbeat=NOW - age)(untouched)

case(1, "Unknown", "source_unavailable", "source", name="never-seen", about="No heartbeat is known.", heartbeat=None)(
    untouched
)
case(1, "Unknown", "source_unavailable", "source", name="not-complete", about="A kind was not listed.", complete=False)(
    untouched
)


# Row 2.
@case(2, "Unknown", "not_registered", "registered", last="Unknown", unread=NO_REGISTRATION)
def registration_gone(example: Example) -> None:
    """A run and its result are left, the registration is gone."""
    example.drop(example.check)


@case(2, "Unknown", "not_registered", "registered", last="Failed", unread=NO_REGISTRATION)
def registration_of_a_failed_check_gone(example: Example) -> None:
    """The registration is gone; the failure that its last result states stays visible."""
    example.fail()
    example.drop(example.check)


@case(2, "Unknown", "not_registered", "registered", last="Unknown", unread=NO_REGISTRATION)
def only_a_result(example: Example) -> None:
    """Nothing but the result is left."""
    example.drop(example.check)
    example.drop(example.run)


# Row 3.
@case(3, "Unknown", "registration_invalid", "approved", last="Unknown", unread=NO_RESULT)
def registration_without_title(example: Example) -> None:
    """A required field of the registration is missing."""
    del example.check["spec"]["title"]


@case(3, "Unknown", "registration_invalid", "approved", last="Unknown", unread=NO_RESULT)
def registration_with_an_unknown_field(example: Example) -> None:
    """A field that this version does not know may change what was approved."""
    example.check["spec"]["results"]["ignoreFailures"] = True


@case(3, "Unknown", "registration_invalid", "approved")
def template_names_an_image_by_tag(example: Example) -> None:
    """The template itself does not keep the contract, although it was approved."""
    example.template["spec"]["job"]["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.example/nccl-ib:1"
    example.approve()


@case(3, "Unknown", "registration_invalid", "approved")
def parameter_out_of_bounds(example: Example) -> None:
    """The registration gives a parameter a value that the template does not allow."""
    example.check["spec"]["launch"]["template"]["parameters"]["linkLayer"] = "Ethernet"
    example.approve()


@case(3, "Unknown", "registration_invalid", "approved")
def workspace_not_allowed(example: Example) -> None:
    """The namespace no longer has the label that the template asks for."""
    del example.namespace["metadata"]["labels"]["tau.azure.com/gpu"]


@case(3, "Unknown", "registration_invalid", "approved")
def two_copies_of_the_registration(example: Example) -> None:
    """The registration was read twice, with different content and no resourceVersion to tell the newer."""
    copy = dict(example.check, metadata=dict(example.check["metadata"], labels={"copy": "second"}))
    example.objects.append(copy)


@case(3, "Unknown", "not_approved", "approved")
def nobody_approved(example: Example) -> None:
    """The approval annotation is missing."""
    del example.check["metadata"]["annotations"][APPROVED]


@case(3, "Unknown", "not_approved", "approved")
def approved_by_nobody(example: Example) -> None:
    """The approval does not say who reviewed."""
    del example.check["metadata"]["annotations"][REVIEWED_BY]


@case(3, "Unknown", "rejected", "approved")
def rejected(example: Example) -> None:
    """A reviewer rejected it; the approval beside it does not help: rejection wins."""
    example.check["metadata"]["annotations"][REJECTED] = example.check["metadata"]["annotations"][APPROVED]


@case(3, "Unknown", "rejected", "approved")
def rejected_without_a_word(example: Example) -> None:
    """The annotation is there and empty: rejected all the same."""
    example.check["metadata"]["annotations"][REJECTED] = ""


@case(3, "Unknown", "approval_outdated", "approved identity", last="Unknown")
def registration_changed(example: Example) -> None:
    """The spec changed after the approval; the result is of the earlier one, too."""
    example.check["spec"]["title"] = "Another title"


@case(3, "Unknown", "approval_outdated", "approved")
def another_digest_approved(example: Example) -> None:
    """The approval is of another spec."""
    example.check["metadata"]["annotations"][APPROVED] = "sha256:" + "0" * 64


@case(3, "Unknown", "approval_outdated", "approved")
def approved_in_capitals(example: Example) -> None:
    """A digest is lower-case; this one is another text."""
    annotations = example.check["metadata"]["annotations"]
    annotations[APPROVED] = "sha256:" + annotations[APPROVED].removeprefix("sha256:").upper()


@case(3, "Unknown", "template_changed", "approved")
def template_gone(example: Example) -> None:
    """The template that was approved is no longer there."""
    example.drop(example.template)


@case(3, "Unknown", "template_changed", "approved")
def template_replaced(example: Example) -> None:
    """Under the template's name there is another spec."""
    example.template["spec"]["description"] = "Another description"


# Rows 4 and 5. An active run counts until its deadline, and for 15 minutes after its last sign of life.
def _phase(phase: str) -> None:
    def change(example: Example) -> None:
        example.activate(phase)

    about = f"The only run is {phase}, before its deadline."
    case(4, "Running", phase.lower(), "run", name=f"run-{phase.lower()}", about=about, last=None, unread=NO_RESULT)(
        change
    )


for name in ("Pending", "Queued", "Admitted", "Running", "Collecting", "Cleaning"):
    _phase(name)


@case(4, "Running", "pending", "run", last=None, unread=NO_RESULT)
def run_without_status(example: Example) -> None:
    """The controller has not seen the run yet; it was created 14 minutes ago."""
    example.activate("Pending")
    del example.run["status"]


def _limit(name: str, about: str, alive: str, deadline: str) -> None:
    def change(example: Example) -> None:
        example.activate("Running", alive=alive, deadline=deadline)

    for word, now, row in (
        ("just before", NOW - MICROSECOND, (4, "Running", "running")),
        ("exactly at", NOW, (4, "Running", "running")),
        ("just after", NOW + MICROSECOND, (5, "Unknown", "run_lost")),
    ):
        title, says = f"{name}-{word.replace(' ', '-')}", f"{about}; now is {word} that limit."
        case(*row, "run", name=title, about=says, now=now, last=None, unread=NO_RESULT)(change)


_limit("deadline", "The deadline is 08:24:00", "2026-11-30T08:20:00Z", "2026-11-30T08:24:00Z")
_limit(
    "silence", "The last sign of life is of 08:09:00, 15 minutes ago", "2026-11-30T08:09:00Z", "2026-11-30T09:00:00Z"
)


@case(5, "Unknown", "run_lost", "run", last=None, unread=NO_RESULT)
def sign_of_life_from_the_future(example: Example) -> None:
    """A sign of life more than 60 seconds ahead is none."""
    example.activate("Running", alive="2026-11-30T08:25:00.000001Z")


@case(4, "Running", "running", "run", last=None, unread=NO_RESULT)
def sign_of_life_within_the_skew(example: Example) -> None:
    """A sign of life 60 seconds ahead is one of a clock that is a little fast."""
    example.activate("Running", alive="2026-11-30T08:25:00Z")


@case(5, "Unknown", "run_lost", "run", last=None, unread=NO_RESULT)
def never_a_sign_of_life(example: Example) -> None:
    """A run that was created 16 minutes ago and of which nothing was ever heard."""
    example.activate("Pending")
    example.run["metadata"]["creationTimestamp"] = "2026-11-30T08:08:00Z"
    del example.run["status"]


@case(4, "Running", "running", "run", unread=NO_RESULT)
def newer_run_at_work(example: Example) -> None:
    """A newer run is at work; the last sealed verdict stays visible."""
    example.again()


@case(4, "Running", "running", "run", last="Failed", unread=NO_RESULT)
def newer_run_after_a_failure(example: Example) -> None:
    """A newer run is at work; that the last one failed stays visible."""
    example.fail()
    example.again()


# Rows 6 and 7.
@case(6, "Unknown", "no_result", "run", last=None, unread=NO_RESULT)
def never_run(example: Example) -> None:
    """Registered and approved, never run."""
    example.drop(example.run)
    example.drop(example.result)


@case(7, "Unknown", "result_missing", "run", last=None, unread=NO_RESULT)
def newest_run_deleted(example: Example) -> None:
    """The registration's status names a last run that is no longer there, nor its result."""
    example.check["status"]["lastRun"] = {"name": "ib-pair-1", "uid": "gone", "runID": "0" * 24}
    example.drop(example.run)
    example.drop(example.result)


@case(7, "Unknown", "result_missing", "run", unread=NO_RESULT)
def newest_run_deleted_an_older_one_left(example: Example) -> None:
    """The last run that the status names is gone; the older one that passed does not speak for it."""
    example.check["status"]["lastRun"] = {"name": "ib-pair-1", "uid": "gone", "runID": "0" * 24}


@case(7, "Unknown", "result_missing", "run", last=None, unread=NO_RESULT)
def result_deleted(example: Example) -> None:
    """The run is sealed, its result is gone."""
    example.drop(example.result)


@case(7, "Unknown", "result_missing", "run", last=None, unread=NO_RESULT)
def ended_without_a_reason(example: Example) -> None:
    """The run is sealed without a result, for a reason that this version does not know."""
    example.end("strange")


def _ended(reason: str, state: str) -> None:
    def change(example: Example) -> None:
        example.end(reason, "What the API server said.")

    name, about = reason.replace("_", "-"), f"The run is sealed without a result: {reason}."
    case(7, state, reason, "run", name=name, about=about, last=None, unread=NO_RESULT)(change)


_ended("launch_failed", "Unknown")
_ended("deadline_exceeded", "Unknown")
_ended("evicted", "Unknown")
_ended("workload_failed", "Failed")


@case(7, "Unknown", "result_missing", "run", last=None, unread=CLAUSES[4:])
def run_status_unreadable(example: Example) -> None:
    """The run's status does not keep the contract; nothing of its result is interpreted."""
    example.status["phase"] = 5


@case(7, "Unknown", "result_missing", "run", last=None, unread=CLAUSES[4:])
def run_spec_unreadable(example: Example) -> None:
    """The run's spec does not keep the contract."""
    example.run["spec"]["runID"] = "7D0F3C9A51B2E84466AA91C0"


@case(7, "Unknown", "result_missing", "run", unread=CLAUSES[4:])
def phase_of_the_future(example: Example) -> None:
    """The run is in a phase that this version does not know."""
    example.status["phase"] = "Archived"
