"""`isoscope check`: exit status, several histories, JSON, initial values, standard input."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

import isoscope
from isoscope import __version__
from tests.cli.running import run, run_apart

TEXTS = {
    "clean.txt": "w(1,1,1,1)\nr(1,1,2,2)\n",
    "aborted.txt": "w(1,1,1,-1)\nr(1,1,2,2)\n",
    "changing.txt": "w(1,1,1,1)\nr(1,0,2,2)\nr(1,1,2,2)\n",
    "broken.txt": "w(1,1,1,1)\nr(1,1,2\n",
    "strange.txt": "hello\n",
    "empty.txt": "",
    "list.edn": "{:type :ok, :process 0, :value [[:append :x 1] [:r :x [1]]]}\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        # Without --level: 1 if pl-2, read-committed or cut-isolation is violated, else 0.
        (["clean.txt"], 0),
        (["list.edn"], 0),
        (["aborted.txt"], 1),
        (["changing.txt"], 1),
        (["clean.txt", "aborted.txt"], 1),
        (["clean.txt", "clean.txt"], 0),
        # With --level: 1 if one is violated, else 3 if one is unknown, else 0.
        (["clean.txt", "--level", "cut-isolation"], 0),
        (["aborted.txt", "--level", "cut-isolation"], 0),
        (["changing.txt", "--level", "cut-isolation"], 1),
        (["clean.txt", "--level", "serializable"], 0),
        (["clean.txt", "--level", "strict-serializable"], 3),
        (["aborted.txt", "--level", "pl-1"], 0),
        (["aborted.txt", "--level", "pl-1", "--level", "pl-2"], 1),
        (["changing.txt", "--level", "read-committed"], 0),
        (["changing.txt", "--level", "read-atomic"], 1),
        (["clean.txt", "--level", "ci", "--level", "sser"], 3),
        (["clean.txt", "aborted.txt", "--level", "pl-2"], 1),
        (["clean.txt", "changing.txt", "--level", "pl-2"], 0),
        (["clean.txt", "changing.txt", "--level", "strong-session-pl-2"], 0),
        (["aborted.txt", "--level", "pl-2", "--method", "timestamps"], 3),
        # With --fail-on: that level alone, any level, or none.
        (["aborted.txt", "--fail-on", "none"], 0),
        (["aborted.txt", "--fail-on", "pl-1"], 0),
        (["aborted.txt", "--fail-on", "causal"], 1),
        (["changing.txt", "--level", "read-committed", "--fail-on", "cut-isolation"], 1),
        (["changing.txt", "--level", "read-atomic", "--fail-on", "none"], 0),
        (["clean.txt", "--fail-on", "strict-serializable"], 3),
        (["clean.txt", "--fail-on", "any"], 0),
        (["changing.txt", "--fail-on", "any"], 1),
        (["clean.txt", "--fail-on", "nothing"], 2),
        (["clean.txt", "--anomaly", "aborted-read", "--fail-on", "any"], 2),
        # 2 if any input or option is bad, whatever the rest says.
        (["nowhere.txt"], 2),
        (["broken.txt"], 2),
        (["strange.txt"], 2),
        (["empty.txt"], 2),
        (["aborted.txt", "broken.txt"], 2),
        (["broken.txt", "clean.txt", "--level", "serializable"], 2),
        (["clean.txt", "--level", "serialisable"], 2),
        (["clean.txt", "--format", "aion"], 2),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, list) else None,
)
def test_the_exit_status_is_as_promised(folder: Path, arguments: list[str], status: int) -> None:
    for extra in ([], ["--json"]):
        assert run("check", *arguments, *extra).status == status


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["clean.txt"], "exit status 0: no level that counts is violated (without --level, only "),
        (["aborted.txt"], "exit status 1: read-committed and pl-2 are violated (without --level, only "),
        (["clean.txt", "aborted.txt"], "exit status 1: read-committed and pl-2 are violated ("),
        (
            ["aborted.txt", "--fail-on", "pl-1"],
            "exit status 0: no level that counts is violated (--fail-on: ",
        ),
    ],
    ids=" ".join,
)
def test_the_last_line_explains_the_exit_status(folder: Path, arguments: list[str], line: str) -> None:
    assert run("check", *arguments).out.splitlines()[-1].startswith(line)


def test_the_exit_status_of_named_levels_needs_no_explanation(folder: Path) -> None:
    assert "exit status" not in run("check", "aborted.txt", "--level", "pl-2").out


@pytest.mark.parametrize("alias", ["rc", "RC", "read_committed", "Read Committed", "elle:read-committed"])
def test_aliases_of_levels_are_understood(folder: Path, alias: str) -> None:
    assert run("check", "aborted.txt", "--level", alias).status == 1


def test_an_unknown_level_is_refused_with_a_suggestion(folder: Path) -> None:
    done = run("check", "clean.txt", "--level", "serialisable")
    assert done.out == ""
    assert done.err.startswith("error: unknown level `serialisable`; did you mean `serializable`")
    assert done.err.endswith("hint: `isoscope levels` lists them\n")


def test_readable_histories_are_checked_and_printed_beside_unreadable_ones(folder: Path) -> None:
    done = run("check", "broken.txt", "aborted.txt")
    assert done.err.startswith("error: broken.txt:2")
    assert "aborted-read: 1 found" in done.out


def test_the_report_names_the_lines_of_the_input(folder: Path) -> None:
    done = run("check", "aborted.txt")
    assert "wrote key 1 = 1 (aborted.txt:1), then aborted\n" in done.out
    assert "read key 1 = 1 (line 2)\n" in done.out
    assert done.err == ""


def documents(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run("check", "--json", *arguments).out.splitlines()]


def test_json_is_one_document_a_line_in_the_order_given(folder: Path) -> None:
    names = ["changing.txt", "list.edn", "clean.txt"]
    found = documents(*names)
    assert [document["history"]["path"] for document in found] == names
    assert [document["history"]["format"] for document in found] == ["plume", "jepsen", "plume"]


def test_json_has_a_document_for_what_cannot_be_read(folder: Path) -> None:
    clean, broken, nowhere, aborted = documents("clean.txt", "broken.txt", "nowhere.txt", "aborted.txt")
    assert set(broken) == {"isoscope", "history", "error"}
    assert broken["isoscope"] == __version__
    assert broken["history"] == {"path": "broken.txt"}
    assert broken["error"].startswith("broken.txt:2")
    assert nowhere["error"] == "cannot read nowhere.txt: No such file or directory"
    assert "verdicts" in clean
    assert aborted["weakest_violated"] == ["pl-2"]


def test_json_depends_on_the_input_alone_and_seconds_need_timings(folder: Path) -> None:
    assert run("check", "--json", "aborted.txt") == run("check", "--json", "aborted.txt")
    [timed] = documents("--timings", "aborted.txt")
    assert list(timed["seconds"]) == ["load", "check"]
    assert all(seconds >= 0 for seconds in timed.pop("seconds").values())
    assert [timed] == documents("aborted.txt")


def test_text_shows_seconds_only_with_timings(folder: Path) -> None:
    assert " s\n" not in run("check", "clean.txt").out
    assert "load: " in run("check", "clean.txt", "--timings").out


def test_levels_are_answered_once_in_the_order_asked(folder: Path) -> None:
    [found] = documents("clean.txt", "--level", "ci", "--level", "pl-2", "--level", "cut-isolation")
    assert [verdict["level"] for verdict in found["verdicts"]] == ["cut-isolation", "pl-2"]


def test_max_anomalies_bounds_what_is_shown_not_what_is_counted(folder: Path) -> None:
    (folder / "many.txt").write_text("".join(f"r(1,{n},1,{n})\n" for n in range(1, 6)))
    [found] = documents("many.txt", "--level", "pl-2", "--max-anomalies", "2")
    [verdict] = found["verdicts"]
    assert verdict["anomaly_counts"] == {"thin-air-read": 5}
    assert len(verdict["anomalies"]) == 2


@pytest.mark.parametrize(
    ("initial", "value", "status", "assumed"),
    [
        (None, "0", 0, "every key holds 0"),
        (None, "5", 1, "every key holds 0"),
        ("5", "5", 0, "every key holds 5"),
        ("5", "0", 1, "every key holds 5"),
        ("-5", "-5", 0, "every key holds -5"),
        ("nil", "0", 1, "every key holds nil"),
        ("null", "0", 1, "every key holds nil"),
        ("unknown", "7", 0, "the one value that reads show and no transaction wrote"),
        ('"5"', "5", 1, "every key holds '5'"),
        ("five", "5", 1, "every key holds 'five'"),
    ],
)
def test_initial_overrides_the_formats_initial_value(
    folder: Path, initial: str | None, value: str, status: int, assumed: str
) -> None:
    (folder / "initial.txt").write_text(f"r(1,{value},1,1)\n")
    done = run("check", "initial.txt", *(["--initial", initial] if initial else []))
    assert done.status == status
    assert assumed in " ".join(done.out.split())


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_dash_is_standard_input(pack: Any) -> None:
    done = run_apart("check", "-", "--json", stdin=pack(TEXTS["aborted.txt"].encode()))
    assert done.status == 1
    assert json.loads(done.out)["history"]["path"] == "<stdin>"


CLAIMS = ("sequential-keys", "writes-follow-reads")


def test_claims_are_named_as_the_users(folder: Path) -> None:
    claims = [argument for claim in CLAIMS for argument in ("--assume", claim)]
    for question in ([], ["--anomaly", "aborted-read"]):
        lines = run("check", "clean.txt", *question, *claims).out.splitlines()
        claimed = [line for line in lines if "claimed" in line]
        assert [line.split(",")[0] for line in claimed] == [f"claimed: {claim}" for claim in CLAIMS]
    assert "claimed" not in run("check", "clean.txt").out


def test_nothing_on_standard_input_is_bad_input() -> None:
    done = run_apart("check", "-")
    assert done.status == 2
    assert done.err.startswith("error: <stdin>: the input is empty")


def test_a_directory_is_one_history(folder: Path) -> None:
    sessions = folder / "sessions"
    sessions.mkdir()
    for number, text in enumerate(TEXTS["aborted.txt"].splitlines()):
        (sessions / f"{number}.txt").write_text(text)
    done = run("check", "sessions")
    assert done.status == 1
    assert "sessions/1.txt:1" in done.out


@pytest.mark.parametrize("mistake", [["."], ["empty"], ["/dev/null/x"]], ids=repr)
def test_a_path_that_is_no_history_is_one_message(folder: Path, mistake: list[str]) -> None:
    (folder / "empty").mkdir()
    done = run("check", *mistake)
    assert done.status == 2
    assert done.err.startswith("error: ")


def test_a_file_that_may_not_be_read_is_one_message(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    done = run("check", "clean.txt")
    assert (done.status, done.err) == (2, "error: cannot read clean.txt: Permission denied\n")


def test_standard_input_is_read_once(folder: Path) -> None:
    done = run_apart("check", "-", "-", "--json", stdin=b"r(1,9,1,1)\n")
    assert done.status == 2
    first, second = map(json.loads, done.out.splitlines())
    assert first["weakest_violated"] == ["pl-2"]
    assert second["error"] == "<stdin> can be read only once"


@pytest.mark.parametrize("most", ["0", "99999999999999999999999"])
def test_a_number_of_anomalies_out_of_range_is_bad_usage(folder: Path, most: str) -> None:
    assert run("check", "aborted.txt", "--max-anomalies", most).status == 2


def test_a_name_that_is_no_text_still_gives_json(folder: Path) -> None:
    name = os.fsdecode(b"odd\xff.txt")
    Path(name).write_text("r(1,9,1,1)\n")
    document = json.loads(run_apart("check", name, "--json").out)
    assert document["history"]["path"] == name


def test_an_empty_name_is_bad_usage() -> None:
    done = run("check", "")
    assert (done.status, done.err) == (2, "error: cannot read a file without a name\n")


def test_output_that_cannot_be_written_is_an_error(folder: Path) -> None:
    done = run_apart("levels", stdout="/dev/full")
    assert (done.status, done.err) == (2, "error: cannot write the output: No space left on device\n")


def test_the_logs_of_a_directory_are_no_histories(folder: Path) -> None:
    runs = folder / "runs"
    runs.mkdir()
    (runs / "x.edn").write_text("{:type :info, :process 0, :value [[:w 1 1]]}\n")
    (runs / "x.log").write_text('{"type":2300,"tid":"1","data":{"_key":"1","rwAttr":1}}\n')
    assert isoscope.load("runs").columns.counted() == [True]


def test_a_history_without_clients_is_bad_input(folder: Path) -> None:
    Path("names.edn").write_text('{:type :ok, :process "a", :value [[:w 1 1]]}\n')
    done = run("check", "names.edn", "--level", "cut-isolation")
    assert done.status == 2
    assert done.err.startswith(
        "error: names.edn: expected operations of clients, whose processes are integers"
    )


def test_the_option_replaces_all_initial_values(folder: Path) -> None:
    recorder = isoscope.Recorder(initial=isoscope.Initial(value=0, of_key={"a": 100}))
    with recorder.transaction(session=1) as t:
        t.read("a", 100)
    isoscope.save(recorder.history(), "own.parquet")
    assert run("check", "own.parquet", "--level", "pl-2").status == 0
    assert run("check", "own.parquet", "--level", "pl-2", "--initial", "0").status == 1


def test_no_bracket_is_left_open_at_the_end_of_a_line(folder: Path) -> None:
    (folder / "conflict.txt").write_text(run("explain", "commit-order-conflict", "--example").out)
    lines = run("check", "conflict.txt", "--level", "causal").out.splitlines()
    assert any(" before " in line for line in lines)
    assert all(line.count("(") == line.count(")") for line in lines)
