"""`python -m tests.verify.certified_histories [COUNT] [--from SEED] [--into FILE] [--record]`.

Certified random histories.

Each seed gives one history: registers and lists, with and without repeated values, unknown ends,
timestamps, real time, logs and declared orders, range reads, predicates and deletes. All levels are
checked, by all methods together or by one alone, and the certificate is verified. It counts the decided
levels that are verified, that have no certificate, and that the verifier rejects, which must be none.

`python -m benchmarks certificates` runs it as well. A long run is made in parts: `--into FILE` adds the
counts of the seeds to a file every hundred histories, and `--sum FILE --record` records all that it holds,
each seed once.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import record
from benchmarks.suite import Measurement

from isoscope import checkers, formats
from isoscope.cli.certificate_file import proofs
from isoscope.prove.certificates import Prover
from isoscope.verdict import Method, Outcome
from isoscope.verify.certificate import Certificate
from isoscope.verify.files import read_history
from isoscope.verify.verification import Verification
from tests import range_histories_spec
from tests.reference.choice_histories import random_choice_history
from tests.reference.clock_histories import random_clock_history
from tests.reference.histories import random_history
from tests.test_witness import registers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from isoscope.history import History
    from isoscope.verify.history import History as ReadHistory
    from isoscope.verify.verification import Finding

__all__ = ["FAMILIES", "METHODS", "certified", "drawn", "measurements"]

#: How the history of a seed is drawn: seeds take turns.
FAMILIES: dict[str, Callable[[int], History]] = {
    "registers": registers,
    "repeated values": lambda seed: random_choice_history(random.Random(seed), evidence=False),
    "repeated values with evidence": lambda seed: random_choice_history(random.Random(seed)),
    "serial runs": lambda seed: random_choice_history(random.Random(seed), is_true=True),
    "unique values with evidence": lambda seed: random_history(random.Random(seed), unique=True, judged=True),
    "anything": lambda seed: random_history(random.Random(seed), judged=True),
    "clocks": lambda seed: random_clock_history(random.Random(seed)),
    "serial runs of range reads": lambda seed: range_histories_spec.serial(random.Random(seed)),
    "range reads, changed": lambda seed: range_histories_spec.disturbed(random.Random(seed)),
}
#: By which method the levels are decided; None: by all together. Seeds of a family take turns.
METHODS = (None, Method.VALUES, None, Method.VERSION_ORDER, None, Method.TIMESTAMPS)


def drawn(seed: int) -> tuple[str, History]:
    """The family and the history of a seed."""
    family = [*FAMILIES][seed % len(FAMILIES)]
    return family, FAMILIES[family](seed)


def certified(
    history: History, folder: Path, *, searches: bool = True, method: Method | None = None
) -> Iterator[tuple[str, str, str, str]]:
    """Of each level: its name, its outcome, what became of its proof, and why it is not verified.

    Without `searches` the proofs are only those of the checkers, as for large histories.
    """
    path, file = folder / "history.parquet", folder / "certificate.jsonl"
    formats.save(history, path)
    loaded, read = formats.load(path), read_history(path)
    report = checkers.check(loaded, method=method, witness=True)
    made = proofs(loaded, report, None, Prover(read) if searches else None)
    file.write_text("".join(f"{line}\n" for line in made.lines))
    found = {finding.level: finding for finding in (_verified(read, file) if made.certified else [])}
    reasons = "; ".join(sorted(made.left_out))
    for verdict in report:
        level, outcome = str(verdict.level), str(verdict.outcome)
        if verdict.outcome is Outcome.UNKNOWN:
            yield level, outcome, "undecided", ""
        elif level not in found:
            yield level, outcome, "uncertified", reasons
        else:
            yield level, outcome, "verified" if found[level].verified else "rejected", found[level].reason


def _verified(history: ReadHistory, file: Path) -> Iterator[Finding]:
    """What the file proves; the prover has read the history, but what it found out is not shared."""
    verification = Verification(history, Certificate.read(file))
    yield from map(verification.find, verification.certificate.levels)


def main() -> None:
    first = int(_option("--from")) if "--from" in sys.argv else 0
    count = int(sys.argv[1]) if sys.argv[1:] and sys.argv[1].isdigit() else 1000
    with tempfile.TemporaryDirectory() as folder:
        if "--verdicts" in sys.argv:
            _print_verdicts(Path(folder), count)
            return
        if "--sum" in sys.argv:
            counts = _summed(Path(_option("--sum")))
        else:
            into = Path(_option("--into")) if "--into" in sys.argv else None
            counts = _counted(Path(folder), first, count, into)
    found = [*_measurements(counts)]
    for one in found:
        print(one.group, one.name, dict(one.figures))
    if "--record" in sys.argv:
        record.save("certificates", record.Result.of(found, commit=record.commit(), machine=None))


def measurements(count: int) -> Iterator[Measurement]:
    """The counts of so many histories, by kind, method and level."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _measurements(_counted(Path(folder), 0, count, None))


