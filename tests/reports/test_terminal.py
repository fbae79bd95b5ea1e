"""Lines and colours of a terminal."""

from __future__ import annotations

import click
import pytest

from isoscope.reports.terminal import GLUE, Paint, columns, padded, paragraph


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("abc", 3),
        ("é", 1),
        ("e\u0301", 1),
        ("価格", 4),
        ("\N{GRINNING FACE}", 2),
        ("ｆ", 2),
        ("ﾊﾝ", 2),
        (click.style("T1", bold=True), 2),
    ],
)
def test_a_text_takes_as_many_columns_as_a_terminal_gives_it(text: str, width: int) -> None:
    assert columns(text) == width


def test_padding_counts_columns() -> None:
    assert padded("価", 4) == "価  "
    assert padded("abcd", 2) == "abcd"


def test_a_paragraph_breaks_between_words_and_counts_columns() -> None:
    assert paragraph("価格 は 百 円", width=7) == "価格 は\n百 円"


def test_a_paragraph_has_its_head_in_the_margin() -> None:
    assert paragraph("one two", width=9, head="  - ", margin=4) == "  - one\n    two"


def test_a_head_that_is_wider_than_the_margin_takes_room_from_the_first_line() -> None:
    assert paragraph("one two three", width=12, head="evidence: ", margin=2) == "evidence: one\n  two three"


def test_a_word_is_never_broken() -> None:
    assert paragraph(f"a {'b' * 20} c", width=10) == f"a\n{'b' * 20}\nc"


def test_glued_words_stay_together_unless_they_are_too_long_for_a_line() -> None:
    assert paragraph(f"one two{GLUE}three", width=10) == "one\ntwo three"
    assert paragraph(f"one two{GLUE}three{GLUE}four", width=10) == "one two\nthree four"


def test_an_empty_text_is_one_line_without_spaces() -> None:
    assert paragraph("", head="x", margin=4) == "x"


def test_without_colour_nothing_is_painted() -> None:
    paint = Paint()
    assert [paint.name("a"), paint.faint("b"), paint.outcome("holds")] == ["a", "b", "holds"]


def test_outcomes_have_three_colours_and_none_of_them_is_green() -> None:
    paint = Paint(colour=True)
    painted = {word: paint.outcome(word) for word in ("violated", "holds", "unknown")}
    codes = {text.split("m")[0] for text in painted.values()}
    assert codes == {"\x1b[31", "\x1b[36", "\x1b[33"}
    assert all(word in text for word, text in painted.items())
