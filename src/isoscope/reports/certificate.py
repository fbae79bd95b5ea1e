"""Certificates: the proofs of the verdicts of a report, in the format of `docs/reference/certificates.md`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from isoscope.levels import Level, implied
from isoscope.reports.certificate_levels import CERTIFIED, REPLAYED
from isoscope.reports.certificate_names import Names, UncertifiedError
from isoscope.reports.certificate_proof import proof_of
from isoscope.reports.json import dumps
from isoscope.verdict import Outcome, VersionsOfKeys, WitnessForm, WritersOfReads

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.verdict import Report, Verdict, WitnessOrder

__all__ = ["Certificate", "Prover", "certificate"]

#: Sources of the version order that the format calls otherwise.
_SOURCES = {"list read": "lists"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """The lines of a certificate, and why decided levels are left out: the number of levels by reason."""

    lines: tuple[str, ...]
    certified: int
    left_out: Mapping[str, int]


class Prover(Protocol):
    """Looks for proofs that the report does not have, of small histories."""

    def accepts(self, lines: Sequence[dict[str, Any]], /) -> bool:
        """Whether the verifier accepts the last line, given the others."""
        ...

    def holds(
        self, level: str, contents: Sequence[dict[str, Any]], /
    ) -> tuple[dict[str, Any], list[tuple[dict[str, Any], str]]] | None:
        """A line, and its witnesses with their sources."""
        ...

    def violated(self, level: str, /) -> dict[str, Any] | None:
        """A line with a proof."""
        ...


def certificate(
    report: Report,
    names: Names,
    initial: Mapping[str, object] | None = None,
    prover: Prover | None = None,
) -> Certificate:
    """The proofs of all decided levels; `initial` are initial values that the history does not tell.

    With a prover, every line is one that the verifier accepts.
    """
    return _Writer(report, names, prover).write(initial)


class _Content:
    """A witness without its name, and its text, which is made once: an order can be long."""

    def __init__(self, fields: dict[str, Any], versions: str = "", writers: str = "") -> None:
        self.fields = fields
        packed = {"versions": versions, "writers": writers}
        texts = {name: text for name, text in packed.items() if text}
        texts |= {name: _text(value) for name, value in fields.items()}
        self.text = f"{{{', '.join(f'{dumps(name)}: {text}' for name, text in texts.items())}}}"


def _text(value: object) -> str:
    """JSON; that of integers is what Python writes, in a third of the time."""
    return str(value) if isinstance(value, list) and {*map(type, value)} == {int} else dumps(value)


@dataclass(slots=True)
class _Writer:
    report: Report
    names: Names
    prover: Prover | None = None
    #: The name of each witness by its content: many levels share one.
    witnesses: dict[str, str] = field(default_factory=dict)
    contents: dict[tuple[int, bool], _Content] = field(default_factory=dict)
    #: The text of each witness by its name.
    texts: dict[str, str] = field(default_factory=dict)
    #: The witnesses of levels that the verifier accepted, by name.
    accepted: dict[str, dict[str, Any]] = field(default_factory=dict)

    def write(self, initial: Mapping[str, object] | None) -> Certificate:
        header = {"isoscope_certificate": 1} | ({} if initial is None else {"initial": initial})
        lines, left_out, certified = [dumps(header)], Counter[str](), 0
        for verdict in self.report.verdicts:
            if verdict.outcome is Outcome.UNKNOWN:
                continue
            try:
                lines += [self._text(line) for line in self._proved(verdict)]
                certified += 1
            except UncertifiedError as error:
                left_out[str(error)] += 1
        return Certificate(lines=tuple(lines), certified=certified, left_out=dict(left_out))

    def _text(self, line: dict[str, Any]) -> str:
        content = self.texts.get(line.get("witness", "")) if "level" not in line else None
        return dumps(line) if content is None else f'{{"witness": "{line["witness"]}", {content[1:]}'

    def _proved(self, verdict: Verdict) -> list[dict[str, Any]]:
        if self.prover is None:
            return self._lines(verdict)
        known = dict(self.witnesses)
        try:
            lines = self._lines(verdict)
            if self._is_accepted(lines, self.prover):
                return lines
            reason = "no proof was found that the verifier accepts"
        except UncertifiedError as error:
            reason = str(error)
        self.witnesses = dict(known)
        found = self._searched(verdict, self.prover)
        if found is None or not self._is_accepted(found, self.prover):
            self.witnesses = known
            raise UncertifiedError(reason)
        return found

    def _is_accepted(self, lines: list[dict[str, Any]], prover: Prover) -> bool:
        """Whether the verifier accepts the last line, given the others and the witnesses that it names."""
        *witnesses, level = lines
        new = {line["witness"]: line for line in witnesses}
        named = {entry.get("witness") for entry in (level, *level.get("sources", ()))}
        earlier = [line for name, line in self.accepted.items() if name in named - new.keys()]
        if not prover.accepts([*earlier, *lines]):
            return False
        self.accepted |= new
        return True

    def _searched(self, verdict: Verdict, prover: Prover) -> list[dict[str, Any]] | None:
        level = str(verdict.level)
        if level not in CERTIFIED:
            return None
        if verdict.outcome is Outcome.VIOLATED:
            line = prover.violated(level)
            return None if line is None else [line]
        orders = sorted(self.report.witnesses, key=lambda witness: str(witness.level) != level)
        contents = [self._content(witness, has_writers=True, is_whole=False) for witness in orders]
        found = prover.holds(level, contents)
        if found is None:
            return None
        line, witnesses = found
        return [*self._with_witnesses(line, [(_Content(content), source) for content, source in witnesses])]

    def _lines(self, verdict: Verdict) -> list[dict[str, Any]]:
        """The line of a level, after the witnesses that it is the first to name."""
        level = str(verdict.level)
        if level not in CERTIFIED:
            raise UncertifiedError("the format has no proof for the level")
        line = {"level": level, "outcome": str(verdict.outcome)}
        if CERTIFIED[level].kind == "clock":
            if self.prover is None:
                _refuse_by_values(verdict)
                self.names.refuse_clock()
            return [line]
        if CERTIFIED[level].kind == "guarantee" and self.prover is None:
            self._refuse_wrong_reads(verdict)
        if verdict.outcome is Outcome.VIOLATED:
            if self.prover is None:
                self.names.refuse_violated(level)
            return [line | {"proof": proof_of(verdict, self.names)}]
        if self.prover is None:
            self.names.refuse_holds(level, is_replayed=CERTIFIED[level].kind in REPLAYED)
        return [*self._holds(line, level)]

    def _refuse_wrong_reads(self, guarantee: Verdict) -> None:
        """A session that reads an element too often, or what its writer replaced, has met no version."""
        is_violated = guarantee.outcome is Outcome.VIOLATED
        wrong = {"duplicate-elements"} | ({"intermediate-read"} if is_violated else set())
        if any(wrong & verdict.anomaly_counts.keys() for verdict in self.report):
            raise UncertifiedError("a session reads what is no version")

    def _holds(self, line: dict[str, str], level: str) -> Iterator[dict[str, Any]]:
        if level == "cut-isolation":
            yield line
            return
        is_replayed = CERTIFIED[level].kind in REPLAYED
        found = [
            (self._written(witness, is_replayed=is_replayed), witness.source)
            for witness in self._found(level)
        ]
        yield from self._with_witnesses(line, found)

    def _written(self, witness: WitnessOrder, *, is_replayed: bool) -> _Content:
        """The content of a witness and its text; made once, because many levels share a witness."""
        name = id(witness), is_replayed and bool(witness.reads)
        if name not in self.contents:
            self.contents[name] = self._made(witness, is_replayed=is_replayed)
        return self.contents[name]

    def _made(self, witness: WitnessOrder, *, is_replayed: bool) -> _Content:
        versions, writers = self._packed(witness), "" if is_replayed else self._packed_writers(witness)
        fields = self._content(witness, has_writers=not (is_replayed or writers), has_versions=not versions)
        return _Content(fields, versions, writers)

    def _packed(self, witness: WitnessOrder) -> str:
        """The versions of a witness as text, without an object for each; empty if they have none."""
        if self.prover is not None or not isinstance(witness.versions, VersionsOfKeys):
            return ""
        text, is_torn = witness.versions.packed() or ("", False)
        if is_torn:
            _refuse_torn(witness)
        return text

    def _packed_writers(self, witness: WitnessOrder) -> str:
        """The writers of reads of a witness as text, in the same way."""
        if self.prover is not None or not isinstance(witness.reads, WritersOfReads) or not witness.reads:
            return ""
        return witness.reads.packed() or ""

    def _with_witnesses(
        self, line: dict[str, Any], found: Sequence[tuple[_Content, str]]
    ) -> Iterator[dict[str, Any]]:
        """The line of a level that holds, after those of its witnesses that are new."""
        entries = []
        for content, source in found:
            text = content.text
            if text not in self.witnesses:
                name = self.witnesses[text] = str(len(self.witnesses) + 1)
                self.texts[name] = text
                yield {"witness": name} | content.fields
            entries.append({"source": _SOURCES.get(source, source), "witness": self.witnesses[text]})
        if not entries:
            yield line
        elif entries[0]["source"]:
            yield line | {"sources": entries}
        else:
            yield line | {"witness": entries[0]["witness"]}

    def _found(self, level: str) -> list[WitnessOrder]:
        """The witness of a level; one for each source of the version order, if these are contradictory."""
        by_level: dict[Level, list[WitnessOrder]] = {}
        for witness in self.report.witnesses:
            by_level.setdefault(witness.level, []).append(witness)
        meant = Level(level)
        # The commit orders of the weak levels follow from values; the format asks for recorded ones too.
        is_weak = bool(CERTIFIED[level].axiom) and self.names.has_recorded_orders
        if meant in by_level and not is_weak:
            return by_level[meant]
        weak = {name for name, rules in CERTIFIED.items() if rules.axiom}
        for stronger, found in by_level.items():
            is_usable = str(stronger) not in weak and found[0].form is not WitnessForm.VERSIONS
            if is_usable and meant in implied(stronger):
                return found
        if is_weak:
            raise UncertifiedError(
                "the order of commits does not follow timestamps, a log or a declared order"
            )
        raise UncertifiedError("no order was found that shows why the level holds")

    def _content(
        self, witness: WitnessOrder, *, has_writers: bool, is_whole: bool = True, has_versions: bool = True
    ) -> dict[str, Any]:
        """A witness without its name; if it need not be whole, without what the format has no words for."""
        names = self.names
        content: dict[str, Any] = {}
        if witness.form is not WitnessForm.VERSIONS:
            content[str(witness.form)] = names.transactions(witness.order)
        elif has_versions:
            content["versions"] = [*self._versions(witness, is_whole=is_whole)]
        if self.report.history["indeterminate"]:
            content["took_effect"] = names.transactions(witness.took_effect)
        if witness.reads and has_writers:
            content["writers"] = [*self._writers(witness, is_whole=is_whole)]
        return content

    def _versions(self, witness: WitnessOrder, *, is_whole: bool) -> Iterator[list[Any]]:
        for _, writes in witness.versions:
            is_torn = len({write.transaction for write in writes}) < len(writes)
            if is_torn and is_whole:
                _refuse_torn(witness)
            yield [*map(self.names.operation, writes)]

    def _writers(self, witness: WitnessOrder, *, is_whole: bool) -> Iterator[list[Any]]:
        for shown in witness.reads:
            if shown.is_list and not is_whole:
                continue
            if shown.is_list:
                raise UncertifiedError("elements of lists have several possible writers")
            [write] = shown.writes
            yield [self.names.operation(shown.read), None if write is None else self.names.operation(write)]


def _refuse_torn(witness: WitnessOrder) -> None:
    """The engine takes the last version of a transaction for all of them, the verifier looks at each."""
    if str(witness.level) == "writes-follow-reads":
        raise UncertifiedError("a transaction appended to a list more than once")


def _refuse_by_values(verdict: Verdict) -> None:
    """The verifier judges clock levels by timestamps alone, not by what they imply."""
    by_clock = ("stale-read", "session-order", "write-conflict", "timestamp-inversion")
    is_violated = verdict.outcome is Outcome.VIOLATED
    if is_violated and not any(anomaly.name in by_clock for anomaly in verdict.anomalies):
        raise UncertifiedError("a clock level is violated by values, not by timestamps")
