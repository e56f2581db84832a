"""The objects of a run, made from its template: a suspended Indexed Job with Kueue's label, and support objects.

Pure. What a template says about retries, parallel starts and life times is not taken over: one run is one start of
each rank, and the controller removes what it created.
"""

import copy
from typing import Any

from ..contract.kinds import CheckSpec, ParameterValue, RunSpec, TemplateSpec
from ..contract.pods import containers
from ..objects import labels_of, section, text
from . import names

Object = dict[str, Any]
_GRACE_SECONDS = 120


def objects(run: Object, spec: RunSpec, check: CheckSpec, template: TemplateSpec, namespace: Object) -> list[Object]:
    """Everything that a run creates, in order: support objects first, the Job last."""
    launch = check.launch.template
    assert launch is not None
    common = names.labels(run, labels_of(namespace).get(names.WORKSPACE, ""), launch.name)
    renamed: dict[tuple[str, str], str] = {}
    made = []
    for item in template.support:
        kind = (str(item.get("apiVersion")), str(item.get("kind")))
        number = sum(1 for taken in renamed if taken[0] == kind[1])
        name = run["metadata"]["name"] + (f"-s{number}" if number else "")
        renamed[(kind[1], text(section(item, "metadata"), "name"))] = name
        made.append(_object(run, kind, name, common, _support_spec(kind, section(item, "spec"), run)))
    queue = launch.queue or queue_of(namespace)
    job = _object(run, names.JOB, run["metadata"]["name"], common | {names.KUEUE_QUEUE: queue}, {})
    job["spec"] = _job_spec(run, spec, check, template, common, renamed)
    return [*made, job]


def completions(template: TemplateSpec) -> int:
    """How many pods a template starts."""
    count = section(template.job, "spec").get("completions", 1)
    return count if isinstance(count, int) and not isinstance(count, bool) else 1


def reporters(template: TemplateSpec) -> int:
    """How many pods must report."""
    return template.reporters or completions(template)


def parameters(run: RunSpec, check: CheckSpec, template: TemplateSpec) -> dict[str, ParameterValue]:
    """The values that the pods get: the run's over the registration's over the defaults."""
    fixed = check.launch.template.parameters if check.launch.template else {}
    defaults = {each.name: each.default for each in template.parameters if each.default is not None}
    return defaults | run.parameters | fixed


def queue_of(namespace: Object) -> str:
    """The LocalQueue of a workspace, by its label."""
    found = labels_of(namespace)
    return next((found[label] for label in names.LOCAL_QUEUES if found.get(label)), names.DEFAULT_QUEUE)


def _object(run: Object, kind: tuple[str, str], name: str, labels: dict[str, str], spec: Object) -> Object:
    metadata = {
        "name": name,
        "namespace": run["metadata"]["namespace"],
        "labels": labels,
        "ownerReferences": [names.owner(run)],
    }
    return {"apiVersion": kind[0], "kind": kind[1], "metadata": metadata, "spec": spec}


def _support_spec(kind: tuple[str, str], spec: Object, run: Object) -> Object:
    own = {names.RUN_UID: run["metadata"]["uid"]}
    spec = copy.deepcopy(spec)
    if kind == names.SERVICE:
        return {"publishNotReadyAddresses": True, **spec, "clusterIP": "None", "selector": own}
    return {"ingress": [{"from": [{"podSelector": {"matchLabels": own}}]}], **spec, "podSelector": {"matchLabels": own}}


def _job_spec(
    run: Object,
    spec: RunSpec,
    check: CheckSpec,
    template: TemplateSpec,
    labels: dict[str, str],
    renamed: dict[tuple[str, str], str],
) -> Object:
    pods = completions(template)
    inner = copy.deepcopy(section(section(template.job, "spec"), "template"))
    pod = inner["spec"]
    pod |= {"restartPolicy": "Never", "automountServiceAccountToken": False}
    if subdomain := renamed.get(("Service", text(pod, "subdomain"))):
        pod["subdomain"] = subdomain
    if check.targets.node_selector:
        pod["nodeSelector"] = section(pod, "nodeSelector") | check.targets.node_selector
    if check.targets.count > 1:
        _keep_apart(pod, run["metadata"]["uid"])
    _ask_for_resource(pod, check)
    environment = _environment(spec, parameters(spec, check, template))
    for container in containers(pod):
        container["env"] = _merged_environment(container.get("env"), environment)
        container["terminationMessagePolicy"] = "File"
    metadata = section(inner, "metadata")
    metadata["labels"] = section(metadata, "labels") | labels
    metadata.pop("name", None)
    return {
        "suspend": True,
        "completionMode": "Indexed",
        "completions": pods,
        "parallelism": pods,
        "backoffLimit": 0,
        "podReplacementPolicy": "Failed",
        "activeDeadlineSeconds": template.deadlines.run_seconds + _GRACE_SECONDS,
        "template": {"metadata": metadata, "spec": pod},
    }


def _keep_apart(pod: Object, uid: str) -> None:
    """No two pods of the run on one node, whatever the template says."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {names.RUN_UID: uid}}}
    anti = pod.setdefault("affinity", {}).setdefault("podAntiAffinity", {})
    anti["requiredDuringSchedulingIgnoredDuringExecution"] = [
        *(anti.get("requiredDuringSchedulingIgnoredDuringExecution") or ()),
        term,
    ]


def _ask_for_resource(pod: Object, check: CheckSpec) -> None:
    """What each target must give, asked for by the first container unless the template asks for it itself."""
    resource, amount = check.targets.resource, check.targets.per_target
    if not resource or not amount:
        return
    asking = [each for each in pod["containers"] if resource in section(section(each, "resources"), "limits")]
    resources = (asking or pod["containers"])[0].setdefault("resources", {})
    resources.setdefault("limits", {})[resource] = str(amount)
    if resource in section(resources, "requests"):
        resources["requests"][resource] = str(amount)


def _environment(spec: RunSpec, values: dict[str, ParameterValue]) -> list[Object]:
    words = {f"TAU_PARAM_{name}": _word(value) for name, value in sorted(values.items())}
    words |= {"TAU_RUN_ID": spec.run_id, "TAU_ATTEMPT": str(spec.attempt)}
    node = {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    return [*({"name": name, "value": value} for name, value in words.items()), node]


def _merged_environment(own: object, added: list[Object]) -> list[Object]:
    taken = {item["name"] for item in added}
    kept = [item for item in own if isinstance(item, dict)] if isinstance(own, list) else []
    return [*(item for item in kept if item.get("name") not in taken), *added]


def _word(value: ParameterValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
