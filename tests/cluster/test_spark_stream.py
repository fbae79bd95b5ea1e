"""The streaming check on Apache Spark itself: a stop in the middle, arrival out of order, late data."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from isoscope.checkers.timestamps import LEVELS
from isoscope.cli.spark_watch import SparkWatch
from isoscope.cli.watch import command
from isoscope.cluster import spark_session
from isoscope.cluster.stream import SparkStream
from isoscope.cluster.stream_part import StreamQuestion
from isoscope.errors import UsageError
from isoscope.live.check_settings import CheckSettings
from isoscope.reports import render_json
from tests.cluster.arriving import TIMEOUT, arrived, batches, lines
from tests.cluster.test_stream_parts import a_reader, counts, in_one

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from isoscope.cluster.stream_part import PartResult

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(
        shutil.which("java") is None, reason="Apache Spark needs Java: `apt-get install openjdk-17-jre`"
    ),
]
QUESTION = StreamQuestion(levels=LEVELS, parts=2, timeout=TIMEOUT, keep=60, max_anomalies=10, initial=0)


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    pytest.importorskip("pyspark", reason="`pip install isoscope[spark]`")
    with spark_session("local[2]") as session:
        yield session


class _StoppedError(Exception):
    """The process ends here."""


class _Sink:
    """The files of the command, and a stop before the batch with this number is done."""

    def __init__(self, checkpoint: Path, stop_at: int | None = None) -> None:
        (checkpoint / "violations").mkdir(parents=True, exist_ok=True)
        settings = CheckSettings(levels=LEVELS)
        self._watch = SparkWatch(
            engine="spark", source="", checkpoint=str(checkpoint), clock_unit="ms", parts=2,
            settings=settings, is_quiet=True,
        )  # fmt: skip
        self._stop_at = stop_at

    def __call__(self, batch: int, before: int, results: list[PartResult]) -> int:
        written = self._watch.found(batch, before, results)
        if batch == self._stop_at:
            raise _StoppedError
        return written


def stream(spark: SparkSession, folder: Path, name: str, stop_at: int | None = None) -> SparkStream:
    checkpoint = folder / name
    return SparkStream(
        spark=spark,
        source=str(folder / "in"),
        checkpoint=checkpoint,
        question=QUESTION,
        clock_unit="ms",
        files_per_batch=1,
        found=_Sink(checkpoint, stop_at),
    )


def write(folder: Path, some: Sequence[str], size: int = 40) -> None:
    """Files in an order that Spark keeps."""
    (folder / "in").mkdir(exist_ok=True)
    for batch in batches(some, size):
        number = len([*(folder / "in").iterdir()])
        path = folder / "in" / f"{number}.jsonl"
        path.write_text("\n".join(batch) + "\n")
        os.utime(path, (1_000_000 + 10 * number, 1_000_000 + 10 * number))


def sink(checkpoint: Path) -> bytes:
    """All violations, in their order."""
    return b"".join(path.read_bytes() for path in sorted((checkpoint / "violations").glob("*.jsonl")))


def test_a_stop_in_the_middle_changes_nothing(spark: SparkSession, tmp_path: Path) -> None:
    whole = lines(1)
    write(tmp_path, arrived(whole, 1))
    report = stream(spark, tmp_path, "whole").run(to_the_end=True)
    with pytest.raises(UsageError, match="Apache Spark failed"):
        stream(spark, tmp_path, "stopped", stop_at=2).run(to_the_end=True)
    assert 0 < len(sink(tmp_path / "stopped")) < len(sink(tmp_path / "whole"))
    again = stream(spark, tmp_path, "stopped").run(to_the_end=True)
    assert render_json(again) == render_json(report)
    assert sink(tmp_path / "stopped") == sink(tmp_path / "whole")
    batch = in_one(whole, tmp_path)
    assert counts(report) == counts(batch)
    events = [json.loads(line) for line in sink(tmp_path / "whole").splitlines()]
    found = Counter((one["level"], one["name"]) for one in events)
    assert found == {(level, name): n for level, of in counts(batch).items() for name, n in of.items()}
    assert [one["id"] for one in events] == [*range(1, len(events) + 1)]


def test_a_transaction_behind_the_watermark_is_named(spark: SparkSession, tmp_path: Path) -> None:
    whole = lines(0)
    late = a_reader(whole)
    write(tmp_path, whole[:late] + whole[late + 1 :])
    write(tmp_path, [whole[late]])
    report = stream(spark, tmp_path, "late").run(to_the_end=True)
    told = "1 transaction came behind the watermark, and reads of what it wrote look wrong"
    assert f"{told}: {late}" in report.assumptions
    assert [str(verdict.outcome) for verdict in report.verdicts] == ["unknown", "unknown"]
    [event] = map(json.loads, sink(tmp_path / "late").splitlines())
    assert event["late"] == late


def test_a_folder_of_state_answers_one_question(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, lines(0, 20))
    stream(spark, tmp_path, "ended").run(to_the_end=True)
    with pytest.raises(UsageError, match="was brought to its end"):
        stream(spark, tmp_path, "ended").run(to_the_end=True)


def test_a_line_that_is_no_transaction_is_told(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, ["no transaction"])
    with pytest.raises(UsageError, match="expected a transaction in the shape of AION"):
        stream(spark, tmp_path, "wrong").run(to_the_end=True)


def test_the_command_prints_the_report(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, lines(1))
    options = [
        "--engine",
        "spark",
        "--clock-unit",
        "ms",
        "--timeout",
        "0.04",
        "--keep",
        "0.06",
        "--initial",
        "0",
    ]
    arguments = [str(tmp_path / "in"), *options, "--checkpoint", str(tmp_path / "state"), "--to-the-end"]
    result = CliRunner().invoke(command, [*arguments, "--json"], standalone_mode=False)
    assert result.return_value == 1, result.output
    said = json.loads(result.output)
    batch = counts(in_one(lines(1), tmp_path))
    assert {one["level"]: one["anomaly_counts"] for one in said["verdicts"]} == batch
