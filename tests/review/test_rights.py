"""What a template asks for, in plain words."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.review.rights import Right, Topic, Weight, rights_of
from tests.review.test_difference import JSON

IMAGE = "registry.example/x@sha256:" + "a" * 64
SECURE = {"runAsNonRoot": True, "allowPrivilegeEscalation": False}


def container(**more: Any) -> dict[str, Any]:
    return {"name": "rank", "image": IMAGE, "securityContext": dict(SECURE), **more}


def template(pod: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    base = {"automountServiceAccountToken": False, "containers": [container()]}
    job = {"spec": {"completions": 2, "parallelism": 2, "template": {"spec": base | (pod or {})}}}
    return {"job": job, **spec}


def said(spec: Any) -> list[str]:
    return [right.says for right in rights_of(spec)]


def exceptions(spec: Any) -> list[str]:
    return [right.says for right in rights_of(spec) if right.weight is Weight.EXCEPTION]


def test_a_restricted_template_asks_for_nothing_exceptional() -> None:
    assert exceptions(template()) == []
    assert "Gets no token for the API server" in said(template())
    assert f"Container rank runs {IMAGE}" in said(template())


@pytest.mark.parametrize(
    ("pod", "sentence"),
    [
        ({"hostNetwork": True}, "Uses the node's own network: network policies do not hold it"),
        ({"hostPID": True}, "Sees every process of the node"),
        ({"hostIPC": True}, "Shares memory with every process of the node"),
        ({"automountServiceAccountToken": True}, "Gets a token for the API server"),
        ({"automountServiceAccountToken": None}, "Gets a token for the API server"),
        ({"nodeName": "gpu-01"}, "Goes to the node gpu-01 past the scheduler and its queue"),
        ({"volumes": [{"name": "d", "hostPath": {"path": "/dev"}}]}, "Reads and writes /dev on the node itself"),
        (
            {"containers": [container(securityContext={**SECURE, "privileged": True})]},
            "Runs privileged: it may do on the node whatever root may",
        ),
        (
            {"securityContext": {"sysctls": [{"name": "kernel.shm_rmid_forced"}]}},
            "Changes the kernel setting kernel.shm_rmid_forced",
        ),
        (
            {"securityContext": {"appArmorProfile": {"type": "Unconfined"}}},
            "Runs without an AppArmor profile",
        ),
        (
            {"containers": [container(securityContext={**SECURE, "seLinuxOptions": {"type": "spc_t"}})]},
            "Runs with SELinux options of its own (spc_t)",
        ),
        (
            {"containers": [container(securityContext={**SECURE, "procMount": "Unmasked"})]},
            "Sees /proc as it is on the node (Unmasked)",
        ),
        (
            {"containers": [container(securityContext={"runAsNonRoot": True})]},
            "May gain more privileges than it starts with",
        ),
        (
            {"containers": [container(securityContext={**SECURE, "capabilities": {"add": ["SYS_ADMIN"]}})]},
            "Has the capability SYS_ADMIN, which is close to being root on the node",
        ),
        (
            {"containers": [container(securityContext={"allowPrivilegeEscalation": False})]},
            "Container rank may run as root inside its image",
        ),
        (
            {"containers": [container(securityContext={**SECURE, "seccompProfile": {"type": "Unconfined"}})]},
            "Container rank may make any system call",
        ),
        (
            {"containers": [container(image="registry.example/x:latest")]},
            "Container rank runs registry.example/x:latest, which can change without a new review",
        ),
        ({"containers": [container(ports=[{"hostPort": 22}])]}, "Container rank listens on port 22 of the node"),
        ({"initContainers": [container(name="setup", image="x:1")]}, None),
    ],
)
def test_each_exceptional_right_is_said(pod: dict[str, Any], sentence: str | None) -> None:
    expected = sentence or "Container setup runs x:1, which can change without a new review"
    assert exceptions(template(pod)) == [expected]


def test_the_reason_that_the_author_wrote_stands_beside_the_exception() -> None:
    spec = template(
        {"hostNetwork": True}, exceptions=[{"rule": "hostNetwork", "value": "true", "why": "RoCE lives there"}]
    )
    (right,) = [r for r in rights_of(spec) if r.weight is Weight.EXCEPTION]
    assert right.why == "RoCE lives there"


def test_an_exception_without_a_reason_says_so() -> None:
    (right,) = [r for r in rights_of(template({"hostPID": True})) if r.weight is Weight.EXCEPTION]
    assert right.why == "No reason is written down"


@pytest.mark.parametrize(
    ("pod", "sentence"),
    [
        ({"volumes": [{"name": "k", "secret": {"secretName": "keys"}}]}, "Reads the Secret keys"),
        ({"volumes": [{"name": "c", "configMap": {"name": "hosts"}}]}, "Reads the ConfigMap hosts"),
        ({"volumes": [{"name": "p", "persistentVolumeClaim": {"claimName": "data"}}]}, "Uses the volume claim data"),
        ({"volumes": [{"name": "s", "emptyDir": {}}]}, "Has scratch space that ends with the pod"),
        ({"volumes": [{"name": "n", "quobyte": {}}]}, "Uses a volume of the kind quobyte"),
        ({"imagePullSecrets": [{"name": "pull"}]}, "Pulls its images with the Secret pull"),
        ({"serviceAccountName": "runner"}, "Runs as the service account runner"),
        ({"priorityClassName": "high"}, "Has the priority high: it may push other work aside"),
        ({"tolerations": [{"operator": "Exists"}]}, "Tolerates every taint: it may run on any node"),
        (
            {"containers": [container(envFrom=[{"secretRef": {"name": "keys"}}])]},
            "Container rank has values of the Secret keys as variables",
        ),
        (
            {"containers": [container(env=[{"name": "K", "valueFrom": {"secretKeyRef": {"name": "keys"}}}])]},
            "Container rank has values of the Secret keys as variables",
        ),
    ],
)
def test_volumes_secrets_and_place_are_named(pod: dict[str, Any], sentence: str) -> None:
    assert sentence in said(template(pod))


def test_gpus_are_counted_over_all_pods_that_run_at_a_time() -> None:
    limits = {"limits": {"nvidia.com/gpu": "4", "rdma/ib": 1, "memory": "8Gi"}}
    words = said(template({"containers": [container(resources=limits), container(name="side", resources=limits)]}))
    assert "16 GPUs at a time: 2 pods, 8 each" in words
    assert "4 rdma/ib at a time: 2 pods, 2 each" in words


def test_a_template_without_gpus_says_so() -> None:
    assert "No GPU" in said(template())


def test_deadlines_and_workspaces_are_in_words() -> None:
    deadlines = {"queueSeconds": 7200, "runSeconds": 900, "cleanupSeconds": 45}
    words = said(template(deadlines=deadlines, allowedWorkspaces={"matchLabels": {"gpu": "true"}}))
    assert "At most 2 h in the queue, 15 min at work, 45 s to clean up" in words
    assert "In workspaces labelled gpu=true" in words
    assert "In every workspace" in said(template())


def test_support_objects_are_named_and_anything_else_is_an_exception() -> None:
    service = {
        "kind": "Service",
        "metadata": {"name": "peers"},
        "spec": {"clusterIP": "None", "ports": [{"port": 29500}]},
    }
    policy = {"kind": "NetworkPolicy", "metadata": {"name": "open"}, "spec": {"ingress": [{}]}}
    words = said(template(support=[service, policy]))
    assert "Its pods find each other by the headless Service peers, port 29500" in words
    assert "The NetworkPolicy open opens ingress for everyone" in words
    other = {"kind": "Secret", "metadata": {"name": "s"}}
    assert exceptions(template(support=[other])) == ["Creates the Secret s, which is not on the list of kinds"]


def test_topics_come_in_their_order_and_the_heaviest_first() -> None:
    rights = rights_of(template({"hostNetwork": True, "containers": [container(image="x:1"), container()]}))
    topics = [right.topic for right in rights]
    assert topics == sorted(topics, key=list(Topic).index)
    privileges = [right.weight for right in rights if right.topic is Topic.PRIVILEGES]
    assert privileges[0] is Weight.EXCEPTION


@given(JSON)
def test_any_json_has_an_answer(document: Any) -> None:
    assert all(isinstance(right, Right) for right in rights_of(document))


@given(st.sampled_from(["securityContext", "volumes", "image", "resources", "env", "ports", "envFrom"]), JSON)
def test_any_field_of_a_container_or_pod_may_be_of_any_shape(field: str, value: Any) -> None:
    rights_of(template({field: value}))
    rights_of(template({"containers": [container(**{field: value}) if field != "image" else {"image": value}]}))


def test_text_of_a_template_cannot_disguise_itself() -> None:
    words = " ".join(said(template({"containers": [container(name="a\u202eb\x1b[1m", image="x\u200by")]})))
    assert words.isascii() and words.isprintable()
