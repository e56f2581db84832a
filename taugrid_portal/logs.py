"""Logs as JSON lines on standard error, one event each, with the id of the request that caused it.

Tracebacks are written without local variables, since those hold tokens and claims.
"""

from typing import Any

import structlog

_SHARED: tuple[structlog.typing.Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
)


def configuration(level: str, readable: bool) -> dict[str, Any]:
    """The `LOGGING` setting. `readable` writes for eyes instead of machines. Also sets structlog up."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    last: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if readable
        else structlog.processors.JSONRenderer()
    )
    chain: list[structlog.typing.Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if not readable:
        chain.append(structlog.processors.format_exc_info)
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "events": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processors": [*chain, last],
                "foreign_pre_chain": [structlog.stdlib.ExtraAdder(allow=["status_code"]), *_SHARED],
            }
        },
        "filters": {
            "with_exception": {
                "()": "django.utils.log.CallbackFilter",
                "callback": lambda record: record.exc_info is not None,
            }
        },
        "handlers": {"standard_error": {"class": "logging.StreamHandler", "formatter": "events"}},
        "root": {"handlers": ["standard_error"], "level": level},
        "loggers": {
            # Django's own handlers would write the same events again, in another shape.
            "django": {"handlers": [], "level": level, "propagate": True},
            # Each refusal is in the line of its request; only an exception has more to tell.
            "django.request": {"level": "ERROR", "filters": ["with_exception"]},
            # Anybody can send a wrong host; the line of the request says that it was refused.
            "django.security.DisallowedHost": {"level": "CRITICAL"},
            "django.server": {"handlers": [], "level": "WARNING", "propagate": True},
            # These write whole addresses, and with them codes and states of a sign-in.
            "urllib3": {"level": "WARNING"},
            "mozilla_django_oidc": {"level": "ERROR"},
            "waitress": {"level": "WARNING"},
            "waitress.queue": {"level": "ERROR"},
        },
    }
