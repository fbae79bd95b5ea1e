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


@pytest.mark.parametrize("shape", pipeline.SHAPES)
def test_each_way_dispatches_every_item_in_order(shape: str, tmp_path: Path) -> None:
    file = tmp_path / "times.txt"
    said = pipeline.times(shape, 300)
    file.write_text("".join(f"{client} {t}\n" for client, times in enumerate(said) for t in times))
    runs = [pipeline.measure(shape, 300, way, file) for way in pipeline.WAYS]
    assert {run.items for run in runs} == {sum(map(len, said))}
    assert [run.way for run in runs] == [*pipeline.WAYS]


def test_uneven_clients_fill_the_heap_and_not_the_pipeline() -> None:
    said = pipeline.times("TPC-C", 2000)
    most = {way: dispatch_times(said, way=way, capacity=16)[3] for way in pipeline.WAYS}
    assert most["pipeline"] <= pipeline.CLIENTS * 17
    assert most["plain"] > 10 * most["pipeline"]
    assert most["naive"] == sum(map(len, said))


def test_bursts_are_dispatched_in_batches() -> None:
    items, batches, _, _ = dispatch_times(
        [array("q", [1, 2, 5]), array("q", [3, 4])], way="pipeline", capacity=8
    )
    assert (items, batches) == (5, 3)


def test_a_client_that_goes_back_in_time_is_named() -> None:
    with pytest.raises(ValueError, match="client 1 says 3 after 4"):
        dispatch_times([array("q", [1]), array("q", [4, 3])], way="pipeline", capacity=8)


def test_a_way_that_is_none_is_named() -> None:
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
            most=7,
            yardstick=0.25,
        )
        for shape in pipeline.SHAPES
        for size in (1000, 2000)
        for way in pipeline.WAYS
    ]
    picture = ElementTree.fromstring(pipeline.pictures(runs)["pipeline.svg"])
    assert len(picture.findall("{http://www.w3.org/2000/svg}g")) == 2 * len(pipeline.SHAPES)
    assert pipeline.row(runs[0]).figures["ratio"] == "2.00"
