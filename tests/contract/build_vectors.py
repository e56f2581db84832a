"""Writes checks/contract/vectors/*.json: `python -m tests.contract.build_vectors`."""

from tests.contract import vectors_before, vectors_proof, vectors_result
from tests.contract.vector import VECTORS, Vector, write

ALL: list[Vector] = [*vectors_before.TABLE.vectors, *vectors_result.TABLE.vectors, *vectors_proof.TABLE.vectors]

if __name__ == "__main__":
    write(ALL, VECTORS)
