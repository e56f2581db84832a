"""What `register` sends to nobody: files with a problem, reviews in files, and kinds that are not registered."""

from pathlib import Path

import pytest
import yaml

from tests.contract.example import DUMP, Example

from .invoke import invoke
from .test_kubeconfig import closed_port, kubeconfig


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a server that is not there: whoever asks it ends with 69."""
    address = f"http://127.0.0.1:{closed_port()}"
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "kubeconfig.yaml", address)))
    return address


def file_of(folder: Path, *items: object) -> Path:
    path = folder / "files.yaml"
    path.write_text("---\n".join(yaml.safe_dump(item) for item in items))
    return path


def clean(example: Example) -> tuple[dict[str, object], dict[str, object]]:
    """Template and registration as a person writes them."""
    example.check["metadata"] = {"name": "ib-pair", "namespace": "team-vision"}
    example.check.pop("status", None)
    return example.template, example.check


def test_valid_files_are_sent(tmp_path: Path, server: str) -> None:
    answer = invoke("register", file_of(tmp_path, *clean(Example())))
    assert (answer.exit_code, answer.stderr) == (69, f"tau-check: {server} does not answer: connection refused\n")


def test_every_problem_is_named_and_nothing_is_sent(tmp_path: Path, server: str) -> None:
    example = Example()
    example.check["spec"]["targets"]["count"] = 0
    example.template["spec"]["deadlines"].pop("runSeconds")
    answer = invoke("register", file_of(tmp_path, *clean(example)))
    assert answer.exit_code == 65
    assert server not in answer.stderr
    assert "/spec/targets/count" in answer.stderr and "/spec/deadlines/runSeconds" in answer.stderr
    assert "files.yaml:" in answer.stderr


@pytest.mark.parametrize("mark", ["approved", "rejected", "reviewed-by"])
def test_a_review_in_a_file_is_refused(tmp_path: Path, server: str, mark: str) -> None:
    template, check = clean(Example())
    check["metadata"]["annotations"] = {f"tau.azure.com/{mark}": "x"}  # type: ignore[index]
    answer = invoke("register", file_of(tmp_path, template, check))
    assert answer.exit_code == 65
    assert f"tau.azure.com~1{mark}: " in answer.stderr and "a reviewer writes it, no file" in answer.stderr


def test_only_templates_and_registrations_are_registered(tmp_path: Path, server: str) -> None:
    example = Example()
    answer = invoke("register", file_of(tmp_path, example.run))
    assert answer.exit_code == 65 and "nothing else is registered" in answer.stderr
    answer = invoke("register", file_of(tmp_path, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}))
    assert answer.exit_code == 65 and "only TauValidationTemplate and TauValidationCheck" in answer.stderr
    assert invoke("register", file_of(tmp_path)).exit_code == 65
    assert invoke("register").exit_code == 64


def test_another_namespace_than_the_file_says_is_refused(tmp_path: Path, server: str) -> None:
    answer = invoke("register", file_of(tmp_path, *clean(Example())), "--namespace", "team-search")
    assert answer.exit_code == 65
    assert "team-search, as --namespace says, or none" in answer.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["run", "a", "--timeout", "5m"], "--timeout goes with --wait"),
        (["run", "a", "--wait", "--timeout", "soon"], "no length of time"),
        (["approve", "a", "--yes"], "--yes goes with --digest"),
        (["reject", "a"], "Missing parameter: reason"),
        (["reject", "a", "--reason", "two\nlines"], "one line of at most 512 characters"),
        (["dump", "--with-evidence", "folder"], "say where evidence is"),
        (["evidence", "get", "-f", str(DUMP / "west-1.yaml")], "say where evidence is"),
        (["status", "-f", "/dev/null", "-A"], "a dump holds the namespaces that it holds"),
    ],
)
def test_wrong_usage_is_said_before_a_cluster_is_asked(server: str, words: list[str], says: str) -> None:
    answer = invoke(*words)
    assert answer.exit_code == 64
    assert says in answer.stderr + str(answer.exception)
    assert "does not answer" not in answer.stderr
