#!/usr/bin/env python
"""The command line of the site. `manage.py demo` prepares its own environment before settings are read."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "taugrid_portal.settings")
    if sys.argv[1:2] == ["demo"]:
        from taugrid_portal.demo.environment import prepare

        prepare(os.environ)
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as problem:
        sys.exit(f"Settings: {problem}")


if __name__ == "__main__":
    main()
