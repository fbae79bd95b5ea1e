"""Checks certificates: proofs of verdicts, by a program that trusts nothing of the engine.

Plain Python of the standard library (pyarrow for Parquet alone), with its own parsers and its own reading of
the definitions. It imports nothing else of the package. `docs/reference/certificates.md` is the format of a
certificate, `docs/explanation/trust.md` says what a verified one proves.
"""

from isoscope.verify.command import main
from isoscope.verify.history import BadInputError, RejectedError
from isoscope.verify.verification import Finding, verify

__all__ = ["BadInputError", "Finding", "RejectedError", "main", "verify"]
