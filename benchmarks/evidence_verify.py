"""Verifying evidence against only downloading it with the store's own client: the same objects, as many at a time.

    python -m benchmarks.evidence_verify [PIECES] [s3|azure|directory]    (default 10,000 pieces of 64 KiB, moto's S3)

Prints the seconds of each in alternating rounds, the median of the rounds' ratios (at most 2 is the aim), and the peak
memory of this process. The emulator's own work is in both times, and it shares the machine.
"""

import contextlib
import hashlib
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import obstore
from obstore.store import AzureStore, LocalStore, ObjectStore

from benchmarks.results import record
from checks.evidence.comparing import verify
from checks.evidence.configuration import stores_from
from checks.evidence.locating import Stores
from checks.facts import Verification
from tests.evidence.conftest import PLACE, RUN, Made
from tests.evidence.emulators import AZURITE, MOTO
from tests.evidence.servers import AZURITE_ACCOUNT, AZURITE_KEY, S3, Azure, free_port, running

WORKERS = 16
SIZE = 64 * 1024
SECONDS = 120.0  # rounds are begun for so long, at least one and at most nine
Place = tuple[ObjectStore, Stores, str]


def timed(work: Callable[[int], object], count: int) -> float:
    """Seconds for all pieces, WORKERS at a time."""
    started = time.perf_counter()
    with ThreadPoolExecutor(WORKERS) as pool:
        for _ in pool.map(work, range(count), chunksize=1):
            pass
    return time.perf_counter() - started


def measure(client: ObjectStore, stores: Stores, base: str, count: int, kind: str) -> None:
    def content(number: int) -> bytes:
        return hashlib.sha256(str(number).encode()).digest() * (SIZE // 32)

    def path(number: int) -> str:
        return f"run={RUN}/{number}"

    print(f"writing {count} pieces of {SIZE // 1024} KiB", flush=True)
    timed(lambda n: obstore.put(client, path(n), content(n)), count)
    digests = [hashlib.sha256(content(n)).hexdigest() for n in range(count)]

    def check(number: int) -> None:
        item = Made("logs", f"{base}/{path(number)}", digests[number], SIZE)
        assert verify(stores, item, PLACE).state is Verification.VERIFIED

    rounds: list[tuple[float, float]] = []
    until = time.monotonic() + SECONDS
    while not rounds or (len(rounds) < 9 and time.monotonic() < until):
        downloading = timed(lambda n: len(obstore.get(client, path(n)).bytes()), count)
        rounds.append((downloading, timed(check, count)))
        print("downloading {:.2f} s, verifying {:.2f} s".format(*rounds[-1]), flush=True)
    ratios = sorted(verifying / downloading for downloading, verifying in rounds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    ratio = statistics.median(ratios)
    print(f"{ratio:.2f} times ({ratios[0]:.2f} to {ratios[-1]:.2f} in {len(rounds)} rounds); peak {peak} MiB")
    downloading, verifying = (round(statistics.median(times), 2) for times in zip(*rounds, strict=True))
    figures = {"pieces": count, "download_s": downloading, "verify_s": verifying, "rounds": len(rounds)}
    figures |= {
        "ratio": round(ratio, 2),
        "ratio_worst": round(ratios[-1], 2),
        "load_average": round(os.getloadavg()[0], 1),
    }
    record(f"evidence_verify_{kind}", figures | {"peak_mib": peak, "workers": WORKERS})


@contextlib.contextmanager
def directory() -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as folder:
        base = f"file://{Path(folder).resolve()}"
        yield LocalStore(folder), stores_from([f"main={base}"], lambda *_: ""), base


@contextlib.contextmanager
def s3() -> Iterator[Place]:
    port = free_port()
    with running([MOTO, "-H", "127.0.0.1", "-p", str(port)], port):
        server = S3(port)
        yield server.client, stores_from([f"main={server.base}"], server.option), server.base


@contextlib.contextmanager
def azure() -> Iterator[Place]:
    """Read with one token; where the pod has an identity instead, an address is signed for each piece."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        options = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", folder]
        with running([AZURITE, *options, "--silent", "--skipApiVersionCheck", "--disableTelemetry"], port):
            server = Azure(port)
            token = server.token(timedelta(hours=2))
            client = AzureStore(
                "evidence",
                account_name=AZURITE_ACCOUNT,
                account_key=AZURITE_KEY,
                endpoint=server.endpoint,
                client_options={"allow_http": True},
            )
            known = {"endpoint": server.endpoint, "sas_token": token}
            yield client, stores_from([f"main={server.base}"], lambda _, name: known.get(name, "")), server.base


KINDS = {"s3": s3, "azure": azure, "directory": directory}


def main(count: int, kind: str) -> None:
    with KINDS[kind]() as place:
        measure(*place, count, kind)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, sys.argv[2] if len(sys.argv) > 2 else "s3")
