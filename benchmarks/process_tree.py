"""A command and all processes that it starts: elapsed time, CPU time and memory, sampled while it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from time import perf_counter, sleep

__all__ = ["Ran", "run"]

#: Between two looks whether the command has ended, and at most between two samples; a short command has more.
_SOON, _SECONDS = 0.01, 0.5
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Ran:
    """What a command printed and took; `peak` is the most memory of all processes together, in bytes."""

    output: str = ""
    seconds: float = 0.0
    peak: int = 0
    _cpu: dict[int, float] = field(default_factory=dict)
    #: CPU seconds of the command and of what it waited for: exact for one process, not for those of Spark.
    waited: float = 0.0

    @property
    def cpu(self) -> float:
        """CPU seconds of all processes, as far as samples saw them."""
        return max(sum(self._cpu.values()), self.waited)

    def sample(self, root: int) -> None:
        """Looks at all processes under `root`."""
        memory = 0
        for process in _tree(root):
            memory += _memory(process)
            self._cpu[process] = max(self._cpu.get(process, 0.0), _cpu(process))
        self.peak = max(self.peak, memory)


def run(*arguments: str, module: str = "isoscope") -> Ran:
    """Runs `isoscope`, or another module, with these arguments; it must end with 0 or 1."""
    found, started = Ran(), perf_counter()
    command = [sys.executable, "-m", module, *arguments]
    # Not a pipe, which would be full at some time.
    with TemporaryFile("w+", encoding="utf-8") as output, subprocess.Popen(command, stdout=output) as process:
        sampled = 0.0
        while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
            now = perf_counter()
            if now - sampled > min(_SECONDS, (now - started) / 10):
                found.sample(process.pid)
                sampled = now
            sleep(_SOON)
        found.seconds = perf_counter() - started
        _, status, used = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        found.waited = used.ru_utime + used.ru_stime
        output.seek(0)
        found.output = output.read()
    assert process.returncode in (0, 1), f"{command} failed"
    return found


def _tree(root: int) -> list[int]:
    parents = {
        int(folder.name): _parent(folder) for folder in Path("/proc").iterdir() if folder.name.isdigit()
    }
    found = [root]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def _parent(folder: Path) -> int:
    cells = _stat(int(folder.name))
    return int(cells[1]) if cells else 0


def _stat(process: int) -> list[str]:
    """The cells of `stat` behind the name; none if the process has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []


def _cpu(process: int) -> float:
    cells = _stat(process)
    return (int(cells[11]) + int(cells[12])) / _TICK if cells else 0.0


def _memory(process: int) -> int:
    """The share of a process in memory: pages that several have count once in all."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
