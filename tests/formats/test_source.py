"""Files, directories and streams: what is read, in which order, and what cannot be."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
import zstandard

from isoscope import formats
from isoscope.errors import FormatError, IsoscopeError, UsageError
from isoscope.formats.source import File, Input, output
from tests.formats.forms import ALL_FORMS

LINE = b"w(1,2,3,4)\n"


def message(path: Path | str, *, format: str = "plume") -> str:  # noqa: A002 - the word of the field
    with pytest.raises(IsoscopeError) as caught:
        formats.load(path, format=format)
    return str(caught.value)


def test_a_file_that_is_missing_is_an_error_with_its_name(tmp_path: Path) -> None:
    assert message(tmp_path / "none") == f"cannot read {tmp_path / 'none'}: No such file or directory"


def test_a_name_that_no_system_takes_is_an_error() -> None:
    assert message("nul\x00byte") == "cannot read 'nul\\x00byte': no file has a name with a NUL byte"


def test_a_name_that_is_too_long_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 300)
    assert message(path) == f"cannot read {path}: File name too long"


def test_a_directory_without_files_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".hidden").write_bytes(LINE)
    assert message(tmp_path) == f"{tmp_path}: the directory holds no files"


def test_the_files_of_a_directory_are_read_by_name(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes(b"w(1,2,0,1)\n")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"w(1,1,0,0)\n"))
    (tmp_path / ".hidden").write_bytes(b"not a history")
    history = formats.load(tmp_path)
    assert [transaction.id for transaction in history] == [0, 1]
    assert history.source.place(history[1].line) == f"{tmp_path / 'b.txt'}:1"


def test_numbers_in_names_are_compared_by_their_size(tmp_path: Path) -> None:
    names = ["T1.log", "T2.log", "T02.log", "T10.log", "T10a.log", "Ta.log", "t3.log"]
    for name in reversed(names):
        (tmp_path / name).write_bytes(LINE)
    order = [Path(file.path).name for file in Input.of(tmp_path).files]
    assert order == ["T1.log", "T02.log", "T2.log", "T10.log", "T10a.log", "Ta.log", "t3.log"]


def test_the_stem_of_a_file_is_its_name_without_folders_and_suffixes() -> None:
    names = ["logs/T1.log.gz", "T1.log", "run.2.log.zst", "plain", "-"]
    assert [File(name).stem for name in names] == ["T1", "T1", "run.2", "plain", "-"]
    assert File.streamed("<stdin>", io.BytesIO(b"")).stem == ""
    assert File("T\udcff.log").stem == "T\\udcff"


def test_an_error_in_the_first_file_of_a_directory_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_bytes(b"{}\n")
    assert message(tmp_path).startswith(f"{tmp_path / '1.txt'}:1:1: expected an operation such as")
    (tmp_path / "2.txt").write_bytes(LINE)
    assert message(tmp_path).startswith(f"{tmp_path / '1.txt'}:1:1: expected an operation such as")


def test_an_error_in_a_directory_names_the_file_and_its_line(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_bytes(LINE * 3)
    (tmp_path / "2.txt").write_bytes(LINE + b"{}\n")
    assert message(tmp_path).startswith(f"{tmp_path / '2.txt'}:2:1: expected an operation such as")


def test_a_directory_of_several_formats_is_an_error_at_the_first_other_file(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_bytes(LINE)
    (tmp_path / "2.edn").write_bytes(b"{:type :ok}\n")
    assert message(tmp_path).startswith(f"{tmp_path / '2.edn'}:1:1: expected an operation such as")


COMPRESSED = {
    "gz": gzip.compress(LINE * 50, mtime=0),
    "zst": zstandard.ZstdCompressor().compress(LINE * 50),
}


@pytest.mark.parametrize("kind", COMPRESSED)
def test_compressed_data_that_is_cut_off_is_an_error_with_advice(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(COMPRESSED[kind][:-6])
    with pytest.raises(FormatError) as caught:
        formats.load(path, format="plume")
    assert str(caught.value).startswith(f"{path}: expected compressed data that is whole, found ")
    assert caught.value.hint == "the file was cut off or damaged on its way: fetch it again"


@pytest.mark.parametrize("kind", COMPRESSED)
def test_several_compressed_members_are_one_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.write_bytes(COMPRESSED[kind] + COMPRESSED[kind])
    assert formats.load(path).counts["operations"] == 100


def test_the_name_does_not_decide_the_compression(tmp_path: Path) -> None:
    path = tmp_path / "history.txt.gz"
    path.write_bytes(LINE)
    assert formats.load(path).counts["operations"] == 1


def test_a_folder_that_is_missing_cannot_be_written_to(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught, output(tmp_path / "no" / "file"):
        pytest.fail("nothing can be written")
    assert str(caught.value) == f"cannot write {tmp_path / 'no' / 'file'}: No such file or directory"


def test_standard_output_is_written_to(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> None:
    path = tmp_path / "history.txt"
    path.write_bytes(LINE)
    formats.save(formats.load(path), "-", format="plume")
    assert capfdbinary.readouterr().out == LINE


def test_an_input_is_one_file_or_all_files_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"")
    (tmp_path / "a").write_bytes(LINE)
    assert [file.path for file in Input.of(tmp_path).files] == [str(tmp_path / name) for name in ("a", "b")]
    assert Input.of(tmp_path).head() == LINE


@pytest.mark.parametrize(
    "name", ["awdit", "dbcop-hist", "dbcop-json", "dbcop-yaml", "dbcop-bincode", "parquet"]
)
def test_files_that_are_histories_of_their_own_are_not_joined(name: str, tmp_path: Path) -> None:
    form = ALL_FORMS[name]
    (tmp_path / f"1{form.suffix}").write_bytes(form.sample)
    assert formats.load(tmp_path) == form.read(form.sample)
    (tmp_path / f"2{form.suffix}").write_bytes(form.sample)
    with pytest.raises(UsageError, match=f"one file is one {name} history, and this directory holds 2"):
        formats.load(tmp_path)
