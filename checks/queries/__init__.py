"""The questions that pages and programs ask. Every one takes a scope and answers as if nothing else existed.

No stored word decides a verdict: rows are found and counted by their steps, and evaluated again before they are shown.
"""

from django.conf import settings

from ..models import Cluster


def readiness() -> str:
    """Why the portal must not be asked yet, as a sentence without names; "" once every cluster was read in full.

    A dump counts as read, whatever it holds; of a configured cluster every kind must have been listed once.
    """
    complete = dict(Cluster.objects.filter(captured_at=None).values_list("name", "complete"))
    configured = set(settings.CLUSTERS) | set(complete)
    if missing := sum(not complete.get(name) for name in configured):
        return f"{missing} of {len(configured)} clusters have not been read in full yet."
    return "" if configured or Cluster.objects.exists() else "No cluster has been read yet."
