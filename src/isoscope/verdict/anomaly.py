"""One counterexample as data; `explain` turns it into sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from isoscope.anomalies import CATALOGUE, family
from isoscope.verdict.facts import AlternativesFacts, Facts

if TYPE_CHECKING:
    from isoscope.verdict.evidence import Participant, Step, Witness

__all__ = ["Anomaly", "names_of"]

_Kind = TypeVar("_Kind", bound=Facts)
_NO_FACTS = Facts()


def names_of(name: str) -> tuple[str, ...]:
    """The catalogue's names for `name`, a name of the catalogue or of a paper; case does not matter."""
    return family(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly:
    """One counterexample: its transactions, keys, the operations to look at, and steps between them.

    `facts` are what a sentence about it needs beside the witnesses (see `explain`). `participants` are its
    transactions once more, with what each did.
    """

    name: str
    transactions: tuple[str, ...]
    keys: tuple[object, ...]
    witnesses: tuple[Witness, ...] = ()
    steps: tuple[Step, ...] = ()
    facts: Facts = _NO_FACTS
    participants: tuple[Participant, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if self.name not in CATALOGUE:
            raise ValueError(f"{self.name!r} is not in the catalogue of anomalies")

    def facts_as(self, kind: type[_Kind]) -> _Kind:
        """The facts, which are of this kind."""
        if not isinstance(self.facts, kind):
            raise TypeError(f"{self.name} with {type(self.facts).__name__}, not {kind.__name__}")
        return self.facts

    @property
    def alternatives(self) -> tuple[tuple[Step, ...], ...]:
        """The steps of each order of versions, if the proof goes through several."""
        return self.facts.alternatives if isinstance(self.facts, AlternativesFacts) else ()
