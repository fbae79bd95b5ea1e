"""Whose configuration Spark starts with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from isoscope.cluster import session

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "is_kept"), [("spark-defaults.conf.template", False), ("spark-defaults.conf", True)]
)
def test_the_configuration_of_a_distribution_is_kept(
    name: str, is_kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf, quiet = tmp_path / "home" / "conf", tmp_path / "quiet"
    conf.mkdir(parents=True)
    quiet.mkdir()
    (conf / name).write_text("spark.jars.packages org.example:connector:1\n")
    monkeypatch.setenv("SPARK_HOME", str(conf.parent))
    # Set first, so that it is restored whatever the code does with it.
    monkeypatch.setenv("SPARK_CONF_DIR", "")
    monkeypatch.delenv("SPARK_CONF_DIR")
    session._quiet(str(quiet))
    assert os.environ.get("SPARK_CONF_DIR") == (None if is_kept else str(quiet))
