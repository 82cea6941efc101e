"""The main job on one machine: makes the target environment and a local upstream from the real release, then runs."""

from __future__ import annotations

import sys
import tarfile
from typing import TYPE_CHECKING

from filelock import FileLock
from platformdirs import user_cache_path

from backproof.adapters import proc
from backproof.adapters.environment import build_environment, select_environment
from backproof.adapters.git import RepositoryBuilder
from backproof.app import execution
from backproof.core.errors import HostError, PlanError
from backproof.core.level import Level
from backproof.devices import DEVICES
from backproof.install import distribution, overlay
from backproof.install.interpreter import probe_target
from backproof.install.overlay.journal import hash_file
from backproof.kit.loader import load_plan
from backproof.kit.places import find_kit
from backproof.kit.plan import Service
from backproof.rundir.ledger import digest_of, sha256_of

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.kit.plan import Plan, Target
    from backproof.records.proof import Run
    from backproof.rundir.context import Say

_DATE = "2026-01-01T00:00:00+00:00"
_ALONE = ("--no-deps", "--no-build-isolation")
"""The release by itself, built with the packages that the plan names."""
_NETWORK = "check the network and the package index, then run the same command again: what is done is kept"


def run_demo(kit: Path | None, out: Path | None, say: Say) -> tuple[Run, Path]:
    """Run a kit on the device without hardware that its checks name. Return the run and its folder."""
    kit = find_kit(kit)
    the_plan = load_plan(kit, DEVICES)
    target = _require_target(the_plan, kit)
    folder = out or execution.name_folder(f"demo-{the_plan.id}")
    device = choose_device(the_plan, kit)
    overlay.recover_all_sites(say)
    python = make_environment(the_plan, target, say)
    upstream = make_repository(the_plan, target, kit, say)
    request = execution.Request(
        folder=folder, kit=str(kit), repo=str(upstream), python=str(python), device=device, published=True
    )
    return execution.run_pipeline(request, say), folder


def choose_device(the_plan: Plan, kit: Path) -> str:
    """Return the first device without hardware that the plan's checks say something about.

    Raises:
        PlanError: they say something about hardware only.
    """
    simulated = {name: device for name, device in DEVICES.items() if device.LEVEL < Level.DEVICE}
    for name, device in simulated.items():
        if the_plan.has_checks_under(device.models(the_plan)):
            return name
    tables = [device.WORDS.expected_in for device in simulated.values()]
    raise PlanError(
        f"{kit}: no check says what a device without hardware must show",
        why="the demo has no other device",
        next_step=f"add to plan.toml {'; or '.join(tables)}",
    )


def _require_target(the_plan: Plan, kit: Path) -> Target:
    if the_plan.target is None:
        raise PlanError(
            f"{kit}: the plan has no [target]",
            why="the demo does not know what to install",
            next_step="add [target] to plan.toml, or use `backproof run`",
        )
    return the_plan.target


def _cache_folder(target: Target) -> Path:
    key = digest_of({"target": target.model_dump(mode="json"), "python": sys.version_info[:3]})[:16]
    folder = user_cache_path("backproof") / "targets" / key
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def make_environment(the_plan: Plan, target: Target, say: Say) -> Path:
    """Return the interpreter of the target environment; it is made once for what the plan asks for."""
    folder = _cache_folder(target)
    python = folder / "env" / "bin" / "python"
    done = folder / "complete"
    with FileLock(folder / ".lock"):
        if not done.exists():
            say(f"target environment: making it in {folder} (once)")
            _build_environment(target, folder, python, say)
            done.write_text(f"{target.requirement}\n", encoding="utf-8")
        else:
            say(f"target environment: found in {folder}")
            _mend_environment(the_plan, target, folder, python, say)
    return python


def _mend_environment(the_plan: Plan, target: Target, folder: Path, python: Path, say: Say) -> None:
    """Install the release again where somebody changed it: the environment belongs to Backproof."""
    if changed := _list_changed(the_plan, python):
        say(f"target environment: not the release's own: {', '.join(changed[:3])}; installing it again")
        sdist = _fetch_sdist(target, folder, python, say)
        _run_pip(python, "install", *_ALONE, "--force-reinstall", str(sdist), env=target.env)


