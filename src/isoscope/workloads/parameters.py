"""Checks of client parameters; the messages use the names of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["option", "require_choice", "require_least", "require_lengths", "require_ratio"]


def option(name: str) -> str:
    """How the command line spells a parameter."""
    return "--" + name.replace("_", "-")


def require_least(least: int, **parameters: int) -> None:
    """Each of the parameters is `least` or more."""
    for name, value in parameters.items():
        if value < least:
            raise UsageError(f"{option(name)} {value} is too small\n\nhint: it is {least} or more")


def require_lengths(least: int, most: int) -> None:
    """A transaction has at least one operation, and the least length is no more than the most."""
    require_least(1, min_txn_length=least)
    if least > most:
        raise UsageError(f"--min-txn-length {least} is more than --max-txn-length {most}")


def require_ratio(**parameters: float) -> None:
    """Each of the parameters lies between 0 and 1."""
    for name, value in parameters.items():
        if not 0 <= value <= 1:
            raise UsageError(f"{option(name)} {value} is no ratio\n\nhint: it lies between 0 and 1")


def require_choice(choices: Collection[str], **parameters: str) -> None:
    """Each of the parameters is one of `choices`."""
    for name, value in parameters.items():
        if value not in choices:
            raise UsageError(
                f"{option(name)} {value} is not known here\n\nhint: it is one of {', '.join(choices)}"
            )
