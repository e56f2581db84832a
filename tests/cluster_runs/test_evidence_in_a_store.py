"""A healthy run whose evidence is written to an S3 store: the sync reads it there, and then the check is Passed."""

import threading
from datetime import UTC, datetime

import pytest

from checks.assembly import verdicts
from checks.cluster.client import Api
from checks.evidence.configuration import stores_from
from checks.models import Check, Evidence
from checks.sync.live import LiveSync
from tests.cluster.bed.waiting import eventually
from tests.cluster_runs.conftest import Start
from tests.cluster_runs.scene import CLUSTER, PASS, Scene
from tests.evidence.conftest import moto
from tests.evidence.servers import S3

__all__ = ["moto"]
pytestmark = [pytest.mark.cluster, pytest.mark.django_db(transaction=True)]
BASE = "s3://evidence/sealed"


@pytest.mark.deep
def test_it_is_written_there_verified_from_there_and_passed(
    quiet: Scene, start: Start, moto: S3, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("endpoint", "access_key_id", "secret_access_key")
    controller = start(
        f"--artifacts={BASE}", env={f"TAU_ARTIFACTS_{word}".upper(): moto.writing(word) for word in words}
    )
    quiet.ready(quiet.template(PASS))
    envelope = quiet.sealed(quiet.run())
    assert [item["uri"] for item in envelope["evidence"]] == [
        f"{BASE}/{item['sha256']}" for item in envelope["evidence"]
    ]
    assert not quiet.artifacts.exists() or not list(quiet.artifacts.iterdir())
    assert "s3-writer-secret" not in controller.log.read_text() and "X-Amz" not in controller.log.read_text()

    kubeconfig = quiet.control.kubeconfig_for_account("tau-system", "portal")
    stop = threading.Event()
    sync = LiveSync(CLUSTER, Api(str(kubeconfig)), stop, stores_from([f"artifacts={BASE}"], moto.option))
    thread = threading.Thread(target=sync.run)
    thread.start()
    try:
        eventually(lambda: state(quiet) == ("Passed", "proved"), "the sync has verified the evidence", 120)
        rows = list(Evidence.objects.filter(result__namespace=quiet.namespace))
        assert {(row.state, row.reader) for row in rows} == {("verified", "stores-1")}
        assert len(rows) == len(envelope["evidence"])
    finally:
        stop.set()
        thread.join(60)


def state(scene: Scene) -> tuple[str, str] | None:
    """What the portal says of the only check of the workspace."""
    row = Check.objects.select_related("cluster").filter(namespace=scene.namespace, registered=True).first()
    if row is None:
        return None
    verdict = verdicts([row], datetime.now(UTC))[row.pk]
    return str(verdict.state), str(verdict.reason)
