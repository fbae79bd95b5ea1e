"""CITATION.cff has what its schema requires, and says what the package and the README say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

import isoscope

ROOT = Path(__file__).parents[2]
CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
#: Fields of the schema 1.2.0 that we may use: a name that is not one of them is a mistake.
REQUIRED = {"cff-version", "message", "title", "authors"}
OPTIONAL = {"abstract", "doi", "date-released", "keywords", "license", "references", "type", "url", "version"}


def test_the_required_fields_are_there_and_no_unknown_ones() -> None:
    assert CITATION.keys() >= REQUIRED
    assert CITATION.keys() <= REQUIRED | OPTIONAL
    assert (CITATION["cff-version"], CITATION["type"]) == ("1.2.0", "software")
    for reference in CITATION["references"]:
        assert reference.keys() >= {"type", "title", "authors"}


def test_every_author_has_a_name() -> None:
    listed = [CITATION, *CITATION["references"]]
    authors = [author for work in listed for author in work["authors"]]
    assert all(author.keys() in ({"name"}, {"given-names", "family-names"}) for author in authors)


def test_version_licence_and_keywords_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert CITATION["version"] == isoscope.__version__
    assert (CITATION["license"], CITATION["keywords"]) == (project["license"], project["keywords"])


def test_the_readme_names_the_same_works_and_authors() -> None:
    readme = re.sub(r"\s+", " ", (ROOT / "README.md").read_text(encoding="utf-8"))
    for work in CITATION["references"]:
        names = ", ".join(f"{who['given-names']} {who['family-names']}" for who in work["authors"])
        assert f"{names}: *{work['title']}*" in readme
