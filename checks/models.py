"""The rows: what was last seen of each cluster, typed for what pages filter and sort by.

A row is a projection, never the truth: `gone_at` marks what is no longer in the cluster, and history stays. Texts named
`body` hold the object's own JSON and are read by code, never queried. No stored word can make a page say Passed:
`Step` is an index for counting, and every row that a page shows is evaluated again.
"""

from datetime import UTC, datetime
from typing import ClassVar

from django.db import models
from django.db.models import Q

from .contract.reasons import State

NAME, UID = 253, 128
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class Cluster(models.Model):
    """A source: one cluster, live or read from a dump.

    captured_at: only of a dump; then every verdict of the cluster is as of that time. complete: each kind was listed.
    revision, fleet_revision: other numbers after each write that may change what pages say of checks, of the fleet;
    heartbeats alone do not.
    rules: the version of the rules that made what is stored of its checks (`checks/sync/version.py`).
    """

    name = models.CharField(max_length=NAME, primary_key=True)
    complete = models.BooleanField(default=False)
    heartbeat_at = models.DateTimeField(null=True)
    captured_at = models.DateTimeField(null=True)
    problem = models.TextField(default="")
    guard_in_force = models.BooleanField(default=False)
    guard_why = models.TextField(default="nothing was read yet")
    guard_policy = models.CharField(max_length=NAME, default="")
    load = models.BigIntegerField(default=0)
    revision = models.BigIntegerField(default=0)
    fleet_revision = models.BigIntegerField(default=0)
    sync_holder = models.CharField(max_length=128, default="")
    sync_until = models.DateTimeField(null=True)
    rules = models.CharField(max_length=16, default="")

    def __str__(self) -> str:
        return self.name


class SourceKind(models.Model):
    """How one kind of one cluster is read: its own freshness and its own fault."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="kinds")
    kind = models.CharField(max_length=63)
    listed_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    resource_version = models.CharField(max_length=64, default="")
    problem = models.TextField(default="")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["cluster", "kind"], name="one_row_per_source_kind")]

    def __str__(self) -> str:
        return f"{self.cluster_id} {self.kind}"


class Seen(models.Model):
    """What every object of a cluster has. content: sha256 of what was read, so that reading it again changes nothing.

    load: the number of the last complete reading that saw it; a row that a complete reading did not see is gone.
    ambiguous: one dump held two different copies, neither newer than the other; then nothing is proven by either.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=NAME)
    uid = models.CharField(max_length=UID)
    resource_version = models.BigIntegerField(null=True)
    content = models.CharField(max_length=64)
    load = models.BigIntegerField(default=0)
    gone_at = models.DateTimeField(null=True)
    ambiguous = models.BooleanField(default=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class Namespace(Seen):
    """A namespace; a workspace where it is labelled so."""

    workspace = models.CharField(max_length=NAME, default="")
    labels = models.TextField(default="{}")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["cluster", "name"], name="one_namespace_per_name")]


class NodeSignal(models.TextChoices):
    """What node health says: words of their own, never a verdict."""

    OK = "ok", "Observed OK"
    FAULT = "fault", "Fault"
    UNKNOWN = "unknown", "Unknown"


_SUMMED = ["cluster", "site", "pool", "ready", "signal", "signal_until", "gpus_allocatable", "gpus", "gpu_product"]


class Node(Seen):
    """A node: identity, place, capacity, and its signal, which counts until `signal_until` only."""

    site = models.CharField(max_length=NAME, default="")
    pool = models.CharField(max_length=NAME, default="")
    sku = models.CharField(max_length=NAME, default="")
    gpu_product = models.CharField(max_length=NAME, default="")
    gpus = models.IntegerField(null=True)
    gpus_allocatable = models.IntegerField(null=True)
    ready = models.BooleanField(null=True)
    schedulable = models.BooleanField(default=True)
    signal = models.CharField(max_length=8, choices=NodeSignal.choices, default=NodeSignal.UNKNOWN)
    signal_until = models.DateTimeField(null=True)
    signal_faults = models.TextField(default="")
    boot_id = models.CharField(max_length=NAME, default="")
    system_uuid = models.CharField(max_length=NAME, default="")
    machine_id = models.CharField(max_length=NAME, default="")
    provider_id = models.TextField(default="")
    created_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["cluster", "name"], name="one_node_per_name")]
        indexes: ClassVar = [
            models.Index(fields=["cluster", "site", "pool", "name"], name="node_by_place"),
            # All that the fleet page adds up, so that no row is read for it.
            models.Index(fields=_SUMMED, condition=Q(gone_at=None), name="node_sums"),
        ]


