"""The certificate authority of one test bed: for servers by address, for people by user name and groups."""

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = datetime.timedelta(days=30)
SLACK = datetime.timedelta(hours=1)  # a machine whose clock was moved still accepts them


@dataclass(frozen=True)
class KeyPair:
    """A certificate and its private key, each in a PEM file."""

    certificate: Path
    key: Path


class Authority:
    """Signs what the bed needs, into files below one folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _subject("taugrid-bed")
        certificate = (
            _builder(self._name, self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .add_extension(_usage(sign_certificates=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file = folder / "ca.crt"
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def server(self, name: str, addresses: Sequence[str] = ("127.0.0.1",)) -> KeyPair:
        """A server's certificate for DNS names and IP addresses; it may also be used as a client's."""
        return self._issue(name, _subject(name), addresses)

    def client(self, user: str, groups: Sequence[str] = ()) -> KeyPair:
        """A client certificate as Kubernetes reads it: CN is the user, each O a group."""
        return self._issue(user.replace(":", "-"), _subject(user, groups), ())

    def signing_key(self, name: str) -> KeyPair:
        """A bare key for service-account tokens: `certificate` holds the public key."""
        key = ec.generate_private_key(ec.SECP256R1())
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return self._write(name, public, key)

    def _issue(self, name: str, subject: x509.Name, addresses: Sequence[str]) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _builder(subject, self._name, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(sign_certificates=False), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
                critical=False,
            )
        )
        if addresses:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_address(a) for a in addresses]), critical=False
            )
        certificate = builder.sign(self._key, hashes.SHA256())
        return self._write(name, certificate.public_bytes(serialization.Encoding.PEM), key)

    def _write(self, name: str, public: bytes, key: ec.EllipticCurvePrivateKey) -> KeyPair:
        pair = KeyPair(self.folder / f"{name}.crt", self.folder / f"{name}.key")
        pair.certificate.write_bytes(public)
        pair.key.touch(mode=0o600)
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return pair


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SLACK)
        .not_valid_after(now + LIFETIME)
    )


def _subject(name: str, groups: Sequence[str] = ()) -> x509.Name:
    return x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups),
            x509.NameAttribute(NameOID.COMMON_NAME, name),
        ]
    )


def _address(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _usage(sign_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=sign_certificates,
        crl_sign=sign_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
