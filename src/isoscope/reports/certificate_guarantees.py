"""Counterexamples of session guarantees as proofs: of two operations of a session the second goes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.explain.value_text import same
from isoscope.reports.certificate_names import UncertifiedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoscope.verdict import Step

__all__ = ["goes_back"]


def goes_back(steps: Sequence[Step], cycle: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The proof that a cycle is: from a session step back by an rw or ww step, then by what was read.

    `cycle` are the `steps` as a certificate has them.
    """
    kinds = [step.relation for step in steps]
    if kinds.count("session") != 1:
        raise UncertifiedError("the counterexample is not about two operations of a session")
    start = kinds.index("session")
    order = [*range(start, len(steps)), *range(start)]
    _, back, *seen = order
    if kinds[back] not in ("rw", "ww") or [kinds[place] for place in seen] not in ([], ["wr"]):
        raise UncertifiedError("the counterexample is not about two operations of a session")
    versions = cycle[back]["versions"]
    second = [cycle[back]["from"], cycle[back]["read"]] if kinds[back] == "rw" else versions[0]
    first = _first_read(steps[seen[0]], steps[back], cycle[seen[0]]) if seen else versions[-1]
    return {"session": {"first": first, "second": second, "versions": versions}}


def _first_read(step: Step, back: Step, written: dict[str, Any]) -> list[Any]:
    """The earlier read, which shows the version that the later operation comes before."""
    read, write = step.witnesses[:2]
    missed = back.witnesses[1] if back.relation == "rw" else back.witnesses[-1]
    shown = read.value[-1] if isinstance(read.value, tuple) and read.value else read.value
    is_same = same(write.key, missed.key) and same(missed.value, shown) and same(write.value, shown)
    if not is_same or missed.transaction != write.transaction:
        raise UncertifiedError("the counterexample does not name the version that the session met first")
    return [written["to"], written["read"]]
