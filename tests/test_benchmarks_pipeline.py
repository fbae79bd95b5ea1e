"""The benchmark of the pipeline measures what it says."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from benchmarks import pipeline

from isoscope._native import dispatch_times

if TYPE_CHECKING:
    from pathlib import Path


#: Only a build for benchmarks has the other ways; tests of the kernel always compare all three.
needs_baselines = pytest.mark.skipif(
    not pipeline.has_baselines(), reason="the native core was built without the feature `baselines`"
)
BUILT = [*pipeline.WAYS] if pipeline.has_baselines() else ["pipeline"]


@pytest.mark.parametrize("shape", pipeline.SHAPES)
def test_each_way_dispatches_every_item_in_order(shape: str, tmp_path: Path) -> None:
    file = tmp_path / "times.txt"
    said = pipeline.times(shape, 300)
    file.write_text("".join(f"{client} {t}\n" for client, times in enumerate(said) for t in times))
    runs = [pipeline.measure(shape, 300, way, file) for way in pipeline.WAYS if way in BUILT]
    assert {run.items for run in runs} == {sum(map(len, said))}
    assert [run.way for run in runs] == BUILT


def test_uneven_clients_do_not_fill_the_pipeline() -> None:
    found = dispatch_times(pipeline.times("TPC-C", 2000), way="pipeline", capacity=16)
    assert found.max_waiting <= pipeline.CLIENTS * 17


@needs_baselines
def test_uneven_clients_fill_the_heap() -> None:
    said = pipeline.times("TPC-C", 2000)
    waiting = {way: dispatch_times(said, way=way, capacity=16).max_waiting for way in pipeline.WAYS}
    assert waiting["plain"] > 10 * waiting["pipeline"]
    assert waiting["naive"] == sum(map(len, said))


def test_bursts_are_dispatched_in_batches() -> None:
    found = dispatch_times([array("q", [1, 2, 5]), array("q", [3, 4])], way="pipeline", capacity=8)
    assert (found.items, found.batches) == (5, 3)


def test_a_client_that_goes_back_in_time_is_named() -> None:
    with pytest.raises(ValueError, match="client 1 says 3 after 4"):
        dispatch_times([array("q", [1]), array("q", [4, 3])], way="pipeline", capacity=8)


def test_an_unknown_way_is_named() -> None:
    way: Any = "heap"
    with pytest.raises(ValueError, match="`heap`"):
        dispatch_times([], way=way, capacity=8)


def test_figure_9_has_memory_and_time_of_each_shape() -> None:
    runs = [
        pipeline.Run(
            shape=shape,
            transactions=size,
            way=way,
            seconds=0.5,
            megabytes=2.0,
            items=10,
            batches=4,
            max_waiting=7,
            yardstick=0.25,
        )
        for shape in pipeline.SHAPES
        for size in (1000, 2000)
        for way in pipeline.WAYS
    ]
    [plot] = pipeline.plots(runs)
    picture = ElementTree.fromstring(plot.svg())
    assert len(picture.findall("{http://www.w3.org/2000/svg}g")) == 2 * len(pipeline.SHAPES)
    assert pipeline.measurement(runs[0]).figures["ratio"] == "2.00"
