"""How fast and in how much memory the NCCL judge reads a long log, against reading its lines alone.

`python benchmarks/nccl_throughput.py [MB]` writes a healthy run whose middle is filled with collective calls, judges
it in a fresh process and prints one JSON line: seconds, ratio to reading the lines, megabytes a second, peak memory.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEALTHY = ROOT / "tests" / "nccl" / "corpus" / "001-ib-gdr-2.12.log"
FILLER = (
    b"node-a:1201:1201 [0] NCCL INFO AllReduce: opCount %x sendbuff 0x7f2a00000000 recvbuff 0x7f2b00000000 count 2"
    b" datatype 7 op 0 root 0 comm 0x55d0a1b2c340 [nranks=2] stream 0x55d0a1b2c999\n"
)


def write(path: Path, megabytes: int) -> None:
    """A log of this size that must pass."""
    head, mark, tail = HEALTHY.read_bytes().partition(b"# Out of bounds")
    with path.open("wb") as log:
        log.write(head)
        for count in range(megabytes * 1_000_000 // len(FILLER)):
            log.write(FILLER % count)
        log.write(mark + tail)


def read_lines(path: Path) -> float:
    began = time.perf_counter()
    with path.open("rb") as log:
        for line in log:
            line.decode()
    return time.perf_counter() - began


def judge(path: Path) -> tuple[float, str]:
    """Seconds and outcome of the command line as it is called in a pod."""
    command = [sys.executable, str(ROOT / "examples" / "nccl-ib" / "nccl_transport.py"), "judge"]
    began = time.perf_counter()
    done = subprocess.run([*command, "--exit-code", "0", "--nodes", "a,b", str(path)], capture_output=True, check=False)
    return time.perf_counter() - began, json.loads(done.stdout)["outcome"]


def main() -> int:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nccl.log"
        write(path, megabytes)
        alone = read_lines(path)
        seconds, outcome = judge(path)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    figures = {
        "megabytes": megabytes,
        "outcome": outcome,
        "seconds": round(seconds, 2),
        "megabytesPerSecond": round(megabytes / seconds, 1),
        "ratioToReadingLines": round(seconds / alone, 1),
        "peakMegabytes": round(peak, 1),
    }
    print(json.dumps(figures))
    return 0 if outcome == "passed" else 1


if __name__ == "__main__":
    sys.exit(main())
