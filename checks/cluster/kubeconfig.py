"""Kubeconfigs as kubectl reads them: the list in KUBECONFIG, contexts, exec plugins, impersonation, a pod's account.

The client library merges the files and gets the credentials. What it does otherwise than kubectl is put right here: the
first file decides about the current context, an exec plugin that fails is an error, and `as` of a user counts.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client, config
from kubernetes.config.kube_config import ConfigNode, KubeConfigLoader, KubeConfigMerger

from ..contract.credential import may_hold_credential
from .errors import BadKubeconfig, Forbidden

HOME = "~/.kube/config"
_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_MAX_WORDS = 400
Header = tuple[str, str]


class _NoKubeconfig(ValueError):
    """A file that is YAML and nothing that a kubeconfig is."""


@dataclass(frozen=True, slots=True)
class Access:
    """A way to an API server.

    namespace: of the context. cluster: the kubeconfig's name for it. headers: by which somebody acts as another.
    """

    settings: client.Configuration
    namespace: str
    cluster: str
    headers: tuple[Header, ...] = ()

    @property
    def server(self) -> str:
        """The address of the API server."""
        return str(self.settings.host)


def access(
    kubeconfig: str = "",
    context: str = "",
    cluster: str = "",
    user: str = "",
    as_user: str = "",
    as_groups: tuple[str, ...] = (),
) -> Access:
    """What kubectl would use with these options. Raises BadKubeconfig, and Forbidden where a plugin gives nothing."""
    if as_groups and not as_user:
        raise BadKubeconfig("--as-group goes with --as, which says who", usage=True)
    paths = _paths(kubeconfig)
    if not paths:
        return _in_cluster(as_user, as_groups)
    try:
        merged, current = _merged(paths)
        name = context or current
        if not name:
            raise BadKubeconfig(f"{paths[0]} has no current context; say --context: {_named(merged, 'contexts')}")
        chosen = dict(_entry(merged, "contexts", name, "--context" if context else "current-context"))
        chosen |= {key: value for key, value in (("cluster", cluster), ("user", user)) if value}
        _entry(merged, "clusters", str(chosen.get("cluster") or ""), "--cluster" if cluster else f"context {name}")
        credentials = _entry(merged, "users", str(chosen["user"]), "--user" if user else "") if "user" in chosen else {}
        settings = _load(merged, chosen, credentials)
    except (config.ConfigException, OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
        raise BadKubeconfig(f"the kubeconfig {', '.join(paths)} cannot be used: {_fault(error)}") from None
    headers = _as(as_user or str(credentials.get("as") or ""), as_groups, {} if as_user else credentials)
    return Access(settings, str(chosen.get("namespace") or "default"), str(chosen["cluster"]), headers)


def _paths(kubeconfig: str) -> list[str]:
    """The files that are there. One named on the command line must be; of a list, those that are there count."""
    if kubeconfig:
        if not Path(kubeconfig).expanduser().is_file():
            raise BadKubeconfig(f"--kubeconfig: there is no file {kubeconfig}", usage=True)
        return [kubeconfig]
    listed = [path for path in os.environ.get("KUBECONFIG", "").split(os.pathsep) if path] or [HOME]
    there = [path for path in listed if Path(path).expanduser().is_file()]
    try:
        return [path for path in there if Path(path).expanduser().read_bytes().strip()]
    except OSError as error:
        raise BadKubeconfig(f"the kubeconfig {error.filename} cannot be read: {error.strerror}") from error


def _merged(paths: list[str]) -> tuple[ConfigNode, str]:
    """All files as one, earlier ones first, and the first current context that one of them names."""
    for path in paths:
        if not isinstance(yaml.safe_load(Path(path).expanduser().read_bytes()), dict):
            raise _NoKubeconfig
    merger = KubeConfigMerger(os.pathsep.join(paths))  # type: ignore[no-untyped-call]
    named = (merger.config_files[path].get("current-context") for path in merger.paths)
    return merger.config, str(next((name for name in named if name), ""))


def _entry(merged: ConfigNode, kind: str, name: str, said: str) -> dict[str, Any]:
    """One cluster, context or user. said: where the name comes from."""
    for entry in merged.value[kind]:
        if entry.value.get("name") == name:
            return dict(entry.value.get(kind.removesuffix("s")) or {})
    if kind == "users" and not said:
        return {}  # as kubectl has it: nobody in particular
    words = f"{said}: there is no {kind.removesuffix('s')} {name!r} in the kubeconfig; there is {_named(merged, kind)}"
    raise BadKubeconfig(words, usage=said.startswith("--"))


def _named(merged: ConfigNode, kind: str) -> str:
    return ", ".join(sorted(str(entry.value.get("name")) for entry in merged.value[kind])[:20]) or "none"


def _load(merged: ConfigNode, chosen: dict[str, Any], credentials: dict[str, Any]) -> client.Configuration:
    """Connection and credentials of a context. What the library would only log is raised."""
    name = "what was chosen"
    contexts = [ConfigNode(name, {"name": name, "context": chosen}, "")]  # type: ignore[no-untyped-call]
    whole = ConfigNode(merged.name, merged.value | {"contexts": contexts}, merged.path)  # type: ignore[no-untyped-call]
    settings = client.Configuration()
    with _logged() as said:
        loader = KubeConfigLoader(whole, name, config_base_path=None)  # type: ignore[no-untyped-call]
        loader.load_and_set(settings)  # type: ignore[no-untyped-call]
    plugin = credentials.get("exec")
    if isinstance(plugin, dict) and not (settings.api_key or settings.cert_file):
        why = _short(said[0]) if said else "it said nothing"
        raise Forbidden(f"the plugin {plugin.get('command')} of the kubeconfig gave no credentials: {why}")
    return settings


@contextmanager
def _logged() -> Iterator[list[str]]:
    """What is logged meanwhile, instead of on the terminal."""
    said: list[str] = []
    catcher = logging.Handler()
    catcher.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    root = logging.getLogger()
    before, root.handlers = root.handlers, [catcher]
    try:
        yield said
    finally:
        root.handlers = before


def _fault(error: Exception) -> str:
    """What is wrong with a kubeconfig. The libraries' own words repeat the file, with the tokens in it."""
    if isinstance(error, yaml.YAMLError):
        mark = getattr(error, "problem_mark", None)
        return f"it is no YAML{f', at line {mark.line + 1}' if mark else ''}"
    if isinstance(error, _NoKubeconfig):
        return "it is no kubeconfig"
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}"
    words = str(error)
    if isinstance(error, config.ConfigException) and words.startswith("File does not exist: "):
        return f"there is no file {words.removeprefix('File does not exist: ')}"
    return "an entry is not as a kubeconfig has it"


