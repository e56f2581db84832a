"""`python -m checks.telemetry FILE…`: says for each line of NDJSON what is wrong with it. 0 nothing, 65 something."""

import sys
from pathlib import Path

import click

from .validating import stream_problems


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--once", is_flag=True, help="An id that comes a second time is a problem, too.")
def main(files: tuple[Path, ...], once: bool) -> None:
    """Validates TauExpRunLifecycle rows and tau.experiment.metric.v1 events, line by line and between lines."""
    found = 0
    for file in files:
        with file.open("rb") as lines:
            for number, problem in stream_problems(lines, once=once):
                found += 1
                click.echo(f"{file}:{number}: {problem}")
    sys.exit(65 if found else 0)


if __name__ == "__main__":
    main()
