"""The mutants of a file: each with one thing wrong, in the body of one function."""

from __future__ import annotations

import ast
import gc
from collections import Counter
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

from tests.mutation.replacements import replacements

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Mutant", "mutants_of"]

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Mutant:
    """In the function, the piece of text `right` at `line` becomes `wrong`."""

    path: Path
    function: str
    line: int
    last_line: int
    right: str
    wrong: str
    _tree: ast.Module
    _place: Place
    _wrong: ast.AST

    def turn_on(self) -> None:
        """The loaded function takes the wrong code, for good: only in a child process."""
        self._place.put(self._wrong)
        code = compile(self._tree, str(self.path), "exec")
        [wrong] = [one for one in _codes(code) if one.co_qualname == self.function and self._is_at(one)]
        loaded = [one for one in gc.get_objects() if isinstance(one, FunctionType)]
        assert [one for one in loaded if self._is_of(one, wrong)], f"{self.function} is not loaded"
        # Tables made at import hold functions that others returned: these have codes of their own.
        inner = list(_codes(wrong))
        names = Counter(code.co_qualname for code in inner)
        for changed in (wrong, *(code for code in inner if names[code.co_qualname] == 1)):
            for function in loaded:
                if self._is_of(function, changed) and function.__code__.co_freevars == changed.co_freevars:
                    function.__code__ = changed

    def _is_of(self, function: FunctionType, changed: CodeType) -> bool:
        code = function.__code__
        names = (code.co_filename, code.co_qualname, code.co_firstlineno)
        return names == (str(self.path), changed.co_qualname, changed.co_firstlineno)

    def _is_at(self, code: CodeType) -> bool:
        return code.co_firstlineno == self._place.first_line


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node hangs in its tree, and in which function: the outermost, as it contains inner ones."""

    node: ast.AST
    holder: ast.AST
    field: str
    index: int | None = None
    function: str = ""
    first_line: int = 0

    def put(self, node: ast.AST) -> None:
        """Hangs another node in this place."""
        ast.fix_missing_locations(ast.copy_location(node, self.node))
        if self.index is None:
            setattr(self.holder, self.field, node)
        else:
            getattr(self.holder, self.field)[self.index] = node


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of the functions in the file, in the order of its lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for place in _places(tree):
        for wrong in _replacements(place):
            yield Mutant(
                path,
                place.function,
                place.node.lineno,  # type: ignore[attr-defined]  # an expression or a statement
                place.node.end_lineno,  # type: ignore[attr-defined]
                ast.unparse(place.node),
                ast.unparse(wrong),
                tree,
                place,
                wrong,
            )


def _replacements(place: Place) -> Iterator[ast.AST]:
    yield from replacements(place.node)
    match place.holder:
        case ast.If() if place.field == "test":
            yield from (ast.Constant(value=True), ast.Constant(value=False))
        case ast.comprehension() if place.field == "ifs":
            yield ast.Constant(value=True)


def _places(tree: ast.Module) -> Iterator[Place]:
    """All places inside functions, from top to bottom."""
    waiting = [(place, "") for place in _parts(Place(tree, tree, ""))][::-1]
    while waiting:
        place, scope = waiting.pop()
        match place.node:
            case ast.ClassDef(name=name):
                scope += f"{name}."
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if not place.function:
                place = _of_function(place, scope + name)
            case _ if place.function and not _is_documentation(place):
                yield place
        if not (_is_left_out(place) or _is_documentation(place)):
            waiting.extend([(part, scope) for part in _parts(place)][::-1])


def _of_function(place: Place, name: str) -> Place:
    assert isinstance(place.node, Function)
    first = min(node.lineno for node in [place.node, *place.node.decorator_list])
    return Place(place.node, place.holder, place.field, place.index, name, first)


def _parts(place: Place) -> Iterator[Place]:
    for field, value in ast.iter_fields(place.node):
        if field in {"annotation", "returns", "decorator_list", "format_spec"}:
            continue
        values = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for index, part in values:
            if isinstance(part, ast.expr | ast.stmt | ast.comprehension | ast.keyword | ast.match_case):
                yield Place(part, place.node, field, index, place.function, place.first_line)


def _is_documentation(place: Place) -> bool:
    return isinstance(place.node, ast.Expr) and isinstance(place.node.value, ast.Constant)


def _is_left_out(place: Place) -> bool:
    """What a raised error says, and checks of our own mistakes, are no part of the meaning."""
    match place.node:
        case ast.Raise() | ast.Assert() | ast.keyword(arg="strict"):
            return True
    return False


def _codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)
