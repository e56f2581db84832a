"""How many verdicts a second one core gives: `python -m benchmarks.verdict_rate`.

100,000 checks of the example's kind, each with a registration, run and result of its own, are evaluated from prepared
facts; every verdict must be Passed, so that every rule has run to its end. What is measured is CPU time of `evaluate`.

Two figures: for one check again and again, which is what the rules themselves cost, and for many checks in turn, which
is that and fetching their facts from memory. The second is bounded by the machine's caches: a check's facts are some
hundreds of small objects.

The limit: the 22 rows cost 24 µs in all on a core that gives 31,000 verdicts a second (identity 4.9, evidence 3.5,
approval 3.0, clock 2.5, the others less than 2 each), nearly all of it calls and attribute reads of the interpreter.
50,000 of one check need a faster core; 50,000 of many checks need fewer objects per check than their facts have.
"""

import copy
import gc
import time

from benchmarks.results import record
from checks.contract.document import digest
from checks.contract.kinds import APPROVED
from checks.contract.reasons import State
from checks.evidence.folder import verify_all
from checks.facts import Inventory, Registration, Result, Run, Source
from checks.objects import labels_of, node_from, registration_from, result_from, run_from, template_from
from checks.snapshot import Snapshot
from checks.verdict import evaluate
from tests.contract.example import CLUSTER, DUMP, NOW, Example

VERDICTS, BATCH, WANTED = 100_000, 500, 50_000


def facts(number: int) -> tuple[Registration, Run, Result]:
    """Registration, run and result of one check of its own."""
    example = Example()
    name, run_id = f"ib-{number}", f"{number:024x}"
    example.check["metadata"]["name"] = example.envelope["check"]["name"] = example.run["spec"]["checkRef"]["name"] = (
        name
    )
    example.run["spec"]["runID"] = example.envelope["run"]["id"] = run_id
    example.check["metadata"]["annotations"][APPROVED] = digest(example.check["spec"])
    example.seal()
    registration = registration_from(
        example.check, CLUSTER, template_from(example.template), labels_of(example.namespace)
    )
    read = result_from(example.result, {})
    result = result_from(example.result, verify_all(read.envelope, DUMP / "evidence", NOW))
    return registration, run_from(example.run), result


def main() -> None:
    """Measures in batches: facts are judged soon after they are read, not when memory has gone cold."""
    example = Example()
    snapshot = Snapshot(CLUSTER, NOW, True)
    for item in example.objects:
        snapshot.add(copy.deepcopy(item))
    source = Source(CLUSTER, True, NOW, snapshot.guard())
    inventory = Inventory({item["metadata"]["name"]: (node_from(item),) for item in example.all("Node")})
    prepared = [facts(number) for number in range(BATCH)]
    gc.freeze()

    def rate(checks: list[tuple[Registration, Run, Result]]) -> int:
        spent, passed = 0.0, 0
        for _ in range(VERDICTS // len(checks)):
            started = time.process_time()
            verdicts = [evaluate(*each, inventory, source, NOW) for each in checks]
            spent += time.process_time() - started
            passed += sum(verdict.state is State.PASSED for verdict in verdicts)
        assert passed == VERDICTS, f"{VERDICTS - passed} verdicts are not Passed"
        return round(VERDICTS / spent)

    one, many = rate(prepared[:1] * BATCH), rate(prepared)
    print(f"verdicts_per_second_of_one_check {one}")
    print(f"verdicts_per_second {many}")
    record("verdict_rate", {"verdicts": VERDICTS, "of_one_check": one, "verdicts_per_second": many, "wanted": WANTED})


if __name__ == "__main__":
    main()
