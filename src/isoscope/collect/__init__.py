"""The collector: hands transactions to the online service, in batches, while the database is at work.

`add` and `record` only put a transaction into a buffer; a thread sends batches of 500, one after the other,
each with a number, again and again until the service has it. A full buffer makes them wait: nothing is
dropped. The service recognises a batch that comes twice, so nothing is counted twice either.

    with Collector("http://127.0.0.1:8642") as collector:
        collector.add(1, session=1, start=10, commit=20, operations=[("w", "x", 1)])
"""

from __future__ import annotations

from isoscope.collect.collector import Collector
from isoscope.collect.gathering import Collected, Gathering, Recorded, as_history

__all__ = ["Collected", "Collector", "Gathering", "Recorded", "as_history"]
