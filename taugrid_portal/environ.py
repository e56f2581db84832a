"""Reads settings from the environment.

Each function takes the name of one variable and what to use when it is unset or empty. A value that cannot be
read is `ImproperlyConfigured` with a sentence that names the variable and what it takes; the value of a secret
is never part of such a sentence.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_POSTGRES_OPTIONS = ("sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout", "application_name")


def string(name: str, default: str = "") -> str:
    """The text of a variable, without the spaces around it."""
    return os.environ.get(name, "").strip() or default


def boolean(name: str, default: bool) -> bool:
    """True or False; anything that is neither is refused rather than guessed."""
    text = string(name).lower()
    if not text:
        return default
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise ImproperlyConfigured(f"{name} is “{text}”; it takes true or false.")


def integer(name: str, default: int, *, least: int = 0, most: int = 2**31) -> int:
    """A whole number within its bounds, ends included."""
    text = string(name)
    if not text:
        return default
    if text.isascii() and text.isdigit() and least <= int(text) <= most:
        return int(text)
    raise ImproperlyConfigured(f"{name} is “{text}”; it takes a whole number from {least} to {most}.")


def words(name: str, default: Sequence[str] = ()) -> list[str]:
    """A list, separated by commas or spaces."""
    return string(name).replace(",", " ").split() or list(default)


def choice(name: str, allowed: Sequence[str], default: str) -> str:
    """One of a closed set of words."""
    text = string(name, default)
    if text in allowed:
        return text
    raise ImproperlyConfigured(f"{name} is “{text}”; it takes one of: {', '.join(allowed)}.")


def secret(name: str, default: str = "") -> str:
    """A secret from NAME, or from the file that NAME_FILE names (a mounted Kubernetes secret)."""
    path = string(f"{name}_FILE")
    if not path:
        return string(name, default)
    if string(name):
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set; set one of them.")
    try:
        text = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not text"
        raise ImproperlyConfigured(f"{name}_FILE names {path}, which cannot be read: {reason}.") from problem
    if not text:
        raise ImproperlyConfigured(f"{name}_FILE names {path}, which is empty.")
    return text


def database(name: str, default_path: Path) -> dict[str, Any]:
    """Django's description of a database, from postgresql://user:password@host:port/name or sqlite:///path.

    The address may hold a password, so NAME_FILE is read too, and no sentence repeats it.
    """
    url = secret(name)
    if not url:
        return _sqlite(default_path)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as problem:
        raise ImproperlyConfigured(f"{name} is not an address: its host or port cannot be read.") from problem
    if parts.scheme == "sqlite" and not parts.netloc and len(parts.path) > 1:
        return _sqlite(Path("/", unquote(parts.path).lstrip("/")))
    if parts.scheme not in ("postgresql", "postgres") or len(parts.path) < 2:
        raise ImproperlyConfigured(f"{name} takes postgresql://user:password@host:port/name or sqlite:///path.")
    options = dict(parse_qsl(parts.query))
    unknown = sorted(set(options) - set(_POSTGRES_OPTIONS))
    if unknown:
        raise ImproperlyConfigured(f"{name} has unknown options: {', '.join(unknown)}.")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path[1:]),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {"connect_timeout": "5"} | options,
    }


def _sqlite(path: Path) -> dict[str, Any]:
    # WAL lets pages read while the sync writes. IMMEDIATE takes the write lock when a transaction begins, so
    # that a busy database is waited for (up to `timeout` seconds) instead of failing in the middle.
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;"
                "PRAGMA mmap_size=134217728; PRAGMA cache_size=-16000; PRAGMA journal_size_limit=67108864;"
            ),
        },
    }
