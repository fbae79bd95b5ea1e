"""`isoscope run`: what it prints, keeps and answers, on a database that fails when it is told to."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import isoscope
from isoscope import formats
from isoscope.cli.run import command
from isoscope.reports.schema import schema
from isoscope.run import connections
from isoscope.workloads.published import EXPECTATIONS
from tests.interrupts import wait_for_write

from .fake_database import Fake, install
from .running import COMMAND, Done, run

SMALL = ("--workload", "list-append", "--transactions", 300, "--sessions", 2)
LONG = ("--workload", "list-append", "--transactions", 50_000)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    install(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(connections, "_PATIENCE", 0.1)
    return tmp_path


def run_fake(*arguments: object, **settings: object) -> Done:
    given = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    done = run("run", "fake", *SMALL, *arguments, *given)
    assert Fake.closed == 1
    return done


def test_a_run_says_what_ran_how_fast_and_whether_the_promise_was_kept() -> None:
    done = run_fake("--seed", 7)
    assert done.status == 0
    answer, promised, what, rate, blank, heading, *_ = done.out.splitlines()
    assert re.fullmatch(
        r"Yes\. Fake 1\.0 at SERIAL kept strict serializability \(300 transactions, [\d.]+ s\)\.", answer
    )
    assert promised == "  promised: strict-serializable"
    assert what == "  Fake 1.0, serial: list-append, 2 sessions, seed 7"
    assert rate.startswith("  rate: 300 committed in ")
    assert rate.endswith("/s), 0 aborted, 0 indeterminate")
    assert blank == ""
    assert heading.startswith("fake-serial.parquet (parquet): ")
    assert done.err == "history: fake-serial.parquet\n"


def test_a_run_prints_the_same_report_as_check_of_its_history() -> None:
    done = run_fake()
    again = run("check", "fake-serial.parquet")
    verdicts = "\n  holds     strict-serializable, and so "
    assert (
        done.out.partition(verdicts)[2].split("\n\n")[0] == again.out.partition(verdicts)[2].split("\n\n")[0]
    )
    assert verdicts in done.out


def test_a_run_that_kept_its_promise_prints_at_most_a_screen() -> None:
    assert len(run_fake().out.splitlines()) <= 24


def test_a_broken_promise_names_the_weakest_levels_and_is_status_1() -> None:
    done = run_fake(reads="nothing")
    assert done.status == 1
    verdict = done.out.splitlines()[0]
    assert verdict.startswith("No. Fake 1.0 at SERIAL broke strict serializability, and even ")
    assert "PL-2" in verdict
    assert done.out.splitlines()[-1].startswith("exit status 1: strict-serializable is violated (what is")
    assert "not-my-own-write" in done.out


def test_a_database_that_promises_nothing_breaks_nothing() -> None:
    done = run_fake("--isolation", "loose", reads="nothing")
    assert done.status == 0
    assert "\n  promised: nothing\n" in done.out


@pytest.mark.parametrize(
    ("level", "reads", "status", "verdict"),
    [
        ("serializable", "all", 0, "Yes. Fake 1.0 at SERIAL kept serializability ("),
        ("strict-serializable", "all", 0, "Yes. Fake 1.0 at SERIAL kept strict serializability ("),
        ("pl-2", "nothing", 1, "No. Fake 1.0 at SERIAL broke PL-2 and strict serializability: "),
        ("cut-isolation", "nothing", 0, "Yes. Fake 1.0 at SERIAL kept cut isolation ("),
    ],
)
def test_named_levels_decide_instead_of_the_promise(
    level: str, reads: str, status: int, verdict: str
) -> None:
    done = run_fake("--level", level, reads=reads)
    assert done.status == status
    assert done.out.startswith(verdict)


def test_no_run_replaces_the_history_of_another() -> None:
    run_fake()
    Fake.closed = 0
    first = Path("fake-serial.parquet").read_bytes()
    assert run_fake("--seed", 1).err == "history: fake-serial-2.parquet\n"
    assert Path("fake-serial.parquet").read_bytes() == first


def test_aborts_are_told_with_their_most_frequent_reasons() -> None:
    done = run_fake(aborts_every=3)
    assert "200 committed in " in done.out
    assert ", 100 aborted, 0 indeterminate (conflict: 100)\n" in done.out


def test_a_run_without_a_single_commit_proves_nothing() -> None:
    done = run_fake(aborts_every=1)
    assert done.status == 3
    told = "Not decided: whether Fake 1.0 at SERIAL kept strict serializability (nothing was committed)."
    assert done.out.splitlines()[0] == told
    assert done.out.splitlines()[-1].startswith("exit status 3: nothing was committed (")


def test_an_aborted_transaction_is_tried_again_as_often_as_asked() -> None:
    run_fake("--retries", 5, aborts_every=2)
    history = isoscope.load("fake-serial.parquet")
    assert (history.counts["committed"], history.counts["aborted"]) == (150, 150)


@pytest.mark.usefixtures("ctrl_c")
def test_the_history_until_ctrl_c_is_kept_and_checked() -> None:
    done = run("run", "fake", *LONG, "--set", "ctrl_c_at=200")
    assert done.status == 0
    assert done.err == "interrupted: what happened until then is kept\nhistory: fake-serial.parquet\n"
    assert done.out.startswith("Yes. Fake 1.0 at SERIAL kept strict serializability")
    assert 199 <= isoscope.load("fake-serial.parquet").counts["transactions"] < 50_000


def test_a_server_that_dies_is_one_message_and_its_history_is_kept() -> None:
    done = run("run", "fake", *LONG, "--set", "dies_at=100")
    assert done.status == 2
    assert done.err == "error: fake: the server does not listen any longer\nhistory: fake-serial.parquet\n"
    assert done.out.startswith("Yes. Fake 1.0 at SERIAL kept strict serializability")
    assert Fake.closed == 1


def test_a_database_that_cannot_be_opened_is_one_message_and_leaves_nothing(folder: Path) -> None:
    done = run_fake("--report", "report.html", password="x")
    assert (done.status, done.out) == (2, "")
    assert done.err == "error: fake: the password for user `isoscope` is wrong\n"
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--isolation", "serail"], "unknown isolation of fake `serail`; did you mean `serial`?"),
        (["--set", "pasword=x"], "unknown setting of fake `pasword`; did you mean `password`?"),
        (["--set", "password"], "--set password: expected NAME=VALUE"),
        (["--set", "reads=all", "--set", "reads=nothing"], "--set reads=nothing: reads is all already"),
        (["--workload", "list-apend"], "unknown workload `list-apend`; did you mean `list-append`?"),
        (["--level", "causel"], "unknown level `causel`; did you mean `causal`?"),
        (["--out", "nowhere/x.parquet"], "--out: cannot write nowhere/x.parquet: there is no folder nowhere"),
        (["--out", "there"], "there: the name does not say which format to write"),
        (["--out", "-"], "--out needs the name of a file"),
        (["--out", "x.txt"], "plume cannot hold all of this history"),
        (["--report", "nowhere/x.html"], "--report: cannot write nowhere/x.html: there is no folder nowhere"),
        (["--out", "x.parquet", "--report", "x.parquet"], "--report: x.parquet would replace x.parquet"),
        (["--no-record", "--out", "x.parquet"], "--no-record leaves nothing for --out"),
        (["--no-record", "--level", "ser", "--dot", "x"], "--no-record leaves nothing for --level, --dot"),
        (["--no-check", "--level", "ser"], "--no-check leaves nothing for --level"),
        (["--seconds", "0"], "Invalid value for '--seconds'"),
    ],
)
def test_a_bad_option_is_one_message_before_anything_runs(
    folder: Path, arguments: list[str], message: str
) -> None:
    (folder / "there").mkdir()
    done = run("run", "fake", *SMALL, *arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")
    assert [path.name for path in folder.iterdir()] == ["there"]
    assert Fake.closed == 0


def test_an_unknown_database_is_one_message() -> None:
    done = run("run", "sqlit")
    assert done.status == 2
    assert done.err.startswith("error: unknown database `sqlit`; did you mean `sqlite`?")


def test_a_history_that_does_not_fit_on_the_disk_goes_to_the_folder_for_temporary_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rescue = folder / "rescue"
    rescue.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(rescue))
    (folder / "full.parquet").symlink_to("/dev/full")
    done = run_fake("--out", "full.parquet")
    assert done.status == 2
    assert done.err.startswith("error: cannot write full.parquet: No space left on device\n")
    assert f"history: {rescue / 'full.parquet'}\nhint: move it" in done.err
    assert done.out.startswith("Yes. Fake 1.0 at SERIAL kept strict serializability")
    assert isoscope.load(rescue / "full.parquet").counts["transactions"] == 300


def test_a_history_for_which_there_is_no_room_at_all_is_still_checked(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "nowhere"))
    (folder / "full.parquet").symlink_to("/dev/full")
    done = run_fake("--out", "full.parquet")
    assert done.status == 2
    assert done.err.endswith("hint: the history is lost; make room, or name another folder with --out\n")
    assert done.out.startswith("Yes. Fake 1.0 at SERIAL kept strict serializability")


def test_another_format_keeps_what_it_can_if_told_so() -> None:
    done = run_fake("--out", "run.edn", "--lossy")
    assert done.status == 0
    assert "lost: client intervals of operations" in done.err
    assert isoscope.load("run.edn").counts["transactions"] == 300


def test_without_recording_only_the_rate_is_told(folder: Path) -> None:
    done = run_fake("--no-record")
    assert (done.status, done.err) == (0, "")
    assert [line.split(":")[0] for line in done.out.splitlines()] == ["Fake 1.0, serial", "rate"]
    assert list(folder.iterdir()) == []


def test_without_a_check_the_history_is_kept() -> None:
    done = run_fake("--no-check", reads="nothing")
    assert (done.status, done.err) == (0, "history: fake-serial.parquet\n")
    assert len(done.out.splitlines()) == 2
    assert len(isoscope.load("fake-serial.parquet")) == 300


@pytest.mark.parametrize(
    ("arguments", "settings", "expected"),
    [
        ([], {}, {"committed": 300, "promises": ["strict-serializable"]}),
        ([], {"reads": "nothing"}, {"settings": {"reads": "nothing"}}),
        ([], {"aborts_every": 1}, {"aborted": 300, "reasons": {"conflict": 300}}),
        (["--no-check"], {}, {"workload": "list-append", "sessions": 2, "seed": 0}),
        (["--no-record"], {}, {"database": "Fake 1.0", "isolation": "serial", "interrupted": False}),
    ],
)
def test_the_document_follows_the_schema_and_tells_of_the_run(
    arguments: list[str], settings: dict[str, object], expected: dict[str, object]
) -> None:
    found = json.loads(run_fake("--json", *arguments, **settings).out)
    Draft202012Validator(schema()).validate(found)
    assert expected.items() <= found["run"].items()
    assert ("verdicts" in found) == (not arguments)


@pytest.mark.parametrize(
    ("settings", "outcome"),
    [({}, "yes"), ({"reads": "nothing"}, "no"), ({"aborts_every": 1}, "not-decided")],
)
def test_the_document_has_the_answer(settings: dict[str, object], outcome: str) -> None:
    answer = json.loads(run_fake("--json", **settings).out)["answer"]
    assert (answer["outcome"], answer["is_promise"]) == (outcome, True)
    assert (answer["database"], answer["version"], answer["isolation"]) == ("Fake", "1.0", "SERIAL")


@pytest.mark.parametrize(
    ("fail_on", "status", "line"),
    [
        ("none", 0, "exit status 0: no level that counts is violated (--fail-on: no level counts)"),
        ("pl-1", 0, "exit status 0: no level that counts is violated (--fail-on: pl-1 counts)"),
        ("pl-2", 1, "exit status 1: pl-2 is violated (--fail-on: pl-2 counts)"),
        ("any", 1, "exit status 1: "),
    ],
)
def test_fail_on_sets_the_exit_status_and_the_last_line_says_so(fail_on: str, status: int, line: str) -> None:
    done = run_fake("--fail-on", fail_on, reads="nothing")
    assert done.status == status
    assert done.out.splitlines()[-1].startswith(line)


def test_files_beside_the_text_are_written(folder: Path) -> None:
    files = ["report.html", "junit.xml", "out.sarif", "graph.dot", "picture.svg"]
    options = ["--report", "--junit", "--sarif", "--dot", "--svg"]
    pairs = [part for pair in zip(options, files, strict=True) for part in pair]
    assert run_fake(*pairs, reads="nothing").status == 1
    assert {path.name for path in folder.iterdir()} == {*files, "fake-serial.parquet"}
    assert 'failures="1"' in (folder / "junit.xml").read_text()


def test_help_lists_options_by_what_they_are_about() -> None:
    text = run("run", "--help").out
    sections = ["Run:", "Workload:", "History:", "Check:", "Output:"]
    assert sorted(sections, key=text.index) == sections
    options = {option for parameter in command.params for option in parameter.opts if option[0] == "-"}
    assert all(option in text for option in options)


def test_hermitage_is_a_table_of_what_was_found_beside_what_is_known() -> None:
    done = run("run", "sqlite", "--workload", "hermitage", "--isolation", "read-uncommitted")
    assert (done.status, done.err) == (0, "")
    assert "\nG0        prevented\nG1a       allowed\n" in done.out
    assert re.match(r"Yes\. SQLite \S+ prevents what is expected \(theory\)\.\n", done.out)
    assert "OTV: observed transaction vanishes; PMP: predicate-many-preceders" in " ".join(done.out.split())


def test_hermitage_asks_every_isolation_unless_one_is_named() -> None:
    done = run("run", "simulated", "--workload", "hermitage")
    assert done.status == 0
    head = done.out.splitlines()[2]
    assert head.split() == ["serializable", "snapshot-isolation", "read-committed", "read-uncommitted"]


def test_an_isolation_that_is_weaker_than_known_is_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXPECTATIONS, ("simulated", "read-committed"), EXPECTATIONS["sqlite", "serializable"])
    done = run("run", "simulated", "--workload", "hermitage", "--isolation", "read-committed")
    assert done.status == 1
    assert "read-committed: weaker than expected (theory) for P4: allowed, not prevented." in done.out


def test_hermitage_knows_nothing_of_the_options_of_a_run() -> None:
    done = run("run", "sqlite", "--workload", "hermitage", "--seconds", 3, "--json")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: hermitage runs scripts and knows nothing of --seconds, --json\n")


def test_several_promises_are_told_together() -> None:
    done = run("run", "simulated", *SMALL)
    assert done.status == 0
    kept = "kept serializability by its clock, snapshot isolation by its clock and strict serializability ("
    assert kept in done.out.splitlines()[0]


def test_a_fault_that_is_injected_breaks_the_promise() -> None:
    # This fault shows also when no transactions overlap.
    fault = ["--isolation", "snapshot-isolation", "--set", "bug=fractured-commit", "--set", "bug_rate=0.2"]
    done = run("run", "simulated", *fault, "--transactions", 500, "--sessions", 4, "--keys", 5)
    assert done.status == 1
    assert done.out.startswith("No. ")


def test_sigterm_ends_a_run_and_keeps_its_history(tmp_path: Path) -> None:
    command = [*COMMAND, "run", "sqlite:there.db", "--seconds", "100", "--out", "run.parquet"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_for_write(tmp_path / "there.db")
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"interrupted: what happened until then is kept" in err
    assert formats.load(tmp_path / "run.parquet").counts["committed"]


def test_a_page_says_what_was_run(folder: Path) -> None:
    assert run("run", "sqlite", "--transactions", "20", "--report", "page.html").status == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "recorded from SQLite " in page
