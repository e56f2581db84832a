"""Rows 2 and 3 of the verdict table: what a registration itself can be."""

from copy import deepcopy

from ...contract.document import digest
from ..scene import Scene
from ..templates import BEFORE, DIGESTS
from .scenario import healthy, passed


def left_over(scene: Scene) -> None:
    """Runs and results of a registration that was deleted."""
    healthy(scene)
    scene.objects.remove(scene.check)


def malformed(scene: Scene) -> None:
    """A freshness with a unit in it, where the contract has seconds."""
    spec = scene.spec()
    spec["results"]["freshForSeconds"] = "24h"
    scene.register(spec, days=2)


def not_allowed_here(scene: Scene) -> None:
    """A parameter beyond the template's bounds."""
    spec = scene.spec()
    spec["launch"]["template"]["parameters"] = {"minBusBandwidthGBps": 4000}
    scene.register(spec, days=3)


def pending(scene: Scene) -> None:
    """Registered this morning, not reviewed yet."""
    scene.register(approved=None, days=0.2)


def rejected(scene: Scene) -> None:
    """Reviewed and turned down: its template asks for the node itself."""
    spec = scene.spec()
    spec["launch"]["template"] |= {"name": "node-probe", "digest": DIGESTS["node-probe"]}
    scene.register(spec, approved=None, rejected=digest(spec), days=6)


def outdated(scene: Scene) -> None:
    """Approved as it was; afterwards somebody made its results last longer and asked for less evidence."""
    check = scene.register(days=21)
    scene.seal(passed(scene, hours=4))
    after = deepcopy(check["spec"])
    after["results"]["freshForSeconds"] *= 7
    after["results"]["requiredEvidence"] = after["results"]["requiredEvidence"][:2]
    check["spec"] = after
    check["metadata"]["generation"] = check["status"]["observedGeneration"] = 2
    check["status"]["specDigest"] = digest(after)
    for condition in check["status"]["conditions"]:
        if condition["type"] in ("Approved", "Ready"):
            condition.update(status="False", reason="ApprovalOutdated", lastTransitionTime=scene.before(hours=2))


def template_changed(scene: Scene) -> None:
    """Its template was replaced by another one under the same name."""
    _launched_by(scene, "gpu-soak", days=25)
    scene.seal(passed(scene, hours=20))


def template_gone(scene: Scene) -> None:
    """Its template was removed."""
    _launched_by(scene, "nvlink-ring", days=40)
    scene.seal(passed(scene, hours=17))


def _launched_by(scene: Scene, template: str, days: float) -> None:
    spec = scene.spec()
    spec["launch"]["template"] |= {"name": template, "digest": digest(BEFORE[template])}
    scene.register(spec, days=days)
