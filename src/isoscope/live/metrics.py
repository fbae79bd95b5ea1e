"""The status as Prometheus reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["described", "render_metrics"]

_UP = ("up", "gauge", "Whether batches are checked; 0: checking has failed.")
_READY = ("ready", "gauge", "Whether batches are taken; 0 also while the disk is full.")
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
    ("memory_grown_bytes", "gauge", "Growth of the process since its start.", ("memory", "grown")),
    ("journal_segment", "gauge", "Segment of the journal.", ("journal", "segment")),
    ("journal_position_bytes", "gauge", "Size of that segment.", ("journal", "position")),
    ("journal_checkpoint_segment", "gauge", "Segment of the last checkpoint.", ("journal", "checkpoint")),
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
_OF_PROFILE = (
    ("mechanisms_transactions_total", "counter", "Transactions taken.", "transactions"),
    ("mechanisms_operations_total", "counter", "Operations taken.", "operations"),
    ("mechanisms_keys", "gauge", "Keys.", "keys"),
    ("mechanisms_sessions", "gauge", "Sessions.", "sessions"),
    ("mechanisms_live_transactions", "gauge", "Transactions in memory.", "live"),
    ("mechanisms_pending_transactions", "gauge", "Transactions that wait for the watermark.", "pending"),
    ("mechanisms_repeated_total", "counter", "Transactions that came again.", "repeated"),
    ("mechanisms_late_total", "counter", "Transactions that came too late.", "late"),
    ("mechanisms_memory_bytes", "gauge", "What the checker holds.", "memory"),
    ("mechanisms_watermark", "gauge", "The instant that all sessions went beyond.", "watermark"),
    ("mechanisms_behind_seconds", "gauge", "From what was told to what is judged.", "behind"),
)
_OF_MECHANISM = (
    ("mechanism_checked_total", "counter", "Reads or pairs that were checked.", "checked"),
    ("mechanism_undecided_total", "counter", "Those that may be right or wrong.", "undecided"),
)
_OF_DEPENDENCIES = (
    ("dependencies_total", "counter", "Dependencies.", "total"),
    ("dependencies_overlapping_total", "counter", "Those whose intervals overlap.", "overlapping"),
    ("dependencies_uncertain_total", "counter", "Those that stay open.", "uncertain"),
)
_LEVEL_VIOLATIONS = ("level_violations_total", "counter", "Final violations by name.")
_MECHANISM_VIOLATIONS = ("mechanism_violations_total", "counter", "Violations by name.")


def described() -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Every metric that a service can export: name, kind, meaning and labels."""
    parts: tuple[tuple[tuple[tuple[Any, ...], ...], tuple[str, ...]], ...] = (
        ((_UP, _READY, *_OF_SERVICE), ()),
        (_OF_LEVEL, ("level",)),
        ((_LEVEL_VIOLATIONS,), ("level", "name")),
        (_OF_PROFILE, ("profile",)),
        (_OF_MECHANISM, ("profile", "mechanism")),
        (_OF_DEPENDENCIES, ("profile", "kind")),
        ((_MECHANISM_VIOLATIONS,), ("profile", "mechanism", "name")),
    )
    for rows, labels in parts:
        for name, kind, meaning, *_ in rows:
            yield f"isoscope_{name}", kind, meaning, labels


def render_metrics(status: Mapping[str, Any]) -> str:
    """The text format, version 0.0.4."""
    mechanisms = status["mechanisms"]
    judged = _of_levels(status["levels"]) if mechanisms is None else _of_mechanisms(mechanisms)
    return "\n".join([*_of_service(status), *judged, ""])


def _of_service(status: Mapping[str, Any]) -> Iterator[str]:
    is_ready = status["state"] == "running" and not status["problem"]
    for row, is_so in ((_UP, status["state"] != "failed"), (_READY, is_ready)):
        yield from _head(*row)
        yield f"isoscope_{row[0]} {int(is_so)}"
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
    yield from _head(*_LEVEL_VIOLATIONS)
    for level in levels:
        for anomaly, count in sorted(level["counts"].items()):
            yield f'isoscope_level_violations_total{{level="{level["level"]}",name="{anomaly}"}} {count}'


def _of_mechanisms(so_far: Mapping[str, Any]) -> Iterator[str]:
    # A file of a user may have any name.
    profile = f"profile={json.dumps(so_far['profile'], ensure_ascii=False)}"
    for name, kind, meaning, field in _OF_PROFILE:
        if so_far[field] is not None:
            yield from _head(name, kind, meaning)
            yield f"isoscope_{name}{{{profile}}} {so_far[field]}"
    parts = ((_OF_MECHANISM, "mechanism", "verdicts"), (_OF_DEPENDENCIES, "kind", "dependencies"))
    for rows, label, part in parts:
        for name, kind, meaning, field in rows:
            yield from _head(name, kind, meaning)
            for one in so_far[part]:
                yield f'isoscope_{name}{{{profile},{label}="{one[label]}"}} {one[field]}'
    yield from _head(*_MECHANISM_VIOLATIONS)
    for one in so_far["verdicts"]:
        for anomaly, count in sorted(one["counts"].items()):
            labels = f'{profile},mechanism="{one["mechanism"]}",name="{anomaly}"'
            yield f"isoscope_mechanism_violations_total{{{labels}}} {count}"


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP isoscope_{name} {meaning}"
    yield f"# TYPE isoscope_{name} {kind}"
