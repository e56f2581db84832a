"""`python -m checks.cli.reference > docs/cli.md`: every command with its help, as people see it."""

from collections.abc import Iterator

import click

from . import commands
from .terminal import PROGRAM

_HEAD = """\
# tau-check

Written from the commands themselves by `make cli-reference`; a test compares. It needs no database and no Django. It is
a kubectl plugin too, `kubectl tau-check …`, since it is also installed as `kubectl-tau_check`.

**Which cluster, and as whom.** As kubectl: the files in `KUBECONFIG` or `~/.kube/config` (the first one wins),
`--kubeconfig`, `--context`, `--cluster`, `--user`, `--namespace`, plugins that sign in, `--as` and `--as-group`; in a
pod its own account. It has no rights of its own. A verdict also needs templates, nodes and the admission policies:
the role `tau-validation-cluster-viewer` gives them; without it nothing is Passed, and the sentence says which right
is missing. What results call the cluster stands on the policy `tau-validation-result-publisher`, where the chart
writes it; `--known-as` says it where it does not.

**Evidence.** What this command has not read itself is not verified. `--evidence DIRECTORY` is a folder of files named
by their sha256; `--store NAME=BASE` (or `EVIDENCE_STORES`) is where the portal reads, with credentials in
`EVIDENCE_STORE_<NAME>_<OPTION>` ([evidence](evidence.md)).

**From a cluster or from a dump.** `explain`, `status` and `evidence` read the cluster; with `-f` they read dumps,
without a cluster, and what follows are more dumps. Both are judged by the same code.

| exit code | meaning |
|---|---|
| 0 | fresh Passed, or done |
| 1 | Failed; for `diff`: something changed |
| 2 | anything not proven; for `run`: it cannot start, or has not ended in time; for `export`: something would be lost |
| 64 | wrong usage, a name that the kubeconfig does not have, or a question that was not answered with yes |
| 65 | input that cannot be read or is not valid; an object that is not there, or is another than was named |
| 69 | the cluster is out of reach, or does not have these kinds |
| 77 | you may not: the sentence says which right is missing |
| 130 | interrupted |
| 141 | whoever read the output has gone |

States are words, never colours alone; colour is used only on a terminal.
"""


def reference() -> str:
    """The document."""
    return "\n".join([_HEAD, *_sections(commands, PROGRAM, None)])


def _sections(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    shown = {"help_option_names": ["-h", "--help"], "terminal_width": 100, "max_content_width": 100, "color": False}
    context = click.Context(command, info_name=name, parent=parent, **shown)  # type: ignore[arg-type]
    yield f"## {context.command_path.replace(' [OPTIONS]', '')}\n\n```\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found is not None and not found.hidden:
                yield from _sections(found, inner, context)


if __name__ == "__main__":
    click.echo(reference(), nl=False)
