"""The report of the service is, to the letter, that of `isoscope check` on the same transactions.

Only lines of a file are missing: a stream has none.
"""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from isoscope.live.batches import Batch
from isoscope.reports import document
from tests.cli.running import run

from .sent_batches import LINES
from .test_service import running

if TYPE_CHECKING:
    from pathlib import Path

WORKLOADS = {
    "holds": ["--isolation", "serializable"],
    "stale": ["--isolation", "snapshot-isolation", "--bug", "stale-snapshot"],
    "weak": ["--isolation", "read-committed"],
    "lists": ["--isolation", "snapshot-isolation", "--lists", "--bug", "lost-update"],
}


def without_places(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: without_places(value) for name, value in data.items() if name not in ("path", "place")}
    if isinstance(data, list):
        return [without_places(value) for value in data]
    return re.sub(r" \(h\.jsonl:[0-9]+\)", "", data) if isinstance(data, str) else data


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_report_is_that_of_a_check_in_whatever_order_sessions_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workload: str
) -> None:
    monkeypatch.chdir(tmp_path)
    run("generate", "h.jsonl", "--transactions", 600, "--timestamps", "--lossy", *WORKLOADS[workload])
    rows = (tmp_path / "h.jsonl").read_text().splitlines()
    sessions: dict[int, list[str]] = {}
    for row in rows:
        sessions.setdefault(json.loads(row)["sid"], []).append(row)
    order = random.Random(7)
    with running(tmp_path / "data") as service:
        numbers = dict.fromkeys(sessions, 0)
        while waiting := [name for name in sessions if sessions[name]]:
            name = order.choice(waiting)
            taken, sessions[name] = sessions[name][:20], sessions[name][20:]
            numbers[name] += 1
            service.take(
                Batch(
                    collector=f"session {name}",
                    sequence=numbers[name],
                    form=LINES,
                    body="\n".join(taken).encode(),
                )
            )
        service.flush()
        online = document(service.report())
    levels = ["--level", "clock-snapshot-isolation", "--level", "clock-serializable"]
    offline = json.loads(run("check", "h.jsonl", "--method", "timestamps", *levels, "--json").out)
    answer = offline["answer"]
    answer["sentence"] = answer["sentence"].replace("h.jsonl", "The history")
    assert without_places(online) == without_places(offline)
