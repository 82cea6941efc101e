"""What a test raised, as facts: whoever reads the result decides what they mean. Standard library only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 12  # exceptions of one test
_MOST_CLASSES = 24
_LONGEST = 300


def describe_raised(error: BaseException | None) -> list[dict[str, Any]]:
    """Return the exception and then what it came from: causes, contexts, and members of groups, nearest first."""
    records: list[dict[str, Any]] = []
    seen: set[int] = set()
    waiting = [error] if error is not None else []
    while waiting and len(records) < _MOST:
        current = waiting.pop(0)
        if id(current) not in seen:
            seen.add(id(current))
            file, line = _find_place(current)
            records.append(
                {"classes": _list_classes(type(current)), "file": file, "line": line, "text": _describe_text(current)}
            )
            waiting += _list_origins(current)
    return records


def _list_origins(error: BaseException) -> Iterator[BaseException]:
    # `raise ... from None` says that what was handled then has no part in it.
    origin = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if origin is not None:
        yield origin
    members = getattr(error, "exceptions", ())
    if isinstance(members, tuple):
        yield from (member for member in members if isinstance(member, BaseException))


def _list_classes(kind: type[BaseException]) -> list[str]:
    """Return the full names of a class and of all that it derives from."""
    kinds = [base for base in kind.__mro__ if base is not object][:_MOST_CLASSES]
    return [f"{base.__module__}.{base.__qualname__}"[:_LONGEST] for base in kinds]


def _find_place(error: BaseException) -> tuple[str, int]:
    """Return the file and the line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (trace.tb_frame.f_code.co_filename[-_LONGEST:], trace.tb_lineno) if trace is not None else ("", 0)


def _describe_text(error: BaseException) -> str:
    """Return its message, whatever the target's `__str__` does."""
    try:
        return str(error)[:_LONGEST]
    except Exception:  # noqa: BLE001 - the target's own code, which may raise anything
        return ""
