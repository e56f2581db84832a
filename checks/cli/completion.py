"""`tau-check completion`: the script with which a shell completes commands and options."""

import click
from click.shell_completion import get_completion_class

from .terminal import PROGRAM

VARIABLE = "_TAU_CHECK_COMPLETE"


@click.command(short_help="Completion for bash, zsh or fish.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Prints a script that makes a shell complete `tau-check`.

    \b
    Examples:
      source <(tau-check completion bash)
      tau-check completion zsh > "${fpath[1]}/_tau-check"
      tau-check completion fish > ~/.config/fish/completions/tau-check.fish
    """
    made = get_completion_class(shell)
    assert made is not None
    values = made(context.find_root().command, {}, PROGRAM, VARIABLE)
    click.echo(values.source_template % values.source_vars())
    return 0
