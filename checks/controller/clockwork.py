"""When a schedule starts its next run. Pure; `cronsim` knows the calendar and daylight saving as Debian's cron does."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError


def cron_fault(cron: str, time_zone: str) -> str:
    """What is wrong with a schedule, as a sentence; "" where nothing is."""
    try:
        next_after(cron, time_zone, datetime(2026, 1, 1, tzinfo=UTC))
    except (CronSimError, StopIteration):
        return f"{cron!r} is no cron expression of five fields that ever comes true"
    except (KeyError, ValueError, OSError):
        return f"{time_zone!r} is no time zone, such as Etc/UTC or Europe/Berlin"
    return ""


def next_after(cron: str, time_zone: str, after: datetime) -> datetime:
    """The first instant later than `after` at which the schedule is due, in UTC.

    Raises CronSimError, StopIteration for a bad expression, KeyError, ValueError or OSError for a bad time zone.
    """
    local = after.astimezone(ZoneInfo(time_zone))
    return next(CronSim(cron, local)).astimezone(UTC)
