"""The command line in this process, as a person or a pipeline uses it."""

from click.testing import CliRunner, Result

from checks.cli import commands


def invoke(*args: object, stdin: str | bytes | None = None) -> Result:
    """Runs `tau-check ARGS…`; the exit code is what the command returns, 64 for wrong usage."""
    result = CliRunner().invoke(commands, [str(arg) for arg in args], input=stdin, standalone_mode=False)
    if isinstance(result.return_value, int):
        result.exit_code = result.return_value
    elif type(result.exception).__name__ in ("UsageError", "BadParameter", "NoSuchOption", "MissingParameter"):
        result.exit_code = 64
    elif result.exception is not None:
        raise result.exception
    return result
