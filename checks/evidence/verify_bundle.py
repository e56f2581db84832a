#!/usr/bin/env python3
"""Checks that this bundle is what was sealed. Needs nothing but Python 3.8: no cluster, no network, no other file.

    python3 verify.py [--digest sha256:…] [--key signer.pub]

With --digest the envelope must be the one whose digest was noted elsewhere (in the cluster, the portal, a ticket).
With --key the statement must be signed by that key (Ed25519, as `openssl pkey -pubout` writes it). Without either, only
the bundle's own parts are compared with each other: then whoever made it could have made it up.
Exit code 0: all of it matches, 1: something does not.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

# Ed25519 as in RFC 8032, verification only. Nothing here is secret, so its time may depend on its input.
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)
IDENTITY = (0, 1, 1, 0)
PEM_HEAD = bytes.fromhex("302a300506032b6570032100")  # of every Ed25519 public key


def point_sum(a: Any, b: Any) -> Any:
    """The sum of two points (X, Y, Z, T)."""
    e = (a[1] - a[0]) * (b[1] - b[0]) % P
    f = (a[1] + a[0]) * (b[1] + b[0]) % P
    g = 2 * a[3] * b[3] * D % P
    h = 2 * a[2] * b[2] % P
    x, y, z, t = f - e, h - g, h + g, f + e
    return (x * y % P, z * t % P, y * z % P, x * t % P)


def point_times(number: int, point: Any) -> Any:
    """The point, `number` times."""
    found = IDENTITY
    while number:
        if number & 1:
            found = point_sum(found, point)
        point = point_sum(point, point)
        number >>= 1
    return found


def point_of(data: bytes) -> Any:
    """The point that 32 bytes stand for; None where they stand for none."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if len(data) != 32 or y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


