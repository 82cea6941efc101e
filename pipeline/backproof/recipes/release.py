"""The release whose environment is made: its files, its declared dependencies, and the version that its tags say."""

from __future__ import annotations

import configparser
import tomllib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from backproof.adapters.git.command import run_git

if TYPE_CHECKING:
    from backproof.adapters.git import Source, Store

_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "noxfile.py", "requirements.txt")


@dataclass(frozen=True, kw_only=True)
class Release:
    """A commit of a release branch, as far as its environment depends on it."""

    store: Store
    branch: str
    commit: str
    tree: str
    version: str
    until: str
    """The first day of the month after the commit: packages of the branch's time are older. A month shares an environment."""

    def read_text(self, path: str) -> str:
        """Return a file of the release; empty where it has none."""
        return (self.store.objects.read_file(self.tree, path) or b"").decode("utf-8", "replace")

    @cached_property
    def pyproject(self) -> dict[str, Any]:
        try:
            return tomllib.loads(self.read_text("pyproject.toml"))
        except tomllib.TOMLDecodeError:
            return {}

    @cached_property
    def setup_cfg(self) -> configparser.ConfigParser:
        return _parse_ini(self.read_text("setup.cfg"))

    @cached_property
    def tox(self) -> configparser.ConfigParser:
        return _parse_ini(self.read_text("tox.ini"))

    @cached_property
    def project(self) -> str:
        """The name of its distribution, as indexes compare names; that of its only package where none is declared."""
        declared = self.pyproject.get("project", {}).get("name") or self.setup_cfg.get("metadata", "name", fallback="")
        return canonicalize_name(str(declared or self._guess_name()))

    def _guess_name(self) -> str:
        for folder in ("src", ""):
            names = self.list_names(folder)
            packages = [name for name in names if f"{name}/__init__.py".lstrip("/") and self._is_package(folder, name)]
            if packages:
                return packages[0]
        return "target"

    def _is_package(self, folder: str, name: str) -> bool:
        path = f"{folder}/{name}/__init__.py".lstrip("/")
        is_tests = name in {"tests", "test", "testing", "docs", "examples"}
        return not is_tests and self.store.objects.find_entry(self.tree, path) is not None

    def list_names(self, folder: str) -> list[str]:
        entry = self.store.objects.find_entry(self.tree, folder) if folder else None
        if folder and entry is None:
            return []
        return sorted(self.store.objects.read_tree(entry.oid if entry else self.tree))

    @cached_property
    def manifests(self) -> dict[str, str]:
        """The blobs of the files that declare dependencies: equal ones share an environment."""
        paths = [*_MANIFESTS, *(name for name in self.list_names("") if "requirements" in name)]
        paths += [f"requirements/{name}" for name in self.list_names("requirements")]
        found = {path: self.store.objects.find_entry(self.tree, path) for path in paths}
        return {path: entry.oid for path, entry in found.items() if entry}


def read_release(store: Store, source: Source, branch: str, commit: str) -> Release:
    return Release(
        store=store,
        branch=branch,
        commit=commit,
        tree=store.objects.read_commit(commit).tree,
        version=_find_version(source, commit),
        until=_find_month_after(source, commit),
    )


def _find_month_after(source: Source, commit: str) -> str:
    done = run_git(f"--git-dir={source.git_dir}", "show", "--no-patch", "--format=%cs", commit)
    year, month, _ = map(int, done.text.split("-"))
    return f"{year + month // 12}-{month % 12 + 1:02}-01"


def _find_version(source: Source, commit: str) -> str:
    """Return the version of the nearest tag: builds that ask git for it get no repository."""
    done = run_git(f"--git-dir={source.git_dir}", "describe", "--tags", "--abbrev=0", commit)
    try:
        return str(Version(done.text.strip().lstrip("v")))
    except InvalidVersion:
        return "0.0"


def _parse_ini(text: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        parser = configparser.ConfigParser()
    return parser
