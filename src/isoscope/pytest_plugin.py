"""Tests that record a history: it is checked when the test ends, and a broken promise fails the test.

`history_recorder` is a `Recorder` for one test; `class_history_recorder`, `module_history_recorder` and
`session_history_recorder` collect over several. `@pytest.mark.isolation_level(...)` names the levels, on
the test, its class or its module (`pytestmark`); otherwise the setting `isolation_level` does, and without
it the levels are those that no database should break.

The history of one test is checked right after its body, so that the test fails (an exception in a fixture's
teardown would be an error beside a passed test). Transactions that fixtures record after that are checked at
teardown, and so are histories that several tests share.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

import isoscope

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from isoscope.history import History
    from isoscope.levels import Level
    from isoscope.recorder import Recorder

__all__ = [
    "IsolationWarning",
    "class_history_recorder",
    "history_recorder",
    "history_recorder_options",
    "module_history_recorder",
    "session_history_recorder",
]

_MARKER = "isolation_level"
_ON_UNKNOWN = ("fail", "warn", "pass")


class IsolationWarning(pytest.PytestWarning):
    """A level of a recorded history is unknown, and `isolation_unknown = warn` lets that pass."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option and the settings."""
    group = parser.getgroup("isoscope", "isolation of recorded histories")
    group.addoption(
        "--isolation-history",
        metavar="DIR",
        help="keep every recorded history in this directory, as Parquet",
    )
    parser.addini("isolation_level", "levels that recorded histories must keep", type="args", default=[])
    parser.addini("isolation_unknown", "what an unknown level does: fail, warn or pass", default="fail")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker and refuses bad settings."""
    config.addinivalue_line(
        "markers", f"{_MARKER}(*levels): levels that the history of this test must keep (isoscope)"
    )
    if (chosen := config.getini("isolation_unknown")) not in _ON_UNKNOWN:
        raise pytest.UsageError(f"isolation_unknown is {chosen!r}: expected {', '.join(_ON_UNKNOWN)}")
    try:
        _parsed(config.getini("isolation_level"))
        if folder := _folder(config):
            folder.mkdir(parents=True, exist_ok=True)
    except ValueError as error:
        raise pytest.UsageError(f"the setting isolation_level: {error}") from None
    except OSError as error:
        raise pytest.UsageError(f"--isolation-history: {error}") from None


def _folder(config: pytest.Config) -> Path | None:
    name = config.getoption("isolation_history")
    return config.invocation_params.dir / name if name else None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Refuses, before anything runs, a marker without a level."""
    report = yield
    items = [node for node in report.result or () if isinstance(node, pytest.Item)]
    # A usage error would give a clearer exit status, but xdist takes it for a crash of its workers.
    if problems := [problem for item in items for problem in _problems(item)]:
        report.outcome, report.result = "failed", []
        report.longrepr = "\n".join([*problems, "hint: `isoscope levels` lists the levels"])
    return report


def _problems(item: pytest.Item) -> Iterator[str]:
    for marker in item.iter_markers(_MARKER):
        try:
            _levels_of(marker)
        except ValueError as error:
            yield f"{item.nodeid}: {_MARKER}: {error}"


def _refuse_unheeded_marker(item: pytest.Item) -> None:
    """Fails a test whose own marker has no effect; the others run."""
    own = any(marker.name == _MARKER for marker in item.own_markers)
    if own and "history_recorder" not in getattr(item, "fixturenames", ()):
        name = getattr(item, "originalname", None) or item.name
        pytest.fail(
            f"the marker {_MARKER} has no effect: the test records nothing\n\n"
            f"hint: `def {name}(history_recorder)` gets a recorder; the level of class_history_recorder or "
            "module_history_recorder is marked on the class or the module",
            pytrace=False,
        )


def _levels_of(marker: pytest.Mark) -> tuple[Level, ...]:
    if marker.kwargs or not marker.args:
        raise ValueError("expected names of levels and nothing else")
    return _parsed(marker.args)


def _parsed(names: Iterable[object]) -> tuple[Level, ...]:
    # Every run of pytest imports this module: the rest of the package is imported only when needed.
    from isoscope.levels import parse  # noqa: PLC0415

    return tuple(dict.fromkeys(parse(str(name)) for name in names))


@pytest.fixture(scope="session")
def history_recorder_options() -> Mapping[str, Any]:
    """The arguments of recorders, such as `{"initial": 0}`; override this fixture to change them."""
    return {}


