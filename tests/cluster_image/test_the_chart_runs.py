"""The product as it is delivered: its image built, its chart installed, its pods at work."""

import json
import urllib.error
import urllib.request

import pytest

from tests.cluster.bed.control import Refused
from tests.cluster.bed.images import USER, Image
from tests.cluster.bed.waiting import eventually
from tests.cluster_image.building import NAME, Builder
from tests.cluster_image.conftest import METRICS_TOKEN, NAMESPACE, Installed
from tests.cluster_runs.scene import PASS, Scene

pytestmark = [pytest.mark.cluster, pytest.mark.deep]

COMPONENTS = {"portal": 2, "sync": 1, "controller": 1}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def ask(release: Installed, path: str, token: str = "") -> tuple[int, str, str]:
    """Status, body and Location of what a portal pod answers, asked by its own address as the kubelet does."""
    address = release.pods("portal")[0]["status"]["podIP"]
    request = urllib.request.Request(f"http://{address}:8000{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.build_opener(_NoRedirect()).open(request, timeout=30) as reply:
            return reply.status, reply.read().decode(), ""
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.code, answer.read().decode(), answer.headers.get("Location", "")


def test_the_image_has_the_application_and_nothing_that_installs(image: tuple[Builder, Image]) -> None:
    builder, _ = image
    described = json.loads(builder("inspect", "--type", "image", NAME))["OCIv1"]["config"]
    assert described["User"] == f"{USER}:{USER}"
    assert (described["Entrypoint"], described["Cmd"]) == (["python", "manage.py"], ["serve"])
    container = builder("from", "--pull-never", NAME).strip()

    def inside(*words: str) -> str:
        return builder("run", "--isolation", "chroot", container, "--", *words)

    assert sorted(inside("ls", "-A", "/app").split()) == [
        "build",
        "checks",
        "manage.py",
        "requirements",
        "static",
        "taugrid_portal",
        "templates",
    ]
    assert inside("sh", "-c", "find /app /venv ! -user root | head; command -v pip || echo none") == "none\n"
    assert inside("python", "-c", "import importlib.util as u; print(u.find_spec('pip'))") == "None\n"
    assert "paths" in json.loads(inside("cat", "/app/build/static/staticfiles.json"))
    builder("rm", container)


def test_every_pod_is_ready_without_a_restart(installed: Installed) -> None:
    for component, count in COMPONENTS.items():
        pods = installed.pods(component)
        assert len(pods) == count
        for pod in pods:
            (container,) = pod["status"]["containerStatuses"]
            assert (container["ready"], container["restartCount"]) == (True, 0), container
            assert container["imageID"].endswith(installed.image.digest) or installed.image.digest in container["image"]


@pytest.mark.parametrize("component", COMPONENTS)
def test_no_pod_is_root_or_writes_to_its_image(installed: Installed, component: str) -> None:
    pod = installed.pod(component)
    assert installed.inside(pod, "id", "-u").strip() == str(USER)
    status = dict(line.split(":", 1) for line in installed.inside(pod, "cat", "/proc/1/status").splitlines())
    assert int(status["CapEff"], 16) == 0
    assert status["NoNewPrivs"].strip() == "1"
    assert status["Seccomp"].strip() == "2"
    with pytest.raises(Refused, match="Read-only file system"):
        installed.inside(pod, "touch", "/app/written")
    installed.inside(pod, "touch", "/tmp/written")


def test_the_controllers_pod_leads(installed: Installed) -> None:
    control = installed.cluster.control
    lease = control.get("lease", "tau-validation-controller", "--namespace", NAMESPACE)["spec"]
    assert lease["holderIdentity"].startswith(installed.pod("controller"))


def test_a_portal_pod_answers(installed: Installed) -> None:
    assert ask(installed, "/livez")[:2] == (200, "ok\n")
    assert ask(installed, "/readyz")[:2] == (200, "ready\n")
    assert ask(installed, "/metrics")[0] == 404
    status, body, _ = ask(installed, "/metrics", METRICS_TOKEN)
    assert status == 200
    assert 'portal_cluster_available{cluster="bed"} 1.0' in body


def test_nobody_gets_past_the_sign_in_and_its_pages_come_with_their_styles(installed: Installed) -> None:
    status, _, location = ask(installed, "/checks/")
    assert status == 302
    assert location.startswith("/signin/?")
    status, body, _ = ask(installed, location)  # the provider of this test is nowhere, and the page says so
    assert status == 503
    assert "sign-in" in body.lower()
    status, body, _ = ask(installed, "/signed-out/")
    assert status == 200
    style = body.partition('rel="stylesheet" href="')[2].partition('"')[0]
    assert style.startswith("/static/")
    assert ask(installed, style)[0] == 200


def test_a_check_registered_approved_and_run_by_the_controllers_pod_is_passed(
    installed: Installed, scene: Scene
) -> None:
    scene.ready(scene.template(PASS))
    run = scene.run(parameters={"words": "hello"})
    envelope = scene.sealed(run, seconds=180)
    assert (envelope["outcome"], envelope["message"]) == ("passed", "it was all there")
    assert scene.explain() == ("Passed", "proved"), json.dumps(scene.explained(), indent=1)
    assert scene.left() == []

    def counted() -> bool:
        return 'portal_checks{cluster="bed",state="Passed"} 1.0' in ask(installed, "/metrics", METRICS_TOKEN)[1]

    eventually(counted, "the portal's pod counts it as Passed: the sync's pod has read and verified it", seconds=120)


def test_no_pod_logs_an_error(installed: Installed) -> None:
    """Last, so that what the others did is in it."""
    for component in COMPONENTS:
        for pod in installed.pods(component):
            said = installed.logs(pod["metadata"]["name"])
            assert '"level": "error"' not in said
            assert "Traceback" not in said
