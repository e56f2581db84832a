"""Times of the contract: RFC 3339 in UTC, written with Z, to the microsecond at most."""

import re
from datetime import UTC, datetime

TIME_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z$"
_TIME = re.compile(TIME_PATTERN, re.ASCII)


def parse_time(text: object) -> datetime | None:
    """The instant, or None where the text is not a UTC time in the form above (or no such day exists)."""
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if 1970 <= at.year < 3000 else None  # Go writes its zero time as the year 1; sums must not overflow


def format_time(at: datetime) -> str:
    """The shortest form: no fraction where there is none."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
