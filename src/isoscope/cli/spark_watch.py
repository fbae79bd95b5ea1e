"""`isoscope watch --engine spark`: a folder or a topic that grows, judged by Spark as it grows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from isoscope.cli.spark_engine import parse_engine
from isoscope.cli.stopping import stopping
from isoscope.errors import UsageError
from isoscope.live.event_json import ClockEvent, event_line
from isoscope.reports import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isoscope.cluster.stream_part import PartResult
    from isoscope.live.check_settings import CheckSettings
    from isoscope.verdict import Report

__all__ = ["SparkWatch"]

_MILLISECOND = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkWatch:
    """Writes what each batch found to `violations` in the checkpoint, and to the terminal."""

    engine: str
    source: str
    checkpoint: str | None
    clock_unit: str
    parts: int
    settings: CheckSettings
    is_quiet: bool

    def run(self, *, to_the_end: bool) -> Report:
        """The report when the query has stopped."""
        from isoscope.cluster import spark_session  # noqa: PLC0415 - heavy, and an extra
        from isoscope.cluster.stream import SparkStream  # noqa: PLC0415
        from isoscope.cluster.stream_part import StreamQuestion  # noqa: PLC0415
        from isoscope.cluster.stream_source import topic_of  # noqa: PLC0415

        master = parse_engine(self.engine)
        if self.checkpoint is None:
            raise UsageError("--engine spark needs --checkpoint, a folder for its state")
        if self.settings.profile is not None:
            raise UsageError(
                "--engine spark has no --profile\n\nhint: watch it without --engine, on one machine"
            )
        if topic := topic_of(self.source):
            topic.reach()
        folder = self._violations
        folder.mkdir(parents=True, exist_ok=True)
        question = StreamQuestion(
            levels=self.settings.levels,
            parts=self.parts,
            timeout=self.settings.timeout // _MILLISECOND,
            keep=self.settings.keep // _MILLISECOND,
            max_anomalies=self.settings.max_anomalies,
            initial=self.settings.initial,
        )
        # After the start of Spark, which has a handler of its own.
        with spark_session(master) as spark, stopping() as stop:
            return SparkStream(
                spark=spark,
                source=self.source,
                checkpoint=Path(self.checkpoint),
                question=question,
                clock_unit=self.clock_unit,
                found=self.found,
                stop=stop,
            ).run(to_the_end=to_the_end)

    @property
    def _violations(self) -> Path:
        return Path(str(self.checkpoint), "violations")

    def found(self, batch: int, lines: int, results: list[PartResult]) -> int:
        """Writes the file of a batch anew, whole: a batch that comes again has the same lines."""
        written = [*_lines(lines, results)]
        if not written:
            return 0
        path = self._violations / f"{batch:08}.jsonl"
        new = path.with_suffix(".new")
        new.write_bytes(b"".join(line + b"\n" for line in written))
        new.replace(path)
        if not self.is_quiet:
            click.echo("\n".join(_told(results)))
        return len(written)


def _lines(before: int, results: list[PartResult]) -> Iterator[bytes]:
    """An event for each violation, as the online service has it, and one for each late transaction."""
    number = before
    for result in results:
        time = result.watermark * _MILLISECOND
        for finding in result.findings:
            number += 1
            yield event_line(number, time, ClockEvent(finding.level, finding))
        for late in result.late:
            number += 1
            yield dumps({"id": number, "time": time, "late": late}).encode()


def _told(results: list[PartResult]) -> Iterator[str]:
    for result in results:
        yield from (ClockEvent(one.level, one).line() for one in result.findings)
        yield from (f"transaction {late!r} came behind the watermark" for late in result.late)
