"""Which cluster a command asks, and as whom: kubeconfigs as kubectl reads them, and an exit code for each failure."""

import json
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checks.cluster.errors import BadKubeconfig, Forbidden
from checks.cluster.kubeconfig import access
from tests.contract.example import DUMP

from .invoke import invoke

Object = dict[str, Any]


def kubeconfig(path: Path, server: str = "http://127.0.0.1:1", **changes: Any) -> Path:
    """A file with the contexts `blue` (namespace team-blue) and `green`."""
    content: Object = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": server}} for name in ("west", "east")],
        "users": [{"name": "ada", "user": {"token": "ada-token"}}, {"name": "ben", "user": {"token": "ben-token"}}],
        "contexts": [
            {"name": "blue", "context": {"cluster": "west", "user": "ada", "namespace": "team-blue"}},
            {"name": "green", "context": {"cluster": "east", "user": "ben"}},
        ],
        "current-context": "blue",
    }
    path.write_text(json.dumps(content | changes))
    return path


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only kubeconfig that there is."""
    path = kubeconfig(tmp_path / "own.yaml")
    monkeypatch.setenv("KUBECONFIG", str(path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return path


@pytest.mark.parametrize(
    "content",
    [
        "users:\n- name: ada\n  user: {token: hunter2\n",
        json.dumps({"users": [{"user": {"token": "hunter2"}}], "contexts": [], "clusters": []}),
        json.dumps({"users": [{"name": "a", "user": {"token": "hunter2"}}], "contexts": [{"token": "hunter2"}]}),
        json.dumps(
            {
                "current-context": "a",
                "users": [{"name": "a", "user": {"exec": {"env": [{"value": "hunter2"}]}}}],
                "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
                "clusters": [{"name": "a", "cluster": {"server": "https://a", "certificate-authority": "/nowhere"}}],
            }
        ),
    ],
)
def test_no_part_of_a_broken_kubeconfig_is_repeated(own: Path, content: str) -> None:
    own.write_text(content)
    answer = invoke("status")
    assert answer.exit_code in (65, 77)
    assert "hunter2" not in answer.stderr
    assert str(own) in answer.stderr or "the plugin" in answer.stderr


def closed_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def test_the_current_context_says_cluster_namespace_and_user(own: Path) -> None:
    found = access()
    assert (found.cluster, found.namespace, found.server) == ("west", "team-blue", "http://127.0.0.1:1")
    assert found.settings.api_key == {"BearerToken": "Bearer ada-token"}
    other = access(context="green")
    assert (other.cluster, other.namespace) == ("east", "default")
    mixed = access(cluster="east", user="ben")
    assert (mixed.cluster, mixed.namespace) == ("east", "team-blue")
    assert mixed.settings.api_key == {"BearerToken": "Bearer ben-token"}


def test_of_several_files_the_first_one_wins_as_with_kubectl(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = kubeconfig(tmp_path / "second.yaml", "http://127.0.0.1:2", **{"current-context": "green"})
    empty = tmp_path / "empty.yaml"
    empty.touch()
    listed = [tmp_path / "is-not-there.yaml", empty, own, second]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(map(str, listed)))
    assert (access().cluster, access().server) == ("west", "http://127.0.0.1:1")
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(map(str, [second, own])))
    assert (access().cluster, access().server) == ("east", "http://127.0.0.1:2")
    assert access(str(own)).cluster == "west"


def test_without_a_list_the_file_at_home_counts(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG")
    with pytest.raises(BadKubeconfig, match="set KUBECONFIG"):
        access()
    (tmp_path / "home" / ".kube").mkdir(parents=True)
    kubeconfig(tmp_path / "home" / ".kube" / "config", "http://127.0.0.1:3")
    assert access().server == "http://127.0.0.1:3"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--context", "purple"], "--context: there is no context 'purple' in the kubeconfig; there is blue, green"),
        (["--cluster", "north"], "--cluster: there is no cluster 'north' in the kubeconfig; there is east, west"),
        (["--user", "eve"], "--user: there is no user 'eve' in the kubeconfig; there is ada, ben"),
        (["--kubeconfig", "/nowhere.yaml"], "--kubeconfig: there is no file /nowhere.yaml"),
        (["--as-group", "admins"], "--as-group goes with --as"),
        (["--now", "2026-11-30T08:24:00Z"], "--now and --captured-at go with -f"),
    ],
)
def test_a_name_that_is_not_there_is_64_and_says_which_are(own: Path, options: list[str], says: str) -> None:
    answer = invoke("status", *options)
    assert answer.exit_code == 64
    assert says in answer.stderr + str(answer.exception)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[1, 2]", "it is no kubeconfig"),
        ("a: [", "cannot be used"),
        ('{"clusters": 5, "contexts": [], "users": []}', "cannot be used"),
        ('{"clusters": [], "contexts": [], "users": [], "current-context": "a"}', "there is no context 'a'"),
        ('{"clusters": [], "contexts": [], "users": []}', "has no current context; say --context"),
        (
            '{"clusters": [], "contexts": [{"name": "a", "context": {"cluster": "b"}}], "current-context": "a"}',
            "there is no cluster 'b'",
        ),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_is_65(own: Path, content: str, says: str) -> None:
    own.write_text(content)
    answer = invoke("explain")
    assert (answer.exit_code, answer.stdout) == (65, "")
    assert says in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("words", [["status"], ["explain", "-A"], ["evidence"], ["dump"], ["run", "a"], ["watch", "a"]])
def test_a_cluster_out_of_reach_is_69_and_its_address_is_named(own: Path, words: list[str]) -> None:
    server = f"http://127.0.0.1:{closed_port()}"
    kubeconfig(own, server)
    answer = invoke(*words)
    assert (answer.exit_code, answer.stdout) == (69, "")
    assert answer.stderr == f"tau-check: {server} does not answer: connection refused\n"


def test_a_server_whose_name_is_not_known_is_69(own: Path) -> None:
    kubeconfig(own, "https://no-such-host.invalid:6443")
    answer = invoke("status")
    assert answer.exit_code == 69
    assert "https://no-such-host.invalid:6443 does not answer" in answer.stderr


def plugin(path: Path, script: str) -> Object:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(path), "interactiveMode": "Never"}}


def test_a_plugin_gives_the_credentials(own: Path, tmp_path: Path) -> None:
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "from-the-plugin"},
    }
    user = plugin(tmp_path / "login", f"echo '{json.dumps(credential)}'")
    kubeconfig(own, users=[{"name": "ada", "user": user}])
    assert access().settings.api_key == {"BearerToken": "Bearer from-the-plugin"}


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("echo 'sign in first' >&2; exit 3", "exec: process returned 3. sign in first"),
        ("echo nothing", "failed to decode process output"),
        ("echo 'password=hunter2hunter2' >&2; exit 1", "what it said is not repeated here"),
    ],
)
def test_a_plugin_that_fails_is_77_and_nothing_is_asked_without_credentials(
    own: Path, tmp_path: Path, script: str, says: str
) -> None:
    kubeconfig(own, users=[{"name": "ada", "user": plugin(tmp_path / "login", script)}])
    with pytest.raises(Forbidden):
        access()
    answer = invoke("status")
    assert (answer.exit_code, answer.stdout) == (77, "")
    assert f"the plugin {tmp_path}/login of the kubeconfig gave no credentials: " in answer.stderr
    assert says in answer.stderr
    assert "hunter2" not in answer.stderr


def test_acting_as_somebody_is_said_on_the_command_line_or_in_the_kubeconfig(own: Path) -> None:
    found = access(as_user="cleo", as_groups=("a", "b"))
    assert found.headers == (("Impersonate-User", "cleo"), ("Impersonate-Group", "a"), ("Impersonate-Group", "b"))
    user = {"token": "t", "as": "dora", "as-groups": ["c"], "as-uid": "7", "as-user-extra": {"why": ["x"]}}
    kubeconfig(own, users=[{"name": "ada", "user": user}])
    expected = [("User", "dora"), ("Group", "c"), ("Uid", "7"), ("Extra-why", "x")]
    assert access().headers == tuple((f"Impersonate-{name}", value) for name, value in expected)
    assert access(as_user="cleo").headers == (("Impersonate-User", "cleo"),)


def test_dumps_are_read_without_the_client_of_clusters() -> None:
    code = (
        "import sys; from checks.cli import commands; commands.main(sys.argv[1:], standalone_mode=False);"
        "print([name for name in sys.modules if name.partition('.')[0] in ('kubernetes', 'obstore', 'django')])"
    )
    for words in (["explain"], ["status"], ["evidence"]):
        command = [sys.executable, "-c", code, *words, "-f", str(DUMP / "west-1.yaml")]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
        assert answer.stdout.splitlines()[-1] == "[]"
