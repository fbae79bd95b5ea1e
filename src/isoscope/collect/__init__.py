"""The collector sends transactions to the online service in batches, while the database runs.

`add` and `record` only put a transaction into a buffer; a thread sends numbered batches of 500, one after the
other, and repeats each until the service has it. A full buffer makes callers wait: nothing is dropped. The
service recognises a repeated batch, so nothing is counted twice.

    with Collector("http://127.0.0.1:8642") as collector:
        collector.add(1, session=1, start=10, commit=20, operations=[("w", "x", 1)])
"""

from __future__ import annotations

from isoscope.collect.batch_queue import BatchQueue, Collected
from isoscope.collect.collector import Collector
from isoscope.collect.recorded import Recorded, SliceSource, as_history

__all__ = ["BatchQueue", "Collected", "Collector", "Recorded", "SliceSource", "as_history"]
