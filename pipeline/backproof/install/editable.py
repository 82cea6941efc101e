"""An editable installation is somebody's checkout: the arms go into a copy of its package, first on the path of the checks."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from backproof.core.errors import PlanError, TargetError
from backproof.install.distribution import InstalledDistribution
from backproof.install.interpreter import probe_target
from backproof.records.proof import InstallRecord

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from backproof.install.interpreter import DistributionFacts
    from backproof.kit.plan import Service
    from backproof.rundir.context import Context

FOLDER = "editable"
"""In the run folder. It is no evidence: each file of the patch in it is hashed when it counts."""
_NEXT = "install the release itself into an environment of its own, and give that with --python"


def open_copy(ctx: Context, facts: DistributionFacts, paths: Collection[str], *, fresh: bool) -> InstalledDistribution:
    """Return the copy of an editable distribution as an installed one.

    Args:
        ctx: the run.
        facts: the distribution's.
        paths: of the patch, as they would be below site-packages: only what lies beside them is copied.
        fresh: make the copy from the checkout as it is now.

    Raises:
        PlanError: the plan builds its arms, or the checkout is not that of the plan.
    """
    site = ctx.ledger.folder / FOLDER
    if fresh:
        _make_copy(ctx, facts, paths, site)
    files = {path.relative_to(site).as_posix(): None for path in sorted(site.rglob("*")) if path.is_file()}
    return InstalledDistribution(site=site, info=Path(facts.folder), files=dict(files))


def _make_copy(ctx: Context, facts: DistributionFacts, paths: Collection[str], site: Path) -> None:
    name = ctx.plan.install.distribution
    if ctx.plan.install.mode == "pip":
        raise PlanError(
            f"{name} is an editable installation, and the plan builds its arms with pip",
            why="a build has files of its own, and the checkout's are not to be changed",
            next_step=_NEXT,
        )
    source = next(
        (place for place in _list_sources(ctx, facts) if any((place / path).is_file() for path in paths)), None
    )
    if source is None:
        raise PlanError(
            f"{name}: its editable installation has no file of the patch",
            why=f"none is in {facts.origin or facts.location}, where its files are",
            next_step=f"correct [install] root in the plan, or {_NEXT}",
        )
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir(parents=True)
    for top in sorted({path.partition("/")[0] for path in paths}):
        if (source / top).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source / top, site / top, ignore=ignored, ignore_dangling_symlinks=True)
        elif (source / top).is_file():
            shutil.copy2(source / top, site / top)


def _list_sources(ctx: Context, facts: DistributionFacts) -> Iterator[Path]:
    """The folders that may stand for site-packages: `root` in the checkout, or in a project below the repository's top."""
    url = urlsplit(facts.origin)
    checkout = Path(url2pathname(url.path)) if url.scheme == "file" else Path(facts.location)
    parts = [part for part in ctx.plan.install.root.split("/") if part]
    yield from (checkout.joinpath(*parts[skipped:]) for skipped in range(len(parts) + 1))


def read_service(ctx: Context) -> Service:
    """Return how the service of the plan starts, with the copy of an editable installation first on its path."""
    record = ctx.require_record(InstallRecord)
    return put_first(ctx.service, Path(record.location)) if record.editable else ctx.service


def put_first(service: Service, site: Path) -> Service:
    others = service.env.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    path = os.pathsep.join(filter(None, (str(site), others)))
    return service.model_copy(update={"env": {**service.env, "PYTHONPATH": path}})


def require_first(ctx: Context, modules: Mapping[str, str], site: Path) -> None:
    """Check that the copy is what the target would load.

    Raises:
        TargetError: a finder of the installation comes before every path, so no copy can be put before it.
    """
    service = put_first(ctx.service, site)
    name = ctx.plan.install.distribution
    asked = probe_target(Path(ctx.settings.python), distribution=name, service=service, modules=modules)
    for module in asked.facts.modules:
        winner = module.winner
        if winner is not None and not Path(winner.origin).is_relative_to(site):
            raise TargetError(
                f"{name}: no copy can be put before its editable installation",
                why=f"{module.name} would be loaded from {winner.origin} ({winner.kind} {winner.detail})",
                next_step=_NEXT,
            )
