"""Names of levels and other things that have aliases: how a spelling is understood."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["canonical", "normalise"]


def canonical(name: str, names: Mapping[str, str], *, what: str) -> str:
    """The canonical name for `name`; `names` maps every normalised spelling to its canonical one.

    Raises `ValueError` with the closest names; `what` says there what was looked for.
    """
    spelling = normalise(name)
    if spelling in names:
        return names[spelling]
    close = dict.fromkeys(names[near] for near in difflib.get_close_matches(spelling, names))
    problem = f"unknown {what} `{name}`"
    if close:
        problem += f"; did you mean {' or '.join(f'`{near}`' for near in close)}?"
    raise ValueError(problem)


def normalise(name: str) -> str:
    """`name` in lower case, with hyphens for underscores and spaces."""
    return "-".join(name.lower().replace("_", " ").split())
