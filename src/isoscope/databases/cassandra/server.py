"""Nodes of Apache Cassandra on this machine, for one run, from the jars that Maven has."""

from __future__ import annotations

import shutil
import socket
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from isoscope.databases.programs import cache_folder, fetch
from isoscope.errors import DatabaseError

if TYPE_CHECKING:
    from isoscope.databases.nodes import Nodes

__all__ = ["PORT", "VERSION", "find_jars", "start_nodes"]

VERSION = "6.0-alpha2"
PORT, _STORAGE = 9042, 7000
#: Seconds that a node may take to start, on a busy machine, and that the jars may take to arrive.
_PATIENCE, _DOWNLOAD = 300.0, 900
_TOKENS = 1 << 64
_POM = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
<modelVersion>4.0.0</modelVersion><groupId>isoscope</groupId><artifactId>isoscope</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId>
<version>{VERSION}</version></dependency></dependencies>
</project>
"""
_LOGGING = """\
<configuration><appender name="log" class="ch.qos.logback.core.ConsoleAppender"><encoder>
<pattern>%-5level %msg%n</pattern></encoder></appender>
<root level="WARN"><appender-ref ref="log"/></root></configuration>
"""
_SETTINGS = """\
cluster_name: isoscope
num_tokens: 1
initial_token: {token}
allocate_tokens_for_local_replication_factor: {count}
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
data_file_directories: [{folder}/data]
commitlog_directory: {folder}/commitlog
saved_caches_directory: {folder}/saved
hints_directory: {folder}/hints
cdc_raw_directory: {folder}/cdc
accord:
  enabled: true
  journal_directory: {folder}/accord
commitlog_sync: periodic
commitlog_sync_period: 10000ms
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "{seed}:{port}"
listen_address: {host}
broadcast_address: {known_as}
rpc_address: {host}
storage_port: {port}
native_transport_port: 9042
endpoint_snitch: SimpleSnitch
start_native_transport: true
memtable_heap_space: 64MiB
memtable_offheap_space: 64MiB
concurrent_reads: 8
concurrent_writes: 8
key_cache_size: 0MiB
auto_bootstrap: false
cas_contention_timeout: 30s
read_request_timeout: 30s
range_request_timeout: 30s
write_request_timeout: 30s
request_timeout: 30s
"""
#: Packages of Java that Cassandra uses although they are closed.
_OPENED = (
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.reflect",
    "java.base/java.math",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.time",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.util.jar",
    "java.base/sun.nio.ch",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.rmi/sun.rmi.transport",
    "java.rmi/sun.rmi.transport.tcp",
    "java.sql/java.sql",
    "java.logging/java.util.logging",
    "jdk.management/com.sun.management.internal",
    "jdk.management.jfr/jdk.management.jfr",
    "jdk.compiler/com.sun.tools.javac.file",
)


def find_jars(*, download: bool) -> Path:
    """The folder of Cassandra's jars, which `download` gets with Maven. Raises `DatabaseError` if missing."""
    folder = cache_folder() / f"cassandra-{VERSION}"
    if not folder.is_dir() and download:
        _download(folder)
    if not folder.is_dir():
        raise DatabaseError(
            f"the jars of Cassandra {VERSION} are not found in {folder}\n\n"
            "hint: --set download=on gets them with Maven (`mvn`), or name a server: cassandra://host:9042"
        )
    return folder


def _download(target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="isoscope-package-") as folder:
        (Path(folder) / "pom.xml").write_text(_POM)
        command = ["mvn", "-q", "-B", f"-Dmaven.repo.local={folder}/repository"]
        command += ["dependency:copy-dependencies", f"-DoutputDirectory={folder}/jars"]
        hint = f"is Maven Central reachable? The jars can also be put into {target}"
        what = f"the jars of Cassandra {VERSION} from Maven Central"
        fetch(what, command, folder, hint=hint, seconds=_DOWNLOAD)
        shutil.move(Path(folder) / "jars", target)


def start_nodes(nodes: Nodes, count: int, jars: Path) -> dict[str, str]:
    """Starts `count` nodes, one after the other; returns the address of each. Raises `DatabaseError`."""
    java = shutil.which("java")
    if java is None:
        raise DatabaseError("Cassandra cannot be started: there is no java on this machine")
    nodes.make(count, has_own_addresses=True)
    # Other nodes reach a node there, at its own address or at that of a relay.
    known = {name: nodes.relayed(name, _STORAGE)[0] for name in nodes.names}
    shared = {"count": count, "seed": known[nodes.names[0]], "port": _STORAGE}
    for number, (name, server) in enumerate(nodes.servers.items()):
        token = -(_TOKENS // 2) + number * (_TOKENS // count)
        host = nodes.addresses[name]
        told = {"token": token, "folder": server.folder, "host": host, "known_as": known[name]}
        server.write("cassandra.yaml", _SETTINGS.format(**shared, **told))
        server.write("logback.xml", _LOGGING)
        server.start_node(_command(java, server.folder, jars), partial(_listens, host), seconds=_PATIENCE)
    return dict(nodes.addresses)


def _command(java: str, folder: Path, jars: Path) -> list[str]:
    opened = [f"--add-{how}={package}=ALL-UNNAMED" for package in _OPENED for how in ("opens", "exports")]
    properties = {
        "jdk.attach.allowAttachSelf": "true",
        "cassandra.ring_delay_ms": "2000",
        "cassandra.skip_wait_for_gossip_to_settle": "0",
        "cassandra.storagedir": folder,
        "cassandra.config": f"file://{folder}/cassandra.yaml",
        "logback.configurationFile": f"{folder}/logback.xml",
        "cassandra-foreground": "yes",
        "java.io.tmpdir": folder,
    }
    return [
        java,
        "-Xms700m",
        "-Xmx700m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        *opened,
        *(f"-D{name}={value}" for name, value in properties.items()),
        "-cp",
        f"{folder}:{jars}/*",
        "org.apache.cassandra.service.CassandraDaemon",
    ]


def _listens(host: str) -> bool:
    with suppress(OSError), socket.create_connection((host, PORT), timeout=1):
        return True
    return False
