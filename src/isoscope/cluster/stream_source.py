"""Where transactions arrive: a folder of JSON lines, or a topic of Kafka."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

from isoscope.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

__all__ = ["NO_CONNECTOR", "Topic", "arriving_lines", "topic_of"]

_SCHEME = "kafka://"
#: Seconds in which a broker takes a connection; milliseconds in which it answers, of three attempts.
_PATIENCE = 5.0
_ANSWERS = {"kafka.default.api.timeout.ms": 20_000, "kafka.request.timeout.ms": 15_000}
#: What Spark says if it cannot read from Kafka.
NO_CONNECTOR = "Failed to find data source: kafka"


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic, and brokers that know where it is: `HOST:PORT`, with commas between several."""

    servers: str
    name: str

    def reach(self) -> None:
        """Raises UsageError if no broker takes a connection: Spark itself would ask for minutes."""
        problems = []
        for server in self.servers.split(","):
            host, _, port = server.rpartition(":")
            try:
                with socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE):
                    return
            except OSError as error:
                problems.append(f"{server}: {error.strerror or error}")
        raise UsageError(
            f"cannot reach a broker of Kafka: {'; '.join(problems)}\n\n"
            "hint: is it running, and is this the port that it listens on?"
        )


def topic_of(source: str) -> Topic | None:
    """The topic that `kafka://HOST:PORT/TOPIC` names; None for a folder. Raises UsageError if malformed."""
    if not source.startswith(_SCHEME):
        return None
    servers, _, name = source.removeprefix(_SCHEME).partition("/")
    ports = [server.rpartition(":")[2] for server in servers.split(",") if server.rpartition(":")[0]]
    is_right = len(ports) == servers.count(",") + 1 and all(map(_is_port, ports))
    if not is_right or not name or "/" in name:
        raise UsageError(
            f"expected kafka://HOST:PORT/TOPIC\n  {source}\n\n"
            "hint: several brokers have commas between them, kafka://a:9092,b:9092/TOPIC"
        )
    return Topic(servers, name)


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdecimal() and 0 < int(text) < 1 << 16


def arriving_lines(spark: SparkSession, source: str, ends: Path, files_per_batch: int | None) -> DataFrame:
    """Each line or message as bytes, where it is, and whether it is the end: a file in the folder of ends."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - heavy, and an extra

    topic = topic_of(source)
    if topic is None:
        text = spark.readStream
        if files_per_batch is not None:
            text = text.option("maxFilesPerTrigger", files_per_batch)
        lines, place = text.text(source), f.col("_metadata.file_path")
    else:
        reader = spark.readStream.format("kafka").options(**_ANSWERS)
        reader = reader.option("kafka.bootstrap.servers", topic.servers).option("subscribe", topic.name)
        lines = reader.option("startingOffsets", "earliest").load()
        place = f.format_string("%s, partition %d, offset %d", "topic", "partition", "offset")
    value, is_end = f.col("value").cast("binary").alias("value"), f.lit(False)  # noqa: FBT003
    end = spark.readStream.text(str(ends))
    return lines.select(value, place.alias("place"), is_end.alias("is_end")).union(
        end.select(value, f.lit(""), f.lit(True))  # noqa: FBT003
    )
