"""Vectors of rows 14 to 22: does an honest result still prove anything, and is it good news?"""

from datetime import datetime, timedelta

from tests.contract.example import MICROSECOND, NOW, SEALED_AT, Example, at
from tests.contract.vector import Table

TABLE = Table()
case = TABLE.add


# Row 14.
@case(14, "Stale", "target_replaced", "machines")
def node_replaced(example: Example) -> None:
    """A node of the same name has another UID."""
    example.node["metadata"]["uid"] = "00000000-0000-4000-8000-0000000000ff"


@case(14, "Stale", "target_replaced", "machines")
def machine_replaced(example: Example) -> None:
    """The node object is the same, the machine below it is another."""
    example.node["status"]["nodeInfo"]["systemUUID"] = "00000000-0000-4000-8000-0000000000ff"


@case(14, "Stale", "target_rebooted", "machines")
def node_rebooted(example: Example) -> None:
    """The check is bound to the boot, and the node has been rebooted."""
    example.node["status"]["nodeInfo"]["bootID"] = "00000000-0000-4000-8000-0000000000ff"


@case(14, "Stale", "target_rebooted", "machines")
def boot_unknown(example: Example) -> None:
    """The check is bound to the boot, and the node does not say which one it is in."""
    del example.node["status"]["nodeInfo"]["bootID"]


@case(22, "Passed", "proved")
def node_rebooted_not_bound(example: Example) -> None:
    """The check is not bound to the boot."""
    example.check["spec"]["targets"]["bindTo"] = ["uid"]
    example.approve()
    example.node["status"]["nodeInfo"]["bootID"] = "00000000-0000-4000-8000-0000000000ff"


@case(14, "Stale", "target_gone", "machines")
def node_gone(example: Example) -> None:
    """A node that was tested is no longer there."""
    example.drop(example.node)


@case(14, "Stale", "target_gone", "machines outcome", last="Failed")
def node_of_a_failure_gone(example: Example) -> None:
    """The node is gone; that the check failed on it stays visible."""
    example.fail()
    example.drop(example.node)


# Row 15. Exactly at the limit is still fresh.
def untouched(example: Example) -> None:
    """Nothing is changed."""


def ends_sooner(example: Example) -> None:
    """The publisher may promise less than the freshness."""
    example.envelope["validUntil"] = "2026-11-30T08:24:00Z"
    example.seal()


def registered_shorter(example: Example) -> None:
    """The registration may ask for fresher results than the publisher promises."""
    example.check["spec"]["results"]["freshForSeconds"] = int((NOW - SEALED_AT).total_seconds())
    example.approve()


for name, words, change, limit in (
    ("freshness", "its own limit", untouched, at("2026-12-01T05:12:00Z")),
    ("ends-sooner", "the sooner end that the publisher set", ends_sooner, NOW),
    ("registered-shorter", "the limit of the registration", registered_shorter, NOW),
):
    for word, offset in (("just-before", -MICROSECOND), ("exactly-at", timedelta(0)), ("just-after", MICROSECOND)):
        fresh = offset <= timedelta(0)
        about = f"Read {word.replace('-', ' ')} {words}."
        expected = (22, "Passed", "proved") if fresh else (15, "Stale", "expired", "fresh")
        case(*expected, name=f"{name}-{word}", about=about, now=limit + offset)(change)


@case(15, "Stale", "expired", "fresh outcome", last="Failed", now=datetime.fromisoformat("2026-12-02T00:00:00+00:00"))
def failure_expired(example: Example) -> None:
    """A failure that has expired is stale, and still says that it failed."""
    example.fail()


# Row 16.
@case(16, "Failed", "cleanup_incomplete", "cleanup", last="Failed")
def left_something(example: Example) -> None:
    """The run left a Service behind."""
    cleanup = example.envelope["cleanup"]
    cleanup |= {"state": "incomplete", "remaining": [cleanup["owned"][1]]}
    example.seal()


@case(16, "Failed", "cleanup_incomplete", "cleanup", last="Failed")
def left_something_and_says_complete(example: Example) -> None:
    """It says that cleanup is complete, and lists what remains."""
    example.envelope["cleanup"]["remaining"] = example.envelope["cleanup"]["owned"][:1]
    example.seal()


@case(16, "Failed", "cleanup_incomplete", "cleanup", last="Failed")
def left_something_says_the_run(example: Example) -> None:
    """The result says that cleanup is complete, the run's status says that it is not."""
    example.status["cleanup"]["state"] = "incomplete"


# Row 17.
@case(17, "Failed", "transport_failure", "outcome", last="Failed")
def failed(example: Example) -> None:
    """The check failed, for a reason of its own."""
    example.fail()


@case(17, "Failed", "check_failed", "outcome", last="Failed")
def failed_with_a_borrowed_word(example: Example) -> None:
    """The check failed, and gives a word that only the verdict may say."""
    example.fail()
    example.envelope["reason"] = "proved"
    example.seal()


@case(17, "Failed", "deadline_exceeded", "outcome cleanup", last="Failed")
def failed_at_its_deadline(example: Example) -> None:
    """The run was ended at its deadline and sealed with what was seen; failed comes before cleanup unknown."""
    example.fail()
    example.envelope["reason"] = "deadline_exceeded"
    example.envelope["cleanup"]["state"] = "unknown"
    example.seal()


