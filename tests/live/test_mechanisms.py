"""A service with a profile: mechanisms judged behind a watermark, heartbeats, and what it refuses."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import checkers, profiles
from isoscope.collect import Recorded, as_history
from isoscope.formats import parquet
from isoscope.history import KINDS, OperationKind
from isoscope.live.batches import FORMS, Batch, Refused, heartbeats
from isoscope.live.check_settings import CheckSettings
from isoscope.live.journal import Fsync
from isoscope.live.metrics import render_metrics
from isoscope.live.service import Service, Settings
from isoscope.reports import render_svg

from .sent_batches import LINES, SECOND, STALE, Clock, body
from .served import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROFILE = profiles.load("postgresql/read-committed")
JUDGING = CheckSettings(levels=(), profile=PROFILE, timeout=SECOND)
SETTINGS = Settings(check=JUDGING, fsync=Fsync.NEVER)
ARROW = FORMS.index("application/vnd.apache.arrow.stream")


def recorded(number: int, session: int, at: int, *operations: str, status: int = 0) -> Recorded:
    """`recorded(1, 1, 10, "write x 1")`: each operation takes 1, then comes the commit."""
    rows: list[tuple[Any, ...]] = []
    for place, operation in enumerate([*operations, "commit"]):
        kind, *rest = operation.split()
        key, value = (rest[0], int(rest[1])) if rest else (None, None)
        rows.append((KINDS.index(OperationKind(kind)), key, value, at + 2 * place, at + 2 * place + 1))
    return Recorded(number, session, status, rows)


#: The third one reads what was overwritten long before.
LOST = [
    recorded(1, 1, 10, "write x 1"),
    recorded(2, 2, 20, "write x 2"),
    recorded(3, 3, 30, "read x 1"),
]
FINE = [*LOST[:2], recorded(3, 3, 30, "read x 2")]


def batch(sequence: int, rows: list[Recorded]) -> Batch:
    stream = parquet.to_stream(as_history(rows))
    return Batch(collector="c", sequence=sequence, form=ARROW, body=stream)


@contextmanager
def running(folder: Path, clock: Clock | None = None, settings: Settings = SETTINGS) -> Iterator[Service]:
    service = Service(folder, settings, clock=clock or Clock())
    try:
        yield service
    finally:
        service.close()


def outcomes(service: Service) -> dict[str, str]:
    return {row["mechanism"]: row["outcome"] for row in service.status()["mechanisms"]["verdicts"]}


def test_a_service_says_what_a_check_of_the_whole_history_says(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        for sequence, row in enumerate(LOST, start=1):
            service.take(batch(sequence, [row]))
        service.flush()
        online = service.report().mechanisms
    offline = checkers.check(as_history(LOST), profile=PROFILE).mechanisms
    assert online is not None
    assert offline is not None
    told = [(one.mechanism, one.outcome, one.anomaly_counts) for one in online.verdicts]
    assert told == [(one.mechanism, one.outcome, one.anomaly_counts) for one in offline.verdicts]
    assert online.dependencies == offline.dependencies


def test_a_violation_is_an_event_with_its_mechanism_and_a_picture(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        service.take(batch(1, LOST))
        service.flush()
        [event] = service.violations(0, 10)
        told = json.loads(event.line)
        picture = service.anomaly(event.number)
    assert told["mechanism"] == "consistent-read"
    assert (told["name"], told["case"]) == ("inconsistent-read", "stale")
    assert (told["transaction"], told["other"], told["key"]) == (3, 1, "x")
    assert "level" not in told
    assert picture is not None
    assert "<svg" in render_svg(picture)


def test_nothing_is_judged_before_every_session_has_gone_beyond_it(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        service.heartbeat([(1, 5), (2, 5), (3, 5)])
        service.take(batch(1, LOST))
        assert service.violations(0, 10) == []
        so_far = service.status()["mechanisms"]
        assert (so_far["watermark"], so_far["pending"]) == (13, 3)
        assert so_far["holding_back"] == [1]
        service.heartbeat([(1, 100), (2, 100), (3, 100)])
        assert len(service.violations(0, 10)) == 1
        assert service.status()["mechanisms"]["pending"] == 0


def test_a_silent_session_is_left_behind_and_what_comes_later_is_counted_not_judged(tmp_path: Path) -> None:
    clock = Clock()
    with running(tmp_path, clock) as service:
        service.heartbeat([(1, 5), (2, 5), (3, 5), (4, 5)])
        service.take(batch(1, FINE))
        for _ in range(15):
            clock.sleep(0.1)
            service.tick()
        assert service.status()["mechanisms"]["pending"] == 0
        service.take(batch(2, [recorded(4, 4, 6, "write x 9")]))
        so_far = service.status()["mechanisms"]
    assert so_far["late"] == 1
    reasons = {row["reason"] for row in so_far["verdicts"] if row["outcome"] == "unknown"}
    assert "1 transaction came too late and was not judged: the session had been left behind" in reasons
    assert "holds" not in outcomes_of(so_far)


def outcomes_of(so_far: dict[str, Any]) -> set[str]:
    return {row["outcome"] for row in so_far["verdicts"]}


def test_heartbeats_are_in_the_journal_and_a_restart_comes_to_the_same(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        service.heartbeat([(1, 5), ("two", 5)])
        service.take(batch(1, LOST))
        service.heartbeat([(1, 100), ("two", 100), (2, 100), (3, 100)])
        before = service.status()["mechanisms"], service.violations(0, 10)
    with running(tmp_path) as service:
        assert (service.status()["mechanisms"], service.violations(0, 10)) == before
        service.drain(1)
    with running(tmp_path) as service:
        assert service.status()["mechanisms"]["counts"] == before[0]["counts"]
        assert service.expected("c") == 2


def test_another_profile_does_not_go_on_with_the_journal(tmp_path: Path) -> None:
    with running(tmp_path):
        pass
    other = CheckSettings(levels=(), profile=profiles.load("postgresql/serializable"), timeout=SECOND)
    with pytest.raises(Exception, match="profile was postgresql/read-committed and is postgresql/serial"):
        Service(tmp_path, Settings(check=other))


def test_transactions_without_intervals_are_refused(tmp_path: Path) -> None:
    sent = Batch(collector="c", sequence=1, form=LINES, body=body(STALE))
    with running(tmp_path) as service, pytest.raises(Refused) as refused:
        service.take(sent)
    assert refused.value.status == 422
    assert "its operations have no intervals" in refused.value.reason


def trace(transaction: str, verb: str, start: int, **more: object) -> str:
    row = {
        "threadID": transaction.split(",", maxsplit=1)[0],
        "transactionID": transaction,
        "operationTraceType": verb,
        "startTimestamp": start,
        "finishTimestamp": start + 1,
        **more,
    }
    return json.dumps(row)


def update(transaction: str, start: int, value: int) -> str:
    rows = [{"table": "t", "primaryKey": "1", "valueMap": {"v": value}}]
    return trace(transaction, "UPDATE", start, writeTupleList=rows)


LEOPARD = [update("1,1", 10, 7), update("2,1", 14, 8), trace("1,1", "COMMIT", 12), trace("2,1", "COMMIT", 20)]


def lines(sequence: int, rows: list[str]) -> Batch:
    return Batch(collector="c", sequence=sequence, form=LINES, body="\n".join(rows).encode())


def test_lines_of_leopard_are_taken(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        assert service.take(lines(1, LEOPARD)).taken == 2
        service.flush()
        assert service.status()["mechanisms"]["operations"] == 4


def test_a_transaction_that_is_not_whole_is_refused_with_its_name(tmp_path: Path) -> None:
    with running(tmp_path) as service, pytest.raises(Refused) as refused:
        service.take(lines(1, LEOPARD[:3]))
    assert (refused.value.status, refused.value.line) == (422, 2)
    assert refused.value.reason.startswith("transaction '2,1' has no COMMIT or ROLLBACK in this batch")


def test_heartbeats_come_over_the_network(tmp_path: Path) -> None:
    with served(tmp_path, settings=SETTINGS) as client:
        answer = client.ask("POST", "/v1/heartbeat", json.dumps({"sessions": [[3, 12], ["a", 13]]}))
        assert (answer.status, answer.document) == (200, {"sessions": 2})
        assert client.get("/v1/status").document["mechanisms"]["watermark"] == 12


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"sessions": 3}',
        b'{"sessions": {"3": 1}}',
        b'{"sessions": [[1]]}',
        b'{"sessions": [[1, "x"]]}',
        b'{"sessions": [[true, 1]]}',
        b'{"sessions": [[1, 9223372036854775808]]}',
    ],
)
def test_heartbeats_that_are_none_are_refused(body: bytes) -> None:
    with pytest.raises(Refused, match="expected heartbeats such as"):
        heartbeats(body)


def test_levels_of_the_clock_wait_for_nobody(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        answer = client.ask("POST", "/v1/heartbeat", json.dumps({"sessions": [[3, 12]]}))
    assert answer.status == 422
    assert "heartbeats are for a --profile" in answer.document["error"]


def test_prometheus_reads_mechanisms(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        service.take(batch(1, LOST))
        service.flush()
        text = render_metrics(service.status())
    label = 'profile="postgresql/read-committed",mechanism="consistent-read"'
    assert f'isoscope_mechanism_violations_total{{{label},name="inconsistent-read"}} 1' in text
    assert f"isoscope_mechanism_checked_total{{{label}}} 1" in text
    assert 'isoscope_mechanisms_transactions_total{profile="postgresql/read-committed"} 3' in text
    assert 'isoscope_dependencies_total{profile="postgresql/read-committed",kind="ww"} 1' in text
