"""Runs the blocks of pages again and puts in what the commands print, and draw, now.

`python -m docs.refresh [PAGE...]`, without a page all of them. A line `...` stays where the lines around it
are still printed; where they are not, all that is printed goes in, to be shortened by hand.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.repo.test_docs import FENCE, PAGES, ROOT, Command, Folder, commands, name, pattern, pictures

__all__ = ["refreshed", "shortened"]


def refreshed(page: Path, folder: Folder) -> str:
    """The page as it should be; its blocks run in `folder`."""

    def run(block: re.Match[str]) -> str:
        if block[1] == "python":
            folder.run_python(block[2], name(page))
        if block[1] != "console":
            return block[0]
        return f"```console\n{''.join(_told(command, folder) for command in commands(1, block[2]))}```"

    return FENCE.sub(run, page.read_text(encoding="utf-8"))


def _told(command: Command, folder: Folder) -> str:
    printed = folder.run(command)
    first, *others = command.text.splitlines()
    asked = [f"$ {first}", *(f"> {line}" for line in others)]
    is_true = re.fullmatch(pattern(command.output), printed)
    shown = command.output if is_true else shortened(printed.rstrip("\n").splitlines(), command.output)
    return "".join(f"{line}\n" for line in (*asked, *shown))


def shortened(printed: list[str], shown: list[str]) -> list[str]:
    """What is printed, cut where `shown` was cut, if the lines around the cut are still there."""
    lines = list(printed)
    for place, line in enumerate(shown):
        if line.endswith(" ..."):
            start = line.removesuffix("...")
            lines = [line if other.startswith(start) else other for other in lines]
        if line == "...":
            lines = _cut(lines, shown[:place][-1:], shown[place + 1 :][:1])
    return lines


def _cut(lines: list[str], before: list[str], after: list[str]) -> list[str]:
    """The lines without those between `before` and `after`; nothing stands for the start and the end."""
    if any(line not in lines for line in (*before, *after)):
        return lines
    start = lines.index(before[0]) + 1 if before else 0
    if not after:
        return [*lines[:start], "..."]
    rest = lines[start:]
    return [*lines[:start], "...", *rest[rest.index(after[0]) :]] if after[0] in rest else lines


def main(arguments: list[str]) -> None:
    """Writes the pages that are named, or all."""
    for page in [Path(argument).resolve() for argument in arguments] or PAGES:
        with TemporaryDirectory() as path:
            os.chdir(path)
            text = refreshed(page, Folder(Path(path)))
            for picture in pictures(page):
                picture.write_bytes((Path(path) / picture.name).read_bytes())
            os.chdir(ROOT)
        if text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(f"written: {name(page)}")


if __name__ == "__main__":
    main(sys.argv[1:])
