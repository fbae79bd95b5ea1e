"""The template engine: texts are escaped and printable, and no template turns that off."""

from __future__ import annotations

from importlib.resources import files

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from isoscope.reports.template_engine import content_hash, environment

TEMPLATES = environment().list_templates()


def rendered(source: str, **values: object) -> str:
    return environment().from_string(source).render(values)


def test_a_text_is_escaped_and_printable() -> None:
    assert rendered('<a title="{{ text }}">', text='"><b>\u202e\n') == (
        '<a title="&#34;&gt;&lt;b&gt;\\u202e\\u000a">'
    )


def test_markup_stays_as_it_is() -> None:
    assert rendered("{{ text }}", text=Markup("<b>\n</b>")) == "<b>\n</b>"


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        rendered("{{ text }}")


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_template_turns_escaping_off(name: str) -> None:
    source = files("isoscope.reports").joinpath("templates", name).read_text(encoding="utf-8")
    assert "safe" not in source
    assert "autoescape" not in source


def test_a_hash_is_a_source_of_a_policy() -> None:
    assert content_hash("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
