"""The environment of the demo. Runs before settings are read, so it knows no Django."""

import secrets
import socket
from collections.abc import MutableMapping
from pathlib import Path

HERE = Path(__file__).resolve().parent


def prepare(environ: MutableMapping[str, str]) -> None:
    """Fills in what is not set. What somebody has set stands; the system checks judge the whole."""
    folder = Path(environ.setdefault("DEMO_FOLDER", str(HERE.parent.parent / "var" / "demo"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    port = environ.get("PORT", "").strip() or "8000"
    for name, value in {
        "PORTAL_MODE": "demo",
        "PORT": port,
        "PORTAL_URL": f"http://localhost:{port}",
        "DATABASE_URL": f"sqlite://{folder / 'portal.sqlite3'}",
        "ACCESS": "file",
        "EVIDENCE_FOLDER": str(folder / "evidence"),
        "ACCESS_FILE": str(HERE / "access.yaml"),
        # Sessions end with the demo, as the provider's keys do.
        "SECRET_KEY": secrets.token_urlsafe(48),
        # The same port at each start, if it is free, so that people keep their accounts.
        "OIDC_ISSUER": f"http://localhost:{_free_port(int(port) + 1 if port.isdigit() else 0)}",
        "OIDC_CLIENT_ID": "taugrid-portal",
        "OIDC_CLIENT_SECRET": secrets.token_urlsafe(24),
        "OIDC_USERNAME_CLAIM": "preferred_username",
        # The local provider asks every time, so the person is asked once.
        "OIDC_RENEW_SECONDS": "43200",
        "LOG_LEVEL": "WARNING",
        # The local provider speaks plain HTTP on the loopback interface.
        "AUTHLIB_INSECURE_TRANSPORT": "1",
    }.items():
        environ.setdefault(name, value)


def _free_port(wanted: int) -> int:
    for port in (wanted, 0):
        try:
            with socket.create_server(("127.0.0.1", port)) as probe:
                free: int = probe.getsockname()[1]
                return free
        except (OSError, OverflowError):
            continue
    raise OSError("No free port on the loopback interface.")
