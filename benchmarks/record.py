"""Results as files: `results/SUITE.json` has the figures of one suite, and their commit and machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.plot import Panel
from benchmarks.suite import Measurement, Plot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.suite import Measured

__all__ = ["Machine", "Result", "commit", "load", "machine", "save"]

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where a suite ran; `load` is how many processes were at work beside it."""

    cores: int
    architecture: str
    python: str
    rust: str = ""
    load: float | None = None
    is_real_time: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one suite measured; counts that every machine finds alike name none."""

    commit: str
    machine: Machine | None
    measurements: Sequence[Measurement]
    plots: Sequence[Plot] = ()

    @classmethod
    def of(cls, measured: Sequence[Measured], *, commit: str, machine: Machine | None) -> Result:
        """Measurements and plots, each in the order in which they came."""
        return cls(
            commit=commit,
            machine=machine,
            measurements=[one for one in measured if isinstance(one, Measurement)],
            plots=[one for one in measured if isinstance(one, Plot)],
        )

    def figures(self, name: str) -> dict[str, str]:
        """Those of the measurement of this name."""
        [found] = [one for one in self.measurements if one.name == name]
        return dict(found.figures)


def load(suite: str, folder: Path | None = None) -> Result:
    """The recorded result of a suite; raises FileNotFoundError if there is none."""
    told = json.loads(((folder or RESULTS) / f"{suite}.json").read_text(encoding="utf-8"))
    return Result(
        commit=told["commit"],
        machine=told["machine"] and Machine(**told["machine"]),
        measurements=[Measurement(**one) for one in told["measurements"]],
        plots=[
            Plot(**one | {"panels": [Panel(**panel) for panel in one["panels"]]}) for one in told["plots"]
        ],
    )


def save(suite: str, result: Result, folder: Path | None = None) -> None:
    """Writes a result, each measurement on a line; the same one is always the same file."""
    fields = (f'"{name}": {_lines(_rounded(told))}' for name, told in asdict(result).items())
    text = ",\n".join(fields)
    ((folder or RESULTS) / f"{suite}.json").write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


def _lines(told: object) -> str:
    if not isinstance(told, list):
        return json.dumps(told, ensure_ascii=False)
    items = ",\n".join(json.dumps(item, ensure_ascii=False) for item in told)
    return f"[\n{items}\n]" if told else "[]"


def _rounded(told: object) -> object:
    """What a plot shows has no more than five digits."""
    match told:
        case float():
            return float(f"{told:.5g}")
        case dict():
            return {name: _rounded(value) for name, value in told.items()}
        case list() | tuple():
            return [_rounded(value) for value in told]
        case _:
            return told


def machine() -> Machine:
    """The machine of this process, now."""
    return Machine(
        cores=os.cpu_count() or 1,
        architecture=platform.machine(),
        python=platform.python_version(),
        rust=_output("rustc", "--version"),
        load=round(os.getloadavg()[0], 1),
        is_real_time=os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR),
    )


def commit() -> str:
    """The commit of this tree, `-dirty` if files differ from it."""
    return _output("git", "describe", "--always", "--dirty")


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
