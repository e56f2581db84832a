"""What a template asks for, in plain words, for somebody who has to answer for it.

Read from the spec as it is, also where it breaks the contract: a wrong shape is left out by none of these, it is named.
`checks/contract/pods.py` has the rules; here are the words.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..contract.pods import asked_rights, containers, pod_spec
from .shape import items, mapping, number, word

_BY_DIGEST = re.compile(r"[^\s@]+@sha256:[0-9a-f]{64}")


class Weight(StrEnum):
    """How much a right weighs: beyond what restricted pods may do; worth a look; as usual."""

    EXCEPTION = "exception"
    NOTABLE = "notable"
    USUAL = "usual"


class Topic(StrEnum):
    """The questions a reviewer asks, in their order."""

    PRIVILEGES = "Privileges"
    IMAGES = "Images"
    VOLUMES = "Volumes and secrets"
    NETWORK = "Network"
    CAPACITY = "GPUs and time"
    PLACE = "Where it may run"


@dataclass(frozen=True, slots=True)
class Right:
    """One thing that is asked for.

    why: the reason that the template's author wrote down for an exception; "" where there is none.
    """

    topic: Topic
    weight: Weight
    says: str
    why: str = ""


_RULES = {
    "hostNetwork": "Uses the node's own network: network policies do not hold it",
    "hostPID": "Sees every process of the node",
    "hostIPC": "Shares memory with every process of the node",
    "privileged": "Runs privileged: it may do on the node whatever root may",
    "allowPrivilegeEscalation": "May gain more privileges than it starts with",
    "volumes.hostPath": "Reads and writes {} on the node itself",
    "capabilities.add": "Has the capability {}",
    "sysctls": "Changes the kernel setting {}",
    "appArmorProfile": "Runs without an AppArmor profile",
    "seLinuxOptions": "Runs with SELinux options of its own ({})",
    "procMount": "Sees /proc as it is on the node ({})",
    "hostProcess": "Runs as a process of a Windows node",
}
_CAPABILITIES = {
    "IPC_LOCK": ", to lock memory, as RDMA needs",
    "SYS_ADMIN": ", which is close to being root on the node",
    "SYS_PTRACE": ", to look into other processes",
    "NET_ADMIN": ", to change network settings",
    "NET_RAW": ", to send packets of any form",
    "SYS_RESOURCE": ", to raise its own limits",
    "SYS_NICE": ", to change priorities of processes",
}


def rights_of(spec: Any) -> tuple[Right, ...]:
    """Everything that the spec of a TauValidationTemplate asks for, by topic, the heaviest first. Never raises."""
    body = mapping(spec)
    job = mapping(body.get("job"))
    pod = pod_spec(job)
    found = [
        *_privileges(pod, body.get("exceptions")),
        *_images(pod),
        *_volumes(pod),
        *_network(pod, body.get("support")),
        *_capacity(job, pod, mapping(body.get("deadlines"))),
        *_place(pod, mapping(body.get("allowedWorkspaces"))),
    ]
    topics, weights = list(Topic), list(Weight)
    return tuple(sorted(dict.fromkeys(found), key=lambda r: (topics.index(r.topic), weights.index(r.weight))))


def _privileges(pod: dict[str, Any], exceptions: Any) -> Iterator[Right]:
    reasons = {(word(e.get("rule")), word(e.get("value"))): word(e.get("why")) for e in items(exceptions)}
    for rule, asked in asked_rights(pod):
        value = word(asked)
        means = _CAPABILITIES.get(value, "") if rule == "capabilities.add" else ""
        says = _RULES.get(rule, rule).format(value) + means
        why = reasons.get((rule, value), "")
        yield Right(Topic.PRIVILEGES, Weight.EXCEPTION, says, why or "No reason is written down")
    if pod.get("automountServiceAccountToken") is not False:
        yield Right(Topic.PRIVILEGES, Weight.EXCEPTION, "Gets a token for the API server")
    else:
        yield Right(Topic.PRIVILEGES, Weight.USUAL, "Gets no token for the API server")
    if account := word(pod.get("serviceAccountName")):
        yield Right(Topic.PRIVILEGES, Weight.NOTABLE, f"Runs as the service account {account}")
    yield from _user(pod)


def _user(pod: dict[str, Any]) -> Iterator[Right]:
    """As whom the containers run: root wherever neither the pod nor the container says otherwise."""
    outer = mapping(pod.get("securityContext"))
    for item in containers(pod):
        context = outer | mapping(item.get("securityContext"))
        name = _named(item)
        if context.get("runAsUser") == 0 or (context.get("runAsNonRoot") is not True and "runAsUser" not in context):
            yield Right(Topic.PRIVILEGES, Weight.EXCEPTION, f"{name} may run as root inside its image")
        if mapping(context.get("seccompProfile")).get("type") == "Unconfined":
            yield Right(Topic.PRIVILEGES, Weight.EXCEPTION, f"{name} may make any system call")


def _images(pod: dict[str, Any]) -> Iterator[Right]:
    for item in containers(pod):
        image, name = word(item.get("image")), _named(item)
        if _BY_DIGEST.fullmatch(image):
            yield Right(Topic.IMAGES, Weight.USUAL, f"{name} runs {image}")
        else:
            says = f"{name} runs {image or 'an image that is not named'}, which can change without a new review"
            yield Right(Topic.IMAGES, Weight.EXCEPTION, says)


_VOLUMES = {
    "secret": (Weight.NOTABLE, "Reads the Secret {}", "secretName"),
    "configMap": (Weight.USUAL, "Reads the ConfigMap {}", "name"),
    "persistentVolumeClaim": (Weight.NOTABLE, "Uses the volume claim {}", "claimName"),
    "csi": (Weight.NOTABLE, "Uses a volume of the driver {}", "driver"),
    "nfs": (Weight.NOTABLE, "Uses the NFS server {}", "server"),
    "ephemeral": (Weight.USUAL, "Has a volume of its own that ends with the pod", ""),
    "emptyDir": (Weight.USUAL, "Has scratch space that ends with the pod", ""),
    "downwardAPI": (Weight.USUAL, "Reads facts about its own pod", ""),
    "image": (Weight.NOTABLE, "Mounts the image {}", "reference"),
}


def _volumes(pod: dict[str, Any]) -> Iterator[Right]:
    for volume in items(pod.get("volumes")):
        for kind in sorted(set(volume) - {"name", "hostPath", "projected"}):
            weight, says, key = _VOLUMES.get(kind, (Weight.NOTABLE, "Uses a volume of the kind {}", ""))
            named = word(mapping(volume[kind]).get(key)) or "that is not named"
            yield Right(Topic.VOLUMES, weight, says.format(named if kind in _VOLUMES else word(kind)))
        for source in items(mapping(volume.get("projected")).get("sources")):
            for kind in sorted(source):
                says, token = f"Mounts a projected {word(kind)}", kind == "serviceAccountToken"
                yield Right(Topic.VOLUMES, Weight.EXCEPTION if token else Weight.NOTABLE, says)
    for item in containers(pod):
        for source in [*items(item.get("envFrom")), *(mapping(e.get("valueFrom")) for e in items(item.get("env")))]:
            for kind in sorted(set(source) & {"secretRef", "secretKeyRef"}):
                says = f"{_named(item)} has values of the Secret {word(mapping(source[kind]).get('name'))} as variables"
                yield Right(Topic.VOLUMES, Weight.NOTABLE, says)
    for secret in items(pod.get("imagePullSecrets")):
        yield Right(Topic.VOLUMES, Weight.NOTABLE, f"Pulls its images with the Secret {word(secret.get('name'))}")


def _network(pod: dict[str, Any], support: Any) -> Iterator[Right]:
    for item in containers(pod):
        for port in items(item.get("ports")):
            if port.get("hostPort"):
                says = f"{_named(item)} listens on port {word(port['hostPort'])} of the node"
                yield Right(Topic.NETWORK, Weight.EXCEPTION, says)
    policies = False
    for thing in items(support):
        kind, name = (
            word(thing.get("kind")) or "an object without a kind",
            word(mapping(thing.get("metadata")).get("name")),
        )
        spec = mapping(thing.get("spec"))
        if kind == "Service" and spec.get("clusterIP") == "None":
            ports = ", ".join(word(port.get("port")) for port in items(spec.get("ports")))
            says = f"Its pods find each other by the headless Service {name}" + (f", port {ports}" if ports else "")
            yield Right(Topic.NETWORK, Weight.USUAL, says)
        elif kind == "NetworkPolicy":
            policies = True
            yield Right(Topic.NETWORK, Weight.NOTABLE, f"The NetworkPolicy {name} {_policy(spec)}")
        else:
            yield Right(
                Topic.NETWORK, Weight.EXCEPTION, f"Creates the {kind} {name}, which is not on the list of kinds"
            )
    if not policies:
        yield Right(Topic.NETWORK, Weight.USUAL, "No network policy of its own: those of the namespace hold")


def _policy(spec: Mapping[str, Any]) -> str:
    """What a NetworkPolicy of the template opens, in words."""
    words = []
    for way, whom in (("ingress", "from"), ("egress", "to")):
        rules = spec.get(way)
        if isinstance(rules, list) and rules:
            anyone = any(not mapping(rule).get(whom) for rule in rules)
            count = "one rule" if len(rules) == 1 else f"{len(rules)} rules"
            words.append(f"opens {way} {'for everyone' if anyone else f'by {count}'}")
    return " and ".join(words) or "closes what it selects"


def _capacity(job: dict[str, Any], pod: dict[str, Any], deadlines: Mapping[str, Any]) -> Iterator[Right]:
    spec = mapping(job.get("spec"))
    pods = number(spec.get("parallelism"), 1)
    per_pod: dict[str, int] = {}
    for item in items(pod.get("containers")):
        for resource, amount in mapping(mapping(item.get("resources")).get("limits")).items():
            if "/" in resource:
                per_pod[resource] = per_pod.get(resource, 0) + number(amount, 0)
    gpus = {resource: count for resource, count in per_pod.items() if resource.endswith("/gpu")}
    if not gpus:
        yield Right(Topic.CAPACITY, Weight.NOTABLE, "No GPU")
    for resource, count in sorted(per_pod.items()):
        what = "GPUs" if resource in gpus else word(resource)
        yield Right(Topic.CAPACITY, Weight.USUAL, f"{count * pods} {what} at a time: {_pods(pods)}, {count} each")
    seconds = {key: number(deadlines.get(key), 0) for key in ("queueSeconds", "runSeconds", "cleanupSeconds")}
    says = "At most {} in the queue, {} at work, {} to clean up".format(*map(_time, seconds.values()))
    yield Right(Topic.CAPACITY, Weight.USUAL, says)


def _place(pod: dict[str, Any], workspaces: Mapping[str, Any]) -> Iterator[Right]:
    labels = [f"{word(key)}={word(value)}" for key, value in sorted(mapping(workspaces.get("matchLabels")).items())]
    labels += [
        f"{word(e.get('key'))} {word(e.get('operator'))} {', '.join(map(word, _listed(e.get('values'))))}".rstrip()
        for e in items(workspaces.get("matchExpressions"))
    ]
    if labels:
        yield Right(Topic.PLACE, Weight.USUAL, f"In workspaces labelled {' and '.join(labels)}")
    else:
        yield Right(Topic.PLACE, Weight.NOTABLE, "In every workspace")
    for item in items(pod.get("tolerations")):
        key = word(item.get("key"))
        says = f"Tolerates the taint {key}" if key else "Tolerates every taint: it may run on any node"
        yield Right(Topic.PLACE, Weight.USUAL if key else Weight.NOTABLE, says)
    if priority := word(pod.get("priorityClassName")):
        yield Right(Topic.PLACE, Weight.NOTABLE, f"Has the priority {priority}: it may push other work aside")
    if node := word(pod.get("nodeName")):
        yield Right(Topic.PLACE, Weight.EXCEPTION, f"Goes to the node {node} past the scheduler and its queue")


def _named(container: Mapping[str, Any]) -> str:
    return f"Container {word(container.get('name')) or 'without a name'}"


def _listed(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else ()


def _pods(count: int) -> str:
    return "1 pod" if count == 1 else f"{count} pods"


def _time(seconds: int) -> str:
    """Seconds in the largest unit that fits evenly."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds // size} {unit}"
    return f"{seconds} s" if seconds else "no limit"
