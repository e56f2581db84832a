"""Access as Kubernetes says it: SubjectAccessReviews for the viewer, by name and groups as the API server has them.

Cluster-wide is asked first, then namespace by namespace in parallel. Answers are kept for a minute (yes) or a few
seconds (no), so that a right that was taken away is gone from every page within the minute. No answer is a no.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog
from django.conf import settings

from checks.cluster.errors import ClusterError
from checks.queries.scoping import places
from checks.scope import Scope, Viewer
from taugrid_portal import clusters
from taugrid_portal.access import AccessError

if TYPE_CHECKING:
    from checks.cluster.client import Api

YES_SECONDS, NO_SECONDS = 60.0, 5.0
PARALLEL, MOST_KEPT = 16, 100_000
REVIEW_PATH = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """One verb on one resource; namespace "" is the whole cluster."""

    verb: str
    group: str
    resource: str
    namespace: str = ""


READ_ALL = Question("list", "tau.azure.com", "validationresults")
READ_NODES = Question("list", "", "nodes")
REVIEW = Question("create", "tau.azure.com", "validationtemplates")
Key = tuple[str, Viewer, Question]


@dataclass
class _Answers:
    """What was answered lately, shared by the threads of one process."""

    known: dict[Key, tuple[bool, float]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: Key) -> bool | None:
        with self.lock:
            allowed, until = self.known.get(key, (False, 0.0))
        return allowed if until > time.monotonic() else None

    def put(self, key: Key, allowed: bool) -> None:
        with self.lock:
            if len(self.known) >= MOST_KEPT:
                self.known.clear()
            self.known[key] = (allowed, time.monotonic() + (YES_SECONDS if allowed else NO_SECONDS))


class KubernetesAccess:
    """Asks each cluster's own API server; a cluster that does not answer shows nothing, and the scope says why."""

    def __init__(self) -> None:
        self.answers = _Answers()
        self.pool = ThreadPoolExecutor(PARALLEL, thread_name_prefix="access")

    def scope(self, viewer: Viewer) -> Scope:
        """The viewer's scope. Raises AccessError where no cluster at all could be asked."""
        problems: list[str] = []
        whole: set[str] = set()
        spaces: set[tuple[str, str]] = set()
        fleet: set[str] = set()
        reviews = False
        for name in settings.CLUSTERS:
            try:
                questions = self._ask(name, viewer, [READ_ALL, READ_NODES, REVIEW])
                if questions[READ_ALL]:
                    whole.add(name)
                else:
                    spaces |= self._namespaces(name, viewer)
                fleet |= {name} if questions[READ_NODES] else set()
                reviews = reviews or questions[REVIEW]
            except ClusterError as error:
                log.warning("access_unknown", cluster=name, problem=str(error))
                problems.append(f"{name} cannot be asked what you may read")
        if len(problems) == len(settings.CLUSTERS):
            raise AccessError("; ".join(problems) or "No cluster is configured.")
        return Scope(
            clusters=frozenset(whole),
            namespaces=frozenset(spaces),
            fleet=frozenset(fleet),
            reviews=reviews,
            problem="; ".join(problems),
            viewer=viewer,
        )

    def _namespaces(self, cluster: str, viewer: Viewer) -> set[tuple[str, str]]:
        """The namespaces in which the viewer may list results, of those in which there is anything to see."""
        asked = [Question(READ_ALL.verb, READ_ALL.group, READ_ALL.resource, space) for space in places(cluster)]
        return {(cluster, q.namespace) for q, allowed in self._ask(cluster, viewer, asked).items() if allowed}

    def _ask(self, cluster: str, viewer: Viewer, questions: list[Question]) -> dict[Question, bool]:
        """Answers from memory, the others in parallel. Raises ClusterError if one of them fails."""
        found = {question: self.answers.get((cluster, viewer, question)) for question in questions}
        open_questions = [question for question, allowed in found.items() if allowed is None]
        if open_questions:
            api = clusters.api(cluster)
            reviews = self.pool.map(lambda question: _review(api, viewer, question), open_questions)
            for question, allowed in zip(open_questions, reviews, strict=True):
                self.answers.put((cluster, viewer, question), allowed)
                found[question] = allowed
        return {question: bool(allowed) for question, allowed in found.items()}


def _review(api: "Api", viewer: Viewer, question: Question) -> bool:
    """One SubjectAccessReview. Anything but a clear yes is a no."""
    attributes = {"verb": question.verb, "group": question.group, "resource": question.resource}
    if question.namespace:
        attributes["namespace"] = question.namespace
    # A person who signed in is authenticated, as the API server would find them; the group is not in any token.
    groups = sorted({*viewer.groups, "system:authenticated"})
    answer = api.create(
        REVIEW_PATH,
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": viewer.username, "groups": groups, "resourceAttributes": attributes},
        },
    )
    state = answer.get("status")
    return isinstance(state, dict) and state.get("allowed") is True and state.get("denied") is not True
