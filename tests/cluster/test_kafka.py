"""`isoscope watch kafka://...` on Spark: what one machine finds, a driver that is killed, faults."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.cluster.arriving import lines, time_of
from tests.cluster.kafka_broker import PARTITIONS, Kafka, absence, kafka
from tests.cluster.test_stream_parts import counts, in_one
from tests.interrupts import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

pytestmark = [
    pytest.mark.server,
    pytest.mark.timeout(900),
    pytest.mark.skipif(bool(absence()), reason=absence() or "there is one"),
]
#: Seconds that a check may take, on a busy machine.
_LONG = 400
#: Larger than the times of what is sent at once, because partitions are read at different times.
_TIMEOUT = 1.0


@pytest.fixture(scope="module")
def broker() -> Iterator[Kafka]:
    pytest.importorskip("pyspark", reason="`pip install isoscope[spark]`")
    with kafka() as running:
        yield running


def keyed(some: Sequence[str]) -> list[tuple[str, str]]:
    """Messages: each session has its partition."""
    return [(str(json.loads(line)["sid"]), line) for line in some]


class Watch:
    """`isoscope watch` as a process, and all that it starts."""

    def __init__(self, broker: Kafka, topic: str, folder: Path, *options: str, connector: str) -> None:
        command = [sys.executable, "-m", "isoscope", "watch", broker.url(topic)]
        command += ["--engine", "spark=local[2]", "--checkpoint", str(folder / "state"), "--parts", "2"]
        command += ["--clock-unit", "ms", "--timeout", str(_TIMEOUT), "--keep", "0.06", "--initial", "0"]
        environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": connector}
        with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
            self.process = subprocess.Popen(
                [*command, *options], env=environment, stdout=out, stderr=err, start_new_session=True
            )
        self._folder = folder

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()

    def kill(self) -> None:
        """SIGKILL for the driver, both Python and Java, and for its workers."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def status(self) -> int:
        """The exit status; what was printed is then complete."""
        return self.process.wait(_LONG)

    @property
    def out(self) -> str:
        return (self._folder / "out").read_text()

    @property
    def err(self) -> str:
        return (self._folder / "err").read_text()


def watched(broker: Kafka, topic: str, folder: Path, *options: str) -> Watch:
    return Watch(broker, topic, folder, *options, connector=broker.connector)


def violations(folder: Path) -> list[dict[str, object]]:
    """The events of all batches, in their order."""
    paths = sorted((folder / "state" / "violations").glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def test_a_topic_of_several_partitions_has_the_violations_of_one_machine(
    broker: Kafka, tmp_path: Path
) -> None:
    whole = lines(1)
    broker.send("several", keyed(whole))
    sizes = [broker.size("several", number) for number in range(PARTITIONS)]
    assert sum(map(bool, sizes)) >= 2, sizes
    with watched(broker, "several", tmp_path, "--to-the-end", "--json") as watch:
        assert watch.status() == 1, watch.err
    said = json.loads(watch.out)
    batch = in_one(whole, tmp_path)
    assert {one["level"]: one["anomaly_counts"] for one in said["verdicts"]} == counts(batch)
    assert [said["history"][name] for name in ("transactions", "operations")] == [
        batch.history[name] for name in ("transactions", "operations")
    ]
    assert watch.err == ""


def test_a_driver_that_is_killed_goes_on_from_its_checkpoint(broker: Kafka, tmp_path: Path) -> None:
    whole = lines(2, 750)
    third = len(whole) // 3
    spans = [time_of(whole[end - 1]) - time_of(whole[0]) for end in (third, 2 * third)]
    assert spans[0] < 1000 * _TIMEOUT < spans[1] - 100
    broker.send("killed", keyed(whole[:third]))
    with watched(broker, "killed", tmp_path) as watch:
        broker.send("killed", keyed(whole[third : 2 * third]))
        # The file of a batch is written before Spark calls the batch done.
        wait_until(lambda: watch.process.poll() is not None or bool(violations(tmp_path)), seconds=_LONG)
        assert watch.process.poll() is None, watch.err
        watch.kill()
    before = violations(tmp_path)
    broker.send("killed", keyed(whole[2 * third :]))
    with watched(broker, "killed", tmp_path, "--to-the-end", "--json") as again:
        assert again.status() == 1, again.err
    batch = counts(in_one(whole, tmp_path))
    said = json.loads(again.out)
    assert {one["level"]: one["anomaly_counts"] for one in said["verdicts"]} == batch
    events = violations(tmp_path)
    assert events[: len(before)] == before
    assert len(events) > len(before)
    assert [one["id"] for one in events] == [*range(1, len(events) + 1)]
    found = Counter((one["level"], one["name"]) for one in events)
    assert found == {(level, name): n for level, of in batch.items() for name, n in of.items()}


@pytest.mark.parametrize(("message", "shown"), [("no transaction", "no transaction"), ("NULL", "no value")])
def test_a_message_that_is_no_transaction_is_shown_with_its_place(
    broker: Kafka, tmp_path: Path, message: str, shown: str
) -> None:
    topic = f"wrong-{len(message)}"
    broker.send(topic, [("a", message)])
    place = next(number for number in range(PARTITIONS) if broker.size(topic, number))
    with watched(broker, topic, tmp_path, "--to-the-end") as watch:
        assert watch.status() == 2
    expected = "expected a transaction in the shape of AION as one line of JSON"
    assert watch.err.startswith(f"error: {topic}, partition {place}, offset 0: {expected}\n  {shown}\n")
    assert "Traceback" not in watch.err
    assert watch.out == ""


def test_a_spark_without_the_connector_is_told_what_it_needs(broker: Kafka, tmp_path: Path) -> None:
    with Watch(broker, "several", tmp_path, "--to-the-end", connector="pyspark-shell") as watch:
        assert watch.status() == 2
    assert watch.err.startswith("error: Apache Spark has no connector for Kafka\n")
    assert "Traceback" not in watch.err
