"""Messages: where, what was expected, what was found, and what to do."""

import pytest

import isoscope
from isoscope.errors import FormatError, IsoscopeError, LossError, UnknownFormatError, UsageError

TREE = [FormatError, LossError, UnknownFormatError, UsageError]


@pytest.mark.parametrize("error", TREE)
def test_every_error_is_an_isoscope_error(error: type[Exception]) -> None:
    assert issubclass(error, IsoscopeError)
    assert getattr(isoscope, error.__name__) is error


@pytest.mark.parametrize(
    ("line", "column", "where"),
    [(0, 0, "h.txt"), (3, 0, "h.txt:3"), (3, 7, "h.txt:3:7")],
)
def test_a_format_error_says_where_as_far_as_it_is_known(line: int, column: int, where: str) -> None:
    error = FormatError(path="h.txt", expected="a number", found="`x`", line=line, column=column)
    assert error.where == where
    assert str(error) == f"{where}: expected a number, found `x`"


def test_a_format_error_in_a_file_that_is_no_text_says_the_byte() -> None:
    error = FormatError(path="h.bin", expected="a flag", found="the byte 0x02", byte=0)
    assert str(error) == "h.bin: byte 0: expected a flag, found the byte 0x02"


def test_a_format_error_shows_the_line_with_a_caret_and_a_hint() -> None:
    error = FormatError(
        path="h.txt", expected="`)`", found="end of line", line=3, column=9, hint="it is cut short",
        excerpt="w(3,17,2", caret=9,
    )  # fmt: skip
    assert str(error) == (
        "h.txt:3:9: expected `)`, found end of line\n"
        "    3 | w(3,17,2\n"
        "      |         ^\n"
        "\n"
        "hint: it is cut short"
    )


def test_a_loss_error_lists_everything_that_would_be_lost() -> None:
    error = LossError("plume", ("lists", "timestamps"))
    assert str(error) == (
        "plume cannot hold all of this history; it would lose\n"
        "  - lists\n"
        "  - timestamps\n"
        "\n"
        "hint: --lossy (in Python `lossy=True`) writes the rest; Parquet holds everything"
    )
    assert error.losses == ("lists", "timestamps")


def test_errors_are_told_apart_by_identity_and_can_be_put_into_sets() -> None:
    one, other = (FormatError(path="h", expected="a", found="b") for _ in range(2))
    assert one != other
    assert len({one, other}) == 2