class Queue(Seen):
    """A Kueue ClusterQueue: GPUs it may use and uses, workloads that wait."""

    cohort = models.CharField(max_length=NAME, default="")
    gpus_nominal = models.IntegerField(null=True)
    gpus_used = models.IntegerField(null=True)
    pending = models.IntegerField(null=True)
    admitted = models.IntegerField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["cluster", "name"], name="one_queue_per_name")]


class LocalQueue(Seen):
    """A Kueue LocalQueue: which ClusterQueue a namespace's jobs go to."""

    namespace = models.CharField(max_length=NAME)
    cluster_queue = models.CharField(max_length=NAME, default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "namespace", "name"], name="one_local_queue_per_name")
        ]


class Workload(Seen):
    """A Kueue Workload: waiting, admitted or finished."""

    namespace = models.CharField(max_length=NAME)
    local_queue = models.CharField(max_length=NAME, default="")
    cluster_queue = models.CharField(max_length=NAME, default="")
    phase = models.CharField(max_length=16, default="Pending")
    gpus = models.IntegerField(default=0)
    created_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "namespace", "name"], name="one_workload_per_name")
        ]
        indexes: ClassVar = [models.Index(fields=["cluster", "phase", "created_at"], name="workload_by_phase")]


class Policy(Seen):
    """An admission policy or its binding, kept whole to judge whether the guard is in force."""

    kind = models.CharField(max_length=63)
    body = models.TextField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "kind", "name"], name="one_policy_per_name")
        ]


class Template(Seen):
    """A TauValidationTemplate."""

    digest = models.CharField(max_length=71, default="")
    body = models.TextField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["cluster", "name"], name="one_template_per_name")]


class SpecCopy(models.Model):
    """A spec by its digest, kept so that what was approved can be compared with what is there now."""

    digest = models.CharField(max_length=71, primary_key=True)
    kind = models.CharField(max_length=63)
    body = models.TextField()
    first_seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.digest


class Review(models.TextChoices):
    """Where a registration stands with the platform admins."""

    PENDING = "pending", "Pending"
    APPROVED = "approved", "Approved"
    OUTDATED = "outdated", "Outdated"
    REJECTED = "rejected", "Rejected"
    INVALID = "invalid", "Invalid"


class Check(Seen):
    """One check by name: its registration where there is one, else what is left of results and runs without one.

    run, result: the newest ones, which speak for it. last_run, last_result: the last sealed pair that decides
    `lastVerdict`. last_state: the state of that; severity and the rest are in `Step`.
    """

    namespace = models.CharField(max_length=NAME)
    registered = models.BooleanField(default=False)
    workspace = models.CharField(max_length=NAME, default="")
    type = models.CharField(max_length=NAME, default="")
    title = models.CharField(max_length=NAME, default="")
    owner = models.CharField(max_length=256, default="")
    template_name = models.CharField(max_length=NAME, default="")
    digest = models.CharField(max_length=71, default="")
    approved_digest = models.CharField(max_length=512, default="")
    review = models.CharField(max_length=8, choices=Review.choices, default=Review.PENDING)
    search = models.TextField(default="")
    body = models.TextField(default="")
    created_at = models.DateTimeField(null=True)
    next_run_at = models.DateTimeField(null=True)
    observed_at = models.DateTimeField(null=True)
    run = models.ForeignKey("Run", on_delete=models.SET_NULL, null=True, related_name="+")
    result = models.ForeignKey("Result", on_delete=models.SET_NULL, null=True, related_name="+")
    last_run = models.ForeignKey("Run", on_delete=models.SET_NULL, null=True, related_name="+")
    last_result = models.ForeignKey("Result", on_delete=models.SET_NULL, null=True, related_name="+")
    newest_unknown = models.BooleanField(default=False)
    last_state = models.CharField(max_length=8, choices=[(s.value, s.value) for s in State], default="")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "namespace", "name"], name="one_check_per_name")
        ]


