"""The commands that approve or reject are exact, and safe to paste."""

import shlex

from checks.review.commands import approve, reject

DIGEST = "sha256:" + "ab" * 32


def test_the_approval_names_the_digest_the_reviewer_and_takes_a_rejection_back() -> None:
    assert approve("team-vision", "ib-pair", DIGEST, "ada@example.org").kubectl == (
        "kubectl annotate validationchecks.tau.azure.com ib-pair --namespace team-vision --overwrite "
        f"tau.azure.com/approved={DIGEST} tau.azure.com/reviewed-by=ada@example.org tau.azure.com/rejected-"
    )


def test_the_own_command_line_names_the_digest_too() -> None:
    own = approve("team-vision", "ib-pair", DIGEST, "ada").tau_check
    assert own == f"tau-check approve ib-pair --namespace team-vision --digest {DIGEST}"


def test_the_rejection_takes_the_approval_back_and_asks_for_a_reason() -> None:
    words = shlex.split(reject("team-vision", "ib-pair", "ada").kubectl)
    assert words[-3:] == [
        "tau.azure.com/rejected=say why here",
        "tau.azure.com/reviewed-by=ada",
        "tau.azure.com/approved-",
    ]
    assert shlex.split(reject("team-vision", "ib-pair", "ada").tau_check)[-2:] == ["--reason", "say why here"]


def test_a_name_with_shell_characters_is_one_word() -> None:
    words = shlex.split(approve("ns", "n", DIGEST, "ada $(rm -rf ~); `x` 'q'").kubectl)
    assert "tau.azure.com/reviewed-by=ada $(rm -rf ~); `x` 'q'" in words
