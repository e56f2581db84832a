"""Fills in template and registration: `python prepare.py IMAGE@sha256:… NAMESPACE | kubectl create -f -`.

Needs the product's own package, which computes the digest by which the registration pins its template.
"""

import sys
from pathlib import Path

import yaml

from checks.contract.document import digest

HERE = Path(__file__).parent


def prepare(image: str, namespace: str) -> list[dict]:
    """The template with the image and the script, and the registration that pins it."""
    template = yaml.safe_load((HERE / "template.yaml").read_text())
    container = template["spec"]["job"]["spec"]["template"]["spec"]["containers"][0]
    container["image"] = image
    container["command"] = ["sh", "-c", (HERE / "check.sh").read_text()]
    check = yaml.safe_load((HERE / "check.yaml").read_text())
    check["metadata"]["namespace"] = namespace
    check["spec"]["launch"]["template"]["digest"] = digest(template["spec"])
    return [template, check]


if __name__ == "__main__":
    if len(sys.argv) != 3 or "@sha256:" not in sys.argv[1]:
        sys.exit("usage: prepare.py IMAGE@sha256:DIGEST NAMESPACE")
    sys.stdout.write(yaml.safe_dump_all(prepare(sys.argv[1], sys.argv[2]), sort_keys=False))