class Run(Seen):
    """A TauValidationRun. ordered_at: created_at, or the beginning where that is not known, for the index.

    result_name: the result that its status points at.
    """

    namespace = models.CharField(max_length=NAME)
    subject = models.ForeignKey(Check, on_delete=models.CASCADE, related_name="runs")
    run_id = models.CharField(max_length=64, default="")
    attempt = models.IntegerField(default=0)
    phase = models.CharField(max_length=256, default="")
    reason = models.CharField(max_length=256, default="")
    result_name = models.CharField(max_length=NAME, default="")
    created_at = models.DateTimeField(null=True)
    ordered_at = models.DateTimeField(default=NEVER)
    body = models.TextField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "namespace", "name", "uid"], name="one_run_per_name_and_uid")
        ]
        indexes: ClassVar = [
            models.Index(fields=["subject", "-ordered_at", "-id"], name="run_newest_first"),
            models.Index(fields=["uid"], name="run_by_uid"),
        ]


class Result(Seen):
    """A TauValidationResult. envelope: the exact canonical bytes that its digest is over, "" where it has none.

    body: the whole spec, only where the envelope alone cannot give it back. state, reason: what it says by itself
    (`lastVerdict`), for the history strip. run: its run where that was read too. ordered_at: as of a run.
    judged: what state and reason were made from; while that is the same, the envelope need not be read for them again.
    sound, digest_read, claimed_at: what reading it gave: whether it is an envelope, the digest of its bytes, and when
    it says that its run was created.
    """

    namespace = models.CharField(max_length=NAME)
    subject = models.ForeignKey(Check, on_delete=models.CASCADE, related_name="results")
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="results")
    run_uid = models.CharField(max_length=UID, default="")
    attempt = models.IntegerField(default=0)
    publisher = models.CharField(max_length=1024, default="")
    stated_digest = models.CharField(max_length=256, default="")
    envelope = models.TextField(default="")
    body = models.TextField(default="")
    conflict = models.BooleanField(default=False)
    outcome = models.CharField(max_length=8, default="")
    state = models.CharField(max_length=8, default="")
    reason = models.CharField(max_length=63, default="")
    judged = models.CharField(max_length=80, default="")
    sound = models.BooleanField(default=False)
    digest_read = models.CharField(max_length=71, default="")
    claimed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(null=True)
    ordered_at = models.DateTimeField(default=NEVER)
    observed_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "namespace", "name", "uid"], name="one_result_per_name_and_uid")
        ]
        indexes: ClassVar = [
            models.Index(fields=["subject", "-ordered_at", "-id"], name="result_newest_first"),
            models.Index(fields=["subject", "-ordered_at", "-id"], condition=Q(run=None), name="result_without_run"),
            models.Index(fields=["run_uid", "attempt"], name="result_by_run"),
        ]


class Evidence(models.Model):
    """One piece of evidence of a result, and how it was last read."""

    result = models.ForeignKey(Result, on_delete=models.CASCADE, related_name="evidence")
    name = models.CharField(max_length=63)
    uri = models.TextField()
    sha256 = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()
    media_type = models.CharField(max_length=127)
    captured_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=10, default="unverified")
    verified_at = models.DateTimeField(null=True)
    reader = models.CharField(max_length=63, default="")
    why = models.TextField(default="")
    counts_until = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["result", "name"], name="one_evidence_per_name")]
        indexes: ClassVar = [models.Index(fields=["id"], condition=Q(verified_at=None), name="evidence_never_read")]

    def __str__(self) -> str:
        return self.name


class TargetNode(models.Model):
    """Which nodes the current result of a check names, so that a change of a node finds its checks."""

    subject = models.ForeignKey(Check, on_delete=models.CASCADE, related_name="target_nodes")
    name = models.CharField(max_length=NAME)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["subject", "name"], name="one_target_per_name")]
        indexes: ClassVar = [models.Index(fields=["name"], name="target_by_name")]

    def __str__(self) -> str:
        return self.name


class Step(models.Model):
    """A stretch of a check's future with one verdict, for counting and filtering by the reader's clock.

    Computed as if the source were unbroken; readers lay the source's own health over it. until None: for ever.
    """

    subject = models.ForeignKey(Check, on_delete=models.CASCADE, related_name="steps")
    since = models.DateTimeField()
    until = models.DateTimeField(null=True)
    state = models.CharField(max_length=8)
    reason = models.CharField(max_length=63)
    severity = models.SmallIntegerField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["subject", "since"], name="one_step_per_instant"),
            models.CheckConstraint(condition=Q(until=None) | Q(until__gt=models.F("since")), name="steps_go_forward"),
        ]
        indexes: ClassVar = [models.Index(fields=["since", "until"], name="step_by_time")]

    def __str__(self) -> str:
        return f"{self.state} from {self.since}"
