"""A register store with a bug, recorded together with its log, and the cycle that the log shows.

The store writes every version of a key to its log. Reads go to a replica that may be behind, so that a reader
can see one half of a transfer. The values alone do not show it, because they do not say which of two
writes came first; with the log it can be shown.
"""

from __future__ import annotations

import isoscope
from isoscope.explain import message, one_line
from isoscope.history import VersionSource


class Store:
    """Registers, with all their versions in the order of commits."""

    def __init__(self) -> None:
        self.log: dict[str, list[int]] = {"alice": [], "bob": []}

    def commit(self, writes: dict[str, int]) -> None:
        """Installs the next version of each key."""
        for key, value in writes.items():
            self.log[key].append(value)

    def read(self, key: str, *, behind: int) -> int:
        """What a replica has that is so many commits behind: this is the bug."""
        return self.log[key][-1 - behind]


def record(*, with_log: bool) -> isoscope.History:
    """Alice gets 100 and passes 30 on to Bob; an auditor reads one balance of before, the other of after."""
    store = Store()
    recorder = isoscope.Recorder(initial=0)
    for name, writes in (("deposit", {"alice": 100}), ("transfer", {"alice": 70, "bob": 30})):
        with recorder.transaction(session=name, id=name) as t:
            for key, value in writes.items():
                t.write(key, value)
            store.commit(writes)
    with recorder.transaction(session="auditor", id="audit") as t:
        t.read("alice", store.read("alice", behind=1))
        t.read("bob", store.read("bob", behind=0))
    for key, versions in store.log.items() if with_log else ():
        recorder.version_order(key, versions, source=VersionSource.LOG)
    return recorder.history()


def show(history: isoscope.History) -> None:
    """Prints the verdict on snapshot isolation, and each cycle on a line and in words."""
    [verdict] = isoscope.check(history, levels=["snapshot-isolation"]).verdicts
    print(f"{verdict.level} {verdict.outcome}")
    for anomaly in verdict.anomalies:
        print(f"  {anomaly.name}: {one_line(anomaly)}")
        print(f"  {message(anomaly)}")


if __name__ == "__main__":
    print("without the log:", end=" ")
    show(record(with_log=False))
    print("with the log:", end=" ")
    show(record(with_log=True))
