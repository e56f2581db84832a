"""The archive of a run: somebody without a cluster can tell a year later whether it is what was sealed."""

import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from pytest_django.fixtures import Settings

from checks.models import Evidence, Result
from tests.pages.conftest import Browser


def unpacked(operator: Browser, piece: Evidence, tmp_path: Path) -> Path:
    run = Result.objects.get(pk=piece.result_id).run_uid
    answer = operator.get(f"/runs/{run}/bundle.tar")
    assert answer.status_code == 200
    data = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(tmp_path / "bundle", filter="data")
    return next((tmp_path / "bundle").iterdir())


def verified(folder: Path, *more: str) -> tuple[int, str]:
    command = [sys.executable, "-I", "-S", str(folder / "verify.py"), *more]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_bundle_verifies_itself_with_python_alone(operator: Browser, piece: Evidence, tmp_path: Path) -> None:
    folder = unpacked(operator, piece, tmp_path)
    digest = Result.objects.get(pk=piece.result_id).stated_digest
    code, said = verified(folder, "--digest", digest)
    assert (code, said.splitlines()[-1]) == (0, "All of it is what was sealed."), said
    statement = json.loads((folder / "statement.json").read_text())
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["subject"][0]["digest"]["sha256"] == digest.removeprefix("sha256:")
    assert set(json.loads((folder / "bundle.json").read_text())["evidence"].values()) == {"same"}


@pytest.mark.parametrize("what", ["evidence", "added", "removed", "link", "envelope", "digest"])
def test_whatever_was_changed_in_it_is_found(operator: Browser, piece: Evidence, tmp_path: Path, what: str) -> None:
    folder = unpacked(operator, piece, tmp_path)
    more: tuple[str, ...] = ()
    if what == "evidence":
        (folder / "evidence" / "logs").write_bytes(b"all is well")
    elif what == "added":
        (folder / "evidence" / "extra").write_bytes(b"")
    elif what == "removed":
        (folder / "evidence" / "logs").unlink()
    elif what == "link":
        (folder / "evidence" / "logs").rename(folder / "logs")
        (folder / "evidence" / "logs").symlink_to(folder / "logs")
    elif what == "envelope":
        text = (folder / "envelope.json").read_text()
        (folder / "envelope.json").write_text(text.replace('"outcome":"passed"', '"outcome":"failed"', 1))
    else:
        more = ("--digest", "sha256:" + "0" * 64)
    code, said = verified(folder, *more)
    assert (code, said.splitlines()[-1]) == (1, "This is NOT what was sealed."), said


def test_what_differs_or_is_gone_is_said_in_the_bundle(
    operator: Browser, piece: Evidence, folder: Path, tmp_path: Path
) -> None:
    (folder / piece.sha256).write_bytes(bytes(piece.size_bytes))
    other = Evidence.objects.get(result=piece.result_id, name="cleanup")
    (folder / other.sha256).unlink()
    made = unpacked(operator, piece, tmp_path)
    said = json.loads((made / "bundle.json").read_text())["evidence"]
    assert said["logs"] == "differs: another sha256"
    assert said["cleanup"] == "left out: it is not in the directory"
    assert verified(made)[0] == 1


def test_a_portal_with_a_key_signs_what_it_hands_out(
    operator: Browser, piece: Evidence, tmp_path: Path, settings: Settings
) -> None:
    private = Ed25519PrivateKey.generate()
    settings.BUNDLE_SIGNING_KEY = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    public = tmp_path / "signer.pub"
    public.write_bytes(private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    folder = unpacked(operator, piece, tmp_path)
    code, said = verified(folder, "--key", str(public))
    assert code == 0 and "signed by the key that you gave" in said, said


def test_a_stranger_gets_no_bundle(browser: Callable[..., Browser], piece: Evidence) -> None:
    run = Result.objects.get(pk=piece.result_id).run_uid
    browser("people-without-rights").open(f"/runs/{run}/bundle.tar", status=404)
