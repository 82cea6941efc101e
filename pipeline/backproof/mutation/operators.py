"""The small ways in which an expression is made wrong: a fixed, versioned list over libcst nodes.

Each operator is given one node and yields what may stand in its place. An operator that is added, dropped or changed raises
VERSION: figures of two versions are not compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Operator = Callable[[cst.CSTNode], Iterator[cst.CSTNode]]

VERSION: Final = 1

_COMPARISONS: Final[dict[type[cst.CSTNode], type[cst.BaseCompOp]]] = {
    cst.LessThan: cst.LessThanEqual,
    cst.LessThanEqual: cst.LessThan,
    cst.GreaterThan: cst.GreaterThanEqual,
    cst.GreaterThanEqual: cst.GreaterThan,
    cst.Equal: cst.NotEqual,
    cst.NotEqual: cst.Equal,
    cst.Is: cst.IsNot,
    cst.IsNot: cst.Is,
    cst.In: cst.NotIn,
    cst.NotIn: cst.In,
}
_ARITHMETIC: Final[dict[type[cst.CSTNode], type[cst.BaseBinaryOp]]] = {
    cst.Add: cst.Subtract,
    cst.Subtract: cst.Add,
    cst.Multiply: cst.FloorDivide,
    cst.FloorDivide: cst.Multiply,
    cst.Divide: cst.Multiply,
    cst.Modulo: cst.FloorDivide,
    cst.LeftShift: cst.RightShift,
    cst.RightShift: cst.LeftShift,
}
_NAMES: Final = {"True": "False", "False": "True"}
_DTYPES: Final = {
    "int32": "int64",
    "int64": "int32",
    "float16": "float32",
    "bfloat16": "float16",
    "float32": "float16",
    "float64": "float32",
}
_TWINS: Final = {
    "all": "any",
    "any": "all",
    "max": "min",
    "maximum": "minimum",
    "min": "max",
    "minimum": "maximum",
    "zeros": "empty",
    "zeros_like": "empty_like",
}
"""Functions that are called alike: what `empty` leaves is whatever was there."""
_PASSED_THROUGH: Final = frozenset(
    {"abs", "clamp", "clip", "clone", "contiguous", "copy", "detach", "float", "int", "long", "lower", "strip", "to"}
)
"""Methods whose result is of the kind of what they are called on."""


def change_comparison(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Move the edge of a comparison by one, or turn it round."""
    if isinstance(node, cst.ComparisonTarget) and (other := _COMPARISONS.get(type(node.operator))):
        yield node.with_changes(operator=other())


def change_logic(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Leave one side of a conjunction or disjunction out, of booleans or of bits."""
    bits = isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.BitAnd, cst.BitOr))
    if isinstance(node, cst.BooleanOperation) or (bits and isinstance(node, cst.BinaryOperation)):
        yield node.left
        yield node.right


def negate_condition(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Do in one case what belongs to the other, or in both the same; the edge of a comparison has its own operator."""
    if isinstance(node, cst.IfExp):
        yield from map(_enclose, (node.body, node.orelse))
    if isinstance(node, (cst.If, cst.While, cst.IfExp)) and not isinstance(node.test, cst.Comparison):
        yield node.with_changes(test=cst.UnaryOperation(operator=cst.Not(), expression=_enclose(node.test)))


def _enclose(value: cst.BaseExpression) -> cst.BaseExpression:
    """Put parentheses round what may bind less than what stood in its place."""
    if value.lpar or isinstance(value, (cst.Name, cst.Call, cst.Integer, cst.Attribute)):
        return value
    return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def change_integer(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Add one and take one away."""
    if isinstance(node, cst.Integer):
        yield cst.Integer(str(node.evaluated_value + 1))
        less = node.evaluated_value - 1
        yield cst.Integer(str(less)) if less >= 0 else cst.parse_expression(f"({less})")


def change_arithmetic(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Put the opposite operation in its place."""
    if isinstance(node, cst.BinaryOperation) and (other := _ARITHMETIC.get(type(node.operator))):
        yield node.with_changes(operator=other())


def change_name(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Put the other boolean, a neighbouring dtype, or the twin of a function in its place."""
    if isinstance(node, cst.Name) and node.value in _NAMES:
        yield node.with_changes(value=_NAMES[node.value])
    if isinstance(node, cst.Attribute) and node.attr.value in _DTYPES:
        yield node.with_changes(attr=cst.Name(_DTYPES[node.attr.value]))
    if isinstance(node, cst.Call) and (name := _name_of(node.func)) and name.value in _TWINS:
        yield node.with_deep_changes(name, value=_TWINS[name.value])


def _name_of(function: cst.BaseExpression) -> cst.Name | None:
    last = function.attr if isinstance(function, cst.Attribute) else function
    return last if isinstance(last, cst.Name) else None


def drop_call(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Leave out a call: what was only done, what was passed through, or the choice between two values."""
    if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
        yield cst.Pass()
    if not isinstance(node, cst.Call):
        return
    name = _name_of(node.func)
    if name and isinstance(node.func, cst.Attribute) and name.value in _PASSED_THROUGH:
        yield node.func.value
    if name and name.value == "where" and len(node.args) == 3:
        yield from (_enclose(argument.value) for argument in node.args[1:])
    if len(node.args) == 1 and not node.args[0].keyword and not node.args[0].star:
        yield _enclose(node.args[0].value)


def drop_assignment(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Leave out a change of what was there: of an attribute, an element, a sum."""
    places = [target.target for target in node.targets] if isinstance(node, cst.Assign) else []
    if isinstance(node, cst.AugAssign) or any(isinstance(place, (cst.Attribute, cst.Subscript)) for place in places):
        yield cst.Pass()


def swap_arguments(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Exchange two neighbours among the arguments without a keyword."""
    if not isinstance(node, cst.Call):
        return
    for index, (first, second) in enumerate(zip(node.args, node.args[1:], strict=False)):
        plain = not (first.keyword or second.keyword or first.star or second.star)
        if plain and not first.value.deep_equals(second.value):
            pair = (first.with_changes(value=second.value), second.with_changes(value=first.value))
            yield node.with_changes(args=[*node.args[:index], *pair, *node.args[index + 2 :]])


OPERATORS: Final[dict[str, Operator]] = {
    "comparison": change_comparison,
    "logic": change_logic,
    "condition": negate_condition,
    "integer": change_integer,
    "arithmetic": change_arithmetic,
    "name": change_name,
    "call": drop_call,
    "assignment": drop_assignment,
    "arguments": swap_arguments,
}
"""Those of one node; `mutants.py` adds what is done to whole hunks."""
