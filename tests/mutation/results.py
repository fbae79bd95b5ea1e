"""What became of the mutants, as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.mutation.survivors import EQUIVALENT, Survivor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Result", "Survivor", "page"]

_HOW = """# Wrong lines of the specification, and its tests

`python -m tests.mutation --number {number} --seed {seed} --record` writes this page. A mutant is one wrong
thing in the body of one function: another comparison, `or` for `and`, a condition that is always true, a
number that is off by one, a call that is left out, two arguments that changed places. Of each file of the
specification (`src/isoscope/reference`), of `levels`, `verdict` and `explain`, {number} mutants are drawn, or
all if there are fewer. The tests that run the changed line, and take at most a second each, run until one
fails: it kills the mutant.

Drawn: {drawn}. Killed: {killed}. Survived, and equivalent to the right line: {equivalent}. Survived, and a
test is missing: {missing}.

| file | mutants | killed |
|---|---|---|
"""
_SURVIVORS = """
## Equivalent

No test can tell these from the right line.

| file | function | right | wrong | why |
|---|---|---|---|---|
"""
_MISSING = """
## A test is missing

None of the tests that ran tells these from the right line. Slower tests, which compare with the engine, may.

| file | function | right | wrong |
|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Result:
    """The mutants that were drawn from one file."""

    file: str
    drawn: int
    survivors: Sequence[Survivor]

    def told(self) -> str:
        """For the terminal."""
        lines = [f"{self.file}: {self.drawn - len(self.survivors)} of {self.drawn} killed"]
        return "\n".join(
            [*lines, *(f"  {one.function}: {one.right} -> {one.wrong}" for one in self.survivors)]
        )


def page(results: Sequence[Result], number: int, seed: int) -> str:
    """The counts of each file, and the survivors."""
    survivors = [one for result in results for one in result.survivors]
    missing = [one for one in survivors if one not in EQUIVALENT]
    drawn = sum(result.drawn for result in results)
    head = _HOW.format(
        number=number,
        seed=seed,
        drawn=drawn,
        killed=drawn - len(survivors),
        equivalent=len(survivors) - len(missing),
        missing=len(missing),
    )
    return head + "\n".join(_lines(results, survivors, missing)) + "\n"


def _lines(
    results: Sequence[Result], survivors: Sequence[Survivor], missing: Sequence[Survivor]
) -> Iterator[str]:
    for result in results:
        if result.drawn:
            yield _row(f"`{result.file}`", result.drawn, result.drawn - len(result.survivors))
    yield _SURVIVORS.rstrip()
    for one in survivors:
        if one in EQUIVALENT:
            yield _row(*_cells(one), EQUIVALENT[one])
    if missing:
        yield _MISSING.rstrip()
    for one in missing:
        yield _row(*_cells(one))


def _cells(one: Survivor) -> list[str]:
    return [f"`{text}`".replace("|", "\\|") for text in (one.file, one.function, one.right, one.wrong)]


def _row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
