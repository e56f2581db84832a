"""Starts what stores are tried on: real emulators, and a web server that does as badly as it is told."""

import contextlib
import os
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import obstore
import pytest
from azure.core.exceptions import ResourceExistsError
from azure.storage.blob import BlobServiceClient, ContainerSasPermissions, generate_container_sas
from obstore.store import S3Store

AZURITE_ACCOUNT = "devstoreaccount1"
# Azurite's published account key: everybody's, and no secret.
AZURITE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def needs(program: Path) -> None:
    """Skips where an emulator is not installed; in CI that is a failure."""
    if not program.exists():
        sentence = "the store emulators are not installed: python -m tests.evidence.emulators"
        pytest.fail(sentence) if os.environ.get("CI") == "true" else pytest.skip(sentence)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running(
    command: Sequence[str | Path], port: int, seconds: float = 90, environ: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A server until the end of the block."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environ) as process:
        try:
            until = time.monotonic() + seconds
            while True:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                assert process.poll() is None and time.monotonic() < until, f"{command[0]} does not start"
                time.sleep(0.2)
            yield process
        finally:
            process.terminate()
            process.wait(30)


class S3:
    """moto's S3 with one bucket, written through obstore's own client."""

    def __init__(self, port: int) -> None:
        self.endpoint = f"http://127.0.0.1:{port}"
        urllib.request.urlopen(urllib.request.Request(f"{self.endpoint}/evidence", method="PUT")).close()
        self.client = S3Store(
            "evidence",
            endpoint=self.endpoint,
            access_key_id="writer",
            secret_access_key="writer-secret",
            region="us-east-1",
            client_options={"allow_http": True},
        )

    def put(self, key: str, data: bytes) -> None:
        obstore.put(self.client, key, data)

    def delete(self, key: str) -> None:
        obstore.delete(self.client, key)

    base = "s3://evidence"

    def option(self, store: str, option: str) -> str:
        found = {"endpoint": self.endpoint, "access_key_id": "reader", "secret_access_key": "s3-reader-secret"}
        return found.get(option, "")

    def writing(self, option: str) -> str:
        """The options of who writes."""
        found = {"endpoint": self.endpoint, "access_key_id": "writer", "secret_access_key": "s3-writer-secret"}
        return found.get(option, "")


class Azure:
    """Azurite's Blob service with one container."""

    base = f"az://{AZURITE_ACCOUNT}/evidence"

    def __init__(self, port: int) -> None:
        self.endpoint = f"http://127.0.0.1:{port}/{AZURITE_ACCOUNT}"
        self._client = BlobServiceClient(self.endpoint, credential=AZURITE_KEY)
        with contextlib.suppress(ResourceExistsError):
            self._client.create_container("evidence")

    def put(self, key: str, data: bytes) -> None:
        self._client.get_blob_client("evidence", key).upload_blob(data, overwrite=True)

    def delete(self, key: str) -> None:
        self._client.get_blob_client("evidence", key).delete_blob()

    def option(self, store: str, option: str) -> str:
        return {"endpoint": self.endpoint, "sas_token": self.token(timedelta(hours=2))}.get(option, "")

    def token(self, until: timedelta, *, create: bool = False, start: timedelta | None = None) -> str:
        """A SAS that reads the container; create: it may also create what is not there. start: not valid before."""
        now = datetime.now(UTC)
        return str(
            generate_container_sas(
                AZURITE_ACCOUNT,
                "evidence",
                account_key=AZURITE_KEY,
                permission=ContainerSasPermissions(read=True, create=create),
                expiry=now + until,
                start=None if start is None else now + start,
            )
        )

    def writing(self, option: str) -> str:
        """The options of who writes."""
        token = self.token(timedelta(hours=2), create=True)
        return {"endpoint": self.endpoint, "sas_token": token}.get(option, "")


class Faulty:
    """A store that answers as it is told. plan: words of `_send` or a status. asked: the paths that came."""

    def __init__(self) -> None:
        self.plan: list[str] = []
        self.content = b"evidence " * 1000
        self.asked: list[str] = []
        self.elsewhere = ""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *arguments: object) -> None:
                pass

            def do_GET(self) -> None:
                outer.answer(self)

            def do_PUT(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                outer.answer(self)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    base = "s3://evidence"

    def option(self, store: str, option: str) -> str:
        found = {"endpoint": self.endpoint, "access_key_id": "reader", "secret_access_key": "s3-reader-secret"}
        return found.get(option, "")

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.asked.append(request.path)
        word = self.plan.pop(0) if len(self.plan) > 1 else (self.plan or ["good"])[0]
        if word.isdigit():
            request.send_response(int(word))
            if word.startswith("3"):
                request.send_header("Location", self.elsewhere)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        data = self.content
        size = len(data) + 7 if word == "lying" else len(data)
        request.send_response(200)
        if word != "sizeless":
            request.send_header("Content-Length", str(size))
        request.end_headers()
        with contextlib.suppress(OSError):
            self._send(request, word, data)
        request.close_connection = True

    def _send(self, request: BaseHTTPRequestHandler, word: str, data: bytes) -> None:
        if word == "silent":
            time.sleep(3)
        request.wfile.write(data[: len(data) // 2])
        request.wfile.flush()
        if word == "cut":
            return
        if word == "dripping":
            for byte in data[len(data) // 2 :]:
                request.wfile.write(bytes([byte]))
                time.sleep(0.05)
            return
        request.wfile.write(data[len(data) // 2 :])
