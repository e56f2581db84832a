"""NCCL logs of two ranks, as nccl-tests prints them, in the wording of NCCL 2.27.

The transport judge in examples/nccl-ib comes to the verdict that the sample states; a test holds that.
"""

from .nodes import Machine

_SIZES = ((8, 0.0), (1024, 0.001), (131072, 0.13), (16777216, 0.95), (2147483648, 1.0))


def nccl_log(machines: tuple[Machine, ...], speed: float, *, transport: str = "IB", wrong: int = 0) -> str:
    """The log of an all-reduce between two nodes at `speed` GB/s. transport: "IB", or "Socket" after a fallback."""
    product = machines[0].pool.product.replace("-", " ")
    lines = [
        "# nccl-tests version 2.17.2 nccl-headers=22707 nccl-library=22707",
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 2147483648 step: 128(factor) warmup iters: 5 iters: 20 agg iters: 1 "
        "validation: 1 graph: 0",
        "#",
        "# Using devices",
    ]
    lines += [
        f"#  Rank  {rank} Group  0 Pid   {rank + 1}201 on {machine.name:>10} device  0 [0000:1b:00] {product}"
        for rank, machine in enumerate(machines)
    ]
    for rank, machine in enumerate(machines):
        lines += _rank(rank, machine.name, transport)
    lines += [
        "#",
        "#                                                              out-of-place                       in-place",
        "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
        "busbw #wrong",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)",
    ]
    lines += [_row(size, speed * share, wrong if size == _SIZES[-1][0] else 0) for size, share in _SIZES]
    mean = sum(speed * share for _, share in _SIZES) / len(_SIZES)
    lines += [
        f"# Out of bounds values : {wrong} {'FAILED' if wrong else 'OK'}",
        f"# Avg bus bandwidth    : {mean:.4f}",
        "#",
    ]
    return "\n".join(lines) + "\n"


def _rank(rank: int, host: str, transport: str) -> list[str]:
    peer = 1 - rank
    main, init = (
        f"{host}:{rank + 1}201:{rank + 1}201 [0] NCCL INFO",
        f"{host}:{rank + 1}201:{rank + 1}215 [0] NCCL INFO",
    )
    oob = f"eth0:10.0.0.{rank + 1}<0>"
    if transport == "IB":
        network, path = f"NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB {oob}", "NET/IB/0/GDRDMA"
    else:
        network, path = f"NET/Socket : Using [0]{oob}", "NET/Socket/0"
    missing = [] if transport == "IB" else [f"{init} NET/IB : No device found."]
    comm = f"comm 0x55d0a1b2c3{rank}0 rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x8f3a5c7d9e1b2046"
    return [
        f"{main} Bootstrap: Using {oob}",
        f"{main} cudaDriverVersion 12090",
        f"{main} NCCL version 2.27.7+cuda12.9",
        f"{init} NET/Plugin: Could not find: libnccl-net.so. ",
        *missing,
        f"{init} {network}",
        f"{init} Initialized NET plugin {transport}",
        f"{init} Assigned NET plugin {transport} to comm",
        f"{init} Using network {transport}",
        f"{init} ncclCommInitRankConfig {comm} - Init START",
        f"{init} comm 0x55d0a1b2c3{rank}0 rank {rank} nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0",
        *([f"{init} Channel 00/02 : 0 1", f"{init} Channel 01/02 : 0 1"] if rank == 0 else []),
        f"{init} Trees [0] {'1/-1/-1->0->-1 [1] -1/-1/-1->0->1' if rank == 0 else '-1/-1/-1->1->0 [1] 0/-1/-1->1->-1'}",
        f"{init} 2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per peer",
        f"{init} ncclCommInitRankConfig {comm} - Init COMPLETE",
        *(f"{init} Channel 0{c}/0 : {peer}[0] -> {rank}[0] [receive] via {path}" for c in (0, 1)),
        *(f"{init} Channel 0{c}/0 : {rank}[0] -> {peer}[0] [send] via {path}" for c in (0, 1)),
        f"{init} Connected all rings, use ring PXN 0 GDR {int(transport == 'IB')}",
        f"{init} Connected all trees",
    ]


def _row(size: int, speed: float, wrong: int) -> str:
    count, took = max(1, size // 4), size / 1000 / speed if speed else 18.0
    took = max(took, 18.0)
    rate = size / 1000 / took
    half = f"{took:8.2f}  {rate:6.2f}  {rate:6.2f} {wrong:6d}"
    return f"{size:12d}  {count:12d}     float     sum      -1  {half}  {half}"
