"""Runs tests on a mutant: collected once, each trial in a fork of the process that has collected them."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import coverage
import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings
from pluggy import PluggyTeardownRaisedWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType

    from tests.mutation.mutants import Mutant

__all__ = ["Survey", "Trials"]

#: Bytes that a child may allocate: a mutant may never end and fill the memory.
MEMORY = 4 << 30
#: CPU seconds that a test may take in the survey; a slower one is left out.
LONGEST = 1.0
#: A child that waits for something makes no progress and uses no CPU.
WALL_SECONDS = 400.0


@dataclass(frozen=True, slots=True)
class Survey:
    """For each test its CPU seconds, and for each line of a file the tests that run it."""

    seconds: Mapping[str, float]
    tests: Mapping[str, Mapping[str, Sequence[str]]]

    def of(self, mutant: Mutant, limit: float) -> list[str]:
        """The tests that run the changed piece, fastest first, as many as take `limit` CPU seconds."""
        lines = self.tests.get(str(mutant.path), {})
        found = {
            test for line in range(mutant.line, mutant.last_line + 1) for test in lines.get(str(line), ())
        }
        chosen: list[str] = []
        spent = 0.0
        for test in sorted(found, key=lambda test: (self.seconds[test], test)):
            spent += self.seconds[test]
            if spent > limit and chosen:
                break
            chosen.append(test)
        return chosen


class Trials:
    """A plugin of pytest: collects tests, and hands itself over instead of running them."""

    def __init__(self, use: Callable[[Trials], None]) -> None:
        self.use = use
        self.items: dict[str, pytest.Item] = {}

    def pytest_configure(self) -> None:
        """A mutant that Hypothesis finds need not be found again smaller."""
        settings.register_profile(
            "mutants", settings(), phases=(Phase.explicit, Phase.generate), report_multiple_bugs=False
        )
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Hands over the collected tests."""
        if len(list(Path("/proc/self/task").iterdir())) > 1:
            raise pytest.UsageError(
                "a test makes a history when it is collected: its threads do not survive a fork"
            )
        self.items = {item.nodeid: item for item in session.items}
        self.use(self)
        return True

    def survey(self, folders: Sequence[Path]) -> Survey:
        """Runs all tests on the right code; those that fail, or are slow, are left out."""
        found = in_child(lambda: _surveyed(list(self.items.values()), folders), cpu=1200)
        assert found, "the tests do not come to an end"
        return Survey(**found)

    def kills(self, mutant: Mutant, tests: Sequence[str], cpu: float) -> bool:
        """Whether a test fails on the mutant, or the tests do not end as they do on the right code."""

        def survives() -> bool | str:
            try:
                mutant.turn_on()
            except (AssertionError, ValueError) as error:
                return f"{mutant}: {error}"
            items = [self.items[test] for test in tests]
            return all(map(_passes, items, [*items[1:], None]))

        answer = in_child(survives, cpu=cpu)
        assert not isinstance(answer, str), answer
        return not answer


def _surveyed(items: Sequence[pytest.Item], folders: Sequence[Path]) -> dict[str, Any]:
    measured = coverage.Coverage(
        data_file=None, config_file=False, include=[f"{folder}/*" for folder in folders]
    )
    measured.start()
    signal.signal(signal.SIGPROF, _stop)
    seconds = {}
    for item, following in zip(items, [*items[1:], None], strict=True):
        measured.switch_context(item.nodeid)
        start = time.process_time()
        if _passes_in_time(item, following):
            seconds[item.nodeid] = time.process_time() - start
    measured.stop()
    data = measured.get_data()
    return {
        "seconds": seconds,
        "tests": {
            file: {
                line: [test for test in tests if test in seconds]
                for line, tests in data.contexts_by_lineno(file).items()
            }
            for file in sorted(data.measured_files())
        },
    }


class _TooSlowError(BaseException):
    """Hypothesis tries an example once more after an exception, but not after this."""


def _stop(_: int, frame: FrameType | None) -> None:
    """Not within the measuring itself, which would keep its lock."""
    if frame and "/coverage/" in frame.f_code.co_filename:
        signal.setitimer(signal.ITIMER_PROF, 0.001)
    else:
        raise _TooSlowError


def _passes_in_time(item: pytest.Item, following: pytest.Item | None) -> bool:
    """The signal may come when the test is over, or inside a plugin, where it becomes a warning."""
    try:
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        return _passes(item, following)
    except (_TooSlowError, PluggyTeardownRaisedWarning):
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def in_child(work: Callable[[], Any], *, cpu: float) -> Any:
    """What `work` returns in a copy of this process; None if that stops, or takes too long."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _be_child(work, writing, cpu)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as answer:
        if select.select([reading], [], [], max(WALL_SECONDS, cpu * 20))[0]:
            text = answer.read()
        else:
            text = ""
            os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def _be_child(work: Callable[[], Any], writing: int, cpu: float) -> None:
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        limit = int(cpu) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        text = json.dumps(work())
        with os.fdopen(writing, "w", encoding="utf-8") as answer:
            answer.write(text)
    finally:
        os._exit(0)
