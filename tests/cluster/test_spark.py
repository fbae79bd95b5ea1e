"""The engine on Apache Spark itself: in this process, on workers of their own, and when one is killed."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from click.testing import CliRunner

from isoscope import checkers, formats
from isoscope.cli.check import command
from isoscope.cluster import check, spark_session
from isoscope.cluster.split_frames import SplitFrames
from isoscope.errors import IsoscopeError
from isoscope.reports import render_json
from isoscope.verdict import Method
from tests.cluster.generated import COUNT, saved, with_a_fault, with_a_hot_key
from tests.interrupts import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession
    from pyspark.status import SparkStageInfo

needs_spark = pytest.mark.skipif(
    shutil.which("java") is None, reason="Apache Spark needs Java: `apt-get install openjdk-17-jre`"
)


IS_DEEP = os.environ.get("ISOSCOPE_HYPOTHESIS") == "deep"
#: A cluster on this machine: two worker processes with a core each.
TWO_WORKERS = "local-cluster[2,1,1024]"


@pytest.fixture(scope="module")
def histories(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    pytest.importorskip("pyspark", reason="`pip install isoscope[spark]`")
    return saved(tmp_path_factory.mktemp("histories with spaces"))


@pytest.fixture(scope="module")
def spark(histories: list[str], request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    with spark_session(getattr(request, "param", TWO_WORKERS)) as session:
        yield session


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
@needs_spark
@pytest.mark.parametrize("spark", ["local[2]", TWO_WORKERS], indirect=True)
@pytest.mark.parametrize("partitions", [2, 4])
@pytest.mark.parametrize("method", [Method.TIMESTAMPS, Method.VALUES, Method.VERSION_ORDER])
def test_spark_gives_the_reports_of_the_native_checkers(
    spark: SparkSession, histories: list[str], method: Method, partitions: int
) -> None:
    reports = check(histories, spark=spark, method=method, partitions=partitions)
    for path, report in zip(histories, reports, strict=True):
        assert not isinstance(report, IsoscopeError), report
        whole = checkers.check(formats.load(path), method=method)
        assert render_json(report) == render_json(whole)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
@needs_spark
@pytest.mark.parametrize(
    ("method", "levels"),
    [
        (Method.VALUES, ("read-committed", "read-atomic")),
        (Method.VERSION_ORDER, ("pl-2", "snapshot-isolation", "strong-session-serializable")),
    ],
)
def test_only_what_may_stand_on_a_cycle_comes_to_the_driver(
    spark: SparkSession, tmp_path: Path, method: Method, levels: tuple[str, ...]
) -> None:
    paths = [str(tmp_path / f"{seed}.parquet") for seed in range(20)]
    for seed, path in enumerate(paths):
        formats.save(with_a_fault(seed), path)
    reports = check(paths, levels, spark=spark, method=method, partitions=3, driver_rows=300)
    compared = 0
    for path, report in zip(paths, reports, strict=True):
        assert not isinstance(report, IsoscopeError), report
        if any("rows may matter" in verdict.reason for verdict in report.verdicts):
            continue
        assert render_json(report) == render_json(checkers.check(formats.load(path), levels, method=method))
        compared += 1
    assert compared >= 10


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
@needs_spark
def test_a_key_that_is_cut_by_time_gives_the_report_of_one_process(
    spark: SparkSession, tmp_path: Path
) -> None:
    paths = [str(tmp_path / f"{seed}.parquet") for seed in range(40)]
    for seed, path in enumerate(paths):
        formats.save(with_a_hot_key(seed), path)
    with mock.patch.object(SplitFrames, "judged", autospec=True, side_effect=SplitFrames.judged) as judged:
        reports = check(
            paths, spark=spark, method=Method.TIMESTAMPS, partitions=2, key_rows=20, max_anomalies=3
        )
    [split] = [call.args[0].split for call in judged.call_args_list]
    assert len({one.key.history for one in split}) == 40
    assert max(len(one.cuts) for one in split) >= 4
    anomalies: Counter[str] = Counter()
    for path, report in zip(paths, reports, strict=True):
        assert not isinstance(report, IsoscopeError), report
        whole = checkers.check(formats.load(path), method=Method.TIMESTAMPS, max_anomalies=3)
        assert render_json(report) == render_json(whole)
        anomalies.update(name for verdict in whole.verdicts for name in verdict.anomaly_counts)
    assert min(anomalies[name] for name in ("stale-read", "write-conflict", "non-repeatable-read")) > 10


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
@needs_spark
def test_a_worker_that_is_killed_changes_nothing(spark: SparkSession, histories: list[str]) -> None:
    some = histories[: COUNT if IS_DEEP else 20]
    with ThreadPoolExecutor(1) as killer:
        killed = killer.submit(_kill_a_worker, spark)
        reports = check(some, spark=spark, method=Method.TIMESTAMPS, partitions=4)
        is_in_the_middle = killed.done()
    assert killed.result()
    assert is_in_the_middle
    for path, report in zip(some, reports, strict=True):
        assert not isinstance(report, IsoscopeError), report
        whole = checkers.check(formats.load(path), method=Method.TIMESTAMPS)
        assert render_json(report) == render_json(whole)


def _kill_a_worker(spark: SparkSession) -> bool:
    """Kills one executor that this process, through Spark's own, started, when tasks run."""
    tracker = spark.sparkContext.statusTracker()
    wait_until(lambda: any(map(_has_tasks, map(tracker.getStageInfo, tracker.getActiveStageIds()))))
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and _is_our_executor(folder):
            os.kill(int(folder.name), signal.SIGKILL)
            return True
    return False


def _has_tasks(stage: SparkStageInfo | None) -> bool:
    return stage is not None and stage.numActiveTasks > 0


def _is_our_executor(folder: Path) -> bool:
    try:
        command = (folder / "cmdline").read_bytes()
        ancestor = int(folder.name)
        while ancestor not in (0, 1, os.getpid()):
            status = Path(f"/proc/{ancestor}/stat").read_text()
            ancestor = int(status.rpartition(")")[2].split()[1])
    except OSError:
        return False
    return b"CoarseGrainedExecutorBackend" in command and ancestor == os.getpid()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "flink"], "--engine is `spark` or `spark=MASTER_URL`, not `flink`"),
        (["--engine", "spark", "--assume", "sequential-keys"], "--engine spark has no --assume"),
        (["--engine", "spark", "--format", "plume"], "--engine spark reads Parquet, not plume"),
    ],
)
def test_the_command_refuses_what_the_engine_cannot_do(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(command, ["history.parquet", *arguments])
    assert result.exit_code != 0
    assert message in str(result.exception)
