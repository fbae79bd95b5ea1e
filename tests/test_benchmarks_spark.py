"""The benchmark of streams on Spark, with a Spark that only says what it would have found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import process_tree, spark_stream


def faked(monkeypatch: pytest.MonkeyPatch, folder: Path, of_spark: int) -> list[list[int]]:
    """Runs streams as if they found so many anomalies; how many lines the files of each stream had."""
    files: list[list[int]] = []

    def run(*arguments: str, module: str = "isoscope") -> process_tree.Ran:
        if arguments[0] == "generate":
            return process_tree.run(*arguments)
        if module != "isoscope":
            parts = sorted(Path(arguments[0]).iterdir(), key=lambda path: path.stat().st_mtime)
            files.append([len(path.read_text().splitlines()) for path in parts])
        count = 3 if module == "isoscope" else of_spark
        verdicts = [{"level": "clock-serializable", "anomaly_counts": {"stale-read": count}}]
        cpu = {1: 2.0 + sum(files[-1]) / 1000 if module != "isoscope" else 1.0}
        return process_tree.Ran(json.dumps({"verdicts": verdicts}), 5.0, 1_000_000, cpu)

    monkeypatch.setattr(spark_stream, "DATA", folder)
    monkeypatch.setattr(spark_stream, "run", run)
    return files


def test_streams_get_all_lines_in_one_batch_and_in_ten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = faked(monkeypatch, tmp_path, of_spark=3)
    rows = [*spark_stream.measurements({50: (1, 10), 150: (1, 10)})]
    assert files == [[50], [5] * 10, [150], [15] * 10]
    assert [one.name for one in rows[:3]] == ["one process", "Spark, one batch", "Spark, 10 batches"]
    assert rows[4].figures["a further transaction"] == "1000 µs"
    assert "a further transaction" not in rows[1].figures


def test_a_stream_that_finds_something_else_ends_the_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faked(monkeypatch, tmp_path, of_spark=2)
    with pytest.raises(AssertionError, match="the counts differ"):
        list(spark_stream.measurements({50: (1,)}))
