"""What a test raised, as facts: whoever reads the result decides what they mean. Standard library only."""

from __future__ import annotations

import re
import sys
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 12  # exceptions of one test
_MOST_CLASSES = 24
_MOST_FRAMES = 20
_LONGEST = 300

# A test class that keeps no exception, only its text (testtools, and so OpenStack): pytest says this and quotes the text.
# https://github.com/pytest-dev/pytest/blob/8.3.5/src/_pytest/unittest.py#L230-L241
_NATIVE = re.compile(
    r"\ANOTE: Incompatible Exception Representation.*(Traceback \(most recent call last\):\n.*)", re.DOTALL
)
_FRAME = re.compile(r'^  File "(.+)", line (\d+)', re.MULTILINE)
_RAISED = re.compile(r"^([A-Za-z_][\w.]*)(?:: .*)?$", re.MULTILINE)


def describe_raised(error: BaseException | None) -> list[dict[str, Any]]:
    """Return the exception and then what it came from: causes, contexts, and members of groups, nearest first."""
    if error is not None and (native := _NATIVE.search(_read_text(error))):
        return [_describe_native(native[1])]
    records: list[dict[str, Any]] = []
    seen: set[int] = set()
    waiting = [error] if error is not None else []
    while waiting and len(records) < _MOST:
        current = waiting.pop(0)
        if id(current) not in seen:
            seen.add(id(current))
            classes, frames = _list_classes(type(current)), _list_frames(current)
            records.append(_make_record(classes, frames, _read_text(current)))
            waiting += _list_origins(current)
    return records


def _describe_native(text: str) -> dict[str, Any]:
    """Return an exception of which only its traceback's text is left: the last one is what ended the test."""
    raised = _RAISED.search(text)
    name, message = (raised[1], text[raised.end(1) :].lstrip(":")) if raised else ("", text)
    module, _, short = name.rpartition(".")
    kind = getattr(sys.modules.get(module or "builtins"), short, None)
    classes = _list_classes(kind) if isinstance(kind, type) and issubclass(kind, BaseException) else [name[:_LONGEST]]
    return _make_record(classes, [(file, int(line)) for file, line in _FRAME.findall(text)], message.strip())


def _make_record(classes: list[str], frames: list[tuple[str, int]], text: str) -> dict[str, Any]:
    bounded = [(file[-_LONGEST:], line) for file, line in frames[-_MOST_FRAMES:]]
    file, line = bounded[-1] if bounded else ("", 0)
    return {"classes": classes, "file": file, "line": line, "text": text[:_LONGEST], "frames": bounded}


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


def _list_frames(error: BaseException) -> list[tuple[str, int]]:
    """Return the file and the line of each call that led to it, the innermost last."""
    return [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]


def _read_text(error: BaseException) -> str:
    """Return its message, whatever the target's `__str__` does."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the target's own code, which may raise anything
        return ""
