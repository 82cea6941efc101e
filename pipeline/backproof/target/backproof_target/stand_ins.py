"""Imports on a machine without the device: stand-ins for what is missing, skeletons for what must not run.

A *stand-in* is a module that exists on a device host only; the kit lists every name that it serves, and any other name
below the same top-level package is an ImportError that says so (a half-working module would be worse).

A *skeleton* is a package of the target whose ``__init__`` is not run, because it pulls in half the project: it only
tells the import system where its folder is. The modules in it are the real files, found and loaded by the normal
loaders. A package whose ``__init__`` is itself under test is not made a skeleton.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from backproof_target.faults import Unmodelled
from backproof_target.loaded import LoaderWatch, find_beyond

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class StandInMissing(Unmodelled, ModuleNotFoundError):  # noqa: N818 - a limit, not a mistake
    """The code under test imports a module that the kit has no stand-in for."""


class NameMissing(Unmodelled, AttributeError):  # noqa: N818 - a limit, not a mistake
    """The code under test uses a name that the kit's stand-in does not have."""


class _Maker:
    """Loader of a stand-in: an empty module with the names that were listed."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return ModuleType(spec.name, "A stand-in: this module exists on a device host only.")

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update({"__getattr__": _refuse_names(module.__name__), **self._names})


def _refuse_names(module: str) -> Callable[[str], Any]:
    # An ordinary AttributeError would look like a fault of the code under test; this one says what is not modelled.
    def refuse(name: str) -> Any:
        raise NameMissing(f"the stand-in {module!r} has no {name!r}; add it to MODULES in the kit's operators.py")

    return refuse


class StandIns:
    """Finder of the modules that the kit lists, and of nothing else below their top-level packages."""

    def __init__(self, modules: Mapping[str, Mapping[str, Any]]) -> None:
        self._modules = modules
        self._tops = {name.split(".", 1)[0] for name in modules}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002 - protocol
        if name.split(".", 1)[0] not in self._tops:
            return None
        inner = any(module.startswith(f"{name}.") for module in self._modules)
        if name not in self._modules and not inner:
            raise StandInMissing(
                f"{name!r} is not among the stand-ins of this kit (they are: {', '.join(sorted(self._modules))}); "
                "add it to MODULES in the kit's operators.py if the code under test needs it"
            )
        maker: Any = _Maker(self._modules.get(name, {}))
        return ModuleSpec(name, maker, origin="stand-in", is_package=inner)


class Skeletons:
    """Finder that keeps the packages of the listed projects from running their ``__init__``."""

    def __init__(self, projects: Sequence[str], files: Iterable[Path]) -> None:
        self._projects = frozenset(projects)
        self._files = {str(file.resolve()) for file in files}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name.split(".", 1)[0] not in self._projects:
            return None
        found = find_beyond((LoaderWatch, StandIns, Skeletons), name, path, target)
        if found is None or found.submodule_search_locations is None:
            return None
        if found.origin and str(Path(found.origin).resolve()) in self._files:
            return None
        # No loader, as for a namespace package: the import system has nothing to run.
        spec = ModuleSpec(name, None, origin="skeleton", is_package=True)
        spec.submodule_search_locations = list(found.submodule_search_locations)
        return spec


def install(modules: Mapping[str, Mapping[str, Any]], projects: Sequence[str], files: Iterable[Path]) -> None:
    sys.meta_path[:0] = [StandIns(modules), Skeletons(projects, files)]
