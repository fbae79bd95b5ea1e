"""What the history says of the order of versions: list reads, a log, a declared order, commit timestamps.

A version is (number of the transaction, place of the write). Each source gives the versions of a key a rank;
of two versions with different ranks the lower one came first. Semantics: "Version orders", "Order of
elements", "Unread elements", "Contradictory evidence".
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from isoscope.verify.explanation import external_reads, last_writes
from isoscope.verify.history import APPEND, INDETERMINATE, INSTALLS, RejectedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isoscope.verify.explanation import Explanation
    from isoscope.verify.history import Transaction

__all__ = ["SOURCES", "Version", "VersionOrder", "shows_duplicates"]

Version: TypeAlias = tuple[int, int]
_Ranks: TypeAlias = dict[Any, dict[Version, Any]]
SOURCES = ("lists", "log", "declared", "timestamps")


class VersionOrder:
    """The ranks of all versions by each source, or by one source alone.

    `cautious`: only what is so in every explanation, whichever indeterminate transactions took effect.
    """

    def __init__(self, explanation: Explanation, only: str | None = None, *, cautious: bool = False) -> None:
        self.explanation = explanation
        self.believes_lists = only in (None, "lists")
        self.cautious = cautious
        self.history = explanation.history
        self.canonical: dict[Any, list[Any]] = {}
        self.copies = _copies(explanation) if self.history.lists else {}
        self.ambiguous_rows = self.ambiguous_elements = False
        makers = {
            "lists": self._list_ranks,
            "log": self._recorded_ranks,
            "declared": self._recorded_ranks,
            "timestamps": self._timestamp_ranks,
        }
        if self.history.lists:
            self._find_canonical()
        self.ranks: dict[str, _Ranks] = {
            source: make(source) for source, make in makers.items() if only in (None, source)
        }

    def check(self, position: Mapping[int, int] | list[int]) -> None:
        """Raise `RejectedError` unless the versions are in known order if transactions are in this one."""
        for source, ranks in self.ranks.items():
            for key, versions in ranks.items():
                # A transaction's own versions order nothing: they stand as the source has them.
                order = sorted((position[version[0]], versions[version], version) for version in versions)
                self._check_key(source, key, [version for *_, version in order])
        for t in self.history.transactions if self.history.filled else ():
            for key in last_writes(t) if self.explanation.counting[t.number] and not t.is_first else ():
                if position[t.number] < position[self.history.filled.get(key, t.number)]:
                    raise RejectedError(f"the order puts {t} before the transaction that fills key {key}")

    def check_versions(self, key: Any, order: list[Version]) -> None:
        """Raise `RejectedError` unless this order of the versions of a key contains the known one."""
        for source in self.ranks:
            self._check_key(source, key, order)
        if key in self.history.filled and not self.is_first(key, order[0]):
            raise RejectedError(f"the version that fills key {key} is not its first one")

    def is_first(self, key: Any, version: Version) -> bool:
        """Whether it is the one with which a first transaction fills the key ("First transactions")."""
        return self.history.filled.get(key) == version[0]

    def _check_key(self, source: str, key: Any, order: list[Version]) -> None:
        ranks = self.ranks[source].get(key, {})
        last = None
        for version in order:
            rank = ranks.get(version)
            if rank is None:
                continue
            if last is not None and rank < last:
                name = self.history.transactions[version[0]]
                raise RejectedError(f"the order puts a version of {name} too late: {source} has it earlier")
            last = rank

    def before(self, key: Any, one: Version, two: Version) -> bool:
        """Whether a source says that the first version came before the second."""
        return any(
            one in ranks[key] and two in ranks[key] and ranks[key][one] < ranks[key][two]
            for ranks in self.ranks.values()
            if key in ranks
        )

    def present(self) -> list[str]:
        """The sources that order any two versions."""
        return [
            source
            for source, ranks in self.ranks.items()
            if any(len(set(of_key.values())) > 1 for of_key in ranks.values())
        ]

    def sources(self) -> list[str]:
        """The sources that may say something of any version."""
        recorded = [source for source in ("log", "declared") if self._may_show_versions(source)]
        lists = ["lists"] if self.history.lists else []
        timed = any(t.commit is not None for t in self.history.transactions)
        return [*lists, *recorded, *(["timestamps"] if timed else [])]

    def _may_show_versions(self, source: str) -> bool:
        """Whether a transaction that did not abort wrote what a row says."""
        writes, rows = self.explanation.writes, self.history.recorded.get(source, {})
        return any(writes.of(key, value) for key, values in rows.items() for value in values)

    def contradictory(self) -> bool:
        """Whether the sources together put a version before itself."""
        keys = {key for ranks in self.ranks.values() for key in ranks}
        return any(self._is_cyclic(key) for key in keys)

    def _is_cyclic(self, key: Any) -> bool:
        """Whether the chains of the sources have no common order: what has no predecessor is taken away."""
        chains = [ranks[key] for ranks in self.ranks.values() if key in ranks]
        if len(chains) < 2:
            return False
        successors: dict[Any, list[Any]] = {}
        for number, chain in enumerate(chains):
            _add_chain(successors, chain, number)
        missing = Counter(node for following in successors.values() for node in following)
        free = [node for node in successors if not missing[node]]
        for node in free:
            for following in successors[node]:
                missing[following] -= 1
                if not missing[following]:
                    free.append(following)
        return len(free) < len(successors)

    def appends(self) -> dict[Any, dict[Any, list[Version]]]:
        """The appends of counting transactions: key -> element -> versions."""
        found: dict[Any, dict[Any, list[Version]]] = {}
        for t in self.history.transactions:
            if not self.explanation.counting[t.number]:
                continue
            for place, (kind, key, value) in enumerate(t.operations):
                if kind == APPEND:
                    found.setdefault(key, {}).setdefault(value, []).append((t.number, place))
        return found

    def _find_canonical(self) -> None:
        """The longest *P* of each key that a counting transaction read; none if two of them differ."""
        for t in self.history.transactions:
            if not self.explanation.counting[t.number]:
                continue
            for place, key, value in external_reads(t, []):
                if not isinstance(value, list) or self.shows_duplicates(t, place):
                    continue
                longest = self.canonical.get(key)
                if longest is None or len(value) > len(longest):
                    self.canonical[key] = value
        self._drop_undecided()

    def shows_duplicates(self, t: Transaction, place: int) -> bool:
        """Whether a read shows an element more often than all transactions together appended it."""
        _, key, value = t.operations[place]
        return isinstance(value, list) and shows_duplicates(value, self.copies.get(key, {}))

    def _drop_undecided(self) -> None:
        for t in self.history.transactions:
            if not self.explanation.counting[t.number]:
                continue
            for place, key, value in external_reads(t, []):
                longest = self.canonical.get(key, [])
                differs = isinstance(value, list) and len(value) == len(longest) and value != longest
                if differs and not self.shows_duplicates(t, place):
                    self.canonical[key] = []

    def _list_ranks(self, source: str) -> _Ranks:
        del source
        ranks: _Ranks = {}
        for key, elements in self.appends().items() if self.history.lists else ():
            if key in self.history.unjudged:
                continue
            canonical = self.canonical.get(key, [])
            places = {element: place for place, element in enumerate(canonical)}
            of_key = ranks[key] = {}
            for element, versions in elements.items():
                if self.cautious and len(set(self.explanation.writes.of(key, element))) > 1:
                    continue
                if element not in places:
                    of_key.update(dict.fromkeys(versions, len(canonical)))
                elif len(versions) > 1:
                    self.ambiguous_elements = True
                else:
                    of_key[versions[0]] = places[element]
        for key in self._disputed() if self.cautious else ():
            ranks.pop(key, None)
        return ranks

    def _disputed(self) -> set[Any]:
        """Lists that a transaction which may have taken effect read in another order."""
        found = set()
        for t in self.history.transactions:
            if t.status == INDETERMINATE and not self.explanation.counting[t.number]:
                for _, key, value in external_reads(t, []):
                    canonical = self.canonical.get(key, [])
                    length = len(canonical)
                    if isinstance(value, list) and value[:length] != canonical[: len(value)]:
                        found.add(key)
        return found

    def _recorded_ranks(self, source: str) -> _Ranks:
        ranks: _Ranks = {}
        for key, versions in self.history.versions.get(source, {}).items():
            ranks[key] = {version: rank for rank, version in enumerate(versions)}
        for key, values in self.history.recorded.get(source, {}).items():
            of_key = ranks[key] = {}
            for rank, value in enumerate(values):
                version = self._row(source, key, value)
                if version is not None:
                    of_key[version] = rank
        return ranks

    def _row(self, source: str, key: Any, value: Any) -> Version | None:
        """The version that a row names; None if it is no version, or if several writes fit."""
        writes = self.explanation.writes
        fitting = writes.of(key, value)
        numbers = [n for n in fitting if self.explanation.counting[n]]
        if not numbers:
            return None
        initial = key not in self.history.lists and self.explanation.possible_initial(key, value)
        failed = source == "declared" and value in writes.failed.get(key, {})
        others = fitting if self.cautious or source == "declared" else numbers
        if len(set(others)) > 1 or initial or failed:
            self.ambiguous_rows = True
            return None
        t = self.history.transactions[numbers[0]]
        if key not in self.history.lists:
            return t.number, last_writes(t)[key]
        places = [place for place, operation in enumerate(t.operations) if operation == (APPEND, key, value)]
        return (t.number, places[0]) if len(places) == 1 else None

    def _timestamp_ranks(self, source: str) -> _Ranks:
        del source
        ranks: _Ranks = {}
        for t in self.history.transactions:
            if t.commit is None or not self.explanation.counting[t.number]:
                continue
            for key, place in last_writes(t).items():
                if key not in self.history.lists:
                    ranks.setdefault(key, {})[t.number, place] = t.commit
            for place, (kind, key, _) in enumerate(t.operations):
                if kind == APPEND or (kind in INSTALLS and key in self.history.lists):
                    ranks.setdefault(key, {})[t.number, place] = t.commit
        return ranks


def shows_duplicates(value: Iterable[Any], copies: Mapping[Any, int]) -> bool:
    """Whether a list shows an element more often than all transactions together appended it."""
    return any(count > copies.get(element, 0) > 0 for element, count in Counter(value).items())


def _copies(explanation: Explanation) -> dict[Any, Counter[Any]]:
    """How often each element was appended, whatever became of the transaction."""
    copies: dict[Any, Counter[Any]] = {}
    for t in explanation.history.transactions:
        for kind, key, value in t.operations:
            if kind == APPEND:
                copies.setdefault(key, Counter())[value] += 1
    return copies


def _add_chain(successors: dict[Any, list[Any]], chain: Mapping[Version, Any], number: int) -> None:
    """Edges from each rank to the next, through a node between them: equal ranks are in no order."""
    groups: dict[Any, list[Version]] = {}
    for version, rank in chain.items():
        groups.setdefault(rank, []).append(version)
        successors.setdefault(version, [])
    ordered = [groups[rank] for rank in sorted(groups)]
    for place, (lower, upper) in enumerate(pairwise(ordered)):
        between = ("between", number, place)
        successors[between] = list(upper)
        for version in lower:
            successors[version].append(between)
