"""`python -m checks.sample FOLDER`: writes the sample fleet, to try `tau-check explain` on."""

from datetime import UTC, datetime
from pathlib import Path

import click

from . import write_dumps


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def main(folder: Path) -> None:
    """Writes dumps of a sample fleet, as of now, and their evidence into FOLDER."""
    paths = write_dumps(folder, datetime.now(UTC))
    click.echo(f"Wrote {len(paths)} dumps to {folder}. Try:")
    click.echo(f"  tau-check explain -f {folder}/*.json --evidence {folder}/evidence")


if __name__ == "__main__":
    main()
