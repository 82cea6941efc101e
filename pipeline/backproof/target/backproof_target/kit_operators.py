"""Loads the kit's ``operators.py`` by path and asks it for the names that it must have."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from backproof_target.request import Operators


class OperatorsError(Exception):
    """The kit's operators.py cannot serve the request."""


@dataclass(frozen=True, kw_only=True)
class KitOperators:
    """The promises of an operators.py, and the model that was asked for."""

    modules: dict[str, dict[str, Any]]
    skeletons: tuple[str, ...]
    model: str
    sentence: str
    options: dict[str, str]
    limits: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        return {"name": self.model, "options": self.options, "sentence": self.sentence}


def load_operators(asked: Operators) -> KitOperators:
    """Read MODULES, SKELETON, MODELS (name to sentence), OPTIONS (name to choices, the first is the default), LIMITS."""
    name = "backproof_kit_operators"
    spec = spec_from_file_location(name, asked.file)
    if spec is None or spec.loader is None:
        raise OperatorsError(f"{asked.file} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    models: dict[str, str] = getattr(module, "MODELS", {})
    if asked.model not in models:
        raise OperatorsError(f"operator model {asked.model!r} is none of {', '.join(models) or 'none at all'}")
    return KitOperators(
        modules=dict(module.MODULES),
        skeletons=tuple(getattr(module, "SKELETON", ())),
        model=asked.model,
        sentence=models[asked.model],
        options=_check_options(getattr(module, "OPTIONS", {}), asked.options),
        limits=tuple(getattr(module, "LIMITS", ())),
    )


def _check_options(known: dict[str, tuple[str, ...]], asked: dict[str, str]) -> dict[str, str]:
    for name, value in asked.items():
        if value not in known.get(name, ()):
            raise OperatorsError(f"option {name}={value!r}: the kit knows {known}")
    return {name: asked.get(name, choices[0]) for name, choices in known.items()}
