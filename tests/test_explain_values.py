"""Keys and values in sentences: short, on one line, harmless on a terminal."""

from __future__ import annotations

import pytest

from isoscope import UNKNOWN, Term
from isoscope.explain import message, shown
from isoscope.explain.operation_text import action
from isoscope.explain.value_text import shown_around
from isoscope.verdict import Witness
from tests.recorded import record
from tests.test_explain import anomaly_in


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "x"),
        ("é", "é"),
        ("", '""'),
        ("a b", '"a b"'),
        ("7", '"7"'),
        ('say "it\'s"', '"say \\"it\'s\\""'),
        (7, "7"),
        (1.5, "1.5"),
        (True, "True"),
        (None, "nil"),
        (UNKNOWN, "UNKNOWN"),
        (Term(":k"), ":k"),
        ((), "[]"),
        ((1, "a b", None), '[1 "a b" nil]'),
        ("\x1b[31mred", '"\\u001b[31mred"'),
        ("\u202eabc", '"\\u202eabc"'),
        ("two\nlines", '"two\\nlines"'),
        ("\u2066x\u200f", '"\\u2066x\\u200f"'),
        (Term("a\x1bb"), '"a\\u001bb"'),
        (("\x07",), '["\\u0007"]'),
    ],
)
def test_a_value_is_shown_on_one_harmless_line(value: object, text: str) -> None:
    assert shown(value) == text
    assert shown(value).isprintable()


@pytest.mark.parametrize("value", ["y" * 1000, 10**1000])
def test_what_is_long_is_abbreviated_in_the_middle(value: object) -> None:
    text = shown(value)
    assert len(text) == 65
    assert text[30:35] == " ... "


def test_a_long_list_keeps_its_first_and_last_elements() -> None:
    assert shown(tuple(range(100))) == "[0 1 2 3 4 5 6 7 8 9 10 11 12 ... 90 91 92 93 94 95 96 97 98 99]"


@pytest.mark.parametrize("length", range(1, 40))
def test_no_element_of_a_long_list_is_cut(length: int) -> None:
    elements = tuple(range(1000, 1000 + length))
    words = shown(elements)[1:-1].split()
    assert {word for word in words if word != "..."} <= {*map(str, elements)}
    assert (words[0], words[-1]) == ("1000", str(999 + length))
    assert len(shown(elements)) <= 65


def test_long_elements_of_a_list_are_abbreviated_one_by_one() -> None:
    assert shown(("z" * 500,)) == f"[{'z' * 30} ... {'z' * 30}]"
    assert shown(("z" * 500, 7)) == f"[{'z' * 30} ... {'z' * 30} 7]"
    assert shown((1, 2, "z" * 500, 3, 4)) == "[1 2 ... 3 4]"


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\u202e", 'a"; rm -rf', "\r\n", "\x00", "\u2028"])
def test_hostile_keys_values_and_ids_are_harmless_in_a_sentence(hostile: str) -> None:
    history = record([("write", hostile, hostile), ("abort",)], [("read", hostile, hostile)])
    assert message(anomaly_in(history)).isprintable()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((106, 107, 108, 109, 110, 111, 112, 113), "[106 107 108 109 110 111 112 113]"),
        (tuple(range(100, 120)), "[... 108 109 110 111 112 ...]"),
        ((110, *range(200, 220)), "[110 200 201 ...]"),
        ("110", '"110"'),
    ],
)
def test_only_a_long_list_is_cut_to_what_stands_around_the_elements_that_matter(
    value: object, text: str
) -> None:
    assert shown_around(value, [110]) == text


def test_a_read_whose_result_is_not_known_says_so() -> None:
    lost = Witness(transaction="T1", kind="read", key="x", value=UNKNOWN)
    assert action(lost) == "read x, with an unknown result"
