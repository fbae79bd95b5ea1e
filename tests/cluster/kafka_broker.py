"""A broker of Apache Kafka for one test, from jars in the user's cache; `python -m` this module gets them."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from isoscope.databases.downloads import cache_folder
from tests.interrupts import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["PARTITIONS", "Kafka", "absence", "kafka", "unused_port"]

#: A topic has so many from its first message on.
PARTITIONS = 3
_BROKER = ("org.apache.kafka:kafka_2.13:3.9.1", "org.slf4j:slf4j-simple:1.7.36")
#: Any 3.5 serves every Spark 3.5. The rest of what it depends on is part of Spark.
_CONNECTOR = ("org.apache.spark:spark-sql-kafka-0-10_2.12:3.5.7",)
_OF_CONNECTOR = ("spark-sql-kafka-*", "spark-token-provider-kafka-*", "kafka-clients-*", "commons-pool2-*")
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
#: Small and quick to start, not fast.
_JAVA = ("java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp")
#: Seconds in which Kafka ends by itself, and that its commands may take on a busy machine.
_PATIENCE, _LONG = 20, 120
_SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}/log
num.partitions={partitions}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


def _place() -> Path:
    return cache_folder() / "kafka-3.9.1"


def absence() -> str:
    """Why there is no Kafka; empty if there is."""
    if shutil.which("java") is None:
        return "Apache Spark and Kafka need Java: `apt-get install openjdk-17-jre`"
    if not _place().is_dir():
        return f"no jars of Kafka in {_place()}: `python -m tests.cluster.kafka_broker` gets them with Maven"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kafka:
    """A running broker."""

    port: int
    folder: Path

    def url(self, topic: str) -> str:
        """The topic as `isoscope watch` takes it."""
        return f"kafka://127.0.0.1:{self.port}/{topic}"

    @property
    def connector(self) -> str:
        """What `PYSPARK_SUBMIT_ARGS` must be, so that Spark reads from Kafka."""
        jars = [str(jar) for name in _OF_CONNECTOR for jar in (_place() / "connector").glob(f"{name}.jar")]
        return f"--jars {','.join(jars)} pyspark-shell"

    def size(self, topic: str, partition: int) -> int:
        """The bytes of a partition."""
        return sum(one.stat().st_size for one in (self.folder / "log" / f"{topic}-{partition}").glob("*.log"))

    def send(self, topic: str, messages: Sequence[tuple[str, str]]) -> None:
        """Sends messages, each with the key that chooses its partition, in their order."""
        command = [*_java("kafka.tools.ConsoleProducer"), "--bootstrap-server", f"127.0.0.1:{self.port}"]
        command += ["--topic", topic, "--property", "parse.key=true", "--property", "null.marker=NULL"]
        text = "".join(f"{key}\t{value}\n" for key, value in messages)
        subprocess.run(command, input=text, text=True, check=True, capture_output=True, timeout=_LONG)


@contextmanager
def kafka() -> Iterator[Kafka]:
    """Starts a broker on this machine only; stops it afterwards, whatever happened."""
    with tempfile.TemporaryDirectory(prefix="isoscope-kafka-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        port = unused_port()
        settings = folder / "server.properties"
        settings.write_text(
            _SETTINGS.format(port=port, controller=unused_port(), folder=folder, partitions=PARTITIONS)
        )
        command = [*_java("kafka.tools.StorageTool"), "format", "-c", str(settings)]
        command += ["-t", "aXNvc2NvcGUta2Fma2EtMQ"]
        subprocess.run(command, check=True, capture_output=True, timeout=_LONG)
        log = folder / "broker.log"
        with log.open("w") as output:
            process = subprocess.Popen(
                [*_java("kafka.Kafka"), str(settings)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )  # fmt: skip
        try:
            wait_until(lambda: _is_started(process, log))
            yield Kafka(port=port, folder=folder)
        finally:
            _stop(process)


def _is_started(process: subprocess.Popen[bytes], log: Path) -> bool:
    text = log.read_text()
    assert process.poll() is None, f"Kafka ended:\n{text[-2000:]}"
    return "Kafka Server started" in text


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _java(main: str) -> list[str]:
    return [*_JAVA, str(_place() / "broker" / "*"), main]


def unused_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


def _fetch() -> None:
    """Gets the jars of the broker and of Spark's connector; complete or not at all."""
    _place().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=_place().parent) as folder:
        whole = Path(folder, "whole")
        _copy(_BROKER, whole / "broker")
        _copy(_CONNECTOR, whole / "connector")
        whole.rename(_place())


def _copy(artifacts: Sequence[str], target: Path) -> None:
    """Maven copies only what a project depends on, so this makes one."""
    target.mkdir(parents=True)
    wanted = "".join(_element("dependency", _named(*one.split(":"))) for one in artifacts)
    own = _element("modelVersion", "4.0.0") + _named("isoscope", "isoscope", "1")
    project = own + _element("dependencies", wanted)
    (target / "pom.xml").write_text(_element("project", project))
    command = ["mvn", "-q", "-B", _COPY, f"-DoutputDirectory={target}", "-DincludeScope=runtime"]
    subprocess.run(command, cwd=target, check=True, timeout=900)


def _named(group: str, artifact: str, version: str) -> str:
    named = {"groupId": group, "artifactId": artifact, "version": version}
    return "".join(_element(*one) for one in named.items())


def _element(name: str, content: str) -> str:
    return f"<{name}>{content}</{name}>"


if __name__ == "__main__":
    if _place().is_dir():
        sys.exit(f"they are there: {_place()}")
    _fetch()
