"""Which files were loaded, and whether what was executed is what is on disk.

The hash of the file on disk proves nothing by itself: Python may have executed a cached ``.pyc``. So each loader of a
file that we were asked about is watched. ``source_sha256`` is the hash of the source that is known to have been executed:
the one that the loader read, or, when it took bytecode (``cached``), the file's own if it compiles to that same bytecode.
With stale bytecode there is no such hash.
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from importlib.machinery import ModuleSpec

_MOST_REPLACED = 20
_HEADER = 16  # magic, flags, and date+size or hash: PEP 552


def find_beyond(ours: Any, name: str, path: Any, target: Any) -> ModuleSpec | None:
    """What the import system finds without finders of these classes: editable finders first come first, as always."""
    for finder in sys.meta_path:
        if isinstance(finder, ours) or not hasattr(finder, "find_spec"):
            continue
        if (spec := finder.find_spec(name, path, target)) is not None:
            return spec
    return None


class LoaderWatch:
    """A finder that finds nothing of its own: it asks the others and watches the loader they give."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._files = {str(file.resolve()) for file in files}
        self._read: dict[str, dict[str, bytes]] = {}

    def install(self) -> None:
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if spec := find_beyond(LoaderWatch, name, path, target):
            self._watch_module(spec)
        return spec

    def _watch_module(self, spec: ModuleSpec) -> None:
        loader: Any = spec.loader
        if (
            spec.origin is None
            or str(Path(spec.origin).resolve()) not in self._files
            or not hasattr(loader, "get_data")
        ):
            return
        read, seen = loader.get_data, self._read.setdefault(spec.name, {})

        def get_data(path: str) -> bytes:
            data: bytes = read(path)
            seen[path] = data
            return data

        loader.get_data = get_data

    def records(self) -> list[dict[str, Any]]:
        """One entry per loaded module whose file we were asked about."""
        found = []
        for name, module in sorted(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and str(Path(file).resolve()) in self._files:
                found.append(self._record_module(name, module, Path(file)))
        return found

    def _record_module(self, name: str, module: Any, file: Path) -> dict[str, Any]:
        read = self._read.get(name, {})
        source = next((data for path, data in read.items() if Path(path).suffix != ".pyc"), None)
        bytecode = next((path for path in read if Path(path).suffix == ".pyc"), None) if source is None else None
        disk = file.read_bytes()
        if bytecode is not None and _same_code(file, disk, read[bytecode]):
            source = disk
        return {
            "module": name,
            "file": str(file),
            "sha256": hashlib.sha256(disk).hexdigest(),
            "cached": bytecode,
            "loader": type(getattr(module, "__loader__", None)).__name__,
            "source_sha256": None if source is None else hashlib.sha256(source).hexdigest(),
            "replaced": find_replaced(module, file, disk),
        }


def find_replaced(module: Any, file: Path, source: bytes) -> list[str]:
    """The functions of a module that say they are of its file and are not: something put other code in their place.

    Code that says where it comes from needs no look here: the lines of the file are then not reached.
    """
    try:
        own = set(_list_code(compile(source, str(file), "exec", dont_inherit=True)))
    except (SyntaxError, ValueError):
        return []
    codes = _list_members(vars(module))
    strange = {name for name, code in codes if code.co_filename == str(file) and code not in own}
    return sorted(strange)[:_MOST_REPLACED]


def _list_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _list_code(constant)


def _list_members(names: Mapping[str, Any]) -> Iterator[tuple[str, CodeType]]:
    """The code of functions and methods, and of what decorators say that they wrap. Nothing of the target is asked."""
    for name, item in list(names.items()):
        inner = {f"{name}.{key}": value for key, value in vars(item).items()} if isinstance(item, type) else {}
        for member, value in {name: item, **inner}.items():
            function = value.fget if isinstance(value, property) else value
            if isinstance(function, (staticmethod, classmethod)):
                function = function.__func__
            while isinstance(function, FunctionType):
                yield member, function.__code__
                function = vars(function).get("__wrapped__")


def _same_code(file: Path, source: bytes, bytecode: bytes) -> bool:
    try:
        executed = marshal.loads(bytecode[_HEADER:])  # noqa: S302 - what the import system has executed already
    except (EOFError, ValueError, TypeError):
        return False
    return bool(executed == compile(source, str(file), "exec", dont_inherit=True))
