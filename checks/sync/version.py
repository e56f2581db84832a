"""The version of the rules: what is stored of a check was made by one, and is made again by another.

Made from the rules' own text, so that nobody has to remember to change it; a changed comment costs one judging.
"""

import hashlib
from pathlib import Path

_CHECKS = Path(__file__).parents[1]
_RULES = ("assembly", "facts", "identity", "objects", "rules", "selection", "verdict", "sync/judging")


def _version() -> str:
    files = [_CHECKS / f"{name}.py" for name in _RULES] + sorted((_CHECKS / "contract").glob("*.py"))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:12]


RULES = _version()
