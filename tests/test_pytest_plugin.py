"""The pytest plugin: a broken promise is a failed test, however it is run."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import import_module

import pytest

from isoscope import pytest_plugin
from tests.plugin_folder import Folder
from tests.repo.test_files import ROOT

pytest_plugins = ["pytester"]


@pytest.fixture
def tests(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return Folder(pytester)


def test_installing_is_enough() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entry = project["entry-points"]["pytest11"]
    assert import_module(entry["isoscope"]) is pytest_plugin


def test_nothing_else_imports_pytest_and_the_plugin_imports_nothing_heavy() -> None:
    script = (
        "import sys, isoscope, isoscope.cli.check, isoscope.reports.junit, isoscope.reports.sarif\n"
        "assert 'pytest' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    script = (
        "import sys, isoscope.pytest_plugin; print(*(m for m in sys.modules if m.startswith('isoscope')))"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert set(done.stdout.split()) == {"isoscope", "isoscope.pytest_plugin"}


def test_a_test_that_keeps_its_promise_passes(tests: Folder) -> None:
    done = tests.run("""
@pytest.mark.isolation_level("serializable", "rc")
def test_it(history_recorder):
    clean(history_recorder)
""")
    done.assert_outcomes(passed=1)


def test_a_broken_promise_is_a_failure_and_shows_the_text(tests: Folder) -> None:
    done = tests.run("""
@pytest.mark.isolation_level("snapshot-isolation")
def test_it(history_recorder):
    dirty(history_recorder)
""")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "the recorded history breaks snapshot-isolation",
            "No. The history broke snapshot isolation: 1 aborted read.",
            "aborted-read: 1 found",
            "  But T1 aborted: no transaction may see what it wrote.",
            "  violated  snapshot-isolation",
        ]
    )
    done.stdout.no_fnmatch_line("*pytest_plugin.py*")


@pytest.mark.parametrize(
    ("setting", "outcomes"),
    [
        ("", {"failed": 1}),
        ("isolation_level = pl-1", {"passed": 1}),
        ("isolation_level = pl-1 ser", {"failed": 1}),
    ],
)
def test_without_a_marker_the_setting_decides_and_without_that_the_minimum(
    tests: Folder, setting: str, outcomes: dict[str, int]
) -> None:
    tests.settings(setting)
    tests.run("""
def test_it(history_recorder):
    dirty(history_recorder)
""").assert_outcomes(**outcomes)


def test_the_nearest_marker_decides(tests: Folder) -> None:
    done = tests.run("""
pytestmark = pytest.mark.isolation_level("serializable")

@pytest.mark.isolation_level("pl-1")
class TestGroup:
    def test_of_the_class(self, history_recorder):
        dirty(history_recorder)

    @pytest.mark.isolation_level("pl-2")
    def test_of_its_own(self, history_recorder):
        dirty(history_recorder)

def test_of_the_module(history_recorder):
    dirty(history_recorder)

def test_without_a_recorder():
    pass
""")
    done.assert_outcomes(passed=2, failed=2)
    done.stdout.fnmatch_lines(["*breaks pl-2", "*breaks serializable"])


UNKNOWN = """
@pytest.mark.isolation_level("strict-serializable")
def test_it(history_recorder):
    clean(history_recorder)
"""
EMPTY = """
def test_it(history_recorder):
    pass
"""


@pytest.mark.parametrize("text", [UNKNOWN, EMPTY], ids=["open", "empty"])
@pytest.mark.parametrize(
    ("setting", "outcomes"),
    [("", {"failed": 1}), ("warn", {"passed": 1, "warnings": 1}), ("pass", {"passed": 1})],
)
def test_unknown_fails_unless_it_is_set_to_warn_or_pass(
    tests: Folder, text: str, setting: str, outcomes: dict[str, int]
) -> None:
    tests.settings(f"isolation_unknown = {setting}" if setting else "")
    # Our own run makes errors of warnings, which a run inside it would inherit.
    tests.run(text, "-Wdefault").assert_outcomes(**outcomes)


def test_unknown_never_hides_what_is_violated(tests: Folder) -> None:
    tests.settings("isolation_unknown = pass")
    tests.run("""
