"""`isoscope check --engine spark`: the same question, asked of Parquet histories on Apache Spark."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

from isoscope.errors import IsoscopeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from isoscope.history import Initial
    from isoscope.levels import Level
    from isoscope.verdict import Report

__all__ = ["SparkChecker", "parse_engine", "refuse_with_engine"]

_NAME = "spark"
#: Options that it does not have, by the names of their parameters.
_REFUSED = {
    "streaming": "--streaming",
    "anomalies": "--anomaly",
    "assume": "--assume",
    "profile_name": "--profile",
    "witness": "--witness",
    "certificate_path": "--certificate",
    "summarise": "--summary",
}


def parse_engine(engine: str) -> str:
    """The URL of the master in `spark[=MASTER_URL]`; empty if there is none."""
    name, _, master = engine.partition("=")
    if name != _NAME:
        raise UsageError(f"--engine is `spark` or `spark=MASTER_URL`, not `{engine}`")
    return master


def refuse_with_engine(given: Mapping[str, object]) -> None:
    """Raises UsageError for options of the command that ask for more than this engine answers."""
    for name, option in _REFUSED.items():
        if given[name]:
            raise UsageError(
                f"--engine spark has no {option}\n\nhint: check it without --engine, on one machine"
            )
    if (format_ := given["format_"]) not in (None, "parquet"):
        raise UsageError(
            f"--engine spark reads Parquet, not {format_}\n\nhint: `isoscope convert` writes Parquet"
        )


@dataclass(slots=True)
class SparkChecker:
    """Asks the question of one history after the other, in one session of Spark."""

    master: str
    levels: Sequence[Level]
    method: str | None
    initial: Initial | None
    max_anomalies: int
    fail_on: frozenset[Level] | None
    _stack: ExitStack = field(default_factory=ExitStack, init=False)
    _spark: object = field(default=None, init=False)

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Ends the session at last."""
        with self._stack:
            yield

    def report(self, path: str) -> Report:
        """The answer; the first one starts Spark."""
        from isoscope.cluster import check, spark_session  # noqa: PLC0415 - heavy, and an extra

        started = perf_counter()
        spark = self._stack.enter_context(spark_session(self.master)) if self._spark is None else self._spark
        self._spark = spark
        start = perf_counter() - started
        [answer] = check(
            [path],
            self.levels or None,
            spark=spark,  # type: ignore[arg-type]  # mypy does not follow the field
            method=self.method,
            initial=self.initial,
            max_anomalies=self.max_anomalies,
        )
        if isinstance(answer, IsoscopeError):
            raise answer
        return replace(answer, fail_on=self.fail_on, seconds={"start": start, **(answer.seconds or {})})
