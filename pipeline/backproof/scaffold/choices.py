"""The choices of the person who asks for a kit, checked before anything is read or written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError

from backproof import devices
from backproof.core.errors import PlanError
from backproof.kit.types import Identifier
from backproof.scaffold.declared import normalize_name

_PINNED = re.compile(r"[A-Z0-9][A-Z0-9._-]{0,98}==[A-Z0-9.!+]{1,60}", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class Choices:
    """The kit's id (by default the pull request's number), where its check runs, and the release for the demo."""

    identity: str = ""
    device: str = devices.SCAFFOLDED
    release: str = ""

    @property
    def distribution(self) -> str:
        """The distribution of the release; empty where none was named."""
        return normalize_name(self.release.partition("==")[0])


def check_choices(*, identity: str = "", device: str = devices.SCAFFOLDED, release: str = "") -> Choices:
    """Return the choices when a plan would take them.

    Raises:
        PlanError: one of them is not valid.
    """
    devices.get_device(device)
    if identity:
        _check_identity(identity)
    if release and not _PINNED.fullmatch(release):
        raise PlanError(
            f"{release}: not a pinned release",
            why="the target of a kit must be the same in every run: a name, ==, and one version",
            next_step="name it with --release, for example --release urllib3==1.26.14",
        )
    return Choices(identity=identity, device=device, release=release)


def _check_identity(text: str) -> None:
    try:
        TypeAdapter(Identifier).validate_python(text)
    except ValidationError as error:
        raise PlanError(
            f"{text[:100]}: not a valid id of a kit",
            why="an id consists of at most 100 lower-case letters, digits and .+_-, and starts with a letter or digit",
            next_step="choose another --id, for example name-1234",
        ) from error
