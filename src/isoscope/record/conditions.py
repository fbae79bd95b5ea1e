"""The condition of a WHERE clause, evaluated for one version of a row.

The answer is True, False, or None where it is not known: a function, a subquery, a column of another table,
or a value that cannot be compared outside of the database.
"""

from __future__ import annotations

import operator
import re
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["AliasedRow", "Row", "conjuncts", "equalities", "matches", "value_of"]

Row: TypeAlias = "Mapping[str, Any]"
_Test: TypeAlias = "Callable[[Row, Sequence[Any]], bool | None]"
_Value: TypeAlias = "Callable[[Row, Sequence[Any]], Any]"

_COMPARISONS: dict[type[exp.Expr], Callable[[Any, Any], bool]] = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
}
_EQUALITY = (operator.eq, operator.ne)
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.]+)?|\d\d:[\d:.]+")
_ZONE = re.compile(r"^\d{4}-\d\d-\d\d[T ][\d:.]+[+-]\d\d(?::?\d\d)?$")


class AliasedRow(dict[str, Any]):
    """The columns of a row, and the name by which the statement calls its table."""

    def __init__(self, alias: str, columns: Row) -> None:
        super().__init__(columns)
        self.alias = alias


class _Unknown:
    """A value that is not known; NULL is None."""


_UNKNOWN = _Unknown()


def matches(condition: exp.Expr | None, row: Row, parameters: Sequence[Any]) -> bool | None:
    """Whether a row with these columns meets a condition."""
    return True if condition is None else _compiled(condition)(row, parameters)


#: A condition as a function, by the identity of its tree; the tree is kept so that it is not used again.
_COMPILED: dict[int, tuple[exp.Expr, _Test]] = {}


def _compiled(condition: exp.Expr) -> _Test:
    found = _COMPILED.get(id(condition))
    if found is None:
        found = _COMPILED[id(condition)] = condition, _test(condition)
    return found[1]


def _test(condition: exp.Expr) -> _Test:
    """A condition as a function of a row and the parameters."""
    if isinstance(condition, exp.Paren | exp.Where):
        return _test(condition.this)
    if isinstance(condition, exp.And | exp.Or):
        join = _all if isinstance(condition, exp.And) else _any
        left, right = _test(condition.left), _test(condition.right)
        return lambda row, given: join((left(row, given), right(row, given)))
    if isinstance(condition, exp.Not):
        return _negated(condition.this)
    return _test_of_values(condition)


def _negated(condition: exp.Expr) -> _Test:
    """Where NULL is compared the answer stays NULL under NOT, and is not the opposite of False."""
    inner = _test(condition)
    parts = [] if isinstance(condition, exp.Is) else condition.find_all(exp.Column, exp.Placeholder, exp.Null)
    values = [_value(part) for part in parts]

    def test(row: Row, given: Sequence[Any]) -> bool | None:
        answer = inner(row, given)
        return None if answer is None or any(_is_null(value(row, given)) for value in values) else not answer

    return test


def _is_null(value: Any) -> bool:
    """Whether a value is NULL, or a list that has one."""
    return value is None or (isinstance(value, list | tuple) and None in value)


def _test_of_values(condition: exp.Expr) -> _Test:
    """The same for a condition without AND, OR and NOT."""
    if (compare := _COMPARISONS.get(type(condition))) is not None:
        left, right = _value(condition.this), _value(condition.expression)
        return lambda row, given: _compared(left(row, given), right(row, given), compare)
    tested = _value(condition.this) if isinstance(condition, exp.Between | exp.In | exp.Is) else None
    if tested is not None and isinstance(condition, exp.Between):
        return _between(tested, _value(condition.args["low"]), _value(condition.args["high"]))
    if tested is not None and isinstance(condition, exp.In) and condition.args.get("field") is not None:
        return _among(tested, _value(condition.args["field"]))
    if tested is not None and isinstance(condition, exp.In) and not condition.args.get("query"):
        values = [_value(one) for one in condition.expressions]
        return lambda row, given: _any(
            [_compared(tested(row, given), value(row, given), operator.eq) for value in values]
        )
    if tested is not None and isinstance(condition, exp.Is) and isinstance(condition.expression, exp.Null):
        return lambda row, given: None if (found := tested(row, given)) is _UNKNOWN else found is None
    whole = _value(condition)
    return lambda row, given: found if isinstance(found := whole(row, given), bool) else None


def _among(tested: _Value, listed: _Value) -> _Test:
    """Whether a value is in a list that one parameter or the answer of a subquery gives."""

    def test(row: Row, given: Sequence[Any]) -> bool | None:
        found, values = tested(row, given), listed(row, given)
        if not isinstance(values, list | tuple):
            return None
        return _any([_compared(found, value, operator.eq) for value in values])

    return test


def _between(tested: _Value, low: _Value, high: _Value) -> _Test:
    def test(row: Row, given: Sequence[Any]) -> bool | None:
        value = tested(row, given)
        above = _compared(value, low(row, given), operator.ge)
        return _all([above, _compared(value, high(row, given), operator.le)])

    return test


