"""`manage.py load_dump FILE…|-`: reads what kubectl prints, or tau-check dump writes, into the database."""

import sys
from argparse import ArgumentParser
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from checks.contract.clock import parse_time
from checks.dump import read_files, read_stream
from checks.snapshot import DumpError
from checks.sync.dump_load import Loaded, files_of, load_items

_EVERY = 500


class Command(BaseCommand):
    """Exit codes: 0 all read, 1 read with problems (each is named), 2 nothing was read or written."""

    requires_system_checks = []  # reading a dump needs a database, not a sign-in provider

    help = (
        "Reads dumps (YAML, JSON, gzip; - is standard input) into the database. Exit codes: 0 everything was read, "
        "1 some documents could not be read (each is named, the rest is loaded), 2 nothing was loaded."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Arguments of the command."""
        parser.add_argument(
            "files", nargs="+", metavar="FILE", help="a dump, a folder of dumps, or - for standard input"
        )
        parser.add_argument("--evidence", metavar="DIR", help="folder of evidence files named by their sha256")
        parser.add_argument(
            "--cluster", default="", metavar="NAME", help="cluster, where a dump does not say so itself"
        )
        parser.add_argument("--captured-at", metavar="TIME", help="time of capture (UTC), where a dump does not say so")

    def handle(self, *args: Any, **options: Any) -> None:
        """Loads, shows progress on a terminal, and says what happened."""
        captured_at = self._time(options["captured_at"])
        evidence = Path(options["evidence"]) if options["evidence"] else None
        if evidence is not None and not evidence.is_dir():
            raise CommandError(f"--evidence {evidence} is not a folder", returncode=2)
        try:
            done = load_items(
                _items(options["files"]),
                evidence=evidence,
                cluster=options["cluster"],
                captured_at=captured_at,
                progress=self._progress if sys.stderr.isatty() else None,
            )
        except DumpError as error:
            raise CommandError(str(error), returncode=2) from None
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}", returncode=2) from None
        self._report(done, options["verbosity"])
        if done.problems:
            raise SystemExit(1)

    def _time(self, text: str | None) -> datetime | None:
        at = parse_time(text) if text else None
        if text and at is None:
            raise CommandError(
                f"--captured-at {text!r} is not a time in UTC, such as 2026-11-30T08:24:00Z", returncode=2
            )
        return at

    def _progress(self, count: int) -> None:
        if count % _EVERY == 0:
            self.stderr.write(f"\r{count:,} objects", ending="")
            self.stderr.flush()

    def _report(self, done: Loaded, verbosity: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write("\r", ending="")
        for problem in done.problems:
            self.stderr.write(f"not read: {problem}")
        if verbosity:
            words = ("created", "changed", "unchanged", "older", "gone", "ignored")
            told = ", ".join(f"{done.counts[word]} {word}" for word in words if done.counts[word]) or "nothing to do"
            problems = f", {len(done.problems)} not read" if done.problems else ""
            self.stdout.write(f"{', '.join(done.clusters)}: {done.objects} objects: {told}{problems}")


def _items(names: list[str]) -> Any:
    for name in names:
        if name == "-":
            yield from read_stream(sys.stdin.buffer, "standard input")
        else:
            for path in files_of([name]):
                yield from read_files([path])
