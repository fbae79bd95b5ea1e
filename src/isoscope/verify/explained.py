"""Verdicts on histories that leave more open than the writers of registers: explanation by explanation.

Semantics: "Explanations", "Choices and contradictory evidence". The verifier lists all choices by itself. A
level that holds names one of them; one that is violated has a proof for each. Choices in which the sources of
the version order contradict each other count only if there are no others; then each source is heard alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoscope.verify.certificate import as_list, check_fields
from isoscope.verify.choices import Choice, all_choices
from isoscope.verify.explanation import Explanation, Writes
from isoscope.verify.history import RejectedError
from isoscope.verify.resolved_history import resolved
from isoscope.verify.version_order import SOURCES, VersionOrder

if TYPE_CHECKING:
    from isoscope.verify.certificate import Names

__all__ = ["PARTS", "Explained", "contradicts", "entries", "read_choice"]

PARTS = ("took_effect", "initial", "elements", "rows")


class Explained:
    """The choices of a history, and what each of them makes of it."""

    def __init__(self, writes: Writes) -> None:
        every = {choice: Writes(resolved(writes.history, choice)) for choice in all_choices(writes)}
        agreed = {choice: found for choice, found in every.items() if not contradicts(found)}
        self.is_contradictory = not agreed
        #: The histories that count, by their choice.
        self.writes = agreed or every

    def of(self, choice: Choice) -> Writes:
        """The history that a choice gives; `RejectedError` if it is none, or is left out."""
        found = self.writes.get(choice)
        if found is None:
            raise RejectedError("the explanation is not possible, or its sources contradict each other")
        return found

    def refuse_missing(self, named: set[Choice]) -> None:
        """Raise `RejectedError` unless every choice that counts has a proof."""
        missing = len(self.writes.keys() - named)
        if missing:
            raise RejectedError(f"{missing} of {len(self.writes)} explanations have no proof")


def contradicts(writes: Writes) -> bool:
    """Whether the sources of the version order contradict each other."""
    return VersionOrder(Explanation(writes)).contradictory()


def read_choice(names: Names, content: dict[str, Any]) -> Choice:
    """The choice that a certificate spells out."""
    return Choice(
        tuple(sorted(names.transactions(content.get("took_effect", [])))),
        tuple(names.operation(read) for read in as_list(content.get("initial", []), "reads")),
        tuple(sorted(_shown(names, entry) for entry in as_list(content.get("elements", []), "lists"))),
        tuple(_rows(names, entry) for entry in as_list(content.get("rows", []), "rows")),
    )


def _pair(entry: Any) -> tuple[Any, list[Any]]:
    if not isinstance(entry, list) or len(entry) != 2:
        raise RejectedError(f"{entry!r} is no choice of an explanation")
    return entry[0], as_list(entry[1], "versions")


def _versions(names: Names, entries: list[Any]) -> tuple[tuple[int, int] | None, ...]:
    return tuple(None if entry is None else names.operation(entry) for entry in entries)


def _shown(names: Names, entry: Any) -> tuple[tuple[int, int], tuple[tuple[int, int] | None, ...]]:
    read, versions = _pair(entry)
    return names.operation(read), _versions(names, versions)


def _rows(names: Names, entry: Any) -> tuple[str, tuple[tuple[int, int] | None, ...]]:
    source, versions = _pair(entry)
    if source not in SOURCES:
        raise RejectedError(f"{source!r} is no source of a version order")
    return source, _versions(names, versions)


def entries(content: Any) -> list[dict[str, Any]]:
    """The explanations of a line, each with its proof."""
    found: list[dict[str, Any]] = as_list(content, "explanations")
    for entry in found:
        check_fields(entry, {*PARTS, "proof", "sources"}, "an explanation")
    return found
