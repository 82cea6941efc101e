"""Names that an arm lacks, as stand-ins: a test module that imports them can be collected, and each test ends by itself.

A stand-in raises whenever it is used and remembers that it was: a test that met one says nothing but that a name is
missing. It is a class that derives from Exception, so that `except` and `pytest.raises` take it, too.
"""

from __future__ import annotations

import re
import sys
import types
from typing import Any, NoReturn

_NAME = re.compile(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'")
_MOST = 200


class MissingName(Exception):  # noqa: N818 - a fact about the arm, not a mistake of the test
    """Raised where a name is used that this arm does not have."""


class Meetings:
    """The names that are missing here, and those that were used since somebody looked."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.met: set[str] = set()

    def refuse(self, name: str) -> NoReturn:
        self.met.add(name)
        raise MissingName(name)

    def take_met(self) -> list[str]:
        met, self.met = sorted(self.met), set()
        return met


def make_stand_in(name: str, meetings: Meetings) -> type:
    """Return a class that stands for a name and refuses every use."""

    def refuse(cls: type, *arguments: Any, **_: Any) -> NoReturn:
        del cls
        # Python and pytest look for names like __test__ on all that a module has: that is no use.
        if arguments and str(arguments[0]).startswith(("__", "pytest", "_pytest")):
            raise AttributeError(arguments[0])
        meetings.refuse(name)

    uses = ("__call__", "__getattr__", "__instancecheck__", "__subclasscheck__", "__iter__", "__getitem__", "__eq__")
    kind: Any = type("MissingKind", (type,), {**dict.fromkeys(uses, refuse), "__hash__": type.__hash__})
    made: type = kind(name.rpartition(".")[2], (Exception,), {})
    return made


def add_missing(error: BaseException, packages: list[str], meetings: Meetings) -> bool:
    """Put a stand-in where an import failed. Return False where the name is not the arm's own, or is there."""
    if len(meetings.names) >= _MOST:
        return False
    if match := _NAME.search(str(error)):
        name, module = match[1], sys.modules.get(match[2])
        if module is None or match[2].partition(".")[0] not in packages or hasattr(module, name):
            return False
        setattr(module, name, make_stand_in(f"{match[2]}.{name}", meetings))
        meetings.names.add(name)
        return True
    return isinstance(error, ModuleNotFoundError) and _add_module(str(error.name or ""), packages, meetings)


def _add_module(name: str, packages: list[str], meetings: Meetings) -> bool:
    parent, _, last = name.rpartition(".")
    if not parent or name.partition(".")[0] not in packages or name in sys.modules:
        return False
    module = types.ModuleType(name)
    stand_ins: dict[str, type] = {}

    def find(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        meetings.names.add(attribute)
        return stand_ins.setdefault(attribute, make_stand_in(f"{name}.{attribute}", meetings))

    module.__dict__["__getattr__"] = find
    module.__path__ = []
    sys.modules[name] = module
    if parent in sys.modules:
        setattr(sys.modules[parent], last, module)
    meetings.names.add(last)
    return True
