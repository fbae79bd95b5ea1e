"""The benchmarks of online checking can be run: they feed a history, hold it against the whole, plot it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from benchmarks import arrivals, online, service, soak, stability

from isoscope import formats

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"
FEW = replace(arrivals.WORKLOAD, transactions=2_500, keys=50)
BROKEN = online.Case(database=online.SNAPSHOT, level=online.SERIALIZABLE)


def test_every_strategy_is_fed_and_found_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(online, "DATA", tmp_path)
    cases = [replace(BROKEN, strategy=strategy) for strategy in online.STRATEGIES]
    runs = [*online.measure_all(cases, FEW, repeats=1)]
    assert [run.transactions for run in runs] == [2_500] * 3
    assert runs[0].found > 1000
    assert not [*tmp_path.iterdir()]
    assert online.measurement(runs[1]).figures["goal"] == "75,000"
    for plot in online.plots(runs):
        assert len(list(ElementTree.fromstring(plot.svg()).iter(f"{SVG}polyline"))) == 3


def test_a_count_that_is_not_that_offline_stops_the_benchmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(online, "DATA", tmp_path)
    monkeypatch.setattr(online, "wrong", lambda *_: 7)
    with pytest.raises(AssertionError, match="online, 7 offline"):
        list(online.measure_all([BROKEN], FEW, repeats=1))


def test_the_intake_waits_while_there_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limited = online.Strategy(timeout=0.05, limit=1)
    monkeypatch.setitem(online.STRATEGIES, "limit", limited)
    file = tmp_path / "history.json"
    formats.save(arrivals.simulated(online.SNAPSHOT, FEW), file, lossy=True)
    fed = online.feed(replace(BROKEN, strategy="limit"), file, 2_500)
    assert fed.waited > 0
    monkeypatch.setitem(online.STRATEGIES, "limit", replace(limited, limit=0))
    with pytest.raises(AssertionError, match="nothing is left to wait for"):
        online.feed(replace(BROKEN, strategy="limit"), file, 2_500)


def test_every_part_is_judged_as_if_it_were_alone() -> None:
    for level in soak.LEVELS:
        found = soak.soak(level, 3, online.STRATEGIES["threshold"], workload=FEW, name="few")
        assert found.found == (found.expected,) * 3
        assert found.unverifiable == 0
        assert soak.measurement(found).figures["transactions"] == "7,500"
        [plot] = soak.plots([found])
        assert "engine" in plot.svg()


def test_parts_share_keys_and_nothing_else() -> None:
    first, second = ([*part] for part in arrivals.parts(arrivals.simulated(online.SNAPSHOT, FEW), 2))
    ids = [{t.id for batch in part for t in batch} for part in (first, second)]
    assert (len(ids[0]), len(ids[1]), ids[0] & ids[1]) == (2_500, 2_501, set())
    assert {key for batch in first for key in batch.keys} == {*second[0].keys}
    latest = max(t.commit for batch in first for t in batch if t.commit)
    assert all(t.start > latest for batch in second for t in batch if t.start)


def test_delays_make_answers_flip_and_none_stays_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stability, "DATA", tmp_path)
    cases = [*stability.measure_all(FEW)]
    assert [flips.found for flips in cases] == [0] * len(stability.CASES)
    of = {flips.delays: sum(flips.pairs) for flips in cases}
    assert of[stability.Delays(100, 5)] < of[stability.Delays(100, 10)] < of[stability.Delays(100, 40)]
    assert all(stability.measurement(flips).figures["violations in the end"] == "0" for flips in cases)
    plots = [*stability.plots(cases)]
    assert [len(ElementTree.fromstring(plot.svg()).findall(f"{SVG}g")) for plot in plots] == [3, 3, 3]


def test_the_service_is_fed_over_http_and_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "DATA", tmp_path)
    *fed, killed = service.measurements(FEW, ("interval",), killed=FEW, count=2)
    assert len(fed) == len(service.ASKED)
    assert killed.figures["lost"] == "nothing"
    assert not [*tmp_path.iterdir()]
