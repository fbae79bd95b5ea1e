"""How many certificates of random histories are verified, and whether wrong lines of the core are noticed.

The programs are those of `tests/verify`; they have options of their own for runs that take days.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from benchmarks.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.suite import Measurement

__all__ = ["CERTIFICATES", "MUTATIONS"]


def _certified(count: int) -> Iterable[Measurement]:
    # Only these two suites need the tests.
    counted: Iterable[Measurement] = import_module("tests.verify.certified_histories").measurements(count)
    return counted


def _mutated() -> Iterable[Measurement]:
    counted: Iterable[Measurement] = import_module("tests.verify.kernel_mutations").measurements()
    return counted


CERTIFICATES = Suite(
    title="Certificates of random histories",
    how="The certificate of each history is verified. *Uncertified*: decided, but no proof was found. "
    "*Rejected*: the verifier does not accept the proof. A long run is made in parts: "
    "`python -m tests.verify.certified_histories --sum FILE --record` records the sum.",
    full=lambda: _certified(1000),
    quick=lambda: _certified(20),
)
MUTATIONS = Suite(
    title="Wrong lines of the native core, and the verifier",
    how="Each row is one wrong line of the kernel (the list: `tests/verify/kernel_mutants.py`). *Unit "
    "tests*: those of the module and of what is inside it. The other columns are decided levels of 80 "
    "random histories whose answer is the opposite of that of the right kernel: *rejected* by the verifier, "
    "*uncertified* because no proof was found or the check itself stopped, and *verified*, which must be "
    "none. A row without any has no wrong verdict on these histories.",
    full=_mutated,
)
