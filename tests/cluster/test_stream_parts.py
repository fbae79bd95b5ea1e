"""Parts of a stream without Spark: what they find together, in whichever order transactions arrive."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from isoscope import checkers, formats
from isoscope.checkers.timestamps import LEVELS
from isoscope.cli.watch import command
from isoscope.cluster.arrivals import END, TIMES, Arrival, Cutter, joined
from isoscope.cluster.stream_part import PartResult, StreamPart, StreamQuestion
from isoscope.cluster.stream_report import StreamSoFar
from isoscope.errors import IsoscopeError, UsageError
from isoscope.history import Initial
from isoscope.reports import render_text
from isoscope.verdict import Outcome, Report
from tests.cluster.arriving import TIMEOUT, arrived, batches, lines, time_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

QUESTION = StreamQuestion(levels=LEVELS, parts=3, timeout=TIMEOUT, keep=60, max_anomalies=10, initial=0)
CUTTER = Cutter(parts=QUESTION.parts, clock_unit="ms")


class LocalStream:
    """What `SparkStream` does, in this process; the state of each part is bytes between batches."""

    def __init__(self) -> None:
        self.states: dict[int, bytes] = {}
        self.so_far = StreamSoFar()
        self.results: list[PartResult] = []
        self.latest = 0

    def take(self, some: Sequence[str]) -> None:
        """A batch, and then one without data because the watermark moved."""
        self._batch(arrivals_of(some))
        self.latest = max(self.latest, *map(time_of, some))
        self._batch({})

    def end(self) -> Report:
        """Everything is final."""
        self.latest = END + TIMEOUT
        self._batch({})
        return self.so_far.report(QUESTION, "stream")

    def _batch(self, found: dict[int, list[Arrival]]) -> None:
        watermark = max(self.latest - TIMEOUT, 0)
        for number in sorted({*self.states, *found}):
            saved = self.states.get(number)
            part = (
                StreamPart.new(number, QUESTION)
                if saved is None
                else StreamPart.load(number, QUESTION, saved)
            )
            result = part.advance(found.get(number, []), watermark)
            self.states[number] = part.save()
            self.results.append(pickle.loads(pickle.dumps(result)))
            self.so_far.take(self.so_far.batch + 1, [self.results[-1]])

    def found(self) -> Counter[tuple[str, ...]]:
        """The findings that were not taken back."""
        known: Counter[tuple[str, ...]] = Counter()
        for result in self.results:
            for one in result.findings:
                names = (one.level, one.name, one.transaction, one.other, one.key)
                known[tuple(map(str, names))] += -1 if one.is_retracted else 1
        return +known


def arrivals_of(some: Sequence[str]) -> dict[int, list[Arrival]]:
    count = len(some)
    columns = {
        "value": [one.encode(errors="surrogateescape") for one in some],
        "place": ["here"] * count,
        "is_end": [False] * count,
    }
    batch = pa.RecordBatch.from_pydict(columns)
    found: dict[int, list[Arrival]] = {}
    # Two batches of one worker are one row for each part.
    for rows in joined([*CUTTER.cut([batch.slice(0, 5)]), *CUTTER.cut([batch.slice(5)])]):
        for part, payload in zip(rows["part"].to_pylist(), rows["payload"].to_pylist(), strict=True):
            if part != TIMES:
                assert part not in found
                found[part] = pickle.loads(payload)
    return found


def streamed(some: Sequence[str], size: int = 17) -> LocalStream:
    stream = LocalStream()
    for batch in batches(some, size):
        stream.take(batch)
    return stream


def in_one(whole: Sequence[str], folder: Path) -> Report:
    path = folder / "whole.jsonl"
    path.write_text("\n".join(whole) + "\n")
    history = formats.load(path, initial=Initial(value=0))
    return checkers.check(history, LEVELS, method="timestamps", max_anomalies=1000)


def a_reader(whole: Sequence[str]) -> int:
    """The place of a transaction that no other needs."""
    written = [{one["t"] for one in json.loads(text)["ops"]} for text in whole]
    return next(place for place, kinds in enumerate(written) if kinds == {"r"})


def counts(report: Report) -> dict[str, dict[str, int]]:
    return {str(verdict.level): dict(verdict.anomaly_counts) for verdict in report.verdicts}


@pytest.mark.parametrize("seed", range(15))
def test_arrival_out_of_order_changes_nothing(seed: int, tmp_path: Path) -> None:
    whole = lines(seed)
    batch = in_one(whole, tmp_path)
    stream = streamed(arrived(whole, seed))
    report = stream.end()
    assert counts(report) == counts(batch)
    assert [one.outcome for one in report.verdicts] == [one.outcome for one in batch.verdicts]
    sizes = ("sessions", "transactions", "operations", "keys", "aborted", "evidence")
    assert [report.history[name] for name in sizes] == [batch.history[name] for name in sizes]
    in_order = streamed(sorted(whole, key=time_of), 40)
    in_order.end()
    assert stream.found() == in_order.found()
    assert "= nil" not in render_text(report), "operations that parts of sessions get in place of others"
    assert sum(stream.found().values()) == sum(sum(of.values()) for of in counts(batch).values())


def test_both_outcomes_and_every_anomaly_are_compared(tmp_path: Path) -> None:
    reports = [in_one(lines(seed), tmp_path) for seed in range(15)]
    names = Counter(name for report in reports for of in counts(report).values() for name in of)
    assert {"stale-read", "write-conflict", "session-order", "timestamp-inversion"} <= {*names}
    outcomes = Counter(verdict.outcome for report in reports for verdict in report.verdicts)
    assert min(outcomes[Outcome.HOLDS], outcomes[Outcome.VIOLATED]) >= 5


def test_a_transaction_behind_the_watermark_is_named_and_nothing_holds() -> None:
    whole = lines(0)
    late = a_reader(whole)
    stream = streamed(whole[:late] + whole[late + 1 :])
    stream.take([whole[late]])
    report = stream.end()
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.UNKNOWN}
    assert {verdict.reason for verdict in report.verdicts} == {"1 transaction came behind the watermark"}
    told = "1 transaction came behind the watermark, and reads of what it wrote look wrong"
    assert f"{told}: {late}" in report.assumptions
    assert [one for result in stream.results for one in result.late] == [late]
    assert report.history["transactions"] == 119


@pytest.mark.parametrize("seed", range(4))
def test_a_message_that_is_delivered_twice_counts_once(seed: int, tmp_path: Path) -> None:
    whole = lines(seed)
    at_once = [line for line in whole for _ in range(2)]
    # The copies of some come with the batch after theirs, when they wait for the watermark.
    later = [*whole[:34], *whole[30:34], *whole[34:], whole[-1]]
    for some in (at_once, later):
        report = streamed(some).end()
        assert counts(report) == counts(in_one(whole, tmp_path))
        assert report.history["transactions"] == len(whole)
        assert not any("behind the watermark" in told for told in report.assumptions)


def test_what_waits_for_the_watermark_is_told() -> None:
    stream = streamed(lines(0, 17))
    report = stream.so_far.report(QUESTION, "stream")
    waiting = 17 - int(str(report.history["transactions"]))
    assert waiting > 0
    assert (
        f"transactions that wait for the watermark, and are not judged yet: {waiting}" in report.assumptions
    )


def line(**fields: Any) -> str:
    return json.dumps({"tid": 1, "sid": 1, "sts": {"p": 1005}, "cts": {"p": 1006}, "ops": [], **fields})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "expected a transaction in the shape of AION as one line of JSON"),
        ("[1]", "expected a transaction in the shape of AION as one line of JSON"),
        ("\udcff{}", r"here: expected a transaction in the shape of AION as one line of JSON\n  \\xff\{\}"),
        (line(cts={"p": 10**18}), "is beyond what Spark takes for a time"),
    ],
)
def test_a_line_that_is_no_transaction_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        arrivals_of([text])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (line(status="indeterminate"), "it is not known whether it committed"),
        (line(sts=None, ops=[{"t": "r", "k": 1, "v": 0}]), "a transaction without its timestamps"),
        (line(ops=[{"t": "q", "k": 1, "v": 1}]), "expected"),
    ],
)
def test_a_transaction_that_cannot_be_judged_is_refused(text: str, problem: str) -> None:
    stream = LocalStream()
    with pytest.raises(IsoscopeError, match=problem):
        stream.take([text, line(tid=2, cts={"p": 2000})])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "spark"], "--engine spark needs --checkpoint, a folder for its state"),
        (
            ["--engine", "flink", "--checkpoint", "x"],
            "--engine is `spark` or `spark=MASTER_URL`, not `flink`",
        ),
        (
            ["--engine", "spark", "--checkpoint", "x", "--profile", "postgresql/serializable"],
            "--engine spark has no --profile",
        ),
        (["--checkpoint", "x", "--parts", "3"], "--checkpoint, --parts is for --engine spark"),
    ],
)
def test_the_command_refuses_what_does_not_fit_together(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(command, ["traffic", *arguments])
    assert message in str(result.exception)
