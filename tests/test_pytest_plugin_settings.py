"""The pytest plugin: its settings, its options and its marker."""

from __future__ import annotations

import pytest

import isoscope
from tests.plugin_folder import Folder

pytest_plugins = ["pytester"]


@pytest.fixture
def tests(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return Folder(pytester)


def test_every_history_is_kept_and_can_be_checked_again(tests: Folder) -> None:
    tests.run(
        """
@pytest.mark.parametrize("key", ["a/b", "a:b", "x" * 300])
def test_it(history_recorder, key):
    clean(history_recorder, key)
""",
        "--isolation-history=kept",
    ).assert_outcomes(passed=3)
    assert len(tests.kept) == 3
    assert {isoscope.load(path).transaction(0).operations[0].key for path in tests.kept} == {
        "a/b",
        "a:b",
        "x" * 300,
    }


def test_recorders_are_made_as_the_options_say(tests: Folder) -> None:
    tests.run("""
@pytest.fixture(scope="session")
def history_recorder_options():
    return {"initial": 0}

def test_it(history_recorder):
    with history_recorder.transaction() as reader:
        reader.read("x", 5)
""").assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("marker", "complaint"),
    [
        ('"serialisable"', "unknown level `serialisable`; did you mean `serializable`*"),
        ("", "expected names of levels and nothing else"),
        ('level="rc"', "expected names of levels and nothing else"),
    ],
)
def test_a_marker_that_names_no_level_is_one_error_before_anything_runs(
    tests: Folder, marker: str, complaint: str
) -> None:
    text = f"""
@pytest.mark.isolation_level({marker})
def test_it(history_recorder):
    clean(history_recorder)
"""
    done = tests.run(text)
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines([f"*::test_it: isolation_level: {complaint}", "hint: `isoscope levels` *"])
    assert "Traceback" not in str(done.stdout)


def test_a_wrong_marker_is_no_crash_of_xdist(tests: Folder) -> None:
    done = tests.run_apart(
        """
@pytest.mark.isolation_level("none")
def test_it(history_recorder):
    clean(history_recorder)
""",
        *("-n", "1"),
    )
    done.stdout.fnmatch_lines(["*::test_it: isolation_level: unknown level `none`*"])
    assert "INTERNALERROR" not in str(done.stdout)


def test_a_test_whose_marker_has_no_effect_fails_alone_with_a_hint(tests: Folder) -> None:
    done = tests.run("""
@pytest.mark.isolation_level("rc")
def test_it(module_history_recorder):
    clean(module_history_recorder)

@pytest.mark.isolation_level("rc")
def test_other(history_recorder):
    clean(history_recorder)
""")
    done.assert_outcomes(failed=1, passed=1)
    done.stdout.fnmatch_lines(
        [
            "the marker isolation_level has no effect*",
            "hint: `def test_it(history_recorder)` gets a recorder;*",
        ]
    )


@pytest.mark.parametrize(
    ("setting", "argument", "complaint"),
    [
        ("isolation_level = none", "-q", "the setting isolation_level: unknown level `none`*"),
        ("isolation_unknown = guess", "-q", "isolation_unknown is 'guess': expected fail, warn, pass"),
        ("", "--isolation-history=tox.ini/x", "--isolation-history: *"),
    ],
)
def test_a_setting_that_makes_no_sense_is_one_error(
    tests: Folder, setting: str, argument: str, complaint: str
) -> None:
    tests.settings(setting)
    done = tests.run_apart("def test_it(): pass", argument)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"ERROR: {complaint}"])
    assert "Traceback" not in str(done.stderr)


def test_the_marker_is_known(tests: Folder) -> None:
    tests.run("", "--markers").stdout.fnmatch_lines(["@pytest.mark.isolation_level(*levels): *"])
