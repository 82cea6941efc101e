"""What the person who asks for a kit has decided already, checked before anything is read or written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from backproof import devices
from backproof.core.errors import PlanError
from backproof.kit.types import Identifier
from backproof.scaffold.declared import normal

_PINNED = re.compile(r"[A-Z0-9][A-Z0-9._-]{0,98}==[A-Z0-9.!+]{1,60}", re.IGNORECASE | re.ASCII)
_LONGEST = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Choices:
    """The kit's id (by default the pull request's number), where its check runs, and the release for the demo."""

    identity: str = ""
    device: str = devices.SCAFFOLDED
    release: str = ""

    @property
    def distribution(self) -> str:
        """What the release is of; empty where none was named."""
        return normal(self.release.partition("==")[0])


def choose(*, identity: str = "", device: str = devices.SCAFFOLDED, release: str = "") -> Choices:
    """Check what was chosen.

    Raises:
        PlanError: the plan would not take it, or `device` is none.
    """
    devices.get_device(device)
    if identity:
        _check_identity(identity)
    if release and not _PINNED.fullmatch(release):
        raise PlanError(
            f"{release}: not a release that can be installed again",
            why="the target of a kit is pinned: its name, ==, and one version",
            next_step="name it with --release, for example --release urllib3==1.26.14",
        )
    return Choices(identity=identity, device=device, release=release)


def _check_identity(text: str) -> None:
    try:
        TypeAdapter(Identifier).validate_python(text)
        too_long = len(text) > _LONGEST
    except ValidationError:
        too_long = True
    if too_long:
        raise PlanError(
            f"{text[:_LONGEST]}: not an id of a kit",
            why=f"it has small letters, digits and .+_- only, starts with one of the first two, and has {_LONGEST} at most",
            next_step="choose another --id, for example name-1234",
        )
