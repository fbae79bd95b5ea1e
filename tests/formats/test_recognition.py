"""Which format an input is: by all fields of its first object, by the names of files, and what is advised."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from isoscope import formats
from isoscope.errors import FormatError, IsoscopeError, UnknownFormatError
from isoscope.formats.format import Fields, fields
from tests.formats.binary import record

if TYPE_CHECKING:
    from pathlib import Path

EVENT = {"type": "ok", "process": 0, "value": [["w", 1, 1]], "index": 0}
TRANSACTION = {"tid": 1, "sid": 1, "ops": [{"t": "w", "k": 1, "v": 1}]}
DEPENDENCY = {"_from": "txn/1", "_to": "txn/2", "from_evt": "w_evt/1,1", "to_evt": "r_evt/2,1"}
PLAIN = {"value": [["r", 1, 0], ["w", 1, 5]]}
LIST = "{:type :ok :f :txn :value [[:append 1 2] [:r 1 [2]]]}\n"
LOG = record("S", 1) + record("W", 10, 5, 7) + record("C", 1)


def format_of(path: Path, content: str | bytes) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return formats.load(path).source.format


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({"rtts": 1, **TRANSACTION}, "aion"),
        ({"note": {"type": "x", "value": 1}, **TRANSACTION}, "aion"),
        ({"error": 'a "quoted\\" }', **EVENT}, "jepsen"),
        ({"error": None, "clock": [{"tid": 1}], **EVENT}, "jepsen"),
        ({"type": "wr", **DEPENDENCY}, "grail"),
        ({"_rev": "_x", "type": "wr", **DEPENDENCY}, "grail"),
        (PLAIN, "viper"),
        ({"preBeginTS": 1, "postCommitTS": 2, **PLAIN}, "viper"),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_the_fields_of_an_object_tell_its_format_in_any_order(
    document: dict[str, Any], name: str, indent: int | None, tmp_path: Path
) -> None:
    text = json.dumps(document, indent=indent)
    assert format_of(tmp_path / "one", text) == name
    if name != "viper":
        assert format_of(tmp_path / "array", f"[{text}]") == name


def test_an_event_whose_type_follows_a_long_value_is_jepsens(tmp_path: Path) -> None:
    operations = [["w", 1, number] for number in range(10_000)]
    assert format_of(tmp_path / "long", json.dumps({"value": operations, "type": "ok"})) == "jepsen"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'{"a":{"b":1},"c":"d:","e":[{"f":2}]} {"g":1}', Fields(frozenset("ace"), is_whole=True)),
        (b'\xef\xbb\xbf [{"a\\"":1', Fields(frozenset({'a\\"'}))),
        (b'{"a":"b', Fields(frozenset("a"))),
        (b"{:a 1}", Fields(is_whole=True)),
        (b"x {", Fields()),
    ],
)
def test_fields_are_those_of_the_first_object_alone(head: bytes, expected: Fields) -> None:
    assert fields(head) == expected


def test_edn_in_a_directory_of_logs_is_vipers_and_anywhere_else_jepsens(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("a.log", "b.log"):
        (folder / name).write_text(LIST + LIST.replace("2", "3"))
    history = formats.load(folder)
    assert (history.source.format, [len(session.transactions) for session in history.sessions]) == (
        "viper",
        [2, 2],
    )
    (folder / "b.log").rename(folder / "b.edn")
    assert formats.load(folder / "b.edn").source.format == "jepsen"
    assert formats.load(folder).source.format == "jepsen"


def test_logs_with_processes_stay_jepsens(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(LIST.replace(":f", ":process 3 :f"))
    assert formats.load(tmp_path).source.format == "jepsen"


def test_files_beside_cobras_logs_are_counted_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("run 7\n")
    (tmp_path / "T1.log").write_bytes(LOG)
    history = formats.load(tmp_path)
    assert (history.source.format, len(history), len(history.sessions)) == ("cobra", 1, 1)
    assert history.notes == {"files that are not called *.log, not read": 1}


def test_a_damaged_log_of_cobra_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "T1.log").write_bytes(LOG + record("S", 2) + record("C", 3))
    with pytest.raises(FormatError, match=r"T1\.log: byte"):
        formats.load(tmp_path)


def test_a_file_of_another_format_is_named_as_that(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("w(1,2,3,4)\n")
    (tmp_path / "b.txt").write_text(json.dumps(TRANSACTION))
    with pytest.raises(FormatError) as caught:
        formats.load(tmp_path)
    assert caught.value.path == str(tmp_path / "b.txt")
    hint = "a directory is one history, here of plume, and this file looks like aion: take it out"
    assert caught.value.hint == hint


def test_a_file_of_a_directory_that_nothing_recognises_is_to_be_taken_out(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("w(1,2,3,4)\n")
    (tmp_path / "picture.svg").write_text("<svg></svg>\n")
    with pytest.raises(FormatError, match=r"picture\.svg:1:1: expected an operation") as caught:
        formats.load(tmp_path)
    assert caught.value.hint == "every file of a directory is read: correct this file, or take it out"


def test_a_directory_that_nothing_recognises_is_told_with_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    (tmp_path / "b.txt").write_text("SELECT 1;")
    with pytest.raises(UnknownFormatError, match=r"b\.txt: no format recognises this input"):
        formats.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("notes.txt", "hello\n", "1:1: expected an operation such as"),
        ("run.hist", "[a:=1]\n w(x,1)\n", "2:2: expected a transaction such as"),
        ("run.dbcop.json", '{"sessions": 1}', "1:1: expected a transaction with `events`"),
    ],
)
def test_content_that_nothing_recognises_is_read_as_its_name_says(
    name: str, content: str, place: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(FormatError) as caught:
        formats.load(path)
    assert str(caught.value).startswith(f"{path}:{place}")
    assert "--format" in caught.value.hint


def test_a_name_that_fits_any_content_suggests_no_format(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text('{"nodes": []}')
    with pytest.raises(UnknownFormatError, match=re.escape('it starts with `{"nodes": []}`')):
        formats.load(path)


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_file_that_is_only_called_compressed_is_told_so(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"run.txt{ending}"
    path.write_bytes(b"\x00\x01rubbish")
    with pytest.raises(UnknownFormatError, match="its content is not: was it cut off or damaged"):
        formats.load(path)


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (
            b'{"tick":"94","type":2200,"tid":"137","db":"rwRegister"}\n',
            "this is the write-ahead log of a Jepsen history: check {folder}/run.edn beside it",
        ),
        ("w(1,2,3,4)\n".encode("utf-16"), "this is text in UTF-16: convert it to UTF-8"),
    ],
)
def test_advice_fits_the_content(content: bytes, advice: str, tmp_path: Path) -> None:
    (tmp_path / "run.log").write_bytes(content)
    with pytest.raises(UnknownFormatError) as caught:
        formats.load(tmp_path / "run.log")
    assert str(caught.value).endswith(f"hint: {advice.format(folder=tmp_path)}")


def test_a_log_of_plain_text_beside_a_history_is_no_write_ahead_log(tmp_path: Path) -> None:
    (tmp_path / "run.edn").write_text(LIST)
    (tmp_path / "run.log").write_text("2026-01-01 INFO jepsen.core started\n")
    for path in (tmp_path / "run.edn", tmp_path):
        history = formats.load(path)
        assert (history.source.format, history.source.log) == ("jepsen", "")
        assert history.notes == {"logs beside histories that are no write-ahead logs, not read": 1}


def test_a_directory_of_folders_and_a_name_that_is_only_read_are_told_as_that(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsoscopeError, match=r"name one of them, such as .*folder"):
        formats.load(tmp_path)
    (tmp_path / "a.txt").write_text("w(1,2,3,4)\n")
    with pytest.raises(IsoscopeError, match="dbcop-yaml is only read"):
        formats.save(formats.load(tmp_path / "a.txt"), tmp_path / "out.yaml.gz")
