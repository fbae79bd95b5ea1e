"""The transactions that take part in an anomaly, with their operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given

from isoscope.checkers import check
from tests.recorded import record
from tests.strategies import histories

if TYPE_CHECKING:
    import isoscope
    from isoscope.verdict import Anomaly, Report


def shown(report: Report) -> list[Anomaly]:
    return [anomaly for verdict in report.verdicts for anomaly in verdict.anomalies]


@given(histories())
def test_every_transaction_of_an_anomaly_takes_part_with_what_matters(history: isoscope.History) -> None:
    for anomaly in shown(check(history)):
        assert tuple(p.transaction for p in anomaly.participants) == anomaly.transactions
        for participant in anomaly.participants:
            indexes = [operation.index for operation in participant.operations]
            assert indexes == sorted(indexes)
            assert participant.matters <= {*indexes}
        by_name = {p.transaction: p for p in anomaly.participants}
        for witness in anomaly.witnesses:
            assert witness in by_name[witness.transaction].operations


LONG = record(
    [("write", "x", 1), ("write", "x", 2), *[("write", f"k{n}", n) for n in range(9)]],
    [("read", "x", 1)],
)


def test_of_a_long_transaction_only_what_is_about_the_keys_is_kept() -> None:
    [anomaly] = shown(check(LONG, ["pl-2"]))
    reader, writer = anomaly.participants
    assert (reader.left_out, [o.value for o in reader.operations]) == (0, [1])
    assert (writer.left_out, [o.value for o in writer.operations]) == (9, [1, 2])
    assert writer.matters == {0, 1}


def test_of_two_operations_that_are_equal_the_one_that_was_found_matters() -> None:
    history = record([("read", "x", 0), ("read", "x", 5), ("read", "x", 0)])
    anomalies = [a for a in shown(check(history, ["pl-2"])) if a.name == "thin-air-read"]
    assert [a.participants[0].matters for a in anomalies] == [{1}]
