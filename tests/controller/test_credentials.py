"""What is wrong with a kubeconfig is said with its name, and nothing of what it holds."""

from pathlib import Path

import pytest

from checks.cluster.client import Api
from checks.cluster.errors import ClusterError

SOUND = """apiVersion: v1
kind: Config
clusters: [{{name: a, cluster: {{server: "https://localhost:1", certificate-authority: {ca}}}}}]
users: [{{name: u, user: {{{user}}}}}]
contexts: [{{name: c, context: {{cluster: a, user: u}}}}]
current-context: {context}
"""
TOKEN = "token: hunter2-hunter2"
PLUGIN = (
    'exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, interactiveMode: Never, args: ["-c", '
    '"echo hunter2-hunter2 >&2; echo hunter2-hunter2; exit 1"]}'
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "file is empty"),
        ("a: [", "it is no kubeconfig"),
        ("- 1", "it is no kubeconfig"),
        ("just words", "it is no kubeconfig"),
        ("users: []", "Expected key current-context"),
        (SOUND.format(ca="/no/such/ca", user=TOKEN, context="c"), "File does not exist: /no/such/ca"),
        (SOUND.format(ca="/dev/null", user=TOKEN, context="d"), "Expected object with name d"),
    ],
    ids=["empty", "no YAML", "a list", "a word", "no context", "no certificate", "another context"],
)
def test_a_kubeconfig_that_cannot_be_used_is_named(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(text)
    with pytest.raises(ClusterError) as found:
        Api(str(file))
    assert str(found.value).startswith(f"no usable credentials in {file}: ")
    assert says in str(found.value)
    assert "hunter2" not in str(found.value)


def test_a_kubeconfig_that_is_not_there_is_named() -> None:
    with pytest.raises(ClusterError, match=r"^no usable credentials in /no/such/file: "):
        Api("/no/such/file")


def test_the_words_of_a_plugin_are_kept_back(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(SOUND.format(ca="/dev/null", user=PLUGIN, context="c"))
    with pytest.raises(ClusterError) as found:
        Api(str(file))
    assert "hunter2" not in str(found.value)
