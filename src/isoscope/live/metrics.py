"""The status as Prometheus reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["render_metrics"]

#: Name, kind, meaning, and where the status has it.
_OF_SERVICE = (
    ("uptime_seconds", "gauge", "Seconds since the start.", ("uptime",)),
    ("batches_total", "counter", "Batches taken.", ("intake", "batches")),
    ("batches_repeated_total", "counter", "Batches that had been taken.", ("intake", "repeated_batches")),
    ("batches_refused_total", "counter", "Batches that were refused.", ("intake", "refused_batches")),
    ("batches_in_flight", "gauge", "Batches under way.", ("intake", "in_flight")),
    ("transactions_total", "counter", "Transactions taken since the start.", ("intake", "transactions")),
    ("received_bytes_total", "counter", "Bytes of batches taken.", ("intake", "bytes")),
    ("transactions_per_second", "gauge", "Transactions a second.", ("intake", "rate")),
    ("lag_seconds", "gauge", "From the arrival of a batch to its answer.", ("intake", "lag")),
    ("memory_bytes", "gauge", "What the checkers hold.", ("memory", "used")),
    ("memory_limit_bytes", "gauge", "What they may hold.", ("memory", "limit")),
    ("journal_segment", "gauge", "Segment of the journal.", ("journal", "segment")),
    ("journal_position_bytes", "gauge", "Size of that segment.", ("journal", "position")),
    ("violations_total", "counter", "Final violations told, of all levels.", ("violations",)),
)
_OF_LEVEL = (
    ("level_transactions_total", "counter", "Transactions taken.", "transactions"),
    ("level_operations_total", "counter", "Operations taken.", "operations"),
    ("level_keys", "gauge", "Keys.", "keys"),
    ("level_live_transactions", "gauge", "Transactions in memory.", "live"),
    ("level_pending_transactions", "gauge", "Transactions that are not final.", "pending"),
    ("level_provisional_violations", "gauge", "Violations that may still be rectified.", "provisional"),
    ("level_repeated_total", "counter", "Transactions that came again.", "repeated"),
    ("level_unverifiable_total", "counter", "Transactions that came too late.", "unverifiable"),
    ("level_overturned_total", "counter", "Final answers that a late one changed.", "overturned"),
    ("level_memory_bytes", "gauge", "What the checker holds.", "memory"),
)


def render_metrics(status: Mapping[str, Any]) -> str:
    """The text format, version 0.0.4."""
    return "\n".join([*_of_service(status), *_of_levels(status["levels"]), ""])


def _of_service(status: Mapping[str, Any]) -> Iterator[str]:
    yield from _head("up", "gauge", "Whether batches are checked.")
    yield f"isoscope_up {int(status['state'] != 'failed')}"
    for name, kind, meaning, path in _OF_SERVICE:
        value: Any = status
        for step in path:
            value = value[step]
        if value is not None:
            yield from _head(name, kind, meaning)
            yield f"isoscope_{name} {value}"


def _of_levels(levels: list[Mapping[str, Any]]) -> Iterator[str]:
    for name, kind, meaning, field in _OF_LEVEL:
        yield from _head(name, kind, meaning)
        for level in levels:
            yield f'isoscope_{name}{{level="{level["level"]}"}} {level[field]}'
    yield from _head("level_violations_total", "counter", "Final violations by name.")
    for level in levels:
        for anomaly, count in sorted(level["counts"].items()):
            yield f'isoscope_level_violations_total{{level="{level["level"]}",name="{anomaly}"}} {count}'


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP isoscope_{name} {meaning}"
    yield f"# TYPE isoscope_{name} {kind}"
