"""What the chart's accounts may do, asked of a real API server and compared with tables that people read."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.bed import chart
from tests.cluster.bed.control import ControlPlane
from tests.deploy.reviews import Question, Reviewer, account_groups

pytestmark = pytest.mark.cluster

HERE = Path(__file__).parent
NAMESPACE = "tau-system"


@pytest.fixture(scope="module")
def reviewer(guarded: ControlPlane) -> Iterator[Reviewer]:
    with contextlib.closing(Reviewer(guarded)) as asking:
        yield asking


@pytest.fixture(scope="module")
def questions(reviewer: Reviewer) -> set[Question]:
    """Everything one can ask here, and what the chart's roles name though nothing serves it here (Kueue)."""
    rules = [rule for item in chart.render() if item["kind"] in ("Role", "ClusterRole") for rule in item["rules"]]
    named = [(group, name) for rule in rules for group in rule["apiGroups"] for name in rule["resources"]]
    return reviewer.questions((NAMESPACE, "kube-system"), named)


def table(name: str) -> list[str]:
    """The lines of a checked-in table, without comments."""
    lines = (HERE / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def condensed(allowed: list[str]) -> list[str]:
    """Without rights in one namespace that hold everywhere anyway; addresses of discovery are one line."""
    everywhere = {line.removesuffix(" everywhere") for line in allowed if line.endswith(" everywhere")}
    kept = {line for line in allowed if line.rpartition(" in ")[0] not in everywhere}
    return sorted({re.sub(r"^(\S+ /(?:api|apis|openapi))/.*", r"\1/*", line) for line in kept})


@pytest.mark.parametrize("account", ["portal", "tau-validation-controller"])
def test_an_account_may_do_exactly_what_its_table_says(
    reviewer: Reviewer, questions: set[Question], account: str
) -> None:
    user = f"system:serviceaccount:{NAMESPACE}:{account}"
    told = condensed(reviewer.allowed(user, account_groups(NAMESPACE), questions))
    name = f"{account.removeprefix('tau-validation-')}-rights.txt"
    if os.environ.get("WRITE_RIGHTS"):
        head = [line for line in (HERE / name).read_text().splitlines() if line.startswith("#")]
        (HERE / name).write_text("\n".join([*head, *told]) + "\n")
    assert told == table(name)


def test_the_questions_are_all_there_is_to_ask(questions: set[Question]) -> None:
    assert len(questions) > 3000
    for right in (
        *("get secrets.core everywhere", "get secrets.core in tau-system", "create pods/exec.core everywhere"),
        *("create serviceaccounts/token.core in kube-system", "impersonate users.core everywhere"),
        *("update validationchecks/status.tau.azure.com everywhere", "get /metrics", "* *.* everywhere"),
        *("watch workloads.kueue.x-k8s.io everywhere", "escalate clusterroles.rbac.authorization.k8s.io everywhere"),
    ):
        assert right in {str(question) for question in questions}


def test_a_question_that_should_be_answered_with_yes_is(reviewer: Reviewer) -> None:
    asked = [Question("*", "*", "*"), Question("get", "secrets", "", "kube-system"), Question("get", path="/metrics")]
    assert len(reviewer.allowed("root", ["system:masters"], asked)) == 3
    assert reviewer.allowed("nobody", [], asked) == []


FORBIDDEN_WORDS = ("secrets", "configmaps", "pods/exec", "impersonate", "escalate", "bind ", "serviceaccounts")


@pytest.mark.parametrize("name", ["portal-rights.txt", "controller-rights.txt"])
def test_no_table_grants_what_neither_may_ever_have(name: str) -> None:
    for line in table(name):
        assert not any(word in line for word in FORBIDDEN_WORDS), line
        assert not line.startswith("* ")


def test_the_portal_changes_nothing() -> None:
    changes = [line for line in table("portal-rights.txt") if not line.startswith(("get ", "list ", "watch "))]
    assert changes
    for line in changes:
        assert re.match(r"create \w+reviews\.auth", line), f"{line}: a review is a question, all else is a change"


def test_the_controller_approves_and_grants_nothing() -> None:
    lines = table("controller-rights.txt")
    assert "create validationresults.tau.azure.com everywhere" in lines
    for line in lines:
        assert not line.startswith(("update validationresults", "patch validationresults"))
        for read_only in ("validationtemplates.", "validationchecks.", "validatingadmission", "nodes.", "pods"):
            assert read_only not in line or line.split()[0] in ("get", "list", "watch"), line
