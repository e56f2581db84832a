"""Compares the mutants that survived `mutmut run` with the accepted ones: `python -m tests.mutation.survivors`.

equivalents.txt holds each accepted one as its function, the line before, the line after, and why no test can tell them
apart. Exit code 1 where another mutant survived, or was not tried, and where an accepted one no longer survives.
"""

import re
import subprocess
import sys
from pathlib import Path

ACCEPTED = Path(__file__).with_name("equivalents.txt")
_RESULT = re.compile(r"^\s*(\S+__mutmut_\d+): (.+)$", re.MULTILINE)


def mutmut(*args: str) -> str:
    """What mutmut prints; it stands beside the interpreter that runs this."""
    program = Path(sys.executable).with_name("mutmut")
    return subprocess.run([program, *args], capture_output=True, text=True, check=True).stdout


def entry(mutant: str) -> str:
    """A mutant as equivalents.txt has it: function, lines before, lines after."""
    changed = [line for line in mutmut("show", mutant).splitlines() if re.match(r"[-+](?![-+])", line)]
    lines = [f"{line[0]} {line[1:].strip()}" for line in changed]
    function = re.sub(r"\.x[_ǁ]", ".", mutant.rpartition("__mutmut_")[0]).replace("ǁ", ".")
    return "\n".join([function, *lines])


def accepted() -> set[str]:
    """The entries of equivalents.txt, each of which must give its reason."""
    entries = set()
    for block in ACCEPTED.read_text().split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        if not lines[-1].startswith("why: "):
            raise SystemExit(f"{ACCEPTED.name}: no reason is given for\n{block}")
        entries.add("\n".join(lines[:-1]))
    return entries


def main() -> int:
    """Prints what differs."""
    left = {entry(name): word for name, word in _RESULT.findall(mutmut("results")) if word != "killed"}
    known = accepted()
    for text in sorted(left.keys() - known):
        print(f"{left[text]}:\n{text}\n")
    for text in sorted(known - left.keys()):
        print(f"accepted, but it does not survive:\n{text}\n")
    print(f"{len(left)} mutants left, {len(left.keys() & known)} of them accepted")
    return 1 if left.keys() != known else 0


if __name__ == "__main__":
    sys.exit(main())
