"""The benchmark of the service can be run."""

from __future__ import annotations

from benchmarks import service


def test_the_service_is_fed_and_killed() -> None:
    found = {row.name: row.figures for row in service.rows(transactions=3000, kills=1)}
    assert list(found) == [
        "snapshot isolation, 3,000 transactions",
        "serializability, violated, 3,000 transactions",
        "both, 3,000 transactions",
        "the same under 700 MB",
        "kill -9, 1 times",
    ]
    assert found["kill -9, 1 times"]["verdict"] == "the same"
    assert "violated by" in found["both, 3,000 transactions"]["verdict"]
