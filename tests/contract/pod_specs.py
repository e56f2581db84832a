"""Pods and support objects of templates, sound ones and those that break one rule each.

What is refused stands beside the sentence of the admission policy. The same tables are tried on the real API server
(`tests/deploy/test_templates.py`) and on the reader (`tests/contract/test_pods.py`).
"""

from typing import Any

from tests.deploy import objects

Object = dict[str, Any]


def pod(container: Object | None = None, **fields: Any) -> Object:
    """A sound pod with fields of its own, and with a container that has fields of its own."""
    return objects.pod(containers=[objects.container(**container or {})], **fields)


def secured(**fields: Any) -> Object:
    """A pod whose container has this in its securityContext; None takes a field away."""
    context = objects.container()["securityContext"] | fields
    return pod({"securityContext": {key: value for key, value in context.items() if value is not None}})


def security(**fields: Any) -> Object:
    """A pod with this securityContext of its own."""
    return pod(securityContext=fields)


def volume(**source: Any) -> Object:
    return pod(volumes=[{"name": "data", **source}])


def init(**fields: Any) -> Object:
    return pod(initContainers=[objects.container(name="first", **fields)])


def without_profile() -> Object:
    """A pod in which only the pod says the seccomp profile and the user."""
    bent = secured(seccompProfile=None, runAsNonRoot=None)
    bent["securityContext"] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    return bent


