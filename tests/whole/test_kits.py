"""Every kit under patches/ is sound, and its series fits the release that it names."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.adapters.git import RepositoryBuilder
from backproof.app import demo, execution
from backproof.core.level import Level
from backproof.core.model import Arm, Outcome
from backproof.devices import DEVICES
from backproof.kit import plan
from backproof.kit.loader import load_plan
from checkout import ROOT

if TYPE_CHECKING:
    from backproof.kit.plan import Plan, Target

PATCHES = ROOT / "patches"
KITS = sorted(each.parent for each in PATCHES.glob(f"*/{plan.PLAN_FILE}"))
RECONSTRUCTS = re.compile(r"^Backproof-Reconstructs: ([0-9a-f]{7,40})$", re.MULTILINE)
DIFF_MARK = re.compile(r"^(?:[ +\-\\@]|diff |index |new |deleted |old |similarity |rename |$)")


@pytest.fixture(scope="session", params=KITS, ids=[each.name for each in KITS])
def kit(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _target(the_plan: Plan) -> Target:
    assert the_plan.target is not None, "a kit of ours can be tried by anybody: it has [target]"
    return the_plan.target


def _series(kit: Path) -> list[Path]:
    return sorted((kit / _target(load_plan(kit, DEVICES)).series).glob("*.patch"))


def test_there_are_kits_of_more_than_one_project() -> None:
    assert len({load_plan(each, DEVICES).upstream.repo for each in KITS}) > 1


def test_red_comes_before_green(kit: Path) -> None:
    """At least one check is red on base and green on the whole backport, on a device that anybody has."""
    the_plan = load_plan(kit, DEVICES)
    device = DEVICES[demo.choose_device(the_plan, kit)]
    told = [expected for each in the_plan.check for expected in each.expected_under(device.models(the_plan)).values()]
    assert any(each.base != "pass" and each.fixed == "pass" for each in told)


def test_the_target_is_pinned(kit: Path) -> None:
    target = _target(load_plan(kit, DEVICES))
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", each) for each in (target.requirement, *target.packages))


def test_the_series_is_a_reconstruction_of_what_is_picked(kit: Path) -> None:
    the_plan = load_plan(kit, DEVICES)
    texts = [each.read_text(encoding="utf-8") for each in _series(kit)]
    named = [name for text in texts for name in RECONSTRUCTS.findall(text)]
    assert len(named) == len(texts), "each patch names the one commit that it reconstructs"
    assert (
        set(the_plan.pick.commits)
        <= set(named)
        <= {
            *the_plan.pick.commits,
            *(each.commit for each in the_plan.pick.not_wanted),
        }
    )


def test_the_series_has_nothing_of_the_target_but_context(kit: Path) -> None:
    """No file of somebody else's is committed here: what stands before a hunk's first change is three lines at most."""
    for patch in _series(kit):
        _, _, diff = patch.read_text(encoding="utf-8").partition("\ndiff --git")
        lines = f"diff --git{diff}".splitlines()
        assert all(DIFF_MARK.match(each) for each in lines)
        runs = re.split(r"\n(?! )", "\n".join(lines))
        assert max(run.count("\n") for run in runs) <= 6


@pytest.fixture(scope="session")
def sources(kit: Path, target_python: Path) -> Path:
    """The release's source distribution, fetched with an interpreter that has what building its metadata needs."""
    target = _target(load_plan(kit, DEVICES))
    return demo._fetch_sdist(target, demo._cache_folder(target), target_python, _say)


@pytest.mark.target
def test_the_series_fits_the_release(kit: Path, sources: Path, tmp_path: Path) -> None:
    builder = RepositoryBuilder.create(tmp_path / "repo", date=demo._DATE)
    demo._unpack_sdist(sources, tmp_path / "repo")
    builder.commit_all("the release", branch="release")
    series = _series(kit)
    builder.apply_series(series, ref="refs/pull/1/head")
    counted = subprocess.run(
        ["git", "-C", str(tmp_path / "repo"), "rev-list", "--count", "release..refs/pull/1/head"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert int(counted.stdout) == len(series)


@pytest.fixture(scope="session")
def small(kit: Path) -> tuple[Path, Path]:
    """Interpreter and upstream of a kit whose target is small: the others run in their own tests."""
    the_plan = load_plan(kit, DEVICES)
    target = _target(the_plan)
    if any(each.startswith("torch==") for each in target.packages):
        pytest.skip("its target environment is large; `backproof demo` runs it")
    return demo.make_environment(the_plan, target, _say), demo.make_repository(the_plan, target, kit, _say)


@pytest.mark.target
def test_a_kit_with_a_small_target_passes(kit: Path, small: tuple[Path, Path], tmp_path: Path) -> None:
    python, upstream = small
    the_plan = load_plan(kit, DEVICES)
    request = execution.Request(
        folder=tmp_path / "run",
        kit=str(kit),
        repo=str(upstream),
        python=str(python),
        device=demo.choose_device(the_plan, kit),
    )
    done = execution.run_pipeline(request, _say)
    assert (done.outcome, done.level) == (Outcome.PASS, Level.EMULATED)
    assert [done.arms[arm].outcome for arm in (Arm.BASE, Arm.PICK, Arm.FIXED)] == [
        Outcome.FAIL,
        Outcome.PASS,
        Outcome.PASS,
    ]