# Row 18.
@case(18, "Unknown", "cleanup_unknown", "cleanup", last="Unknown")
def cleanup_not_seen(example: Example) -> None:
    """Nobody could see whether something was left behind."""
    example.envelope["cleanup"]["state"] = "unknown"
    example.seal()


@case(18, "Unknown", "cleanup_unknown", "cleanup", last="Unknown")
def cleanup_not_seen_by_the_run(example: Example) -> None:
    """The run's status does not speak of cleanup."""
    del example.status["cleanup"]


# Row 19.
@case(19, "Unknown", "targets_incomplete", "targets outcome", last="Unknown")
def one_target_left_out(example: Example) -> None:
    """One of two targets was tested, and the result says so."""
    example.envelope["targets"]["observed"].pop()
    example.status["targets"].pop()
    example.envelope.update({"outcome": "unknown", "reason": "topology_evidence_incomplete"})
    example.seal()


@case(19, "Unknown", "targets_incomplete", "targets", last="Unknown")
def another_target_tested(example: Example) -> None:
    """As many targets as asked for were tested, but not the ones named."""
    example.envelope["targets"]["requested"]["nodes"] = ["gpu-03", "gpu-99"]
    example.seal()


@case(19, "Unknown", "targets_incomplete", "targets outcome", last="Failed")
def partial_result_after_a_failure(example: Example) -> None:
    """A newer, partial result does not clear the older failure."""
    run, result = example.again(sealed=True)
    example.fail()
    assert result is not None
    envelope = result["spec"]["envelope"]
    envelope["targets"]["observed"].pop()
    run["status"]["targets"].pop()
    envelope |= {"outcome": "unknown", "reason": "topology_evidence_incomplete"}
    example.seal()


# Row 20.
@case(20, "Unknown", "evidence_missing", "evidence", last="Unknown")
def evidence_not_listed(example: Example) -> None:
    """Required evidence is not in the result."""
    example.envelope["evidence"].pop()
    example.seal()


@case(20, "Unknown", "evidence_missing", "evidence", last="Unknown")
def evidence_deleted(example: Example) -> None:
    """The artifact is gone."""
    example.keep_evidence("logs", None)


@case(20, "Unknown", "evidence_unverified", "evidence", last="Unknown")
def evidence_not_read(example: Example) -> None:
    """No artifact has been read."""
    example.evidence = None


@case(20, "Unknown", "evidence_mismatch", "evidence", last="Unknown")
def evidence_longer(example: Example) -> None:
    """An artifact has another size."""
    example.keep_evidence("cleanup", b'{"remaining":[]}\n\n')


@case(20, "Unknown", "evidence_mismatch", "evidence", last="Unknown")
def evidence_changed(example: Example) -> None:
    """An artifact has the same size and other bytes."""
    example.keep_evidence("cleanup", b'{"remaining":{}}\n')


HOUR = timedelta(hours=1)


@case(22, "Passed", "proved", verified=(NOW - 2 * HOUR, NOW))
def verified_until_now(example: Example) -> None:
    """The evidence was read two hours ago, and that counts exactly until now."""


@case(20, "Unknown", "evidence_unverified", "evidence", verified=(NOW - 2 * HOUR, NOW - MICROSECOND))
def verified_too_long_ago(example: Example) -> None:
    """The evidence was read, that no longer counts, and nobody has read it since."""


@case(22, "Passed", "proved", verified=(NOW + timedelta(seconds=60), NOW + HOUR))
def verified_within_the_skew(example: Example) -> None:
    """The evidence was read by a process whose clock is 60 s ahead."""


@case(
    20, "Unknown", "evidence_unverified", "evidence", verified=(NOW + timedelta(seconds=60) + MICROSECOND, NOW + HOUR)
)
def verified_in_the_future(example: Example) -> None:
    """The evidence is said to have been read in the future."""


@case(22, "Passed", "proved")
def evidence_not_required(example: Example) -> None:
    """The registration requires none; that nothing was read does not matter."""
    example.check["spec"]["results"]["requiredEvidence"] = []
    example.approve()
    example.evidence = None


# Row 21.
@case(21, "Unknown", "ib_transport_not_proven", "outcome", last="Unknown")
def undecided(example: Example) -> None:
    """The check could not tell, for a reason of its own."""
    example.envelope["targets"]["observed"][0]["outcome"] = "unknown"
    example.envelope.update({"outcome": "unknown", "reason": "ib_transport_not_proven"})
    example.seal()


@case(21, "Unknown", "check_undecided", "outcome", last="Unknown")
def undecided_with_a_borrowed_word(example: Example) -> None:
    """The check could not tell, and gives a word that only the verdict may say."""
    example.envelope["targets"]["observed"][0]["outcome"] = "unknown"
    example.envelope.update({"outcome": "unknown", "reason": "running"})
    example.seal()


# Row 22.
@case(22, "Passed", "proved")
def passed(example: Example) -> None:
    """Everything holds."""


@case(22, "Passed", "proved")
def passed_again_after_a_failure(example: Example) -> None:
    """A newer result that passed supersedes an older failure."""
    example.again(sealed=True)
    example.fail()


@case(17, "Failed", "transport_failure", "outcome", last="Failed")
def failed_after_it_passed(example: Example) -> None:
    """A newer result that failed supersedes an older one that passed."""
    _, newer = example.again(sealed=True)
    assert newer is not None
    newer["spec"]["envelope"]["targets"]["observed"][1]["outcome"] = "failed"
    newer["spec"]["envelope"] |= {"outcome": "failed", "reason": "transport_failure"}
    example.seal()