BASE = point_of((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_signed(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature (64 bytes) of the message is by this public key (32 bytes)."""
    public, first = point_of(key), point_of(signature[:32])
    second = int.from_bytes(signature[32:], "little")
    if public is None or first is None or len(signature) != 64 or second >= ORDER:
        return False
    mixed = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    left, right = point_times(second, BASE), point_sum(first, point_times(mixed, public))
    same_x = (left[0] * right[2] - right[0] * left[2]) % P == 0
    same_y = (left[1] * right[2] - right[1] * left[2]) % P == 0
    return bool(same_x and same_y)


def key_from(pem: str) -> bytes:
    """The 32 bytes of a public key in PEM. Raises ValueError."""
    lines = [line.strip() for line in pem.strip().splitlines()]
    if len(lines) < 3 or lines[0] != "-----BEGIN PUBLIC KEY-----" or lines[-1] != "-----END PUBLIC KEY-----":
        raise ValueError("it is no public key in PEM")
    data = base64.b64decode("".join(lines[1:-1]), validate=True)
    if len(data) != 44 or not data.startswith(PEM_HEAD):
        raise ValueError("it is no Ed25519 key")
    return data[len(PEM_HEAD) :]


def read(folder: str, name: str) -> bytes:
    with open(os.path.join(folder, name), "rb") as stream:
        return stream.read()


def sha256_of(path: str) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as stream:
        for chunk in iter(lambda: stream.read(1 << 20), b""):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size


def printable(text: object) -> str:
    return "".join(c if c.isprintable() else "?" for c in str(text))


def signed_bytes(folder: str) -> tuple[bytes, list[tuple[str, bytes]]]:
    """What the signatures in the bundle are over, and each with the name of its key. Raises ValueError, KeyError."""
    outer = json.loads(read(folder, "statement.dsse.json"))
    kind, payload = outer["payloadType"].encode(), base64.b64decode(outer["payload"], validate=True)
    if kind != b"application/vnd.in-toto+json" or payload != read(folder, "statement.json"):
        raise ValueError("statement.dsse.json is not about statement.json")
    signatures = [
        (str(one.get("keyid", "")), base64.b64decode(one["sig"], validate=True)) for one in outer["signatures"]
    ]
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload), signatures


def verify_signature(folder: str, key: str) -> Iterator[tuple[bool, str]]:
    """key: path of a public key; "" where nobody said one."""
    if not os.path.exists(os.path.join(folder, "statement.dsse.json")):
        if key:
            yield False, "the statement is not signed"
        return
    message, signatures = signed_bytes(folder)
    yield True, "statement.dsse.json is about statement.json"
    if key:
        with open(key, encoding="utf-8") as stream:
            public = key_from(stream.read())
        holds = any(is_signed(public, message, signature) for _, signature in signatures)
        yield holds, "the statement is signed by the key that you gave: " + printable(key)


def verify_statement(folder: str, envelope: Any, found: str) -> Iterator[tuple[bool, str]]:
    """found: the envelope's sha256."""
    stated = json.loads(read(folder, "statement.json"))
    subjects = {(one["name"], one["digest"]["sha256"]) for one in stated["subject"]}
    expected = {("envelope.json", found)} | {(item["name"], item["sha256"]) for item in envelope["evidence"]}
    yield subjects == expected and len(stated["subject"]) == len(expected), "statement.json is about this envelope"
    predicate = dict(stated["predicate"])
    publisher = predicate.pop("publisher")
    same = all(envelope.get(key) == value for key, value in predicate.items())
    same = same and publisher == json.loads(read(folder, "result.json"))["publisher"]
    yield same, "statement.json says of the result what the envelope says"


def verify_evidence(folder: str, envelope: Any) -> Iterator[tuple[bool, str]]:
    evidence = os.path.join(folder, "evidence")
    expected = set()
    for item in envelope["evidence"]:
        expected.add(item["name"])
        path = os.path.join(evidence, item["name"])
        words = f"evidence {printable(item['name'])}, {item['sizeBytes']} bytes, sha256 {item['sha256']}"
        if os.path.islink(path) or not os.path.isfile(path):
            yield False, words + ": it is not in the bundle"
        else:
            yield sha256_of(path) == (item["sha256"], item["sizeBytes"]), words
    for name in sorted(set(os.listdir(evidence) if os.path.isdir(evidence) else []) - expected):
        yield False, f"evidence/{printable(name)} is not of this result"


def verify(folder: str, digest: str = "", key: str = "") -> Iterator[tuple[bool, str]]:
    """Yields (holds, sentence) for every part of the bundle."""
    stated = json.loads(read(folder, "result.json"))["digest"]
    sealed = read(folder, "envelope.json")
    found = hashlib.sha256(sealed).hexdigest()
    yield "sha256:" + found == stated, "envelope.json has the digest that the result states: " + printable(stated)
    if digest:
        yield "sha256:" + found == digest, "envelope.json has the digest that you gave: " + printable(digest)
    envelope = json.loads(sealed)
    yield from verify_statement(folder, envelope, found)
    yield from verify_signature(folder, key)
    yield from verify_evidence(folder, envelope)


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks that this bundle is what was sealed.")
    parser.add_argument("folder", nargs="?", default=os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument("--digest", default="", help="the envelope's digest as it was noted elsewhere")
    parser.add_argument("--key", default="", help="file with the public key that the statement must be signed by")
    parser.add_argument("--signed", default="", help="write what is signed, and FILE.sig, for another program to check")
    asked = parser.parse_args()
    lines = []
    try:
        for line in verify(asked.folder, asked.digest, asked.key):
            lines.append(line)
        if asked.signed:
            message, signatures = signed_bytes(asked.folder)
            for path, data in ((asked.signed, message), (asked.signed + ".sig", signatures[0][1])):
                with open(path, "wb") as stream:
                    stream.write(data)
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        lines.append((False, f"the bundle cannot be read: {printable(repr(error))}"))
    for holds, sentence in lines:
        print("ok    " if holds else "WRONG ", sentence)
    good = all(holds for holds, _ in lines)
    if good and not (asked.digest or asked.key):
        print("note   Neither --digest nor --key was given: its parts agree, and nobody outside vouches for them.")
    print("All of it is what was sealed." if good else "This is NOT what was sealed.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