@dataclass(slots=True)
class _CheckedRecorder:
    """A recorder, and how many of its transactions were checked."""

    recorder: Recorder
    node: pytest.Item | pytest.Collector
    name: str
    checked: int | None = None

    def check(self) -> _Finding | None:
        """Checks the history; None if nothing was recorded since the last check."""
        history = self.recorder.history()
        if len(history) == self.checked:
            return None
        self.checked = len(history)
        if folder := _folder(self.node.config):
            _keep(history, folder, self._name())
        return _judged(history, self._levels())

    def _name(self) -> str:
        """With xdist, each worker has its own history of several tests."""
        parts = [self.node.nodeid, self.name]
        if not isinstance(self.node, pytest.Item):
            parts.append(getattr(self.node.config, "workerinput", {}).get("workerid", ""))
        return "-".join(filter(None, parts))

    def _levels(self) -> tuple[Level, ...]:
        from isoscope.levels import MINIMUM  # noqa: PLC0415

        if marker := self.node.get_closest_marker(_MARKER):
            return _levels_of(marker)
        return _parsed(self.node.config.getini("isolation_level") or MINIMUM)

    def report(self, finding: _Finding | None) -> None:
        """Fails, warns or passes, according to the finding and the settings."""
        if finding is None or finding.is_kept:
            return
        unknown = self.node.config.getini("isolation_unknown")
        if finding.is_broken or unknown == "fail":
            pytest.fail(finding.text, pytrace=False)
        if unknown == "warn":
            self.node.warn(IsolationWarning(finding.text))


_RECORDER = pytest.StashKey[_CheckedRecorder]()
_SHOWN = pytest.StashKey[str]()


@pytest.fixture
def history_recorder(
    request: pytest.FixtureRequest, history_recorder_options: Mapping[str, Any]
) -> Iterator[Recorder]:
    """A `Recorder`; its history is checked after the test."""
    yield from _recorder(request, history_recorder_options)


@pytest.fixture(scope="class")
def class_history_recorder(
    request: pytest.FixtureRequest, history_recorder_options: Mapping[str, Any]
) -> Iterator[Recorder]:
    """A `Recorder`; its history is checked after the last test of the class."""
    yield from _recorder(request, history_recorder_options)


@pytest.fixture(scope="module")
def module_history_recorder(
    request: pytest.FixtureRequest, history_recorder_options: Mapping[str, Any]
) -> Iterator[Recorder]:
    """A `Recorder`; its history is checked after the last test of the module."""
    yield from _recorder(request, history_recorder_options)


@pytest.fixture(scope="session")
def session_history_recorder(
    request: pytest.FixtureRequest, history_recorder_options: Mapping[str, Any]
) -> Iterator[Recorder]:
    """A `Recorder`; its history is checked after the last test of all."""
    yield from _recorder(request, history_recorder_options)


def _recorder(request: pytest.FixtureRequest, options: Mapping[str, Any]) -> Iterator[Recorder]:
    checked_recorder = _CheckedRecorder(isoscope.Recorder(**options), request.node, request.fixturename or "")
    if request.scope == "function":
        request.node.stash[_RECORDER] = checked_recorder
    else:
        checked_recorder.checked = 0
    yield checked_recorder.recorder
    # A test that was skipped or never ran is not checked.
    if checked_recorder.checked is not None:
        checked_recorder.report(checked_recorder.check())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Checks what the test recorded; if the test itself failed, the history is only shown."""
    item.stash[_SHOWN] = ""
    _refuse_unheeded_marker(item)
    try:
        yield
    except (Exception, pytest.fail.Exception):
        checked_recorder = item.stash.get(_RECORDER, None)
        if checked_recorder and (finding := checked_recorder.check()) and not finding.is_kept:
            item.stash[_SHOWN] = finding.text
        raise
    if checked_recorder := item.stash.get(_RECORDER, None):
        checked_recorder.report(checked_recorder.check())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds the finding to the report of a test that failed by itself."""
    report = yield
    if call.when == "call" and (text := item.stash.get(_SHOWN, "")):
        report.sections.append(("Recorded history", text))
    return report


@dataclass(frozen=True, slots=True, kw_only=True)
class _Finding:
    """The result of a check."""

    is_broken: bool
    is_kept: bool
    text: str


def _judged(history: History, levels: Sequence[Level]) -> _Finding:
    from isoscope.reports import render_text  # noqa: PLC0415

    if not len(history):
        text = f"nothing was recorded, so nothing is known of {', '.join(levels)}"
        return _Finding(is_broken=False, is_kept=False, text=text)
    report = isoscope.check(history, levels)
    broken = report.levels(isoscope.Outcome.VIOLATED)
    unknown = report.levels(isoscope.Outcome.UNKNOWN)
    result = f"breaks {', '.join(broken)}" if broken else f"leaves open {', '.join(unknown)}"
    return _Finding(
        is_broken=bool(broken),
        is_kept=not broken and not unknown,
        text=f"the recorded history {result}\n\n{render_text(report)}",
    )


def _keep(history: History, folder: Path, name: str) -> None:
    # Two names may differ only in characters that a file name cannot have.
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    stem = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip("-")[-150:]
    isoscope.save(history, folder / f"{stem}-{mark}.parquet")
