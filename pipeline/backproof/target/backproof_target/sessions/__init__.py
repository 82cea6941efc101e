"""How the interpreter is prepared for a device: one module per kind of device, named in the request."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import ModuleType

    from backproof_target.launches import LaunchLog
    from backproof_target.reach import Reach
    from backproof_target.request import Request

    OpenDevice = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a session is prepared for: the request and its answer, what sees launches, and what traces lines."""

    request: Request
    answer: dict[str, Any]
    log: LaunchLog
    reach: Reach


class NotReady(Exception):  # noqa: N818 - a statement about the host
    """The target interpreter cannot run checks on this device; ``what`` is a word for the caller to branch on."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(why)
        self.what = what


def load_session(name: str) -> ModuleType:
    """Import the module of that name; nothing of another kind of device is imported.

    Its ``prepare(setting)`` returns what opens the device of each test.
    """
    module = f"{__name__}.{name}"
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        raise NotReady("request", f"there is no session {name!r}: {missing}") from missing
