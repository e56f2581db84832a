"""An independent reader of a log that was judged `passed`: are the lines of the proof really there?

It shares no code and no pattern with the judge. It knows less and is simpler: it only looks for what must be
present on both ranks, and for words that must be absent.
"""

from collections import defaultdict


def missing_proof(data: bytes) -> str:
    """What a log that passed lacks; empty when the proof lines are there."""
    try:
        return find_missing(data)
    except (IndexError, ValueError) as error:
        return f"not readable: {error}"


def find_missing(data: bytes) -> str:
    if not data.endswith(b"\n"):
        return "no final newline"
    lines = data.decode("utf-8").splitlines()
    said: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        if "NCCL INFO " in line:
            origin, message = line.split("NCCL INFO ", 1)
            host, pid, _tid = origin.split("<stdout>:")[-1].split()[-2].split(":")
            said[f"{host}:{pid}"].append(message.strip())
    if len(said) != 2 or len({origin.split(":")[0] for origin in said}) != 2:
        return "not two processes on two hosts"
    ranks: dict[int, list[str]] = {}
    for messages in said.values():
        done = [m for m in messages if m.endswith("Init COMPLETE")]
        if len(done) != 1 or " nranks 2 " not in done[0]:
            return "not one communicator of two"
        ranks[int(done[0].split(" rank ")[1].split()[0])] = messages
    if set(ranks) != {0, 1}:
        return "ranks"
    return table_problem(lines) or "; ".join(filter(None, (rank_problem(r, m) for r, m in ranks.items())))


def rank_problem(rank: int, messages: list[str]) -> str:
    networks = [m.removeprefix("Using network ") for m in messages if m.startswith("Using network ")]
    if len(networks) != 1 or not networks[0].startswith("IB"):
        return f"rank {rank} network {networks}"
    counts = [int(m.split()[0]) for m in messages if " coll channels, " in m]
    if len(counts) != 1 or counts[0] < 1:
        return f"rank {rank} counts {counts}"
    devices = [m for m in messages if m.startswith("NET/IB : Using [0]")]
    if len(devices) != 1:
        return f"rank {rank} device lists"
    paths = [m for m in messages if " via " in m]
    if any(f" via NET/{networks[0]}/" not in m for m in paths):
        return f"rank {rank} has another path"
    for channel in range(counts[0]):
        for way, ends in (("receive", (1 - rank, rank)), ("send", (rank, 1 - rank))):
            found = [
                m
                for m in paths
                if m.startswith((f"Channel {channel:02}/0 : ", f"Channel {channel:02} : "))
                and f"[{way}]" in m
                and (int(m.split(" : ")[1].split("[")[0]), int(m.split(" -> ")[1].split("[")[0])) == ends
            ]
            if len(found) != 1:
                return f"rank {rank} channel {channel} {way}: {len(found)}"
            index = found[0].split(f" via NET/{networks[0]}/")[1].split("/")[0]
            if f"[{index}]" not in devices[0]:
                return f"rank {rank} device {index}"
    return ""


def table_problem(lines: list[str]) -> str:
    stripped = [line.split("<stdout>:")[-1] for line in lines if " NCCL " not in line and not line.startswith("#  ")]
    rows = [cells for line in stripped if (cells := line.split()) and "float" in cells]
    if not rows or any(row[-1] != "0" or row[-5] != "0" for row in rows):
        return "rows"
    footers = [line for line in stripped if "Out of bounds values" in line]
    if len(footers) != 1 or not footers[0].endswith(": 0 OK"):
        return "footer"
    return "" if sum("Avg bus bandwidth" in line for line in stripped) == 1 else "average"
