"""The manifests keep the contract and the admission rules, and the replay can never be taken for the check."""

import re
import subprocess
import sys
from typing import Any

import pytest
import yaml

from checks.contract.document import digest
from checks.contract.kinds import CheckSpec, TemplateSpec
from checks.contract.parsing import parse

from .recorded import CORPUS, EXAMPLE, load

runner = load("runner")
IMAGE = "registry.example/nccl-ib@sha256:" + "a" * 64


def render(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLE / "render.py"), "--namespace", "team-vision", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=EXAMPLE.parent.parent)


def manifests(*options: str) -> tuple[dict[str, Any], dict[str, Any]]:
    done = render("--image", IMAGE, *options)
    assert done.returncode == 0, done.stderr
    template, check = yaml.safe_load_all(done.stdout)
    return template, check


BOTH = pytest.mark.parametrize("replay", [(), ("--replay",)], ids=["measure", "replay"])


@BOTH
def test_the_manifests_keep_the_contract(replay: tuple[str, ...]) -> None:
    template, check = manifests(*replay)
    assert not parse(TemplateSpec, template["spec"]).problems
    assert not parse(CheckSpec, check["spec"]).problems


@BOTH
def test_the_registration_pins_the_template_as_printed(replay: tuple[str, ...]) -> None:
    template, check = manifests(*replay)
    launch = check["spec"]["launch"]["template"]
    assert launch["digest"] == digest(template["spec"])
    assert launch["name"] == template["metadata"]["name"]
    spec = parse(TemplateSpec, template["spec"]).value
    assert spec is not None
    assert not spec.parameter_faults(launch["parameters"])


@BOTH
def test_the_pods_want_two_nodes_and_no_rights_beyond_what_is_written_out(replay: tuple[str, ...]) -> None:
    template, _ = manifests(*replay)
    job = template["spec"]["job"]["spec"]
    pod = job["template"]["spec"]
    assert (job["completions"], job["parallelism"], job["completionMode"]) == (2, 2, "Indexed")
    assert job["backoffLimit"] == 0, "a retried pod would write a second run into the logs"
    term = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    labels = term["labelSelector"]["matchLabels"]
    assert labels.items() <= job["template"]["metadata"]["labels"].items()
    assert pod["automountServiceAccountToken"] is False
    context = pod["containers"][0]["securityContext"]
    assert context["capabilities"].get("add", []) == ([] if replay else ["IPC_LOCK"])
    assert (context["readOnlyRootFilesystem"], context["allowPrivilegeEscalation"]) == (True, False)
    assert len(template["spec"].get("exceptions", [])) == (0 if replay else 1)
    for support in template["spec"]["support"]:
        assert not {"selector", "podSelector"} & set(support["spec"]), "the controller selects the pods of the run"


def test_one_gpu_and_one_rdma_resource_each() -> None:
    template, _ = manifests("--rdma-resource", "nvidia.com/rdma_shared_device_a")
    limits = template["spec"]["job"]["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
    assert limits["nvidia.com/gpu"] == limits["nvidia.com/rdma_shared_device_a"] == "1"


def test_a_replay_can_never_count_for_the_real_check() -> None:
    (template, check), (replay_template, replay_check) = manifests(), manifests("--replay")
    for field in ("type", "title"):
        assert check["spec"][field] != replay_check["spec"][field]
    assert not set(check["spec"]["results"]["detailsSchemas"]) & set(replay_check["spec"]["results"]["detailsSchemas"])
    names = {parameter["name"] for parameter in template["spec"]["parameters"]}
    assert not names & {"recordedLog", "source", "mode"}
    assert args(template) == ["measure"]
    assert args(replay_template) == ["replay"]
    dockerfile = (EXAMPLE / "Dockerfile").read_text()
    measured = dockerfile.split(" AS measure")[1].split(" AS replay")[0]
    assert "corpus" not in measured


def args(template: dict[str, Any]) -> list[str]:
    found: list[str] = template["spec"]["job"]["spec"]["template"]["spec"]["containers"][0]["args"]
    return found


def test_every_parameter_is_one_the_runner_reads() -> None:
    source = (EXAMPLE / "runner.py").read_text()
    read = set(re.findall(r'TAU_PARAM_(\w+)"', source)) | set(re.findall(r'integer\(env, "(\w+)"', source))
    for options in ((), ("--replay",)):
        template, _ = manifests(*options)
        assert {parameter["name"] for parameter in template["spec"]["parameters"]} <= read


def test_the_runner_takes_the_defaults_of_the_template() -> None:
    template, _ = manifests()
    env = {f"TAU_PARAM_{p['name']}": str(p["default"]) for p in template["spec"]["parameters"]}
    settings = runner.read_settings({**env, "JOB_COMPLETION_INDEX": "0"})
    assert settings.sizes == (8, 2147483648, 4)
    assert settings.link_layer == "InfiniBand"
    assert settings.meet_seconds + settings.run_seconds < template["spec"]["deadlines"]["runSeconds"]


def test_the_default_recorded_log_exists() -> None:
    _, check = manifests("--replay")
    assert (CORPUS / check["spec"]["launch"]["template"]["parameters"]["recordedLog"]).exists()


@pytest.mark.parametrize(
    "options",
    [
        ("--image", "registry.example/nccl-ib:latest"),
        ("--image", IMAGE, "--queue", "a\nb: c"),
        ("--image", IMAGE, "--min-busbw", "-1"),
        ("--image", IMAGE, "--link-layer", "Ethernet"),
        (),
    ],
)
def test_a_wrong_value_is_refused_by_its_option(options: tuple[str, ...]) -> None:
    done = render(*options)
    assert done.returncode == 64
    assert "--" in done.stderr
    assert "Traceback" not in done.stderr
