"""Build the programs of the test cluster: `python -m tests.cluster.tools [FAMILY …]`, else all of them."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.cluster.tools import FAMILIES, ToolMissing, build, keycloak

BUILDERS: dict[str, Callable[[Callable[[str], None]], Path]] = {
    **{name: partial(build, family) for name, family in FAMILIES.items()},
    "keycloak": keycloak.build,
}


def main(names: list[str]) -> int:
    """Build each named family in turn; 1 where one could not be built."""
    unknown = [name for name in names if name not in BUILDERS]
    if unknown:
        print(f"Unknown family {', '.join(unknown)}; there are {', '.join(BUILDERS)}.", file=sys.stderr)
        return 2
    for name in names or BUILDERS:
        try:
            BUILDERS[name](lambda line: print(line, flush=True))
        except ToolMissing as missing:
            print(missing, file=sys.stderr)
            return 1
        except subprocess.CalledProcessError as failed:
            print(f"{name}: {failed.cmd[0]} ended with {failed.returncode}; its words are above.", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