ADMITTED = {
    "a sound pod": pod(),
    "user and profile said by the pod": without_profile(),
    "volumes without host or secret": pod(
        volumes=[
            {"name": "a", "emptyDir": {"medium": "Memory"}},
            {"name": "b", "persistentVolumeClaim": {"claimName": "artifacts"}},
            {"name": "c", "projected": {"sources": [{"configMap": {"name": "c"}}, {"downwardAPI": {"items": []}}]}},
            {"name": "d", "image": {"reference": objects.IMAGE}},
        ]
    ),
    "an environment without secrets": pod(
        {"env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]}
    ),
    "a sound init container": init(),
    "the one capability that restricted pods may have": secured(
        capabilities={"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}
    ),
    "a probe of the pod itself": pod({"livenessProbe": {"httpGet": {"port": 80}}}),
}

# What nothing excuses.
NEVER = {
    "an image by tag": (pod({"image": "registry.example/check:1"}), "not: registry.example/check:1."),
    "an image by tag and digest of another length": (
        pod({"image": "registry.example/check:1@sha256:abc"}),
        "Images are named by digest",
    ),
    "an init container by tag": (init(image="busybox"), "not: busybox."),
    "an image volume by tag": (volume(image={"reference": "a:1"}), "An image volume names its image by digest"),
    "an API token by default": (pod(automountServiceAccountToken=None), "set automountServiceAccountToken: false"),
    "an API token": (pod(automountServiceAccountToken=True), "set automountServiceAccountToken: false"),
    "a projected API token": (
        volume(projected={"sources": [{"serviceAccountToken": {"path": "token"}}]}),
        "Check pods get no API token",
    ),
    "a debug container": (pod(ephemeralContainers=[]), "has no ephemeralContainers"),
    "a probe of another host": (
        pod({"livenessProbe": {"httpGet": {"host": "169.254.169.254", "port": 80}}}),
        "name no host",
    ),
    "a hook to another host": (
        pod({"lifecycle": {"preStop": {"httpGet": {"host": "10.0.0.1", "port": 80}}}}),
        "name no host",
    ),
}

# What an entry in spec.exceptions excuses: the pod, the sentence, the entry (rule, value).
EXCUSED = {
    "the host's network": (pod(hostNetwork=True), "hostNetwork, hostPID and hostIPC need", ("hostNetwork", "true")),
    "the host's processes": (pod(hostPID=True), "hostNetwork, hostPID and hostIPC need", ("hostPID", "true")),
    "the host's IPC": (pod(hostIPC=True), "hostNetwork, hostPID and hostIPC need", ("hostIPC", "true")),
    "a port of the host": (
        pod({"ports": [{"containerPort": 80, "hostPort": 80}]}),
        "A hostPort needs",
        ("hostPort", "80"),
    ),
    "a privileged container": (
        secured(privileged=True, allowPrivilegeEscalation=False),
        "A privileged container needs",
        ("privileged", "true"),
    ),
    "privilege escalation": (
        secured(allowPrivilegeEscalation=None),
        "sets securityContext.allowPrivilegeEscalation: false",
        ("allowPrivilegeEscalation", "true"),
    ),
    "no dropped capabilities": (
        secured(capabilities=None),
        "drops the capabilities ALL",
        ("capabilities.drop", "none"),
    ),
    "an added capability": (
        secured(capabilities={"drop": ["ALL"], "add": ["IPC_LOCK"]}),
        "rule capabilities.add: IPC_LOCK.",
        ("capabilities.add", "IPC_LOCK"),
    ),
    "root by silence": (secured(runAsNonRoot=None), "runs with runAsNonRoot true", ("runAsNonRoot", "false")),
    "root by number": (secured(runAsUser=0), "runAsUser 0 needs", ("runAsUser", "0")),
    "no seccomp profile": (
        secured(seccompProfile=None),
        "has the seccompProfile RuntimeDefault or Localhost",
        ("seccompProfile", "Unconfined"),
    ),
    "an unconfined pod": (
        security(seccompProfile={"type": "Unconfined"}),
        "has the seccompProfile RuntimeDefault or Localhost",
        ("seccompProfile", "Unconfined"),
    ),
    "no AppArmor": (
        secured(appArmorProfile={"type": "Unconfined"}),
        "An appArmorProfile other than",
        ("appArmorProfile", "Unconfined"),
    ),
    "another SELinux type": (
        secured(seLinuxOptions={"type": "spc_t"}),
        "seLinuxOptions need",
        ("seLinuxOptions", "spc_t"),
    ),
    "an unmasked /proc": (secured(procMount="Unmasked"), "A procMount other than", ("procMount", "Unmasked")),
    "a Windows host process": (
        security(windowsOptions={"hostProcess": True}),
        "A Windows host process needs",
        ("hostProcess", "true"),
    ),
    "a kernel setting": (
        security(sysctls=[{"name": "net.core.somaxconn", "value": "1"}]),
        "A sysctl needs",
        ("sysctls", "net.core.somaxconn"),
    ),
    "a folder of the host": (
        volume(hostPath={"path": "/dev/infiniband"}),
        "A hostPath needs rule volumes.hostPath",
        ("volumes.hostPath", "/dev/infiniband"),
    ),
    "another volume that restricted pods have not": (
        volume(nfs={"server": "a", "path": "/"}),
        "any other kind of volume",
        ("volumes.nfs", "data"),
    ),
}
# Kubernetes refuses these pods before it asks for their security, since they lack what such pods must have besides.
NO_PODS = {"a privileged container", "an unmasked /proc", "a Windows host process"}
# Restricted pod security admits these; but a Secret may hold an API token.
SECRETS = {
    "a secret as a volume": volume(secret={"secretName": "keys"}),
    "a secret in a projected volume": volume(projected={"sources": [{"secret": {"name": "keys"}}]}),
    "a secret as a variable": pod(
        {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "a"}}}]}
    ),
    "a secret as many variables": pod({"envFrom": [{"secretRef": {"name": "keys"}}]}),
}


def excuse(rule: str, value: str) -> Object:
    return {"rule": rule, "value": value, "why": "The reason that the approver reads."}


def headless(**fields: Any) -> Object:
    spec = {"clusterIP": "None", "ports": [{"port": 29500}]} | fields
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "peers"}, "spec": spec}


def policy(**spec: Any) -> Object:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "peers"},
        "spec": {"policyTypes": ["Egress"]} | spec,
    }


SUPPORT_DENIED = {
    "another kind": (headless() | {"kind": "ConfigMap"}, "Support objects are of kind Service (v1) or NetworkPolicy"),
    "another version": (headless() | {"apiVersion": "v2"}, "Support objects are of kind Service (v1) or NetworkPolicy"),
    "a Service with an address": (headless(clusterIP=None), "A support Service is headless"),
    "a Service outwards": (headless(type="LoadBalancer"), "A support Service is headless"),
    "a Service on foreign addresses": (headless(externalIPs=["10.0.0.1"]), "A support Service is headless"),
    "a Service for other pods": (headless(selector={"app": "x"}), "no selector of its own"),
    "a NetworkPolicy for other pods": (policy(podSelector={}), "no selector of its own"),
}
