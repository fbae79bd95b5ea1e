"""Reads a certificate: `docs/reference/certificates.md` is the format."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from isoscope.verify.edn import as_scalar, parse_one
from isoscope.verify.files import open_text
from isoscope.verify.history import BadInputError, RejectedError
from isoscope.verify.levels import LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from isoscope.verify.history import History

__all__ = ["Certificate", "Names", "as_list", "check_fields"]

_WITNESS = {"witness", "order", "events", "versions", "took_effect", "writers", "initial", "elements", "rows"}
_LEVEL = {
    "level",
    "outcome",
    "witness",
    "proof",
    "sources",
    "explanations",
    "implied",
    "implied_by",
    "uncertified",
}


class Certificate:
    """The header, the witnesses by name, and the lines of levels in their order."""

    def __init__(self, content: Iterable[dict[str, Any]], path: Path | str = "certificate") -> None:
        lines = iter(content)
        header = next(lines, {})
        if header.get("isoscope_certificate") != 1:
            raise BadInputError(f"{path}: expected a certificate of version 1")
        check_fields(header, {"isoscope_certificate", "initial"}, "the header")
        self.initial = header.get("initial")
        if self.initial is not None:
            check_fields(self.initial, {"value", "replaceable", "of_key"}, "the initial values")
        self.witnesses: dict[str, dict[str, Any]] = {}
        self.levels: list[dict[str, Any]] = []
        for line in lines:
            if "level" in line:
                check_fields(line, _LEVEL, "a level")
                self._add_level(line, path)
            else:
                check_fields(line, _WITNESS, "a witness")
                self._add_witness(line, path)

    @classmethod
    def read(cls, path: Path) -> Certificate:
        """The certificate of a file."""
        try:
            return cls(_lines(path), path)
        except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
            raise BadInputError(f"{path}: {error}") from None

    def _add_level(self, line: dict[str, Any], path: Path | str) -> None:
        if not isinstance(line["level"], str) or line["level"] not in LEVELS:
            raise BadInputError(f"{path}: no certificate can be made for the level {line['level']!r}")
        if line.get("outcome") not in ("holds", "violated"):
            raise BadInputError(
                f"{path}: expected an outcome, holds or violated, found {line.get('outcome')!r}"
            )
        self.levels.append(line)

    def _add_witness(self, line: dict[str, Any], path: Path | str) -> None:
        name = line.get("witness")
        if not isinstance(name, str) or name in self.witnesses:
            raise BadInputError(f"{path}: expected a new name of a witness, found {name!r}")
        forms = line.keys() & {"order", "events", "versions"}
        is_explanation = not forms and line.keys() & {"took_effect", "initial", "elements", "rows"}
        if len(forms) != 1 and not is_explanation:
            raise BadInputError(f"{path}: witness {name} needs one of order, events and versions")
        self.witnesses[name] = line


def as_list(found: Any, what: str) -> list[Any]:
    """A list of the certificate; `BadInputError` if it is something else."""
    if not isinstance(found, list):
        raise BadInputError(f"expected a list of {what}, found {found!r}")
    return found


def check_fields(found: Any, known: set[str], what: str) -> None:
    """Refuse an unknown field: skipped, it could carry a condition."""
    if not isinstance(found, dict):
        raise BadInputError(f"expected an object for {what}, found {found!r}")
    unknown = sorted(found.keys() - known)
    if unknown:
        raise BadInputError(f"expected no field {unknown[0]!r} in {what}")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with open_text(path) as text:
        for number, line in enumerate(text, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                raise BadInputError(f"{path}:{number}: expected JSON") from None
            if not isinstance(value, dict):
                raise BadInputError(f"{path}:{number}: expected an object")
            yield value


class Names:
    """Numbers of transactions and operations by the names that a certificate gives them."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._numbers = {t.id: t.number for t in history.transactions}
        if len(self._numbers) < len(history.transactions):
            raise BadInputError("two transactions of the history have the same id")

    def transaction(self, name: Any) -> int:
        """The number of a transaction."""
        if isinstance(name, dict):
            check_fields(name, {"edn"}, "a transaction")
            name = as_scalar(parse_one(str(name.get("edn")), "the name of a transaction"))
        elif isinstance(name, bool) or not isinstance(name, int | str):
            raise RejectedError(f"{name!r} is no name of a transaction")
        number = self._numbers.get(name)
        if number is None:
            raise RejectedError(f"the history has no transaction {name}")
        return number

    def transactions(self, names: Any) -> list[int]:
        """The numbers of many transactions; integers, the usual names, without a detour."""
        if not isinstance(names, list):
            raise RejectedError("expected a list of transactions")
        find = self._numbers.get
        numbers = [find(name) if type(name) is int else self.transaction(name) for name in names]
        if None in numbers:
            raise RejectedError(f"the history has no transaction {names[numbers.index(None)]}")
        return numbers  # type: ignore[return-value]  # None was refused

    def operation(self, name: Any) -> tuple[int, int]:
        """The number of the transaction, and the place in it."""
        if not isinstance(name, list) or len(name) != 2:
            raise RejectedError(f"{name!r} is no name of an operation")
        return self.place(self.transaction(name[0]), name[1])

    def place(self, number: int, place: Any) -> tuple[int, int]:
        """An operation of a transaction, by its place."""
        t = self._history.transactions[number]
        if type(place) is not int or not 0 <= place < len(t.operations):
            raise RejectedError(f"{t} has no operation {place!r}")
        return number, place