@pytest.mark.isolation_level("strict-serializable", "pl-2")
def test_it(history_recorder):
    dirty(history_recorder)
""").assert_outcomes(failed=1)


def test_a_test_that_failed_by_itself_fails_for_that_and_shows_the_history_too(tests: Folder) -> None:
    done = tests.run("""
@pytest.mark.parametrize("record", [dirty, clean])
def test_it(history_recorder, record):
    record(history_recorder)
    assert 1 == 2
""")
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(["E       assert 1 == 2", "*- Recorded history -*", "aborted-read: 1 found"])
    assert str(done.stdout).count("Recorded history") == 1


def test_a_skipped_test_is_not_judged(tests: Folder) -> None:
    done = tests.run("""
def test_skipped(history_recorder):
    pytest.skip("not today")

@pytest.fixture
def broken(history_recorder):
    raise OSError("no database")

def test_never_run(history_recorder, broken):
    pass

def test_skipped_with_others(module_history_recorder):
    pytest.skip("not today")
""")
    done.assert_outcomes(skipped=2, errors=1)
    assert "nothing was recorded" not in str(done.stdout)


def test_an_expected_failure_is_one(tests: Folder) -> None:
    tests.run("""
@pytest.mark.xfail(strict=True)
def test_it(history_recorder):
    dirty(history_recorder)
""").assert_outcomes(xfailed=1)


def test_transactions_that_fixtures_record_after_the_test_are_checked_at_teardown(tests: Folder) -> None:
    done = tests.run("""
@pytest.fixture
def cluster(history_recorder):
    yield
    with history_recorder.transaction() as last:
        last.write("y", 1)
        last.read("y", 2)

def test_it(cluster, history_recorder):
    clean(history_recorder)
""")
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["* ERROR at teardown of test_it *", "not-my-own-write: 1 found"])


@pytest.mark.parametrize("scope", ["class", "module", "session"])
def test_a_wider_recorder_collects_over_several_tests(tests: Folder, scope: str) -> None:
    done = tests.run(
        f"""
@pytest.mark.usefixtures("{scope}_history_recorder")
class TestGroup:
    def test_writer(self, {scope}_history_recorder):
        with {scope}_history_recorder.transaction() as writer:
            writer.write("x", 1)
            writer.abort()

    def test_reader(self, {scope}_history_recorder):
        with {scope}_history_recorder.transaction() as reader:
            reader.read("x", 1)
""",
        "--isolation-history=kept",
    )
    done.assert_outcomes(passed=2, errors=1)
    done.stdout.fnmatch_lines(["* ERROR at teardown of TestGroup.test_reader *", "aborted-read: 1 found"])
    assert len(tests.kept) == 1


def test_a_wider_recorder_heeds_the_marker_of_its_scope(tests: Folder) -> None:
    tests.run("""
@pytest.mark.isolation_level("pl-1")
class TestGroup:
    def test_it(self, class_history_recorder):
        dirty(class_history_recorder)
""").assert_outcomes(passed=1)


def test_async_tests_are_checked_when_their_coroutine_ends(tests: Folder) -> None:
    tests.pytester.makeconftest("""
import asyncio
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(pyfuncitem.obj(**arguments))
    return True
""")
    done = tests.run("""
async def test_it(history_recorder):
    await asyncio.sleep(0)
    dirty(history_recorder)
""")
    done.assert_outcomes(failed=1)


def test_test_cases_of_unittest_are_checked_too(tests: Folder) -> None:
    done = tests.run("""
class Case(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def recorder(self, history_recorder):
        self.recorder = history_recorder

    def test_it(self):
        dirty(self.recorder)
""")
    done.assert_outcomes(failed=1)


def test_with_xdist_every_worker_checks_its_own_tests(tests: Folder) -> None:
    done = tests.run_apart(
        """
@pytest.mark.parametrize("record", [clean, dirty, clean, dirty], ids="abcd")
def test_it(history_recorder, record):
    record(history_recorder)
""",
        *("-n", "2", "--isolation-history", "kept"),
    )
    done.assert_outcomes(passed=2, failed=2)
    assert len(tests.kept) == 4
