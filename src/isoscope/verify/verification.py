"""Checks each line of a certificate against the history."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from isoscope.verify import clock, proof
from isoscope.verify.certificate import Certificate, Names, as_list, check_fields
from isoscope.verify.explained import PARTS, Explained, entries, read_choice
from isoscope.verify.explanation import Explanation, Writes
from isoscope.verify.files import read_history
from isoscope.verify.history import BadInputError, RejectedError
from isoscope.verify.levels import BY_THE_CLOCK, GUARANTEES, LEVELS, Level
from isoscope.verify.parquet import initial_values
from isoscope.verify.version_order import VersionOrder
from isoscope.verify.witnessed import Witnessed

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from pathlib import Path

    from isoscope.verify.choices import Choice
    from isoscope.verify.history import History

__all__ = ["IMPLIED", "Finding", "Verification", "refuse_empty", "verify"]

#: What each clock level asks for beside the clock.
IMPLIED = {
    "clock-snapshot-isolation": "strong-session-snapshot-isolation",
    "clock-serializable": "serializable",
}


class Finding(NamedTuple):
    """Whether one verdict is proved; `reason` says why not."""

    level: str
    outcome: str
    verified: bool
    reason: str = ""


def verify(history_path: Path, certificate_path: Path, levels: Container[str] | None = None) -> list[Finding]:
    """What the certificate proves about the history, level by level; only of `levels`, if they are given."""
    with _without_collector():
        certificate = Certificate.read(certificate_path)
        history = read_history(history_path)
        if certificate.initial is not None:
            history.initial = initial_values(certificate.initial)
        verification = Verification(history, certificate)
        lines = [line for line in certificate.levels if levels is None or line["level"] in levels]
        return [verification.find(line) for line in lines]


@contextmanager
def _without_collector() -> Iterator[None]:
    """Millions of tuples without a cycle among them: to look for cycles takes half of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Verification:
    """A history and a certificate, and what every check of the two needs."""

    def __init__(self, history: History, certificate: Certificate) -> None:
        self.history = history
        self.certificate = certificate
        self.writes = Writes(history)
        self.names = Names(history)
        self._contradictory: bool | None = None
        self._explained: Explained | None = None

    def find(self, line: dict[str, Any]) -> Finding:
        """The finding for one line of a level."""
        name, outcome = line["level"], line["outcome"]
        if "uncertified" in line:
            return Finding(name, outcome, verified=False, reason=f"it has no proof: {line['uncertified']}")
        try:
            self._check(LEVELS[name], line)
        except RejectedError as error:
            return Finding(name, outcome, verified=False, reason=str(error))
        return Finding(name, outcome, verified=True)

    def _check(self, level: Level, line: dict[str, Any]) -> None:
        if level.kind.startswith("clock-"):
            self._check_clock(level, line)
        elif "implied_by" in line:
            self._check_implied(line)
        elif "explanations" in line:
            if line["outcome"] != "violated":
                raise RejectedError("a level that holds needs one explanation, that of its witness")
            self._check_explanations(level, line)
        elif "sources" in line:
            if not self.is_contradictory():
                raise RejectedError("the sources of the version order do not contradict each other")
            writes = self._writes_of_sources(line) if line["outcome"] == "holds" else self.writes
            self._check_sources(level, writes, line, is_violated=line["outcome"] == "violated")
        elif line["outcome"] == "violated":
            self._check_violated(level, line)
        else:
            self._check_holds(level, line.get("witness"), None)

    def _check_clock(self, level: Level, line: dict[str, Any]) -> None:
        if "implied" in line:
            # By definition: a clock level asks for all that the level without a clock does, and for more.
            if line["implied"] != IMPLIED[level.kind] or line["outcome"] != "violated":
                raise RejectedError(f"{line['implied']} is not the level that the clock level contains")
            self._check(LEVELS[line["implied"]], line)
            return
        outcome, reason = clock.judge(level.kind, Explanation(self.writes))
        if outcome != line["outcome"]:
            raise RejectedError(
                f"by the timestamps the level is {outcome}" + (f": {reason}" if reason else "")
            )

    def _check_implied(self, line: dict[str, Any]) -> None:
        """Semantics, "Answers": what sources that contradict each other leave open, the clock may decide."""
        clock_level = str(line["implied_by"])
        if line["outcome"] != "holds" or line["level"] not in BY_THE_CLOCK.get(clock_level, ()):
            raise RejectedError(f"{clock_level} does not contain the level")
        if not self.is_contradictory():
            raise RejectedError("the sources of the version order do not contradict each other")
        self._check_clock(LEVELS[clock_level], {"outcome": "holds"})

    def _check_violated(self, level: Level, line: dict[str, Any]) -> None:
        shown = line.get("proof")
        # Two reads that do not go together need no order of versions: each source alone has the same proof.
        needs_order = level.kind != "cut" and not (isinstance(shown, dict) and "reads" in shown)
        if needs_order and self.is_contradictory():
            raise RejectedError("the sources of the version order contradict each other: each needs a proof")
        proof.check(level, self.writes, shown, None)

    def is_contradictory(self) -> bool:
        """Whether the sources of the version order contradict each other, in every explanation."""
        if self._contradictory is None:
            known = VersionOrder(Explanation(self.writes), cautious=True)
            is_open = self.history.has_indeterminate or self.writes.has_repeated() or known.ambiguous_rows
            if is_open and len(known.sources()) > 1:
                self._contradictory = self.explained().is_contradictory
            else:
                self._contradictory = known.contradictory()
        return self._contradictory

    def explained(self) -> Explained:
        """The choices that the history leaves."""
        if self._explained is None:
            self._explained = Explained(self.writes)
        return self._explained

    def _check_explanations(self, level: Level, line: dict[str, Any]) -> None:
        """Whatever the history leaves open, the level is violated."""
        explained = self.explained()
        named = set()
        for entry in entries(line["explanations"]):
            choice = read_choice(self.names, entry)
            named.add(choice)
            if choice not in explained.writes:
                continue
            writes = explained.writes[choice]
            if explained.is_contradictory and level.kind != "cut":
                self._check_sources(level, writes, entry, is_violated=True)
            else:
                proof.check(level, writes, entry.get("proof"), None)
        explained.refuse_missing(named)

    def _writes_of_sources(self, line: dict[str, Any]) -> Writes:
        """The history of the one explanation that the witnesses of all sources have."""
        found: set[Choice | None] = set()
        for entry in as_list(line["sources"], "sources"):
            check_fields(entry, {"source", "witness", "proof"}, "a source")
            witness = self.certificate.witnesses.get(str(entry.get("witness")), {})
            if any(part in witness for part in PARTS[1:]):
                found.add(read_choice(self.names, witness))
            else:
                found.add(None)
        if len(found) > 1:
            raise RejectedError("the witnesses of the sources have different explanations")
        choice = found.pop() if found else None
        return self.writes if choice is None else self.explained().of(choice)

    def _check_sources(
        self, level: Level, writes: Writes, line: dict[str, Any], *, is_violated: bool
    ) -> None:
        """Contradictory evidence: each source alone gives the verdict."""
        found = {}
        for entry in as_list(line.get("sources", []), "sources"):
            check_fields(entry, {"source", "witness", "proof"}, "a source")
            found[str(entry.get("source"))] = entry
        needed = VersionOrder(Explanation(writes)).present()
        if set(needed) != found.keys():
            raise RejectedError(f"a proof is needed for each source: {', '.join(needed)}")
        for source in needed:
            if is_violated:
                proof.check(level, writes, found[source].get("proof"), source)
            else:
                self._check_holds(level, found[source].get("witness"), source)

    def _check_holds(self, level: Level, name: Any, only: str | None) -> None:
        witness = self._witness(level, name)
        writes = self.writes
        if any(part in witness for part in PARTS[1:]):
            writes = self.explained().of(read_choice(self.names, witness))
            if only is None and self.explained().is_contradictory and level.kind != "cut":
                raise RejectedError("the sources of the version order contradict each other")
        Witnessed(writes, self.names).check(level, witness, only)

    def _witness(self, level: Level, name: Any) -> dict[str, Any]:
        if name is None and level.kind == "cut":
            return {}
        witness = self.certificate.witnesses.get(name) if isinstance(name, str) else None
        if witness is None:
            raise RejectedError(f"the certificate has no witness {name!r}")
        # A serial order is one of begins and commits too, and an order of transactions is one of versions.
        if "versions" in witness and level.kind not in (*GUARANTEES, "cut"):
            raise RejectedError(f"witness {name} is of another kind than the level needs")
        return witness


def refuse_empty(findings: list[Finding]) -> None:
    """A certificate without verdicts proves nothing."""
    if not findings:
        raise BadInputError("the certificate has no verdict, or none for the levels that were named")
