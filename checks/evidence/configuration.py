"""Stores from their configuration: `NAME=BASE` each, with read-only credentials from the environment or from files.

Bases: `file:///directory`, `https://ACCOUNT.blob.core.windows.net/CONTAINER[/PREFIX]`, `az://ACCOUNT/CONTAINER[/PREFIX]`
and `s3://BUCKET[/PREFIX]`. Nothing is asked here, so a wrong credential shows when the first piece is read.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from .directory import Directory
from .locating import Mount, Stores
from .remote import Method, Remote, Sign, azure, s3

AZURE_OPTIONS = ("sas_token", "endpoint")
S3_OPTIONS = ("access_key_id", "secret_access_key", "session_token", "region", "endpoint")
_BLOB = re.compile(r"https://([a-z0-9]{3,24})\.blob\.core\.windows\.net/([a-z0-9$][a-z0-9-]{2,62})((?:/[^/]+)*)")
_AZ = re.compile(r"az://([a-z0-9]{3,24})/([a-z0-9$][a-z0-9-]{2,62})((?:/[^/]+)*)")
_S3 = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:/[^/]+)*)")
_FILE = re.compile(r"file://((?:/[^/{}]+)+)((?:/[^/]+)*?)")

# Gives one option of one store: ("blob", "sas_token") -> its value, "" where it has none.
Option = Callable[[str, str], str]
# Makes a signing function for a container or bucket from its options.
Maker = Callable[[Mapping[str, str], Method], Sign]


class ConfigurationError(ValueError):
    """A store cannot be configured like this; the sentence names it, never a credential."""


def variable(store: str, option: str) -> str:
    """The environment variable of an option; with `_FILE` behind it, of a file that holds it."""
    return f"EVIDENCE_STORE_{store}_{option}".upper().replace("-", "_")


@dataclass(frozen=True, slots=True)
class Target:
    """A container or bucket that a base names. put_headers: what a PUT needs beside its address."""

    name: str
    base: str
    prefix: str
    options: tuple[str, ...]
    make: Maker
    put_headers: Mapping[str, str] = field(default_factory=dict)

    def sign(self, option: Option, method: Method) -> Sign:
        """A signing function from the credentials as they are now."""
        return self.make({each: value for each in self.options if (value := option(self.name, each))}, method)


def target_of(name: str, base: str) -> Target | None:
    """The container or bucket of a base; None where it names none."""
    if found := _BLOB.fullmatch(base) or _AZ.fullmatch(base):
        account, container, prefix = found.groups()
        headers = {"x-ms-blob-type": "BlockBlob", "x-ms-version": "2021-12-02"}
        return Target(name, base, prefix, AZURE_OPTIONS, partial(azure, account, container), headers)
    if found := _S3.fullmatch(base):
        bucket, prefix = found.groups()
        return Target(name, base, prefix, S3_OPTIONS, partial(s3, bucket))
    return None


def stores_from(entries: Iterable[str], option: Option, folder: Path | None = None) -> Stores:
    """The stores of `NAME=BASE` entries. Raises ConfigurationError."""
    mounts: list[Mount] = []
    for entry in entries:
        name, _, base = entry.partition("=")
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,30}", name) or not base:
            raise ConfigurationError(f"An evidence store is NAME=BASE; {entry[:60]!r} is not that.")
        base = sound_base(name, base)
        if any(base == other.base or name == other.name for other in mounts):
            raise ConfigurationError(f"Evidence store {name!r} is there twice, by its name or by its base.")
        mounts.append(_mount(name, base, option))
    return Stores(mounts, folder)


def sound_base(name: str, base: str) -> str:
    """The base without a slash at its end. Raises ConfigurationError."""
    if re.search(r"[?#@\s\\%]|/\.{1,2}(?:/|$)", base):
        raise ConfigurationError(
            f"The base of evidence store {name!r} has a query, a fragment, credentials or an escape in it."
        )
    return base.rstrip("/")


def _mount(name: str, base: str, option: Option) -> Mount:
    if found := _FILE.fullmatch(base):
        return Mount(name, base, found[2], Directory(Path(unquote(found[1]))))
    if target := target_of(name, base):
        return Mount(name, base, target.prefix, Remote(lambda: target.sign(option, "GET")))
    raise ConfigurationError(
        f"The base of evidence store {name!r} is none of file:///DIRECTORY, s3://BUCKET, az://ACCOUNT/CONTAINER "
        "and https://ACCOUNT.blob.core.windows.net/CONTAINER."
    )
