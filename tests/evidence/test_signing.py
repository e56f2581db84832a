"""A bundle that is signed: by a mounted key, verified by Python alone, and by OpenSSL, which knows nothing of us."""

import base64
import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.contract.document import canonical
from checks.dump import read_files
from checks.evidence.bundle import Bundle
from checks.evidence.locating import Place, Stores
from checks.evidence.signing import SigningKey, SigningKeyError
from checks.evidence.verify_bundle import ORDER, is_signed, key_from
from checks.objects import result_from
from tests.sync.conftest import EVIDENCE, EXAMPLE

# RFC 8032, section 7.1: public key, message, signature.
RFC_8032 = {
    "TEST 1": (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe2465"
        "5141438e7a100b",
    ),
    "TEST 2": (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb0"
        "0d291612bb0c00",
    ),
    "TEST 3": (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc0"
        "27beceea1ec40a",
    ),
    "TEST SHA(abc)": (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a"
        "9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9"
        "bef1177331a704",
    ),
}


@pytest.mark.parametrize("vector", RFC_8032.values(), ids=RFC_8032.keys())
def test_signatures_of_the_rfc_hold_and_none_that_differs_by_a_bit(vector: tuple[str, str, str]) -> None:
    key, message, signature = (bytes.fromhex(part) for part in vector)
    assert is_signed(key, message, signature)
    assert not is_signed(key, message + b"!", signature)
    for at in (0, 7, 31, 32, 63):
        assert not is_signed(key, message, signature[:at] + bytes([signature[at] ^ 1]) + signature[at + 1 :])
    assert not is_signed(key[:-1] + bytes([key[-1] ^ 1]), message, signature)


def test_a_signature_has_one_form_only() -> None:
    """The order of the group added to its second half gives the same sum: RFC 8032 has it refused."""
    key, message, signature = (bytes.fromhex(part) for part in RFC_8032["TEST 2"])
    other = int.from_bytes(signature[32:], "little") + ORDER
    assert not is_signed(key, message, signature[:32] + other.to_bytes(32, "little"))
    for wrong in (b"", signature[:63], signature + b"\0", bytes(64)):
        assert not is_signed(key, message, wrong)
    assert not is_signed((2**255 - 19).to_bytes(32, "little"), message, signature)


