"""The target of a new kit: the release, and the packages that its build and its checks need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from backproof.devices import DEVICES
from backproof.scaffold.words import quote_toml

if TYPE_CHECKING:
    from backproof.scaffold.choices import Choices
    from backproof.scaffold.facts import Facts

_ALWAYS: Final = {"setuptools", "wheel"}
_BUILD: Final = ("setuptools==84.2.1", "setuptools-scm==10.3.4", "wheel==0.48.0")
PINS: Final = (*(pin for device in DEVICES.values() for pin in device.TRAITS.packages), *_BUILD)
"""Those of the existing kits: a package fetched for one serves the others."""
_LISTED = 12


def build_target(facts: Facts, choices: Choices) -> list[list[str]]:
    """Return the section; none where no release was named."""
    if not choices.release:
        return []
    build = [pin for pin in _BUILD if _name_of(pin) in _ALWAYS | {*facts.release.build}]
    packages = ", ".join(map(quote_toml, (*DEVICES[choices.device].TRAITS.packages, *build)))
    section = ["[target]", f"requirement = {quote_toml(choices.release)}", f"packages = [{packages}]"]
    return [[*_list_unpinned(facts), *section]]


def _list_unpinned(facts: Facts) -> list[str]:
    """Return a comment on what the release's build asks for beside these; often it builds without."""
    pinned = set(map(_name_of, PINS))
    names = [name for name in facts.release.build if name not in pinned]
    more = ", …" if len(names) > _LISTED else ""
    listed = f"# Its build also asks for {', '.join(names[:_LISTED])}{more}."
    return [listed, "# Pin those that it needs; variables that it reads go to env."] if names else []


def _name_of(pin: str) -> str:
    return pin.partition("==")[0]
