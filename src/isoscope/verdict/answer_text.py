"""The answer as one sentence, the same on the command line, on the page, in JSON and for build servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.anomalies import CATALOGUE
from isoscope.levels import DEFINITIONS, LADDER
from isoscope.verdict.answer import Answer, Decision

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from isoscope.levels import Level

__all__ = ["anomalies_in_words", "joined", "level_in_words", "sentence", "subject"]

#: More names than this are counted.
_MAX_NAMES = 3


def sentence(answer: Answer) -> str:
    """The answer on one line."""
    told = subject(answer)
    first = told.replace("the ", "The ", 1) if told.startswith("the ") else told
    match answer.outcome:
        case Decision.YES:
            return f"Yes. {first} kept {_kept(answer)} ({_sizes(answer)}).{_allowed(answer)}"
        case Decision.NO:
            return f"No. {first} broke {_broken(answer)}: {_counts(answer.broken_by)}."
        case Decision.NOT_DECIDED:
            what = joined(map(level_in_words, answer.unknown or answer.levels)) or "its mechanisms"
            return f"Not decided: whether {told} kept {what} ({answer.reason})."
        case Decision.NOT_ASKED:
            return _border(answer)


def subject(answer: Answer) -> str:
    """The database, its version and its isolation, else the file."""
    origin = answer.origin
    if origin is None:
        return answer.subject
    return f"{' '.join(filter(None, (origin.database, origin.version)))} at {origin.isolation}"


def level_in_words(level: Level) -> str:
    """A level inside a sentence."""
    return DEFINITIONS[level].noun


def anomalies_in_words(name: str, count: int) -> str:
    """`1 lost update`, `212 lost updates`."""
    title = CATALOGUE[name].title
    one = title[:1].lower() + title[1:]
    head, bracket, rest = one.partition(" (")
    if head.startswith("no ") or head.endswith(("s", "evidence")):  # no word for a single one
        return f"{one} ({count:,})"
    return f"{count:,} {one if count == 1 else f'{head}s{bracket}{rest}'}"


def joined(names: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *others, last = [*names] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def _kept(answer: Answer) -> str:
    return joined(map(level_in_words, answer.levels)) or "its mechanisms"


def _broken(answer: Answer) -> str:
    """The levels, else the mechanisms; then the weakest violated levels below them."""
    names = [*map(level_in_words, answer.broken)] or [*map(str, answer.mechanisms)]
    weakest = joined(map(level_in_words, answer.weakest))
    return joined(names) + (f", and even {weakest}" if weakest else "")


def _sizes(answer: Answer) -> str:
    count = f"{answer.transactions:,} transaction{'' if answer.transactions == 1 else 's'}"
    seconds = answer.origin.seconds if answer.origin else None
    return count if seconds is None else f"{count}, {seconds:.{0 if seconds >= 9.95 else 1}f} s"


def _allowed(answer: Answer) -> str:
    """The anomalies that were seen although the levels hold: the levels allow them."""
    if not answer.allowed:
        return ""
    (name, count), *others = answer.allowed.items()
    if not others:
        what = anomalies_in_words(name, 1).removeprefix("1 ").removesuffix(" (1)")
        return f" It allows {what}; {count:,} {'was' if count == 1 else 'were'} seen."
    return f" It allows what else was seen: {_counts(answer.allowed)}."


def _counts(anomalies: Mapping[str, int]) -> str:
    said = [anomalies_in_words(name, count) for name, count in [*anomalies.items()][:_MAX_NAMES]]
    rest = len(anomalies) - len(said)
    return joined([*said, *([f"{rest} other kind{'' if rest == 1 else 's'} of anomaly"] if rest else [])])


def _border(answer: Answer) -> str:
    said = [
        ("Strongest {} that holds", answer.holds),
        ("Strongest {} that may hold", answer.unknown),
        ("Weakest {} that is broken", answer.broken),
    ]
    told = " ".join(f"{head.format(_kind(levels))}: {_listed(levels)}." for head, levels in said if levels)
    return told or "No level is decided."


def _kind(levels: Sequence[Level]) -> str:
    """Others may lie between two of the well-known levels."""
    return "well-known level" if {*levels} <= {*LADDER} else "level"


def _listed(levels: Sequence[Level]) -> str:
    rest = len(levels) - _MAX_NAMES
    return joined([*levels[:_MAX_NAMES], *([f"{rest} more"] if rest > 0 else [])])