def _option(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1]


def _print_verdicts(folder: Path, count: int) -> None:
    """For `kernel_mutations`: every level of every history, as JSON lines; an error is no line."""
    for seed in range(count):
        try:
            history = drawn(seed)[1]
            searched = [*certified(history, folder)]
            plain = {level: proof for level, _, proof, _ in certified(history, folder, searches=False)}
            for level, outcome, proof, _ in searched:
                found = "rejected" if plain[level] == "rejected" else proof
                print(json.dumps([f"{seed} {level}", [outcome, found]]), flush=True)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit):
                raise
            print(f"{seed}: {error!r}", file=sys.stderr)


@dataclass
class _Counts:
    """Levels by name, outcome and proof; histories and proofs by family and by method."""

    seeds: set[int] = field(default_factory=set)
    levels: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    families: Counter[tuple[str, str]] = field(default_factory=Counter)
    methods: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, seed: int, folder: Path) -> None:
        """Certifies the history of a seed."""
        family, history = drawn(seed)
        method = METHODS[seed // len(FAMILIES) % len(METHODS)]
        self.seeds.add(seed)
        self.families[family, "histories"] += 1
        self.methods[_named(method), "histories"] += 1
        for level, outcome, proof, reason in certified(history, folder, method=method):
            self.levels[level, outcome, proof] += 1
            self.families[family, proof] += 1
            self.methods[_named(method), proof] += 1
            if proof in ("uncertified", "rejected"):
                self.reasons[f"{proof}: {reason}"] += 1
                told = f"{proof} seed {seed} ({family}, {_named(method)}) {level} {outcome}: {reason}"
                print(told, file=sys.stderr, flush=True)

    def line(self) -> str:
        """The counts as a line of JSON."""
        parts = [self.levels.items(), self.families.items(), self.methods.items(), self.reasons.items()]
        return json.dumps([sorted(self.seeds), *map(list, parts)])

    def add_line(self, line: str) -> None:
        """Adds the counts of a line, unless one of its seeds is there already."""
        seeds, levels, families, methods, reasons = json.loads(line)
        if self.seeds.isdisjoint(seeds):
            self.seeds.update(seeds)
            self.levels.update({(level, outcome, proof): n for (level, outcome, proof), n in levels})
            self.families.update({(family, what): n for (family, what), n in families})
            self.methods.update({(method, what): n for (method, what), n in methods})
            self.reasons.update(dict(reasons))


def _counted(folder: Path, first: int, count: int, into: Path | None) -> _Counts:
    counts = _Counts()
    for start in range(first, first + count, 100):
        part = _Counts()
        for seed in range(start, min(start + 100, first + count)):
            part.add(seed, folder)
        counts.add_line(part.line())
        if into is not None:
            with into.open("a") as file:
                file.write(f"{part.line()}\n")
        if (start - first) % 1000 == 0:
            print(f"{start - first + 100} histories", file=sys.stderr, flush=True)
    return counts


def _summed(path: Path) -> _Counts:
    counts = _Counts()
    for line in path.read_text().splitlines():
        counts.add_line(line)
    return counts


def _named(method: Method | None) -> str:
    return "all together" if method is None else str(method)


def _measurements(counts: _Counts) -> Iterator[Measurement]:
    yield from _by("By kind of history", FAMILIES, counts.families)
    yield from _by("By method", dict.fromkeys(map(_named, METHODS)), counts.methods)
    for level in dict.fromkeys(level for level, _, _ in counts.levels):
        cells = {
            f"{outcome}, {proof}": counts.levels[level, outcome, proof]
            for outcome in ("holds", "violated")
            for proof in ("verified", "uncertified", "rejected")
        }
        if any(cells.values()):
            yield _counts_of(f"`{level}`", cells, "By level")
    for reason, number in counts.reasons.most_common():
        yield _counts_of(reason, {"levels": number}, "Reasons")


def _by(group: str, names: Iterable[str], counts: Counter[tuple[str, str]]) -> Iterator[Measurement]:
    columns = ("histories", "verified", "uncertified", "rejected", "undecided")
    for name in names:
        yield _counts_of(name, {column: counts[name, column] for column in columns}, group)


def _counts_of(name: str, counts: Mapping[str, int], group: str) -> Measurement:
    return Measurement(name, {what: f"{number:,}" for what, number in counts.items()}, group)


if __name__ == "__main__":
    main()
