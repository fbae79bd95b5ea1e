"""The state of the service at the start of a segment of its journal; older segments are dropped.

`checkpoint-00000007` holds the state before the first record of `journal-00000007`. The file is written as a
whole or not at all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from isoscope.errors import UsageError
from isoscope.live.files import replace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Checkpoint", "LastBatch", "latest", "write"]

_MAGIC = b"isoscope checkpoint 1\n"


class LastBatch(NamedTuple):
    """The number and the checksum of the last batch of a collector; the checksum is empty if not known."""

    sequence: int
    checksum: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The state that a restart needs beside the journal from `segment` on.

    `collectors` are their last batches, `events` the lines and the bytes of the file of
    violations, `evidence` the kinds of evidence so far, `engines` the saved engines, level by level.
    """

    segment: int = 1
    time: int = 0
    collectors: Mapping[str, LastBatch] = field(default_factory=dict)
    events: tuple[int, int] = (0, 0)
    evidence: tuple[str, ...] = ()
    engines: tuple[bytes, ...] = ()


def latest(folder: Path) -> Checkpoint:
    """The newest checkpoint, or an empty one. Raises UsageError if it is damaged."""
    paths = sorted(path for path in folder.glob("checkpoint-*") if path.suffix != ".new")
    if not paths:
        return Checkpoint()
    data = paths[-1].read_bytes()
    body, check = data[:-4], data[-4:]
    if not body.startswith(_MAGIC) or crc32(body).to_bytes(4, "little") != check:
        raise UsageError(
            f"{paths[-1]}: the checkpoint is damaged\n\n"
            "hint: restore it from a backup, or start anew with another --data folder"
        )
    return _read(body[len(_MAGIC) :])


def write(folder: Path, checkpoint: Checkpoint) -> None:
    """Writes the checkpoint, then removes older ones. Raises OSError, and then the older ones are there."""
    head = {
        "segment": checkpoint.segment,
        "time": checkpoint.time,
        "collectors": checkpoint.collectors,
        "events": checkpoint.events,
        "evidence": checkpoint.evidence,
        "sizes": [len(engine) for engine in checkpoint.engines],
    }
    body = b"".join([_MAGIC, json.dumps(head).encode(), b"\n", *checkpoint.engines])
    path = folder / f"checkpoint-{checkpoint.segment:08}"
    replace(path, body + crc32(body).to_bytes(4, "little"))
    for old in folder.glob("checkpoint-*"):
        if old.name < path.name:
            old.unlink()


def _read(text: bytes) -> Checkpoint:
    line, _, rest = text.partition(b"\n")
    head = json.loads(line)
    engines = []
    for size in head["sizes"]:
        engines.append(rest[:size])
        rest = rest[size:]
    events, length = head["events"]
    return Checkpoint(
        segment=head["segment"],
        time=head["time"],
        collectors={name: _last_batch(last) for name, last in head["collectors"].items()},
        events=(events, length),
        evidence=tuple(head["evidence"]),
        engines=tuple(engines),
    )


def _last_batch(saved: int | list[Any]) -> LastBatch:
    """Older checkpoints have the number alone."""
    return LastBatch(saved) if isinstance(saved, int) else LastBatch(*saved)
