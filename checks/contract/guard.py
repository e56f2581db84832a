"""Is the admission guard that makes a publisher certain in force? Judged from the policy and its binding as they are.

In force means that what is there does guard: it fails closed, denies, covers creation and change of every result in
every namespace, and holds both rules word for word. Whatever narrows it, or is not understood, takes the guard away;
the API server's own defaults do not.
"""

from dataclasses import dataclass
from typing import Any

from .kinds import CHECK, GROUP, PLURALS, RESULT

POLICY_NAME = "tau-validation-result-publisher"
RULES = (
    "object.spec.publisher.username == request.userInfo.username",
    "params.metadata.name != object.spec.envelope.check.name || ('system:serviceaccount:' + "
    "params.spec.results.publisher.namespace + ':' + params.spec.results.publisher.serviceAccount) "
    "== request.userInfo.username",
)


@dataclass(frozen=True, slots=True)
class Guard:
    """in_force, and if not, why (a sentence); policy: the name of the one that guards, or of the one looked for."""

    in_force: bool
    why: str
    policy: str = POLICY_NAME


def judge(policies: list[dict[str, Any]], bindings: list[dict[str, Any]]) -> Guard:
    """The guard given by all ValidatingAdmissionPolicies and -Bindings of a cluster. Total: any input, one answer."""
    whys = []
    for policy in policies:
        name = _name(policy)
        weak = _policy_weakness(_object(policy, "spec")) or _gone(policy)
        if not weak:
            bound = [b for b in bindings if _object(b, "spec").get("policyName") == name]
            faults = [_binding_weakness(_object(b, "spec")) or _gone(b) for b in bound]
            if "" in faults:
                return Guard(True, "", name)
            weak = faults[0] if faults else "no binding puts it in force"
        if name == POLICY_NAME:
            whys.append(weak)
    return Guard(False, whys[0] if whys else "there is no such policy")


def _policy_weakness(spec: dict[str, Any]) -> str:
    if spec.get("failurePolicy") != "Fail":
        return "its failurePolicy is not Fail"
    kind = _object(spec, "paramKind")
    if kind.get("kind") != CHECK or not str(kind.get("apiVersion")).startswith(f"{GROUP}/"):
        return f"its parameter is not {CHECK}"
    if spec.get("matchConditions"):
        return "it has match conditions, which narrow it"
    if why := _narrowing(_object(spec, "matchConstraints"), required=True):
        return why
    rules = {" ".join(str(v.get("expression")).split()) for v in _list(spec, "validations") if isinstance(v, dict)}
    if not rules.issuperset(RULES):
        return "one of its two rules is missing or changed"
    return ""


def _binding_weakness(spec: dict[str, Any]) -> str:
    if "Deny" not in _list(spec, "validationActions"):
        return "its binding does not deny"
    reference = _object(spec, "paramRef")
    if reference.get("parameterNotFoundAction") != "Deny":
        return "its binding admits results where no registration is found"
    if reference.get("name") or reference.get("namespace") or not _selects_all(reference.get("selector")):
        return "its binding looks at some registrations only"
    return _narrowing(_object(spec, "matchResources"), required=False)


def _narrowing(match: dict[str, Any], *, required: bool) -> str:
    for selector in ("namespaceSelector", "objectSelector"):
        if not _selects_all(match.get(selector, {})):
            return f"a {selector} leaves some results out"
    if match.get("excludeResourceRules"):
        return "it excludes some resources"
    rules = _list(match, "resourceRules")
    if not rules and not required:
        return ""
    covered = {
        op for rule in rules if isinstance(rule, dict) and _covers_results(rule) for op in _list(rule, "operations")
    }
    if "*" in covered or covered >= {"CREATE", "UPDATE"}:
        return ""
    return "it does not cover both creation and change of results"


def _covers_results(rule: dict[str, Any]) -> bool:
    groups, versions, resources = (_list(rule, part) for part in ("apiGroups", "apiVersions", "resources"))
    return (
        not rule.get("resourceNames")
        and rule.get("scope", "*") in ("*", "Namespaced")
        and (GROUP in groups or "*" in groups)
        and ("*" in versions or "v1alpha1" in versions)
        and (PLURALS[RESULT] in resources or "*" in resources or "*/*" in resources)
    )


def _selects_all(selector: Any) -> bool:
    return isinstance(selector, dict) and not selector.get("matchLabels") and not selector.get("matchExpressions")


def _gone(item: dict[str, Any]) -> str:
    return "it is being deleted" if _object(item, "metadata").get("deletionTimestamp") else ""


def _name(item: dict[str, Any]) -> str:
    return str(_object(item, "metadata").get("name"))


def _object(item: dict[str, Any], key: str) -> dict[str, Any]:
    value = item.get(key)
    return value if isinstance(value, dict) else {}


def _list(item: dict[str, Any], key: str) -> list[Any]:
    value = item.get(key)
    return value if isinstance(value, list) else []
