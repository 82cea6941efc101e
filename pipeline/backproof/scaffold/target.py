"""The target of a new kit: the release, and what must be there to build it and to run checks on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from backproof.devices import DEVICES
from backproof.scaffold.words import toml

if TYPE_CHECKING:
    from backproof.scaffold.choices import Choices
    from backproof.scaffold.facts import Facts

_ALWAYS: Final = {"setuptools", "wheel"}
_BUILD: Final = ("setuptools==84.2.1", "setuptools-scm==10.3.4", "wheel==0.48.0")
PINS: Final = (*(pin for device in DEVICES.values() for pin in device.PACKAGES), *_BUILD)
"""Those of the kits that are there: what is fetched for one serves the others."""
_LISTED = 12


def target(facts: Facts, choices: Choices) -> list[list[str]]:
    """The section; none where no release was named."""
    if not choices.release:
        return []
    build = [each for each in _BUILD if _name(each) in _ALWAYS | {*facts.release.build}]
    packages = ", ".join(toml(pin) for pin in (*DEVICES[choices.device].PACKAGES, *build))
    section = ["[target]", f"requirement = {toml(choices.release)}", f"packages = [{packages}]"]
    return [[*_unpinned(facts), *section]]


def _unpinned(facts: Facts) -> list[str]:
    """What the release's build asks for beside these; often it builds without."""
    known = set(map(_name, PINS))
    names = [each for each in facts.release.build if each not in known]
    more = ", …" if len(names) > _LISTED else ""
    listed = f"# Its build also asks for {', '.join(names[:_LISTED])}{more}."
    return (
        [listed, "# Pin those that it does not build without; what it reads in the environment goes to env."]
        if names
        else []
    )


def _name(pin: str) -> str:
    return pin.partition("==")[0]
