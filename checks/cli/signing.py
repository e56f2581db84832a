"""The option that has a bundle signed."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ..evidence.signing import SigningKey

Command = TypeVar("Command", bound=Callable[..., Any])


def sign_option(command: Command) -> Command:
    """--sign-key, given to the command as `key`: a SigningKey, or None."""
    return click.option(
        "--sign-key",
        "key",
        type=click.Path(path_type=Path, dir_okay=False),
        callback=_key,
        help="Sign the statement with this Ed25519 key: PEM, without a password.",
    )(command)


def _key(_context: click.Context, _option: click.Parameter, path: Path | None) -> "SigningKey | None":
    if path is None:
        return None
    from ..evidence.signing import SigningKey, SigningKeyError  # loads a large library

    try:
        return SigningKey(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise click.BadParameter(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, SigningKeyError) as error:
        why = "it is no text" if isinstance(error, UnicodeDecodeError) else str(error)
        raise click.BadParameter(f"{path} cannot sign: {why}") from None
