"""`tau-check`: the command line. Needs no Django and no database."""

import io
import sys

import click

from .. import __version__
from .bundle import bundle
from .completion import VARIABLE, completion
from .conformance import conformance
from .diff import diff
from .dump import dump
from .evidence import evidence
from .explain import explain
from .fixed import export_group, import_group
from .init import init
from .register import register
from .review import approve, reject
from .run import cancel, run, watch
from .status import status
from .terminal import program
from .validate import validate


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="tau-check")
def commands() -> None:
    """Validation checks of a GPU cluster: what is proven, what is not, and why.

    Exit codes: 0 every check is Passed, 1 a check is Failed, 2 something is not proven, 64 wrong usage,
    65 unreadable input, 69 the cluster is out of reach, 77 you may not.
    """


for command in (
    *(register, approve, reject, run, watch, cancel, dump),
    *(explain, status, evidence, validate, conformance, init, diff, bundle, import_group, export_group, completion),
):
    commands.add_command(command)


def main() -> None:
    """Entry point of the console script; a usage error is 64, as sysexits.h has it."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal without Unicode still gets its answer
    try:
        code = commands.main(prog_name=program(), complete_var=VARIABLE, standalone_mode=False)
    except click.UsageError as error:
        error.show()
        raise SystemExit(64) from None
    except click.ClickException as error:
        error.show()
        raise SystemExit(error.exit_code) from None
    except click.Abort:
        raise SystemExit(130) from None
    raise SystemExit(code if isinstance(code, int) else 0)
