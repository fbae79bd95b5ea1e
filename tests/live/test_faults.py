"""Faults that a run injects, as the service tells them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from isoscope.collect.recorded import as_history
from isoscope.formats import parquet
from isoscope.history import Deployment, Fault, History
from isoscope.live.batches import Batch
from tests.live.test_mechanisms import ARROW, FINE, running

if TYPE_CHECKING:
    from pathlib import Path


def batch(sequence: int, *faults: Fault) -> Batch:
    """A batch of one transaction, with the faults until then."""
    history = as_history([FINE[sequence - 1]])
    source = replace(history.source, deployment=Deployment(nodes={1: "n1"}, faults=faults))
    body = parquet.to_stream(History(history.columns, source))
    return Batch(collector="c", sequence=sequence, form=ARROW, body=body)


def test_the_status_has_the_faults_of_the_latest_batch(tmp_path: Path) -> None:
    kill = Fault(kind="kill", node="n1", start=15)
    with running(tmp_path) as service:
        service.take(batch(1))
        assert "faults" not in service.status()
        service.take(batch(2, kill))
        assert service.status()["faults"] == [kill.document()]
        ended = replace(kill, stop=25)
        service.take(batch(3, ended))
        assert service.status()["faults"] == [ended.document()]
