"""What may stand in place of a piece of Python, with one thing wrong."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["replacements"]

#: The boundary first, then the opposite.
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_PAIRS = (
    ("after", "before"),
    ("all", "any"),
    ("commit", "start"),
    ("complete", "invoke"),
    ("earliest", "latest"),
    ("first", "last"),
    ("max", "min"),
    ("reader", "writer"),
)
#: Each name with the one that is easily taken for it.
_CONFUSED = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}


def replacements(node: ast.AST) -> Iterator[ast.AST]:  # noqa: C901  # one case for each kind of node
    """Every replacement of this node; those of its parts are not among them."""
    match node:
        case ast.Compare():
            yield from _comparisons(node)
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.And() if isinstance(op, ast.Or) else ast.Or(), values)
            yield from (_joined(op, rest) for rest in _without_one(values))
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.BinOp(left=left, right=right):
            yield from _operands(node, left, right)
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.Constant(value=value):
            yield from _constants(value)
        case ast.Name(id=name, ctx=ast.Load()) if name in _CONFUSED:
            yield ast.Name(_CONFUSED[name], ast.Load())
        case ast.Attribute(value=value, attr=name, ctx=ast.Load()) if name in _CONFUSED:
            yield ast.Attribute(value, _CONFUSED[name], ast.Load())
        case ast.Call():
            yield from _calls(node)
        case ast.List(elts=elements) if len(elements) > 1:
            yield from (ast.List(rest, ast.Load()) for rest in _without_one(elements))
        case ast.Set(elts=elements) if len(elements) > 1:
            yield from map(ast.Set, _without_one(elements))
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            yield ast.Pass()


def _comparisons(node: ast.Compare) -> Iterator[ast.AST]:
    for place, op in enumerate(node.ops):
        for wrong in _COMPARISONS[type(op)]:
            yield ast.Compare(
                node.left, [*node.ops[:place], wrong(), *node.ops[place + 1 :]], node.comparators
            )


def _operands(node: ast.BinOp, left: ast.expr, right: ast.expr) -> Iterator[ast.AST]:
    """One of the two alone; numbers may also be added where they were taken away."""
    yield from (left, right)
    if isinstance(right, ast.Constant) and isinstance(node.op, ast.Add | ast.Sub):
        yield ast.BinOp(left, ast.Sub() if isinstance(node.op, ast.Add) else ast.Add(), right)


def _constants(value: object) -> Iterator[ast.AST]:
    match value:
        case bool():
            yield ast.Constant(not value)
        case int():
            yield ast.Constant(value + 1)
        case str() if value.strip():
            yield ast.Constant("")


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    match node:
        case ast.Call(func=ast.Name(id="sorted" | "reversed"), args=[values, *_]):
            yield ast.Call(ast.Name("list", ast.Load()), [values], [])
        case ast.Call(args=[ast.Starred(), *_] | [_, ast.Starred(), *_]):
            return
        case ast.Call(func=func, args=[first, second, *rest], keywords=keywords) if ast.dump(
            first
        ) != ast.dump(second):
            yield ast.Call(func, [second, first, *rest], keywords)


def _without_one(values: Sequence[ast.expr]) -> Iterator[list[ast.expr]]:
    yield from ([*values[:place], *values[place + 1 :]] for place in range(len(values)))


def _joined(op: ast.boolop, values: list[ast.expr]) -> ast.expr:
    return ast.BoolOp(op, values) if len(values) > 1 else values[0]
