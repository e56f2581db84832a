"""`make scenarios`: five scenarios, one line for each check in them, on a throwaway database."""

import os
import sys
import tempfile
import time
from pathlib import Path


def _site(folder: Path) -> None:
    """Django on a new SQLite file, with rights from a file; nothing of the surroundings is used."""
    os.environ.update(
        DJANGO_SETTINGS_MODULE="taugrid_portal.settings",
        PORTAL_MODE="test",
        DATABASE_URL=f"sqlite://{folder / 'portal.sqlite3'}",
        ACCESS="file",
        ACCESS_FILE=str(folder / "access.yaml"),
        LOG_LEVEL="WARNING",
    )
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)


def main() -> int:
    """0 where everybody says the same, 1 where not. The dumps are left in the folder named by the first argument."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _site(folder)
        from django.test import Client

        from tests.site.people import sign_in

        from .tour import GROUP, RULES, tour

        (folder / "access.yaml").write_text(RULES)

        def reader() -> Client:
            client = Client(headers={"host": "localhost:8000"})
            sign_in(client, "ada@example.org", [GROUP])
            return client

        dumps = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "dumps"
        count = wrong = 0
        stories = set()
        for told in tour(dumps, reader):
            said, differs = told.command_line, told.differences
            where = f"{told.scenario.namespace}/{told.scenario.name} on {told.scenario.cluster}"
            print(f"{told.story:<16} {said.state:<7} {said.reason:<24} {said.message} ({where})", flush=True)
            for why in differs:
                print(f"{'':<16} differs: {why}", flush=True)
            count, wrong = count + 1, wrong + bool(differs)
            stories.add(told.story)
    same = "say the same" if not wrong else f"differ in {wrong}"
    took = time.monotonic() - began
    print(f"{len(stories)} scenarios, {count} checks: command line, API and page {same} ({took:.0f} s)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