def _list_changed(the_plan: Plan, python: Path) -> list[str]:
    name = the_plan.install.distribution
    distributions = probe_target(python, distribution=name, service=Service()).facts.distributions
    if not distributions:
        return [name]
    installed = distribution.read_distribution(distributions[0])
    if overlay.find_owner(installed.site) is not None:
        return []  # a run is at work there, or holds its overlay: it knows what it changed
    return [path for path, sha in installed.files.items() if sha and hash_file(installed.site / path) != sha]


def _build_environment(target: Target, folder: Path, python: Path, say: Say) -> None:
    argv = [sys.executable, "-m", "venv", "--clear", str(folder / "env")]
    _run_step(argv, "the target environment cannot be made", "look at the disk")
    for package in target.packages:
        say(f"target environment: {package}")
        _run_pip(python, "install", package)
    sdist = _fetch_sdist(target, folder, python, say)
    say(f"target environment: {target.requirement}, without its dependencies")
    _run_pip(python, "install", *_ALONE, str(sdist), env=target.env)


def _fetch_sdist(target: Target, folder: Path, python: Path, say: Say) -> Path:
    """Return the release's source distribution: the package and the upstream repository come from the same file."""
    place = folder / "sdist"
    if not list(place.glob("*.tar.gz")):
        say(f"release: downloading the sources of {target.requirement}")
        sources = ("--no-binary", ":all:", "--dest", str(place), target.requirement)
        _run_pip(python, "download", *_ALONE, *sources, env=target.env)
    archives = sorted(place.glob("*.tar.gz"))
    if len(archives) != 1:
        raise HostError(
            f"{target.requirement}: no single source distribution",
            why=f"{place} has {len(archives)} archives",
            next_step=f"remove {place} and run again",
        )
    return archives[0]


def _run_pip(python: Path, *args: str, env: dict[str, str] | None = None) -> None:
    argv = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", *args]
    _run_step(argv, f"pip {' '.join(args[:1])} failed", _NETWORK, env=env)


def _run_step(argv: list[str], what: str, next_step: str, env: dict[str, str] | None = None) -> None:
    # What the caller's own environment puts on Python's path must not reach the target's.
    ways = select_environment(("PIP_*", "*_proxy", "*_PROXY"))
    extra: dict[str, str | None] = {**ways, **(env or {}), "PYTHONPATH": None, "PYTHONHOME": None}
    proc.run_process(argv, env=build_environment(extra), timeout=1800).require_success(what, next_step=next_step)


def make_repository(the_plan: Plan, target: Target, kit: Path, say: Say) -> Path:
    """Return a local upstream: the release's own files on its branch, and the pull request's commits as the kit has them."""
    folder = _cache_folder(target)
    series = sorted((kit / target.series).glob("*.patch"))
    key = digest_of({"branch": the_plan.branch[0].name, "series": [sha256_of(patch) for patch in series]})[:16]
    place = folder / f"upstream-{key}"
    with FileLock(folder / ".lock"):
        if (place / "complete").exists():
            say(f"upstream: found in {place}")
            return place / "repo"
        say(f"upstream: making it from the release's own files in {place}")
        sdist = _fetch_sdist(target, folder, folder / "env" / "bin" / "python", say)
        builder = RepositoryBuilder.create(place / "repo", date=_DATE)
        _unpack_sdist(sdist, place / "repo")
        builder.commit_all(f"{target.requirement}, the release's own files", branch=the_plan.branch[0].name)
        builder.apply_series(series, ref=f"refs/pull/{the_plan.upstream.pull}/head")
        (place / "complete").write_text("", encoding="utf-8")
    return place / "repo"


def _unpack_sdist(sdist: Path, folder: Path) -> None:
    with tarfile.open(sdist) as archive:
        for member in archive.getmembers():
            # The archive has one top folder; its files become the repository's root.
            _, _, inner = member.name.partition("/")
            if inner and (member.isfile() or member.issym()):
                archive.extract(member.replace(name=inner, deep=False), folder, filter="data")
