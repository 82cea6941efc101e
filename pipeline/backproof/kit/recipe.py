"""A recipe: how the environment of a target is made, and how its own tests run. `targets/<project>.toml`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from backproof.core.model import Record
from backproof.kit.types import Identifier, KitPath  # noqa: TC001 - pydantic reads them

Step = Annotated[tuple[str, ...], Field(min_length=1)]


class Lookup(Record):
    """A word for requirements and steps that stands in a file of the branch, such as a version."""

    file: KitPath
    pattern: str = Field(description="a regular expression whose first group is the word")


class Recipe(Record):
    """Everything that is asked of a target's environment. In requirements and steps, `{name}` is a word."""

    schema_version: Literal[1] = 1
    project: Identifier = Field(description="the name of the distribution")
    python: str = Field(default="", description='for example "3.11"; by default one that `requires-python` takes')
    words: dict[str, Lookup] = {}
    requirements: tuple[str, ...] = Field(default=(), description="what to install, as pip names it")
    packages: Literal["newest", "of the branch's time"] = Field(
        default="newest", description="a release line that nobody keeps up with its libraries needs those of its time"
    )
    files: tuple[KitPath, ...] = Field(default=(), description="requirements files of the branch")
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = Field(default=(), description="dependency groups of pyproject.toml")
    install: bool = Field(default=True, description="install the release itself, for its metadata and generated files")
    steps: tuple[Step, ...] = Field(
        default=(), description="commands after that; {python} is the environment's, {tree} the release's files"
    )
    env: dict[str, str] = Field(default={}, description="variables of the tests")
    build_env: dict[str, str] = Field(default={}, description="variables of the build")
    sources: tuple[str, ...] = Field(default=("src", "."), description="folders of the tree that go on Python's path")
    lay_over: dict[KitPath, str] = Field(default={}, description="files that a build makes and a tree lacks: contents")
    tests: tuple[str, ...] = Field(default=(), description="globs of test files beside the usual ones")
    elsewhere: dict[str, str] = Field(
        default={}, description="globs of tests that cannot run here, each with the reason, such as a device"
    )
    options: tuple[str, ...] = Field(default=(), description="of pytest")
    timeout: Annotated[float, Field(gt=0)] = Field(default=900, description="seconds of one process of tests")
