"""Parts of a history, judged one by one and merged, give the report of the whole, byte for byte."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from isoscope import checkers, formats
from isoscope.cluster.distributed_check import Question, reports_of
from isoscope.cluster.files import files_of
from isoscope.errors import FormatError, IsoscopeError, UsageError
from isoscope.history import Operation, OperationKind, Status, Transaction
from isoscope.levels import Level
from isoscope.recorder import build
from isoscope.reports import render_json
from isoscope.verdict import Method, Outcome
from tests.cluster.generated import generated, saved, with_a_fault
from tests.cluster.local_parts import LocalParts

if TYPE_CHECKING:
    from pathlib import Path

    from isoscope.history import History
    from isoscope.verdict import Report

WRITE = Operation(kind=OperationKind.WRITE, key=1, value=1)


def judged(paths: list[str], question: Question, parts: int) -> list[Report | IsoscopeError]:
    files = [files_of(path) for path in paths]
    return reports_of(LocalParts(files, question.tasks(files), parts), question)


def asked(method: Method, *levels: Level) -> Question:
    return Question(levels=levels or None, method=method, shown=3)


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return saved(tmp_path_factory.mktemp("histories"))


@pytest.mark.slow
@pytest.mark.parametrize("parts", [2, 4])
@pytest.mark.parametrize(
    "question", [asked(Method.TIMESTAMPS), asked(Method.VALUES, Level.CUT_ISOLATION)], ids=str
)
def test_parts_give_the_report_of_the_whole(histories: list[str], question: Question, parts: int) -> None:
    outcomes: Counter[Outcome] = Counter()
    for path, report in zip(histories, judged(histories, question, parts), strict=True):
        assert not isinstance(report, IsoscopeError), report
        whole = in_one(path, question)
        assert render_json(report) == render_json(whole)
        outcomes.update(verdict.outcome for verdict in whole.verdicts)
    assert min(outcomes[Outcome.HOLDS], outcomes[Outcome.VIOLATED]) >= 20


WEAK = (Level.READ_COMMITTED, Level.READ_ATOMIC)
STRONG = (Level.PL_2, Level.SNAPSHOT_ISOLATION, Level.STRONG_SESSION_SERIALIZABLE)


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    [
        asked(Method.VALUES),
        asked(Method.VALUES, *WEAK),
        asked(Method.VERSION_ORDER),
        asked(Method.VERSION_ORDER, *STRONG),
    ],
    ids=str,
)
def test_the_order_of_transactions_is_judged_as_in_the_whole(
    histories: list[str], question: Question
) -> None:
    outcomes: Counter[Outcome] = Counter()
    for path, report in zip(histories, judged(histories, question, 3), strict=True):
        assert not isinstance(report, IsoscopeError), report
        whole = in_one(path, question)
        assert render_json(report) == render_json(whole)
        outcomes.update(verdict.outcome for verdict in whole.verdicts)
    assert min(outcomes[Outcome.HOLDS], outcomes[Outcome.VIOLATED]) >= 20


@pytest.fixture(scope="module")
def long_histories(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("long")
    for seed in range(60):
        formats.save(with_a_fault(seed), folder / f"{seed}.parquet")
    return [str(folder / f"{seed}.parquet") for seed in range(60)]


@pytest.mark.slow
@pytest.mark.parametrize("method", [Method.VALUES, Method.VERSION_ORDER])
def test_the_driver_needs_only_what_may_stand_on_a_cycle(long_histories: list[str], method: Method) -> None:
    levels = WEAK if method is Method.VALUES else STRONG
    question = replace(asked(method, *levels), driver_rows=300)
    outcomes: Counter[Outcome] = Counter()
    for path, report in zip(long_histories, judged(long_histories, question, 3), strict=True):
        assert not isinstance(report, IsoscopeError), report
        assert report.history["operations"] == 600
        whole = in_one(path, question)
        sizes = [int(v.reason.split()[0]) for v in report.verdicts if "rows may matter" in v.reason]
        if sizes:
            assert min(sizes) > question.driver_rows
            continue
        assert render_json(report) == render_json(whole)
        outcomes.update({verdict.outcome for verdict in whole.verdicts})
    assert min(outcomes[Outcome.HOLDS], outcomes[Outcome.VIOLATED]) >= 10


@pytest.mark.slow
def test_more_than_the_driver_takes_is_unknown_with_its_size(long_histories: list[str]) -> None:
    question = replace(asked(Method.VALUES, *WEAK), driver_rows=10)
    reports = judged(long_histories, question, 2)
    reasons = {
        v.reason for report in reports if not isinstance(report, IsoscopeError) for v in report.verdicts
    }
    pattern = r"\d+ rows may matter to the order of transactions, and the driver of Spark takes 10"
    assert any(re.fullmatch(pattern, reason) for reason in reasons)
    for path, report in zip(long_histories, reports, strict=True):
        assert not isinstance(report, IsoscopeError)
        for mine, whole in zip(report.verdicts, in_one(path, question).verdicts, strict=True):
            assert mine.outcome in (whole.outcome, Outcome.UNKNOWN)


def in_one(path: str, question: Question) -> Report:
    return checkers.check(
        formats.load(path), question.levels, method=question.method, max_anomalies=question.shown
    )


def transaction(number: int, **said: object) -> Transaction:
    fields: dict[str, object] = {"session": 0, "session_id": 0, "operations": (WRITE,), **said}
    return Transaction(number=number, id=number, **fields)  # type: ignore[arg-type]


def test_the_files_of_a_folder_are_one_history(tmp_path: Path) -> None:
    history = generated(2)
    formats.save(history, tmp_path / "whole.parquet")
    table = pq.read_table(tmp_path / "whole.parquet")
    cut = next(row for row in range(5, table.num_rows) if _starts(table, row))
    folder = tmp_path / "folder"
    folder.mkdir()
    pq.write_table(table.slice(0, cut), folder / "part-9.parquet")
    pq.write_table(table.slice(cut), folder / "part-10.parquet")
    (folder / "_SUCCESS").touch()
    [whole, parts] = judged([str(tmp_path / "whole.parquet"), str(folder)], asked(Method.TIMESTAMPS), 2)
    assert not isinstance(whole, IsoscopeError)
    assert not isinstance(parts, IsoscopeError)
    assert [v.anomaly_counts for v in whole.verdicts] == [v.anomaly_counts for v in parts.verdicts]
    places = {place for v in parts.verdicts for a in v.anomalies for place in (w.place for w in a.witnesses)}
    assert any(place.startswith(f"{folder}/part-10.parquet:") for place in places)


def _starts(table: pa.Table, row: int) -> bool:
    ids = table["transaction"].to_pylist()
    return bool(ids[row] != ids[row - 1])


def test_rows_of_a_transaction_that_stand_apart_are_refused(tmp_path: Path) -> None:
    path = _reordered(build([transaction(1, operations=(WRITE, WRITE)), transaction(2)]), [0, 2, 1], tmp_path)
    [error] = judged([path], asked(Method.TIMESTAMPS), 2)
    assert isinstance(error, UsageError)
    assert str(error).startswith(f"{path}:3: the rows of this transaction stand apart")


def _reordered(history: History, rows: list[int], folder: Path) -> str:
    path = folder / "reordered.parquet"
    formats.save(history, path)
    pq.write_table(pq.read_table(path).take(pa.array(rows)), path)
    return str(path)


def test_an_indeterminate_transaction_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "open.parquet"
    formats.save(build([transaction(1, status=Status.INDETERMINATE)]), path)
    [error] = judged([str(path)], asked(Method.TIMESTAMPS), 2)
    assert isinstance(error, UsageError)
    assert "1 transaction is indeterminate, which --engine spark does not judge" in str(error)


def test_a_range_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.parquet"
    formats.save(build([transaction(1)]), path)
    table = pq.read_table(path)
    kinds = pa.array(["range-read"])
    pq.write_table(table.set_column(table.column_names.index("kind"), "kind", kinds), path)
    [error] = judged([str(path)], asked(Method.TIMESTAMPS), 2)
    assert isinstance(error, UsageError)
    assert str(error).startswith(f"{path}:1: operation kind `range-read`")


def test_a_file_that_is_no_parquet_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("w(1,1,1,1)\n")
    with pytest.raises(FormatError, match="a Parquet file that is whole"):
        files_of(str(path))
