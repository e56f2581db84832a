"""`tau-check bundle`, as a program."""

import subprocess
import sys
import tarfile
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.sync.conftest import EVIDENCE, EXAMPLE

PROGRAM = [sys.executable, "-c", "from checks.cli import main; main()", "bundle"]

EVIDENCE_PROGRAM = [*PROGRAM[:-1], "evidence"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, check=False)


def test_the_example_is_bundled_and_verifies_itself(tmp_path: Path) -> None:
    archive = tmp_path / "x.tar"
    made = run("-f", str(EXAMPLE), "--evidence", str(EVIDENCE), "--check", "team-vision/ib-pair", "-o", str(archive))
    assert made.returncode == 0, made.stderr
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    [script] = tmp_path.glob("*/verify.py")
    assert subprocess.run([sys.executable, "-I", str(script)], capture_output=True, check=False).returncode == 0


def test_archives_of_all_results_are_signed_and_verified_with_the_public_key(tmp_path: Path) -> None:
    private = Ed25519PrivateKey.generate()
    key, public = tmp_path / "signer.pem", tmp_path / "signer.pub"
    key.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    words = ["get", "-f", str(EXAMPLE), "--evidence", str(EVIDENCE), "--all", "--to", str(tmp_path / "archives")]
    made = subprocess.run([*EVIDENCE_PROGRAM, *words, "--sign-key", str(key)], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    archives = list((tmp_path / "archives").iterdir())
    assert [path.suffix for path in archives] == [".tar"]
    with tarfile.open(archives[0]) as opened:
        opened.extractall(tmp_path, filter="data")
    [script] = tmp_path.glob("*/verify.py")
    verified = subprocess.run([sys.executable, "-I", str(script), "--key", str(public)], capture_output=True, text=True)
    assert verified.returncode == 0 and "signed by the key that you gave" in verified.stdout
    wrong = subprocess.run([*EVIDENCE_PROGRAM, *words, "--sign-key", str(public)], capture_output=True, text=True)
    assert wrong.returncode == 64 and "--sign-key" in wrong.stderr and "Traceback" not in wrong.stderr


def test_evidence_that_lies_in_no_store_is_left_out_and_said_to_be(tmp_path: Path) -> None:
    made = run("-f", str(EXAMPLE), "--check", "team-vision/ib-pair", "-o", str(tmp_path / "x.tar"))
    assert made.returncode == 2
    assert "left out: its address is outside the evidence stores" in made.stdout


def test_wrong_usage_is_said_by_the_option(tmp_path: Path) -> None:
    target = str(tmp_path / "x.tar")
    assert "--check" in run("-f", str(EXAMPLE), "--check", "no/such", "-o", target).stderr
    wrong = run("-f", str(EXAMPLE), "--check", "team-vision/ib-pair", "--store", "x=ftp://y", "-o", target)
    assert wrong.returncode == 64 and "--store" in wrong.stderr
    assert not Path(target).exists()
