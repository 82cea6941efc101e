"""How the import system would find a module, step by step, with no parent package imported."""

from __future__ import annotations

import ast
import hashlib
import importlib.machinery
import os
import sys
from typing import TYPE_CHECKING, Any

import probe_cache as cache
import probe_reasons as reasons

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Spec = importlib.machinery.ModuleSpec
    Find = Callable[[str, Any], Any]

_OWN = (importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter, importlib.machinery.PathFinder)


def entry(place: str, launch: str) -> dict[str, str]:
    """One entry of sys.path, and why it is there."""
    kind, detail = reasons.why(place, launch)
    return {"entry": place, "kind": kind, "detail": detail}


def module(name: str, path: str, launch: str) -> dict[str, Any]:
    """All that is known of one module: who wins, who loses, what is compiled."""
    problems: list[str] = []
    spec, finder = _resolve_module(name, problems)
    winner = _describe_copy(name, spec, finder, launch) if spec is not None else None
    others: list[dict[str, Any]] = []
    for place, other in _search_everywhere(name):
        known = [winner, *others] if winner else others
        if not any(_is_same(other.origin, item["origin"]) for item in known):
            others.append(_describe_copy(name, other, place, launch))
    loaded = str(getattr(sys.modules.get(name), "__file__", "") or "")
    return {"name": name, "path": path, "winner": winner, "others": others, "loaded": loaded, "problems": problems}


def _resolve_module(name: str, problems: list[str]) -> tuple[Spec | None, Any]:
    """The spec that an import would get, and its finder: the specs of the parents stand for the parents."""
    finders: list[Any] = []

    def find(part: str, search: list[str] | None) -> Spec | None:
        spec, finder = _first_finder(part, search, problems)
        finders.append(finder)
        if spec is not None and part != name:
            _warn_of_parent(spec, problems)
        return spec

    spec = _follow_parts(name, find)
    return spec, finders[-1] if spec is not None else None


def _follow_parts(name: str, find: Find) -> Spec | None:
    """Find each parent in the folders of the one before it, then the module."""
    search: list[str] | None = None
    spec = None
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        spec = find(".".join(parts[:count]), search)
        if spec is None:
            return None
        search = None if spec.submodule_search_locations is None else list(spec.submodule_search_locations)
        if search is None and count < len(parts):
            return None
    return spec


def _first_finder(name: str, search: list[str] | None, problems: list[str]) -> tuple[Spec | None, Any]:
    for finder in sys.meta_path:
        try:
            inside = finder is importlib.machinery.PathFinder and search is not None
            spec = _in_folders(name, search or []) if inside else finder.find_spec(name, search)
        except Exception as error:  # noqa: BLE001 - a finder of the target may do anything; it must not stop the others
            problems.append(f"the finder {reasons.label(finder)} cannot tell without the parent of {name}: {error!r}")
            continue
        if spec is not None:
            return spec, finder
    return None, None


def _warn_of_parent(spec: Spec, problems: list[str]) -> None:
    """A package that changes its own __path__ sends its submodules elsewhere; only an import would tell where."""
    source = _read_data(spec)
    if b"__path__" in source and _names_path(source):
        problems.append(f"{spec.origin} uses its own __path__: once imported, its submodules can come from elsewhere")
    if spec.submodule_search_locations is None:
        problems.append(f"{spec.name} is no package: {spec.origin}")


def _names_path(source: bytes) -> bool:
    """As a name of its own; `other.__path__` is another module's."""
    try:
        nodes = ast.walk(ast.parse(source))
    except (SyntaxError, ValueError):
        return True
    return any(isinstance(node, ast.Name) and node.id == "__path__" for node in nodes)


def _search_everywhere(name: str) -> Iterator[tuple[Any, Spec]]:
    """Every copy that one entry of sys.path alone, or one other finder alone, would give."""
    for place in sys.path:
        spec = alone(name, place)
        if spec is not None:
            yield place, spec
    for finder in sys.meta_path:
        if finder not in _OWN:
            spec = _finder_chain(name, finder.find_spec)
            if spec is not None:
                yield finder, spec


def alone(name: str, place: str) -> Spec | None:
    """What a sys.path of this one entry would give."""
    return _finder_chain(name, lambda part, search: _in_folders(part, search or [place or "."]))


def _finder_chain(name: str, find: Find) -> Spec | None:
    try:
        spec = _follow_parts(name, lambda part, search: find(part, search) or (search and _in_folders(part, search)))
    except Exception:  # noqa: BLE001 - told already where the winner is looked for
        return None
    return spec if spec is not None and spec.loader is not None and spec.origin else None


def _in_folders(name: str, folders: list[str]) -> Spec | None:
    """As PathFinder, which cannot make a namespace inside a package whose parent is not imported."""
    portions: list[str] = []
    for folder in folders:
        finder = _finder_of(folder)
        spec = finder.find_spec(name) if finder is not None else None
        if spec is not None and spec.loader is not None:
            return spec  # type: ignore[no-any-return]
        if spec is not None:
            portions.extend(spec.submodule_search_locations or ())
    if not portions:
        return None
    namespace = importlib.machinery.ModuleSpec(name, None, is_package=True)
    namespace.submodule_search_locations = portions
    return namespace


def _finder_of(folder: str) -> Any:
    for hook in sys.path_hooks:
        try:
            return hook(folder)
        except ImportError:
            continue
    return None


def _describe_copy(name: str, spec: Spec, finder: Any, launch: str) -> dict[str, Any]:
    data = _read_data(spec)
    kind, detail, place = _give_reason(name, spec, finder, launch)
    return {
        "origin": spec.origin or "",
        "sha256": hashlib.sha256(data).hexdigest() if data or os.path.isfile(spec.origin or "") else "",  # noqa: PTH113 - an empty file; the origin is whatever a finder says
        "loader": reasons.label(spec.loader),
        "entry": place,
        "kind": kind,
        "detail": detail,
        "cached": cache.facts(spec, data),
    }


def _give_reason(name: str, spec: Spec, finder: Any, launch: str) -> tuple[str, str, str]:
    """Why this copy: the entry of sys.path that holds it, or the finder that knows it."""
    if isinstance(finder, str):
        return (*reasons.why(finder, launch), finder)
    if finder in _OWN:
        for place in sys.path:
            there = alone(name, place)
            if there is not None and _is_same(there.origin, spec.origin):
                return (*reasons.why(place, launch), place)
        # PathFinder found it in a folder that the finder of a parent named.
        finder = _first_finder(name.partition(".")[0], None, [])[1]
    if finder is None or finder in _OWN:
        return "unknown", "", ""
    return "finder", reasons.where_from(finder), ""


def _is_same(one: str | None, other: str | None) -> bool:
    return bool(one) and bool(other) and os.path.realpath(str(one)) == os.path.realpath(str(other))


def _read_data(spec: Spec) -> bytes:
    """What the loader would hand to the compiler."""
    try:
        return bytes(spec.loader.get_data(spec.origin))  # type: ignore[union-attr]
    except Exception:  # noqa: BLE001 - built-in, namespace, or a loader of the target: there is no file to read
        return b""
