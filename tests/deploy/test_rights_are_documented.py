"""docs/rights.md names every policy, role and exception that the chart has, and none that it has not."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
RIGHTS = (ROOT / "docs" / "rights.md").read_text()
TEMPLATES = ROOT / "deploy" / "chart" / "templates"


def named(folder: str, kind: str) -> set[str]:
    """The names of the objects of one kind in a folder of templates."""
    text = "".join(path.read_text() for path in sorted((TEMPLATES / folder).glob("*.yaml")))
    return set(re.findall(rf"^kind: {kind}\nmetadata:\n  name: (\S+)", text, re.MULTILINE))


def test_every_policy_is_documented() -> None:
    policies = named("policies", "ValidatingAdmissionPolicy")
    assert len(policies) == 7
    assert policies == set(
        re.findall(r"^\| `(tau-validation-\S+)` \|", RIGHTS.partition("## Admission")[2], re.MULTILINE)
    )


def test_every_policy_has_a_binding_of_its_name() -> None:
    policies = named("policies", "ValidatingAdmissionPolicy")
    assert policies == named("policies", "ValidatingAdmissionPolicyBinding")


def test_every_role_for_people_is_documented() -> None:
    roles = {path for path in named("rights", "ClusterRole") if path.rpartition("-")[2] not in ("portal", "controller")}
    documented = RIGHTS.partition("## People")[2].partition("## Admission")[0]
    assert roles == set(re.findall(r"^\| `(tau-validation-\S+)` \|", documented, re.MULTILINE))


def test_every_exception_of_a_template_is_documented() -> None:
    policy = (TEMPLATES / "policies" / "template-guard.yaml").read_text()
    rules = set(re.findall(r"'([a-zA-Z.]+)=", policy)) | {"hostNetwork", "hostPID", "hostIPC"}
    table = RIGHTS.partition("| rule | value |")[2].partition("Support objects")[0]
    first_column = "".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))
    assert set(re.findall(r"`([a-zA-Z.]+)`", first_column)) - {"volumes.KIND"} == rules
