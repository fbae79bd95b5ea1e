"""A store with a bug, recorded by two clients and checked.

The store keeps one copy of each key, so that all sessions see uncommitted writes: dirty reads. The
two clients take turns by hand, so that the bug shows every time.
"""

from __future__ import annotations

import isoscope
from isoscope.reports import render_text


class DirtyStore:
    """Writes in place and undoes on rollback; other sessions can read in between."""

    def __init__(self) -> None:
        self.values = {"alice": 100, "bob": 0}
        self.undo: list[tuple[str, int]] = []

    def read(self, key: str) -> int:
        """The current value, committed or not: this is the bug."""
        return self.values[key]

    def write(self, key: str, value: int) -> None:
        """Changes the value at once."""
        self.undo.append((key, self.values[key]))
        self.values[key] = value

    def roll_back(self) -> None:
        """Takes all changes back."""
        while self.undo:
            key, value = self.undo.pop()
            self.values[key] = value


def record() -> isoscope.History:
    """Alice pays Bob and changes her mind; an auditor looks before and after."""
    store = DirtyStore()
    recorder = isoscope.Recorder(initial=isoscope.Initial(value=0, of_key={"alice": 100}))
    with recorder.transaction(session="auditor", id="audit") as audit:
        with recorder.transaction(session="alice", id="payment") as payment:
            for key, amount in (("alice", -30), ("bob", 30)):
                before = store.read(key)
                payment.read(key, before)
                store.write(key, before + amount)
                payment.write(key, before + amount)
            audit.read("bob", store.read("bob"))
            store.roll_back()
            payment.abort()
        audit.read("bob", store.read("bob"))
    return recorder.history()


if __name__ == "__main__":
    report = isoscope.check(record(), levels=["read-committed", "cut-isolation"])
    print(render_text(report))
