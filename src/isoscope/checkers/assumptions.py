"""The assumptions that verdicts rest on beside the recorded operations, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope import levels as lattice
from isoscope.checkers.clock import METHOD as BY_CLOCK
from isoscope.history import UNKNOWN
from isoscope.levels import Level
from isoscope.verdict import Claim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from isoscope.history import History
    from isoscope.profiles import Profile
    from isoscope.verdict import Verdict

__all__ = ["of_all", "of_clocks", "of_mechanisms", "parse_claims"]

_MEANINGS = {
    Claim.SEQUENTIAL_KEYS: "every session meets the versions of a key in their order",
    Claim.LINEARIZABLE_KEYS: "a transaction that begins later in real time meets no older version of a key",
    Claim.WRITES_FOLLOW_READS: "a transaction that reads a key and then writes it installs the later version",
}


def parse_claims(names: Iterable[Claim | str]) -> tuple[Claim, ...]:
    """The claims of these names, each once, in the order of `Claim`."""
    known = {claim.value: claim.value for claim in Claim}
    asked = {lattice.canonical(str(name), known, what="claim") for name in names}
    return tuple(claim for claim in Claim if claim in asked)


def of_all(
    history: History, claims: Sequence[Claim], ties: int | None, verdicts: Sequence[Verdict] = ()
) -> tuple[str, ...]:
    """The assumptions that the verdicts rest on beside the recorded operations."""
    initial = history.initial
    if initial.value is UNKNOWN:
        start = "the initial value of a key is the one value that reads show and no transaction wrote"
    else:
        start = f"every key holds {initial} before its first write (a list: nothing)"
    said = [start]
    if initial.of_key:
        said.append(f"keys with an initial value of their own: {len(initial.of_key)}")
    if history.source.log:
        said.append(f"{history.source.log} is its write-ahead log")
    said += _trusted(verdicts)
    if ties:
        several = "1 timestamp belongs" if ties == 1 else f"{ties:,} timestamps belong"
        said.append(f"{several} to several transactions: commits come before starts, then sessions by name")
    said += [f"claimed: {claim}, so {_MEANINGS[claim]}" for claim in claims]
    return (*said, *(f"{note}: {count}" for note, count in history.notes.items()))


def _trusted(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """The assumptions behind verdicts by the database's clock."""
    decided = {verdict.level for verdict in verdicts if verdict.method is BY_CLOCK and not verdict.reason}
    if decided:
        yield "the database's timestamps are right: what contradicts them may hold by another order"
    if Level.CLOCK_SERIALIZABLE in decided:
        yield "clock-serializable asks for the order of commits, whenever transactions started"


def of_mechanisms(profile: Profile, clock_error: int) -> Iterator[str]:
    """The assumptions behind verdicts by the mechanisms of a profile."""
    yield (
        f"the order of versions is what the mechanisms of {profile.name} and the clients' clocks show: "
        "a level is judged by it"
    )
    yield from of_clocks(clock_error)


def of_clocks(clock_error: int) -> Iterator[str]:
    """The assumption that clients' clocks may differ."""
    if clock_error:
        yield f"every interval is {clock_error:,} ns longer at both ends than it was recorded"