def value_of(part: exp.Expr | None, row: Row, parameters: Sequence[Any]) -> Any:
    """The value of a literal, a parameter or a column of the row; a value that is not known otherwise."""
    return _value(part)(row, parameters)


def _value(part: exp.Expr | None) -> _Value:
    if isinstance(part, exp.Paren | exp.Cast):
        return _value(part.this)
    if isinstance(part, exp.Placeholder):
        place = int(str(part.this).removeprefix("p_").removesuffix("_"))
        return lambda _, given: given[place] if place < len(given) else _UNKNOWN
    if isinstance(part, exp.Neg):
        inner = _value(part.this)
        return lambda row, given: _negative(inner(row, given))
    if isinstance(part, exp.Column):
        return _column(part)
    constant = _constant(part)
    return lambda _row, _given: constant


def _column(part: exp.Column) -> _Value:
    table, name = part.table.lower(), part.name if part.this.quoted else part.name.lower()

    def value(row: Row, given: Sequence[Any]) -> Any:
        del given
        is_other = table and isinstance(row, AliasedRow) and table != row.alias.lower()
        return _UNKNOWN if is_other else row.get(name, _UNKNOWN)

    return value


def _negative(value: Any) -> Any:
    return -value if isinstance(value, int | float | Decimal) else _UNKNOWN


def _constant(part: exp.Expr | None) -> Any:
    if isinstance(part, exp.Literal):
        return part.this if part.is_string else _number(part.this)
    if isinstance(part, exp.Boolean):
        return bool(part.this)
    return None if isinstance(part, exp.Null) else _UNKNOWN


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of a condition that AND connects."""
    if condition is None:
        return
    if isinstance(condition, exp.Where | exp.Paren):
        yield from conjuncts(condition.this)
    elif isinstance(condition, exp.And):
        yield from conjuncts(condition.left)
        yield from conjuncts(condition.right)
    else:
        yield condition


def equalities(condition: exp.Expr | None, parameters: Sequence[Any]) -> dict[str, Any]:
    """The columns that a condition compares with one known value."""
    found = _EQUALITIES.get(id(condition))
    if found is None:
        found = _EQUALITIES[id(condition)] = condition, list(_compared_columns(condition))
    values = ((column, value(_NO_COLUMNS, parameters)) for column, value in found[1])
    return {column: value for column, value in values if value is not _UNKNOWN and value is not None}


_NO_COLUMNS: dict[str, Any] = {}
#: The columns that a condition compares for equality, by the identity of its tree.
_EQUALITIES: dict[int, tuple[exp.Expr | None, list[tuple[str, _Value]]]] = {}


def _compared_columns(condition: exp.Expr | None) -> Iterator[tuple[str, _Value]]:
    for part in conjuncts(condition):
        if not isinstance(part, exp.EQ):
            continue
        for column, other in ((part.this, part.expression), (part.expression, part.this)):
            if isinstance(column, exp.Column):
                yield column.name.lower(), _value(other)


def _number(text: str) -> int | Decimal:
    return int(text) if text.isdigit() else Decimal(text)


def _compared(left: Any, right: Any, compare: Callable[[Any, Any], bool]) -> bool | None:
    """NULL compares with nothing, so the row is not shown: False."""
    if left is _UNKNOWN or right is _UNKNOWN:
        return None
    if left is None or right is None:
        return False
    pair = _comparable(left, right)
    if pair is None or (isinstance(pair[0], str) and compare not in _EQUALITY and not _is_ordered(*pair)):
        return None
    return bool(compare(*pair))


def _is_ordered(left: str, right: str) -> bool:
    """Whether two texts have the same order in every collation: times, or letters of one case and digits."""
    if _TIME.fullmatch(left) and _TIME.fullmatch(right):
        return True
    both = left + right
    return both.isascii() and both.isalnum() and both in (both.lower(), both.upper())


def _comparable(left: Any, right: Any) -> tuple[Any, Any] | None:
    """Both values in one type: databases give numbers and times as text in places."""
    if type(left) is type(right) is int:
        return left, right
    if isinstance(left, bool) or isinstance(right, bool):
        return (bool(left), bool(right)) if isinstance(left, int) and isinstance(right, int) else None
    if _is_number(left) or _is_number(right):
        numbers = _decimal(left), _decimal(right)
        return None if None in numbers else numbers
    texts = _text(left), _text(right)
    zones = [bool(text and _ZONE.search(text)) for text in texts]
    if None in texts or zones[0] is not zones[1]:
        return None  # A time without a zone is in that of the session.
    return (_instant(left), _instant(right)) if zones[0] else texts


def _instant(value: Any) -> Any:
    return datetime.fromisoformat(str(value)).astimezone(UTC)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal)


def _decimal(value: Any) -> Decimal | None:
    try:
        return Decimal(str(value)) if _is_number(value) or isinstance(value, str) else None
    except InvalidOperation:
        return None


def _text(value: Any) -> str | None:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value) if isinstance(value, str | UUID) else None


def _all(answers: Sequence[bool | None]) -> bool | None:
    if False in answers:
        return False
    return None if None in answers else True


def _any(answers: Sequence[bool | None]) -> bool | None:
    if True in answers:
        return True
    return None if None in answers else False
