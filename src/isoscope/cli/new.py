"""`isoscope new`: the skeleton of a driver for a database of your own."""

from __future__ import annotations

import re
from importlib.resources import files
from keyword import iskeyword
from pathlib import Path

import click

from isoscope.databases import ALIASES, DATABASES
from isoscope.errors import UsageError

__all__ = ["command"]

_SKELETONS = {"{module}.py": "driver.py.txt", "test_{module}.py": "test_driver.py.txt"}


@click.group("new")
def command() -> None:
    """Write the skeleton of a driver for your own database."""


@command.command("driver")
@click.argument("name")
@click.option("--folder", default=".", show_default=True, type=click.Path(file_okay=False, path_type=Path),
              help="Where the files go.")  # fmt: skip
def driver(name: str, folder: Path) -> None:
    """Write a driver called NAME, and its test, with three methods to fill in.

    The driver is NAME.py and needs no change of Isoscope: `isoscope run --driver NAME:Class` uses it. Its
    test asks what every driver must do. Files that are there already are not replaced.

    \b
    Example:
        isoscope new driver mydb
    """
    module = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if not module.isidentifier() or iskeyword(module):
        raise UsageError(f"`{name}` cannot be the name of a driver\n\nhint: begin with a letter, as in mydb")
    if module in (*DATABASES, *ALIASES):
        raise UsageError(f"Isoscope has a driver called {module}\n\nhint: give yours another name")
    class_name = "".join(part.capitalize() for part in module.split("_"))
    texts = {
        folder / path.format(module=module): _filled(skeleton, name, module, class_name)
        for path, skeleton in _SKELETONS.items()
    }
    _write(texts)
    click.echo(f"Fill in the three methods marked with FILL IN in {next(iter(texts))}, then")
    click.echo(f"  pytest {[*texts][1]}")
    click.echo(f"  isoscope run --driver {module}:{class_name}")


def _filled(skeleton: str, name: str, module: str, class_name: str) -> str:
    text = files("isoscope.cli").joinpath("skeletons", skeleton).read_text(encoding="utf-8")
    safe = re.sub(r'["\\\n]', "", name)
    for mark, word in (("@NAME@", safe), ("@MODULE@", module), ("@CLASS@", class_name)):
        text = text.replace(mark, word)
    return text


def _write(texts: dict[Path, str]) -> None:
    if there := [path for path in texts if path.exists()]:
        raise UsageError(f"{there[0]} is there already\n\nhint: give another name, or another --folder")
    for path, text in texts.items():
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
        click.echo(f"written: {path}")
