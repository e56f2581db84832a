"""The registrations of the sample: a TauValidationCheck as its family has it, and what reviewers wrote on it."""

from ..contract.document import digest
from ..contract.kinds import API_VERSION, APPROVED, CHECK, REJECTED, REVIEWED_BY, SYSTEM_NAMESPACE
from .families import Family
from .objects import QUEUE, Object, condition, uid
from .templates import DIGESTS

CONTROLLER = (SYSTEM_NAMESPACE, "tau-validation-controller")
SWEEPER = ("fabric-system", "fabric-sweeper")
REVIEWER = "rosa@example.org"


def publisher(family: Family) -> tuple[str, str]:
    """Namespace and service account that publish a family's results."""
    return CONTROLLER if family.template else SWEEPER


def user(account: tuple[str, str]) -> str:
    """The user name of a service account."""
    return "system:serviceaccount:" + ":".join(account)


def check_spec(family: Family, title: str, pool: str) -> Object:
    """The spec of a registration as its family has it."""
    if family.template:
        pinned = {"name": family.template, "digest": DIGESTS[family.template]}
        launch: Object = {"template": {**pinned, "parameters": {}, "queue": QUEUE}}
    else:
        launch = {"controller": {"name": family.type.partition("/")[0] + "/sweeper"}}
    namespace, account = publisher(family)
    return {
        "type": family.type,
        "version": family.version,
        "title": title or family.title,
        "owner": family.owner,
        "runbookURL": f"https://runbooks.example/{family.type.partition('/')[2]}",
        "launch": launch,
        "schedule": {"cron": f"17 */{family.every_hours} * * *", "timeZone": "Etc/UTC"},
        "suspend": False,
        "targets": {
            "count": family.count,
            "nodeSelector": {"kubernetes.azure.com/agentpool": pool},
            **family.resource,
            "bindTo": list(family.bind_to),
        },
        "results": {
            "detailsSchemas": [family.schema],
            "versions": [family.version],
            "freshForSeconds": family.fresh_hours * 3600,
            "publisher": {"namespace": namespace, "serviceAccount": account},
            "requiredEvidence": list(family.evidence),
            "historyLimit": 40,
        },
        "display": family.display,
    }


def registration(
    place: tuple[str, str, str], spec: Object, approved: str | None, rejected: str | None, since: str
) -> Object:
    """A TauValidationCheck at (cluster, namespace, name). approved, rejected: the digests in its annotations."""
    cluster, namespace, name = place
    sealed = digest(spec)
    marks = {APPROVED: approved, REJECTED: rejected}
    annotations = {key: value for key, value in marks.items() if value is not None}
    if annotations:
        annotations[REVIEWED_BY] = REVIEWER
    stands = rejected is None and approved == sealed
    words = "Rejected" if rejected else "Approved" if stands else "ApprovalOutdated" if approved else "Pending"
    return {
        "apiVersion": API_VERSION,
        "kind": CHECK,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": uid(cluster, CHECK, namespace, name),
            "generation": 1,
            "creationTimestamp": since,
            "annotations": annotations,
        },
        "spec": spec,
        "status": {
            "observedGeneration": 1,
            "specDigest": sealed,
            "conditions": [
                condition("Accepted", True, "Accepted", "", since),
                condition("Approved", stands, words, "", since),
                condition("TemplateResolved", True, "Resolved", "", since),
                condition("Ready", stands, words, "", since),
            ],
        },
    }
