"""What the source of a stream may be, and a broker that is not there: all of it before Spark is started."""

from __future__ import annotations

import socket
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from isoscope.cli.watch import command
from isoscope.cluster.stream_source import Topic, topic_of
from isoscope.errors import UsageError
from tests.cluster.kafka_broker import unused_port

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("source", "topic"),
    [
        ("kafka://broker:9092/transactions", Topic("broker:9092", "transactions")),
        ("kafka://a:9092,[::1]:9093/all.of-them_1", Topic("a:9092,[::1]:9093", "all.of-them_1")),
        ("traffic/", None),
        ("s3a://traffic/2026-11/", None),
    ],
)
def test_a_topic_is_named_by_its_brokers(source: str, topic: Topic | None) -> None:
    assert topic_of(source) == topic


@pytest.mark.parametrize(
    "source",
    ["kafka://", "kafka://a:9092", "kafka://a:9092/", "kafka://a/t", "kafka://a:b/t", "kafka://:9092/t",
     "kafka://a:9092,/t", "kafka://a:99999/t", "kafka://a:9092/t/u"],
)  # fmt: skip
def test_a_topic_that_is_not_named_rightly_is_refused(source: str) -> None:
    with pytest.raises(UsageError, match="expected kafka://HOST:PORT/TOPIC"):
        topic_of(source)


def test_a_broker_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    port = unused_port()
    arguments = [f"kafka://127.0.0.1:{port}/t", "--engine", "spark", "--checkpoint", str(tmp_path / "state")]
    began = monotonic()
    result = CliRunner().invoke(command, arguments)
    assert isinstance(result.exception, UsageError)
    told = f"cannot reach a broker of Kafka: 127.0.0.1:{port}: Connection refused"
    assert str(result.exception).startswith(told)
    assert monotonic() - began < 30
    assert not (tmp_path / "state").exists()


def test_one_of_several_brokers_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        Topic(f"127.0.0.1:{unused_port()},127.0.0.1:{server.getsockname()[1]}", "t").reach()
