"""Prints the manifests of the check for one installation: template first, then the registration that pins it.

`python examples/nccl-ib/render.py --image REGISTRY/nccl-ib@sha256:… --namespace team-vision > nccl-ib.yaml`
Run it with the product's own environment: it validates what it prints against the contract, and computes the digest
of the template as the portal will.
"""

import argparse
import re
import string
import sys
from pathlib import Path
from typing import Any, NoReturn

import yaml

from checks.contract.document import digest
from checks.contract.kinds import CheckSpec, TemplateSpec
from checks.contract.parsing import parse

HERE = Path(__file__).parent
IMAGE = r"[a-z0-9][a-z0-9._:/-]{0,200}@sha256:[0-9a-f]{64}"
NAME = r"[a-z0-9]([-a-z0-9.]{0,200}[a-z0-9])?"
LABEL = r"([a-z0-9.-]{1,200}/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
OPTIONS = {  # option: (pattern, default, help)
    "image": (IMAGE, None, "image of the check, by digest"),
    "namespace": (NAME, None, "workspace to register it in"),
    "rdma-resource": (LABEL, "rdma/ib", "extended resource of the RDMA device plugin"),
    "artifact-claim": (NAME, "tau-artifacts", "PersistentVolumeClaim of the workspace for evidence"),
    "queue": (NAME, "jobqueue", "Kueue LocalQueue"),
    "owner": (r"[A-Za-z0-9][A-Za-z0-9 ._@-]{0,100}", "Network operations", "who answers for the check"),
    "link-layer": (r"InfiniBand|any", "InfiniBand", "InfiniBand, or any to accept RoCE"),
    "min-busbw": (r"\d{1,4}", "0", "least bus bandwidth in GB/s; 0 does not gate"),
    "node-label": (LABEL, "kubernetes.azure.com/agentpool", "label of the nodes to test"),
    "node-value": (r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?", "h200-ib", "its value"),
    "recorded-log": (r"[0-9A-Za-z._-]{1,64}", "003-ib-gdr-lazy-2.27-many-nics.log", "what a replay replays"),
}


def fill(name: str, values: dict[str, str]) -> dict[str, Any]:
    text = string.Template((HERE / name).read_text(encoding="utf-8")).substitute(values)
    document: dict[str, Any] = yaml.safe_load(text)
    return document


def manifests(options: dict[str, str], replay: bool, ipc_lock: bool = True) -> list[dict[str, Any]]:
    """[template, registration]; ValueError with every problem the contract finds.

    ipc_lock: whether the pods of the measurement ask for IPC_LOCK, which only a privileged namespace admits.
    """
    values = {name.upper().replace("-", "_"): value for name, value in options.items()}
    values["REPLAY_IMAGE"] = values["IMAGE"]
    start = "replay-" if replay else ""
    template = fill(f"{start}template.yaml", values)
    if not replay and not ipc_lock:
        del template["spec"]["exceptions"]
        pod = template["spec"]["job"]["spec"]["template"]["spec"]
        del pod["containers"][0]["securityContext"]["capabilities"]["add"]
    values["TEMPLATE_DIGEST"] = values["REPLAY_DIGEST"] = digest(template["spec"])
    check = fill(f"{start}check.yaml", values)
    problems = [*parse(TemplateSpec, template["spec"]).problems, *parse(CheckSpec, check["spec"]).problems]
    if problems:
        raise ValueError("\n".join(str(problem) for problem in problems))
    return [template, check]


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(64, f"{self.prog}: {message}\n")


def main() -> int:
    parser = Parser(description="Print the manifests of the NCCL check.")
    for name, (_, default, words) in OPTIONS.items():
        shown = f"{words} (default {default})" if default else words
        parser.add_argument(f"--{name}", required=default is None, default=default, help=shown)
    parser.add_argument("--replay", action="store_true", help="the replay instead of the measurement")
    words = "without IPC_LOCK, for namespaces under restricted pod security; memlock is then the node's to lift"
    parser.add_argument("--no-ipc-lock", action="store_true", help=words)
    given = vars(parser.parse_args())
    replay, no_ipc_lock = given.pop("replay"), given.pop("no_ipc_lock")
    options = {name.replace("_", "-"): value for name, value in given.items()}
    for name, (pattern, _, words) in OPTIONS.items():
        if not re.fullmatch(pattern, options[name]):
            parser.error(f"--{name} must be {words}")
    try:
        documents = manifests(options, replay, not no_ipc_lock)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 65
    print(yaml.safe_dump_all(documents, sort_keys=False, width=120), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