def _short(error: object) -> str:
    """Words of unknown origin: cut, and never with a credential in them."""
    words = " ".join(str(error).split())
    if may_hold_credential(words):
        return "what it said is not repeated here"
    return words[:_MAX_WORDS]


def _as(user: str, groups: tuple[str, ...], credentials: dict[str, Any]) -> tuple[Header, ...]:
    if not user:
        return ()
    listed = credentials.get("as-groups") or ()
    found = [("Impersonate-User", user), *(("Impersonate-Group", group) for group in (groups or listed))]
    if uid := credentials.get("as-uid"):
        found.append(("Impersonate-Uid", str(uid)))
    for key, values in (credentials.get("as-user-extra") or {}).items():
        found += [(f"Impersonate-Extra-{key}", str(value)) for value in values]
    return tuple(found)


def _in_cluster(as_user: str, as_groups: tuple[str, ...]) -> Access:
    """A pod's own account."""
    settings = client.Configuration()
    try:
        config.load_incluster_config(settings)  # type: ignore[no-untyped-call]
        namespace = (_ACCOUNT / "namespace").read_text(encoding="utf-8").strip()
    except (config.ConfigException, OSError) as error:
        words = f"there is no kubeconfig: set KUBECONFIG, say --kubeconfig FILE, or put one at {HOME}"
        raise BadKubeconfig(words, usage=True) from error
    return Access(settings, namespace or "default", "in-cluster", _as(as_user, as_groups, {}))
