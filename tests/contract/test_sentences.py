"""What people read: the sentence of every vector, in sentences.txt, where a change of words is seen in review.

After a change that is meant: `python -m tests.contract.test_sentences`.
"""

import json
import tempfile
from pathlib import Path

from checks.proof import Holds, prove
from tests.contract.test_vectors import FILES, judged

SENTENCES = Path(__file__).with_name("sentences.txt")


def sentences() -> str:
    """Each vector with its verdict's sentence, the last verdict's where it is another, and those of its faults."""
    lines = []
    for path in FILES:
        with tempfile.TemporaryDirectory() as folder:
            verdict = judged(json.loads(path.read_text()), Path(folder)).verdict
        lines += [path.stem, f"  {verdict.message}"]
        if verdict.last and verdict.last.message != verdict.message:
            lines.append(f"  last {verdict.last.reason}: {verdict.last.message}")
        faults = [clause for clause in prove(verdict) if clause.holds is Holds.NO and clause.detail != verdict.message]
        lines += [f"  {clause.key}: {clause.detail}" for clause in faults]
    return "\n".join(lines) + "\n"


def test_the_sentences_are_those_that_were_reviewed() -> None:
    assert sentences() == SENTENCES.read_text()


if __name__ == "__main__":
    SENTENCES.write_text(sentences())
