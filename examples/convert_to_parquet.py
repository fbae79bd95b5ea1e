"""Keeps histories as Parquet: `python convert_to_parquet.py HISTORY...` writes one beside each.

Everything is kept, and the copy is read again to make sure.
"""

from __future__ import annotations

import sys
from pathlib import Path

import isoscope


def convert(path: Path) -> Path:
    """Writes the history at `path` as Parquet and returns where."""
    history = isoscope.load(path)
    target = path.parent / f"{path.name.partition('.')[0]}.parquet"
    isoscope.save(history, target)
    if isoscope.load(target) != history:
        raise AssertionError(f"{target} does not say what {path} says")
    return target


def main(paths: list[str]) -> int:
    """Converts every file; a file that cannot be read is named and does not stop the others."""
    failures = 0
    for path in paths:
        try:
            print(f"{path} -> {convert(Path(path))}")
        except isoscope.IsoscopeError as error:
            print(f"error: {error}", file=sys.stderr)
            failures += 1
    return 2 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
