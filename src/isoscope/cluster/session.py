"""A session of Apache Spark: the one that is there, or one on this machine."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from isoscope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

__all__ = ["HERE", "spark_session"]

#: The master of a session on this machine: a thread for each core.
HERE = "local[*]"
_QUIET = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c{1}: %m%n
# A part that is lost is computed again, and Spark says in the end if it cannot be.
logger.lost.name = org.apache.spark
logger.lost.level = off
# If this one's level is not that of the root, Spark prints two lines about it.
logger.shell.name = org.apache.spark.api.python.PythonGatewayServer
logger.shell.level = error
"""


@contextmanager
def spark_session(master: str = "") -> Iterator[SparkSession]:
    """A session at `master`; without one, at the master that Spark is configured for, or on this machine.

    Raises UsageError if Spark is not installed, or cannot be started.
    """
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415 - heavy, and an extra
    except ImportError:
        raise _missing("Apache Spark for Python") from None
    try:
        import pandas  # noqa: F401, PLC0415 - Spark asks for it before it hands Arrow over
    except ImportError:
        raise _missing("pandas, which Apache Spark needs,") from None
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    with tempfile.TemporaryDirectory(prefix="isoscope-", ignore_cleanup_errors=True) as folder:
        _quiet(folder)
        spark = _started(SparkSession, master or os.environ.get("SPARK_MASTER", "") or HERE)
        try:
            yield spark
        finally:
            spark.stop()


def _missing(what: str) -> UsageError:
    return UsageError(f"{what} is not installed\n\nhint: pip install 'isoscope[spark]'; it needs Java 17")


def _quiet(folder: str) -> None:
    """Lets Spark log errors only, unless the user has a configuration."""
    if not _is_configured():
        Path(folder, "log4j2.properties").write_text(_QUIET)
        os.environ["SPARK_CONF_DIR"] = folder


def _is_configured() -> bool:
    """Whether there are files that Spark reads; a distribution of Spark comes with templates of them."""
    if "SPARK_CONF_DIR" in os.environ:
        return True
    home = os.environ.get("SPARK_HOME")
    return bool(home) and any(path.suffix != ".template" for path in Path(str(home), "conf").glob("*"))


def _started(session: type[SparkSession], master: str) -> SparkSession:
    builder = (
        session.builder.master(master)
        .appName("isoscope")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
    )
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        builder = builder.config("spark.driver.memory", "4g")
    try:
        return builder.getOrCreate()
    except Exception as error:
        problem = (str(error) or type(error).__name__).splitlines()[0]
        raise UsageError(
            f"Apache Spark cannot be started at {master}: {problem}\n\n"
            "hint: it needs Java 17; JAVA_HOME names the folder that it is in"
        ) from None