@settings(max_examples=25)
@given(st.binary(min_size=32, max_size=32), st.binary(max_size=200), st.integers(0, 511))
def test_it_agrees_with_the_library_that_signs(seed: bytes, message: bytes, bit: int) -> None:
    private = Ed25519PrivateKey.from_private_bytes(seed)
    key, signature = private.public_key().public_bytes_raw(), private.sign(message)
    assert is_signed(key, message, signature)
    flipped = bytearray(signature)
    flipped[bit // 8] ^= 1 << bit % 8
    assert not is_signed(key, message, bytes(flipped))


def pem_of(private: Ed25519PrivateKey) -> str:
    return private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


KEY, STRANGER = SigningKey(pem_of(Ed25519PrivateKey.generate())), SigningKey(pem_of(Ed25519PrivateKey.generate()))


def made(folder: Path, key: SigningKey | None) -> Path:
    """The example's bundle, unpacked."""
    spec = next(i.value["spec"] for i in read_files([EXAMPLE]) if i.value and i.value["kind"] == "TauValidationResult")
    envelope = result_from({"metadata": {}, "spec": spec}, {}).envelope
    assert envelope is not None
    stores, place = Stores(folder=EVIDENCE), Place("west-1", "team-vision", "team-vision", "x")
    bundle = Bundle(spec, canonical(spec["envelope"]), envelope.evidence, lambda item: stores.open(item, place), key)
    archive = folder / "x.tar"
    archive.write_bytes(b"".join(bundle.chunks()))
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    return folder / bundle.name


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    return made(tmp_path, KEY)


def verified(folder: Path, *more: str | Path) -> tuple[int, str]:
    command = [sys.executable, "-I", "-S", str(folder / "verify.py"), *map(str, more)]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


def public(folder: Path, key: SigningKey) -> Path:
    path = folder.parent / "signer.pub"
    path.write_text(key.public_pem)
    return path


def test_a_signed_bundle_is_verified_with_the_key_and_python_alone(signed: Path) -> None:
    code, said = verified(signed, "--key", public(signed, KEY))
    assert code == 0, said
    assert "ok     the statement is signed by the key that you gave" in said and "note" not in said
    assert json.loads((signed / "statement.dsse.json").read_text())["signatures"][0]["keyid"] == KEY.key_id


def test_without_a_key_it_is_said_that_nobody_vouches_for_it(signed: Path) -> None:
    code, said = verified(signed)
    assert code == 0 and "note   Neither --digest nor --key was given" in said


def test_another_key_is_refused(signed: Path) -> None:
    code, said = verified(signed, "--key", public(signed, STRANGER))
    assert code == 1 and "WRONG  the statement is signed by the key that you gave" in said


def test_a_bundle_without_a_signature_does_not_pass_for_a_signed_one(tmp_path: Path) -> None:
    folder = made(tmp_path, None)
    assert verified(folder)[0] == 0
    code, said = verified(folder, "--key", public(folder, KEY))
    assert code == 1 and "WRONG  the statement is not signed" in said
    other = made(tmp_path, KEY)
    (other / "statement.dsse.json").unlink()
    assert verified(other, "--key", public(other, KEY))[0] == 1


@pytest.mark.parametrize("what", ["outcome", "subject", "publisher", "payload", "type", "no signature", "key"])
def test_whatever_is_changed_in_a_signed_bundle_is_found(signed: Path, what: str) -> None:
    key = public(signed, KEY)
    statement, outer = signed / "statement.json", signed / "statement.dsse.json"
    said, envelope = json.loads(statement.read_text()), json.loads(outer.read_text())
    if what == "outcome":
        said["predicate"]["outcome"] = "failed"
    elif what == "subject":
        said["subject"][1]["digest"]["sha256"] = "0" * 64
    elif what == "publisher":
        said["predicate"]["publisher"]["username"] = "somebody"
    elif what == "type":
        envelope["payloadType"] = "text/plain"
    elif what == "no signature":
        envelope["signatures"] = []
    elif what == "key":
        key.write_text("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
    if what in ("outcome", "subject", "publisher", "payload"):
        text = json.dumps(said, indent=2)
        statement.write_text(text)
        if what != "payload":  # whoever changes the statement changes what is signed with it
            envelope["payload"] = base64.b64encode(text.encode()).decode()
    outer.write_text(json.dumps(envelope))
    code, told = verified(signed, "--key", key)
    assert (code, told.splitlines()[-1]) == (1, "This is NOT what was sealed."), told


def test_openssl_comes_to_the_same_answer(signed: Path, tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    assert verified(signed, "--signed", tmp_path / "signed")[0] == 0
    for key, expected in ((KEY, 0), (STRANGER, 1)):
        words = ["-pubin", "-inkey", str(public(signed, key)), "-rawin", "-in", str(tmp_path / "signed")]
        command = [openssl, "pkeyutl", "-verify", *words, "-sigfile", str(tmp_path / "signed.sig")]
        assert subprocess.run(command, capture_output=True, check=False).returncode == expected


def test_what_is_no_signing_key_is_refused_without_quoting_it() -> None:
    curve = generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    for pem, why in ((curve, "no Ed25519 key"), ("secret words", "no private key"), (KEY.public_pem, "no private key")):
        with pytest.raises(SigningKeyError, match=why) as caught:
            SigningKey(pem)
        assert "secret" not in str(caught.value) and caught.value.__cause__ is None
    assert pem_of(Ed25519PrivateKey.generate())[30:60] not in repr(KEY)
    with pytest.raises(ValueError, match="no public key"):
        key_from("words")
