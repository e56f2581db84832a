"""Kueue's objects in the sample (v1beta2): one queue per team, what runs in it and what waits.

Usage is added up from the workloads, so that the figures of a queue are those of its workloads.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .objects import GPU, QUEUE, Object, ago, condition, uid

API = "kueue.x-k8s.io/v1beta2"
FLAVOR = "gpu-ib"
TEAMS = ("team-vision", "team-speech", "team-search")
QUOTA = {
    "west-1": {"team-vision": 160, "team-speech": 96, "team-search": 64},
    "east-1": {"team-vision": 80, "team-speech": 96, "team-search": 80},
    "north-1": {"team-vision": 32},
    "south-1": {"team-vision": 32},
}


@dataclass(frozen=True, slots=True)
class Job:
    """A workload of a team: pods of eight GPUs each (or fewer), its age in minutes, and whether it was admitted."""

    cluster: str
    team: str
    name: str
    pods: int
    gpus: int
    minutes: float
    admitted: bool = True
    priority: int = 100

    @property
    def total(self) -> int:
        """GPUs of all pods."""
        return self.pods * self.gpus


JOBS = (
    Job("west-1", "team-vision", "vit-22b-pretrain", 12, 8, 4 * 1440),
    Job("west-1", "team-vision", "segment-finetune", 4, 8, 410),
    Job("west-1", "team-vision", "captioner-eval", 3, 4, 55, priority=50),
    Job("west-1", "team-vision", "notebook-pool", 7, 1, 900, priority=10),
    Job("west-1", "team-vision", "diffusion-ablation-3", 4, 8, 38, admitted=False),
    Job("west-1", "team-vision", "diffusion-ablation-4", 4, 8, 36, admitted=False),
    Job("west-1", "team-vision", "video-tokenizer", 2, 8, 12, admitted=False, priority=50),
    Job("west-1", "team-vision", "captioner-sweep", 6, 1, 4, admitted=False, priority=10),
    Job("west-1", "team-speech", "asr-multilingual", 8, 8, 2 * 1440),
    Job("west-1", "team-speech", "tts-distill", 3, 4, 260),
    Job("west-1", "team-speech", "asr-longform", 4, 8, 21, admitted=False),
    Job("west-1", "team-search", "ranker-daily", 4, 8, 190),
    Job("west-1", "team-search", "embedder-v7", 2, 8, 75),
    Job("west-1", "team-search", "reranker-distill", 3, 8, 9, admitted=False),
    Job("east-1", "team-vision", "world-model-smoke", 4, 8, 33),
    Job("east-1", "team-vision", "depth-finetune", 1, 8, 700),
    Job("east-1", "team-speech", "codec-pretrain", 10, 8, 3 * 1440),
    Job("east-1", "team-speech", "codec-eval", 2, 4, 48, priority=50),
    Job("east-1", "team-speech", "diarizer", 2, 8, 17, admitted=False),
    Job("east-1", "team-search", "retriever-pretrain", 6, 8, 1300),
    Job("east-1", "team-search", "index-embed", 5, 2, 130, priority=50),
    Job("east-1", "team-search", "query-rewriter", 4, 8, 6, admitted=False),
    Job("north-1", "team-vision", "edge-distill", 2, 8, 320),
    Job("south-1", "team-vision", "archive-embed", 1, 8, 2000, priority=10),
)


def queues(cluster: str, now: datetime) -> Iterator[Object]:
    """Flavor, cohorts, queues and workloads of a cluster."""
    since = ago(now, days=45)
    yield _object("ResourceFlavor", cluster, FLAVOR, since, spec={"nodeLabels": {"nvidia.com/gpu.present": "true"}})
    yield _object("Cohort", cluster, "tau-gpus", since, spec={}, status={})
    for team, quota in QUOTA[cluster].items():
        jobs = [job for job in JOBS if (job.cluster, job.team) == (cluster, team)]
        counts = _counts(jobs)
        yield _object("Cohort", cluster, f"tau-{team}", since, spec={"parentName": "tau-gpus"}, status={})
        yield _cluster_queue(cluster, team, quota, jobs, counts, since)
        active = condition("Active", True, "Ready", "Can submit new workloads to localQueue", since)
        usage = {"flavorsReservation": _usage(jobs), "flavorsUsage": _usage(jobs)}
        status = {**counts, **usage, "conditions": [active]}
        yield _object("LocalQueue", cluster, QUEUE, since, {"clusterQueue": team}, status, namespace=team)
        yield from (_workload(job, now) for job in jobs)


def _counts(jobs: list[Job]) -> dict[str, int]:
    running = sum(job.admitted for job in jobs)
    return {"pendingWorkloads": len(jobs) - running, "reservingWorkloads": running, "admittedWorkloads": running}


def _usage(jobs: list[Job], **more: str) -> list[Object]:
    used = sum(job.total for job in jobs if job.admitted)
    return [{"name": FLAVOR, "resources": [{"name": GPU, "total": str(used), **more}]}]


def _cluster_queue(cluster: str, team: str, quota: int, jobs: list[Job], counts: dict[str, int], since: str) -> Object:
    flavor = {"name": FLAVOR, "resources": [{"name": GPU, "nominalQuota": str(quota), "borrowingLimit": "32"}]}
    spec = {
        "cohortName": f"tau-{team}",
        "queueingStrategy": "BestEffortFIFO",
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": team}},
        "resourceGroups": [{"coveredResources": [GPU], "flavors": [flavor]}],
        "stopPolicy": "None",
    }
    used = sum(job.total for job in jobs if job.admitted)
    usage = _usage(jobs, borrowed=str(max(0, used - quota)))
    active = condition("Active", True, "Ready", "Can admit new workloads", since)
    status = {**counts, "flavorsReservation": usage, "flavorsUsage": usage, "conditions": [active]}
    return _object("ClusterQueue", cluster, team, since, spec, status)


def _workload(job: Job, now: datetime) -> Object:
    created = ago(now, minutes=job.minutes)
    pod = {"containers": [{"name": "train", "resources": {"requests": {GPU: str(job.gpus)}}}]}
    spec: Object = {
        "active": True,
        "queueName": QUEUE,
        "priority": job.priority,
        "priorityClassRef": {
            "group": "kueue.x-k8s.io",
            "kind": "WorkloadPriorityClass",
            "name": {100: "normal", 50: "short", 10: "idle"}[job.priority],
        },
        "podSets": [{"name": "main", "count": job.pods, "template": {"spec": pod}}],
    }
    if job.admitted:
        assigned = {
            "name": "main",
            "count": job.pods,
            "flavors": {GPU: FLAVOR},
            "resourceUsage": {GPU: str(job.total)},
        }
        since = ago(now, minutes=job.minutes * 0.97)
        status: Object = {
            "admission": {"clusterQueue": job.team, "podSetAssignments": [assigned]},
            "conditions": [
                condition("QuotaReserved", True, "QuotaReserved", f"Quota reserved in ClusterQueue {job.team}", since),
                condition("Admitted", True, "Admitted", f"The workload is admitted by ClusterQueue {job.team}", since),
            ],
        }
    else:
        why = (
            f"couldn't assign flavors to pod set main: insufficient unused quota for {GPU} in flavor {FLAVOR}, "
            f"{job.total} requested"
        )
        status = {"conditions": [condition("QuotaReserved", False, "Pending", why, created)]}
    name = f"job-{job.name}-{uid(job.cluster, job.name)[:5]}"
    return _object("Workload", job.cluster, name, created, spec, status, namespace=job.team)


def _object(
    kind: str,
    cluster: str,
    name: str,
    created: str,
    spec: Object,
    status: Object | None = None,
    namespace: str | None = None,
) -> Object:
    place: dict[str, Any] = {"namespace": namespace} if namespace else {}
    metadata = {
        "name": name,
        **place,
        "uid": uid(cluster, kind, namespace, name),
        "creationTimestamp": created,
        "generation": 1,
    }
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec} | (
        {} if status is None else {"status": status}
    )
