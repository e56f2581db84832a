"""The contract as rules, one sentence each, and which of them a check keeps. Pure.

A rule gives what breaks it, nothing where it is kept, or None where there was nothing to look at: without reports, for
one, nothing is said about reports.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ...contract.report import MAX_BYTES
from . import registered, reported
from .subject import Rule, Said, Subject, said_by

__all__ = ["RULES", "Kept", "Rule", "Said", "Subject", "judged", "said_by"]

RULES: Sequence[Rule] = (
    Rule("fields", "Registration and template have the fields of the contract, and no others.", registered.fields),
    Rule(
        "name-fits",
        f"The name has at most {registered.LONGEST_NAME} characters, so that a run's name fits a Job.",
        registered.name,
    ),
    Rule("own-version", "results.versions lists the version of the check itself.", registered.own_version),
    Rule("schedule", "A schedule is a cron expression of five fields in a time zone that exists.", registered.schedule),
    Rule("publisher", "results.publisher is the account that will publish.", registered.of_check(registered.publisher)),
    Rule("template-pinned", "The registration pins the digest that the template has.", registered.pinned),
    Rule("parameters", "Its parameters are ones that the template allows.", registered.parameters),
    Rule("one-report-per-target", "As many pods report as there are targets.", registered.ranks),
    Rule("evidence-somebody-writes", "Evidence that is required is written by somebody.", registered.required_evidence),
    Rule(
        "shown-data-is-kept",
        "What display shows has a schema in results.detailsSchemas.",
        registered.of_check(registered.display),
    ),
    Rule("no-secrets", "Nothing in it looks like a credential.", registered.secrets),
    Rule(
        "has-a-container",
        "The job has a container.",
        registered.of_pods(registered.CONTAINER),
    ),
    Rule("images-by-digest", "Every image is named by its digest.", registered.of_pods(registered.IMAGE)),
    Rule("no-api-token", "Pods get no token of the API server.", registered.of_pods(registered.TOKEN)),
    Rule(
        "restricted-pods",
        "What goes beyond restricted pod security has an exception that says why.",
        registered.of_pods(registered.EXCEPTION),
    ),
    Rule("probes-ask-the-pod", "Probes and hooks name no other host.", registered.of_pods(registered.PROBE)),
    Rule(
        "support-objects",
        "Support objects are headless Services and NetworkPolicies.",
        registered.of_pods(registered.SUPPORT),
    ),
    Rule("report-there", "Every pod writes a report, whatever happens.", reported.there),
    Rule("report-fits", f"A report has fewer than {MAX_BYTES} bytes.", reported.of_messages(reported.size)),
    Rule("report-is-json", "A report is one JSON document.", reported.of_messages(reported.is_json)),
    Rule(
        "report-fields",
        "A report has the fields of tau.validation-report.v1, and no others.",
        reported.of_messages(reported.report_fields),
    ),
    Rule("report-of-its-rank", "A pod reports as the rank that it is.", reported.of_reports(reported.rank)),
    Rule("report-of-its-run", "A pod reports for the run that it is of.", reported.of_reports(reported.run)),
    Rule(
        "report-data-schema",
        "The schema that a report names is one that the registration knows.",
        reported.of_reports(reported.data),
    ),
    Rule(
        "report-no-secrets",
        "Nothing in a report looks like a credential.",
        reported.of_messages(reported.message_secrets),
    ),
    Rule(
        "passed-ends-with-0",
        "A pod that reports passed ends with exit code 0.",
        reported.of_reports(reported.exit_code),
    ),
)


@dataclass(frozen=True, slots=True)
class Kept:
    """Whether one rule is kept: True, False, None where there was nothing to look at; what breaks it."""

    rule: Rule
    holds: bool | None
    faults: tuple[str, ...]


def judged(subject: Subject) -> list[Kept]:
    """Every rule, in order."""
    found = []
    for rule in RULES:
        faults = rule.look(subject)
        listed = () if faults is None else tuple(dict.fromkeys(faults))
        found.append(Kept(rule, None if faults is None else not listed, listed))
    return found
