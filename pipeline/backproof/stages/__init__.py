"""The stages in their order. A new stage is a module here and one line in STAGES."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from backproof.rundir.registry import Registry
from backproof.stages import (
    audit,
    doctor,
    experiment,
    fixup,
    install,
    mutate,
    pick,
    publish,
    report,
    serve,
    triage,
    upstream_tests,
    validate,
    verify,
)

if TYPE_CHECKING:
    from backproof.rundir.context import Stage

STAGES: Final[tuple[Stage, ...]] = (
    pick,
    fixup,
    install,
    verify,
    validate,
    mutate,
    triage,
    serve,
    upstream_tests,
    experiment,
    audit,
    doctor,
    report,
    publish,
)
"""Every stage; each rests on those before it."""
ON_REQUEST: Final[tuple[Stage, ...]] = (mutate, serve, upstream_tests, experiment, audit, doctor, publish)
"""The stages that run only when their own command asks for them."""
PIPELINE: Final[tuple[Stage, ...]] = tuple(stage for stage in STAGES if stage not in ON_REQUEST)
"""The stages of every run."""
REGISTRY: Final = Registry(stages=STAGES, on_request=ON_REQUEST)
