"""The server that production and the demo run: its port, its scheme, its end."""

import http.client
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from taugrid_portal import server

ROOT = Path(__file__).parent.parent.parent
PRODUCTION = {
    "SECRET_KEY": "k8w2-9fjq-xm31-zz0p-7hbn-4tuc-61ls-vr5e-dgia-yo0m-22xw",
    "PORTAL_URL": "https://portal.example.org",
    "OIDC_ISSUER": "https://login.example.org",
    "OIDC_CLIENT_ID": "portal",
    "OIDC_CLIENT_SECRET": "secret",
    "ACCESS": "file",
}


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


def test_a_busy_port_is_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        with pytest.raises(server.PortInUseError, match=f"Port {port} on 127.0.0.1 is in use by another program"):
            server.hold("127.0.0.1", port)


def test_an_address_of_another_machine_is_a_sentence() -> None:
    with pytest.raises(server.PortInUseError, match="is not an address of this machine"):
        server.hold("192.0.2.1", 8000)


SERVE = """
from django.conf import settings
settings.ROOT_URLCONF = "tests.site.stub_urls"
from taugrid_portal import server
from taugrid_portal.wsgi import application
listener = server.hold(settings.HOST, settings.PORT)
print("ready", flush=True)
with server.ended_by_signals():
    server.serve(application, listener)
"""


def test_the_server_answers_over_tls_as_portal_url_says_and_ends_on_sigterm() -> None:
    port = free_port()
    with subprocess.Popen(
        [sys.executable, "-c", SERVE],
        cwd=ROOT,
        env=PRODUCTION | {"PORT": str(port), "DJANGO_SETTINGS_MODULE": "taugrid_portal.settings"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            # A header that a proxy might have set is not believed; the scheme is https because PORTAL_URL is.
            connection.request("GET", "/livez", headers={"Host": "portal.example.org", "X-Forwarded-Proto": "http"})
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (200, b"ok\n")
            assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
            assert answer.headers["Server"] is None
            connection.close()
            process.send_signal(signal.SIGTERM)
            said, logged = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert said == ""
    assert "Traceback" not in logged
