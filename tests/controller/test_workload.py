"""The objects of a run: what the template says, and what no template may change."""

from typing import Any

from checks.controller.workload import objects
from tests.controller.things import world

Object = dict[str, Any]
NAME = "ib-pair-7d0f3c9a51b2e84466aa91c0"
UID = "00000000-0000-4000-8000-000000000003"


def made() -> list[Object]:
    seen = world()
    assert seen.spec and seen.registration and seen.registration.spec and seen.namespace
    assert seen.registration.template and seen.registration.template.spec
    return objects(seen.run, seen.spec, seen.registration.spec, seen.registration.template.spec, seen.namespace)


def pod_of(job: Object) -> Object:
    found: Object = job["spec"]["template"]["spec"]
    return found


def test_everything_carries_the_runs_name_and_owner_and_the_job_comes_last() -> None:
    assert [(item["kind"], item["metadata"]["name"]) for item in made()] == [("Service", NAME), ("Job", NAME)]
    for item in made():
        assert item["metadata"]["labels"]["tau.azure.com/managed-by"] == "tau-validation-controller"
        assert item["metadata"]["labels"]["tau.azure.com/run-uid"] == UID
        (owner,) = item["metadata"]["ownerReferences"]
        assert (owner["uid"], owner["kind"], owner["controller"]) == (UID, "TauValidationRun", True)


def test_the_job_waits_for_kueue_and_starts_each_rank_once() -> None:
    job = made()[-1]
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "jobqueue"
    spec = job["spec"]
    assert spec["suspend"] is True
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 2, 2)
    assert spec["backoffLimit"] == 0
    assert pod_of(job)["restartPolicy"] == "Never"


def test_no_two_pods_of_a_run_share_a_node() -> None:
    affinity = pod_of(made()[-1])["affinity"]["podAntiAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]
    own = {"labelSelector": {"matchLabels": {"tau.azure.com/run-uid": UID}}, "topologyKey": "kubernetes.io/hostname"}
    assert own in terms


def test_pods_know_their_run_their_parameters_and_their_node_and_get_no_token() -> None:
    pod = pod_of(made()[-1])
    environment = {item["name"]: item.get("value") for item in pod["containers"][0]["env"]}
    assert environment == {
        "TAU_PARAM_linkLayer": "InfiniBand",
        "TAU_PARAM_minBusBandwidthGBps": "0",
        "TAU_RUN_ID": "7d0f3c9a51b2e84466aa91c0",
        "TAU_ATTEMPT": "1",
        "NODE_NAME": None,
    }
    assert pod["automountServiceAccountToken"] is False
    assert pod["nodeSelector"] == {"kubernetes.azure.com/agentpool": "h200-ib"}
    assert pod["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"


def test_pods_find_each_other_through_the_runs_own_service() -> None:
    service, job = made()
    assert pod_of(job)["subdomain"] == service["metadata"]["name"]
    assert service["spec"]["selector"] == {"tau.azure.com/run-uid": UID}
    assert service["spec"]["clusterIP"] == "None"


def test_the_template_itself_is_not_changed() -> None:
    first, second = made(), made()
    assert first == second
