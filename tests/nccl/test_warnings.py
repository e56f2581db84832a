"""What NCCL warns about: which forms fail a run, which leave it unknown, and that the first one is named."""

# Records of NCCL are longer than lines of code.
# ruff: noqa: E501

import pytest

from .recorded import BY_NUMBER, judge

HEALTHY = BY_NUMBER["001"].data

FAILING = [
    "transport/net_ib.cc:74 NCCL WARN NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129",
    "transport/net_ib.cc:74 NCCL WARN NET/IB : Got completion from peer 10.0.0.1<37948> with error 12, opcode 0, len 0, vendor err 129 (Send)",
    "transport/net_ib.cc:74 NCCL WARN NET/IB : Got completion from peer node-b<37948> with status=12 opcode=1 len=0 vendor err 129 (Recv)",
    "transport/net_ib/p2p.cc:9 (ncclIbTest) NCCL WARN NET/IB: Got completion from peer 10.0.0.1<1> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129 hca mlx5_0",
    "ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer 10.0.0.1<1> with status=5 opcode=0 len=0 vendor err 249",
    "transport/net_ib.cc:74 NCCL WARN NET/IB : Got async event : port error",
    "transport/net_ib.cc:74 NCCL WARN NET/IB : mlx5_0:1 Got async event : port error",
    "transport/net_ib.cc:74 NCCL WARN NET/IB : mlx5_0:1 async fatal event on QP (0x7f2a): local work queue catastrophic error",
    "transport/net_ib.cc:74 NCCL WARN NET/IB : mlx5_0:1 Got async error event: port error",
    "transport/net_ib.cc:74 NCCL WARN communicator encountered a fatal error (detected in ncclIbTest)",
    "misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with error Network is unreachable",
    "misc/ibvwrap.cc:187 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0:1, curr state INIT",
    "misc/ibvwrap.cc:187 NCCL WARN Call to ibv_create_cq failed",
    "misc/ibvwrap.cc:187 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory",
    "transport/net_ib.cc:229 NCCL WARN NET/IB: read failed in ncclIbRoceGetVersionNum: Invalid argument",
    "transport/net_ib.cc:229 NCCL WARN NET/IB : Attempted to connect incompatible devices: mlx5_0. Try selecting NICs of only one link type using NCCL_IB_HCA",
    "misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.0.0.1<45011> failed : Connection timed out",
    "misc/socket.cc:484 NCCL WARN Net : Connect to 10.0.0.1<41011> failed : Connection refused",
    "misc/socket.cc:345 NCCL WARN socketFinalizeAccept: wrong type 4 != 3",
    "misc/socket.cc:345 NCCL WARN NET/Socket : Connection closed by remote peer node-b<1>",
    "misc/socket.cc:345 NCCL WARN connecting to address  with family 33621 is neither AF_INET(2) nor AF_INET6(10)",
    "misc/socket.cc:345 NCCL WARN Message truncated : received 1024 bytes instead of 256",
    "bootstrap.cc:117 NCCL WARN Bootstrap : no socket interface found",
    "init.cc:776 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000",
    "init.cc:776 NCCL WARN Detected mixed local Net device counts across ranks (min 7, max 8). Set NCCL_IGNORE_NET_MISMATCH=1 to continue.",
    "proxy.cc:1 NCCL WARN [Proxy Service 0] Failed to execute operation Connect from rank 0, retcode 2",
    "proxy.cc:1 NCCL WARN Proxy Call to rank 0 failed (Connect)",
    "net.cc:1 NCCL WARN Error: network IB not found.",
    "plugin/net.cc:334 NCCL WARN Failed to initialize any NET plugin",
    "init.cc:1 NCCL WARN Mismatched NCCL version detected : rank 0 version 22304 rank 1 version 21903",
    "init.cc:1 NCCL ABORT something",
]
DOUBTFUL = [
    "transport/net_ib.cc:74 NCCL WARN NET/IB : Got async event : port active",
    "transport/net_ib.cc:74 NCCL WARN NET/IB : Got async event : GID table change",
    "transport/net_ib.cc:219 NCCL WARN NET/IB : Unable to open device mlx5_0",
    "get_ofi_provider:312 NCCL WARN NET/OFI Couldn't find any optimal provider",
    "transport/net_ib/p2p_resiliency.cc:376 (ncclIbResiliencyHandleDeviceFailure) NCCL WARN NET/IB: Device 1 marked as failed. Initiating recovery? No (x)",
    "some/file.cc:1 NCCL WARN words that nobody has seen before",
]
ALLOWED = ["transport/net_ib.cc:93 NCCL WARN NET/IB : Got async event : client reregistration"]


def with_warning(warning: str) -> bytes:
    """A healthy, complete run with a warning in the middle of its table, as NCCL writes it: a blank line first."""
    row = b"    16777216 "
    return HEALTHY.replace(row, f"\nnode-b:2201:2230 [0] {warning}\n".encode() + row)


@pytest.mark.parametrize("warning", FAILING)
def test_an_error_of_the_transport_fails_a_run_that_ended_well(warning: str) -> None:
    verdict = judge(with_warning(warning))
    assert verdict.outcome == "failed"
    assert verdict.reason in ("transport_failure", "nccl_version_mismatch")
    error = verdict.facts["firstError"]
    lines = with_warning(warning).decode().splitlines()
    assert warning.split(" NCCL ")[1].split(" ", 1)[1] in lines[error["line"] - 1]
    assert error["host"] == "node-b"
    assert verdict.facts["next"]


@pytest.mark.parametrize("warning", DOUBTFUL)
def test_any_other_warning_leaves_the_run_unknown(warning: str) -> None:
    verdict = judge(with_warning(warning))
    assert (verdict.outcome, verdict.reason) == ("unknown", "nccl_warning")


@pytest.mark.parametrize("warning", ALLOWED)
def test_an_allowed_warning_is_reported_as_a_fact(warning: str) -> None:
    verdict = judge(with_warning(warning))
    assert verdict.outcome == "passed"
    assert any("client reregistration" in finding for finding in verdict.facts["findings"])


def test_the_first_of_several_errors_is_the_cause() -> None:
    log = with_warning(FAILING[10]).replace(
        b"# Out of", b"\nnode-a:1201:1230 [0] " + FAILING[0].encode() + b"\n# Out of"
    )
    assert "ibv_modify_qp" in judge(log).facts["firstError"]["text"]


def test_a_fallback_names_its_cause() -> None:
    causes = {"025": "NCCL_IB_DISABLE", "028": "libibverbs", "024": "no InfiniBand device"}
    for number, cause in causes.items():
        assert any(cause in finding for finding in judge(BY_NUMBER[number].data).facts["findings"])
