"""In larger histories nothing is searched for, and the proofs of the checkers are not tried.

A module of its own: a check of a large history imports neither the prover nor the verifier.
"""

__all__ = ["MOST_OPERATIONS", "MOST_TRANSACTIONS"]

MOST_TRANSACTIONS, MOST_OPERATIONS = 12, 80
