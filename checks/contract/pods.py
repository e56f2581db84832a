"""What a template may ask of the pods it starts: the rules that a reader can see in the spec itself.

The admission policies in deploy/ say the same at the door (tests try both on the same pods); a reader says it again,
since a policy may not have been in force when a template was made. docs/rights.md lists the rules.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

_BY_DIGEST = re.compile(r"^[^\s@]+@sha256:[0-9a-f]{64}$")
SUPPORT_KINDS = {("v1", "Service"), ("networking.k8s.io/v1", "NetworkPolicy")}
_PROFILES = ("RuntimeDefault", "Localhost")
_PROJECTED = {"configMap", "downwardAPI", "clusterTrustBundle", "secret"}
# Kinds of volumes that restricted pod security allows; hostPath and the rest are departures.
_VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim"}
_VOLUMES |= {"name", "projected", "secret"}
_APPARMOR = "container.apparmor.security.beta.kubernetes.io/"

Object = dict[str, Any]


def pod_spec(job: Object) -> Object:
    """The pod spec inside a JobTemplateSpec; empty where there is none."""
    for step in ("spec", "template", "spec"):
        job = _object(job, step)
    return job


def containers(pod: Object) -> Iterator[Object]:
    """Every container of a pod spec that is an object, init containers included."""
    for group in ("initContainers", "containers", "ephemeralContainers"):
        yield from _objects(pod, group)


def _object(item: Any, key: str) -> Object:
    value = item.get(key) if isinstance(item, dict) else None
    return value if isinstance(value, dict) else {}


def _objects(item: Object, key: str) -> list[Object]:
    value = item.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def template_faults(job: Object, support: Iterable[Object], exceptions: set[tuple[str, str]]) -> list[str]:
    """Sentences for each rule that a template breaks without a written exception (rule, value)."""
    pod = pod_spec(job)
    asked = {*asked_rights(pod), *unrestricted(pod), *_annotated(job)}
    faults = [*_never(pod)]
    faults += [f"an entry in `exceptions` for {rule} {value}".rstrip() for rule, value in sorted(asked - exceptions)]
    return faults + list(dict.fromkeys(fault for item in support for fault in _support(item)))


def _never(pod: Object) -> Iterator[str]:
    """What no exception excuses."""
    if not any(True for _ in containers({"containers": pod.get("containers")})):
        yield "a job with at least one container at job.spec.template.spec.containers"
    for item in containers(pod):
        if not _BY_DIGEST.fullmatch(str(item.get("image", ""))):
            yield f"an image by digest (…@sha256:…) in container {str(item.get('name'))[:63]}"
    if "ephemeralContainers" in pod:
        yield "no ephemeralContainers"
    sources = [s for volume in _objects(pod, "volumes") for s in _objects(_object(volume, "projected"), "sources")]
    if pod.get("automountServiceAccountToken") is not False or any(set(source) - _PROJECTED for source in sources):
        yield "automountServiceAccountToken: false and no projected token, since check pods get no API token"
    for volume in _objects(pod, "volumes"):
        if "image" in volume and not _BY_DIGEST.fullmatch(str(_object(volume, "image").get("reference", ""))):
            yield f"an image by digest (…@sha256:…) in volume {str(volume.get('name'))[:63]}"
    if any(_asks_a_host(item) for item in containers(pod)):
        yield "probes and lifecycle hooks that name no host, since the kubelet asks the pod itself"


def _asks_a_host(container: Object) -> bool:
    hooks = _object(container, "lifecycle")
    askers = [_object(container, probe) for probe in ("livenessProbe", "readinessProbe", "startupProbe")]
    askers += [_object(hooks, hook) for hook in ("postStart", "preStop")]
    return any(_object(asker, way).get("host") for asker in askers for way in ("httpGet", "tcpSocket"))


def _support(item: Object) -> Iterator[str]:
    kind, spec = (str(item.get("apiVersion")), str(item.get("kind"))), _object(item, "spec")
    if kind not in SUPPORT_KINDS:
        yield "support objects that are a headless Service or a NetworkPolicy"
    elif kind[1] == "Service" and (
        spec.get("clusterIP") != "None" or spec.get("type", "ClusterIP") != "ClusterIP" or spec.get("externalIPs")
    ):
        yield "a support Service that is headless (clusterIP: None), without another type or externalIPs"
    if "selector" in spec or "podSelector" in spec:
        yield "support objects without a selector of their own, since the controller selects the pods of the run"


def asked_rights(pod: Object) -> Iterator[tuple[str, str]]:
    """(rule, value) of every power over the node beyond restricted pod security that a pod spec asks for."""
    for flag in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(flag):
            yield flag, "true"
    for volume in _objects(pod, "volumes"):
        if "hostPath" in volume:
            yield "volumes.hostPath", str(_object(volume, "hostPath").get("path", ""))
    for item in containers(pod):
        context = _object(item, "securityContext")
        if context.get("privileged"):
            yield "privileged", "true"
        if context.get("allowPrivilegeEscalation") is not False:
            yield "allowPrivilegeEscalation", "true"
        added = _object(context, "capabilities").get("add") or []
        for capability in added if isinstance(added, list) else [added]:
            if capability != "NET_BIND_SERVICE":  # which restricted pod security allows
                yield "capabilities.add", str(capability)
    for sysctl in _objects(_object(pod, "securityContext"), "sysctls"):
        yield "sysctls", str(sysctl.get("name", ""))
    for context in _contexts(pod):
        yield from _confinement(context)


def _contexts(pod: Object) -> list[Object]:
    return [_object(pod, "securityContext"), *(_object(item, "securityContext") for item in containers(pod))]


def _confinement(context: Object) -> Iterator[tuple[str, str]]:
    """What one securityContext takes off the walls between a pod and its node."""
    if _object(context, "appArmorProfile").get("type", "RuntimeDefault") not in _PROFILES:
        yield "appArmorProfile", "Unconfined"
    if "seLinuxOptions" in context:
        yield "seLinuxOptions", str(_object(context, "seLinuxOptions").get("type", ""))
    if context.get("procMount", "Default") != "Default":
        yield "procMount", str(context["procMount"])
    if _object(context, "windowsOptions").get("hostProcess"):
        yield "hostProcess", "true"


def _annotated(job: Object) -> Iterator[tuple[str, str]]:
    """AppArmor as it was written before it had a field."""
    template = _object(_object(job, "spec"), "template")
    if any(str(name).startswith(_APPARMOR) for name in _object(_object(template, "metadata"), "annotations")):
        yield "appArmorProfile", "Unconfined"


def unrestricted(pod: Object) -> Iterator[tuple[str, str]]:
    """(rule, value) of every restriction that a pod spec does not write down, and of the volumes, ports and Secrets
    that it has beyond restricted pod security (a Secret may hold an API token)."""
    outer = _object(pod, "securityContext")
    for item in containers(pod):
        own = _object(item, "securityContext")
        if (outer | own).get("runAsNonRoot") is not True:
            yield "runAsNonRoot", "false"
        if outer.get("runAsUser") == 0 or own.get("runAsUser") == 0:
            yield "runAsUser", "0"
        profiles = [_object(each, "seccompProfile").get("type") for each in (outer, own) if "seccompProfile" in each]
        if not profiles or any(profile not in _PROFILES for profile in profiles):
            yield "seccompProfile", "Unconfined"
        dropped = _object(own, "capabilities").get("drop")
        if not isinstance(dropped, list) or "ALL" not in dropped:
            yield "capabilities.drop", "none"
        for port in _objects(item, "ports"):
            if port.get("hostPort"):
                yield "hostPort", str(port["hostPort"])
    for volume in _objects(pod, "volumes"):
        for kind in sorted(set(volume) - _VOLUMES - {"hostPath"}):
            yield f"volumes.{kind}", str(volume.get("name", ""))
    for name in _secrets(pod):
        yield "secrets", name


def _secrets(pod: Object) -> Iterator[str]:
    """The names of the Secrets that a pod mounts or reads into its environment."""
    for volume in _objects(pod, "volumes"):
        if "secret" in volume:
            yield str(_object(volume, "secret").get("secretName", ""))
        for source in _objects(_object(volume, "projected"), "sources"):
            if "secret" in source:
                yield str(_object(source, "secret").get("name", ""))
    for item in containers(pod):
        for variable in _objects(item, "env"):
            if "secretKeyRef" in _object(variable, "valueFrom"):
                yield str(_object(_object(variable, "valueFrom"), "secretKeyRef").get("name", ""))
        for source in _objects(item, "envFrom"):
            if "secretRef" in source:
                yield str(_object(source, "secretRef").get("name", ""))
