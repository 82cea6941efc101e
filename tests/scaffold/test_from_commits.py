"""A kit from commits of a real repository, without GitHub: what can be read is right, and what was filled in runs."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from backproof import scaffold
from backproof.core.errors import ExitCode, HostError, PlanError
from backproof.devices import DEVICES
from backproof.kit.loader import load_plan
from checkout import ROOT
from overlay_site import picture
from plain_job import BASE, CHECK, PATCH, PlainJob, make_job
from repositories import Repository

META: dict[str, str | bytes | None] = {
    "pyproject.toml": '[build-system]\nrequires = ["setuptools>=64", "setuptools_scm", "cmake"]\n[project]\nname = "Demo"\n',
    "setup.py": "raise SystemExit('run')\n",
}
TEST: dict[str, str | bytes | None] = {"tests/test_conv.py": "", "CHANGES.md": "fixed\n"}
SUBJECT = "Fix the answer (#4) (#5)"
ASKED = {
    "claim = the claim that the check shows": 'claim = "the answer is the right one"',
    'base = "fault:<kind>" or "fail", pick and fixed = "pass"': 'base = "fail"\npick = "pass"\nfixed = "pass"',
    "repo = owner/name of upstream": 'repo = "example/project"',
    "distribution = its name on the package index": 'distribution = "demo"',
    "meaning = the behaviour of this model of the operators": 'meaning = "nothing is modelled"',
}
"""What a person answers to the lines that say `# fill in: `, where the key is one that the plan cannot be without."""


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    return history(tmp_path / "upstream")


def history(folder: Path) -> Repository:
    """The release in src layout on its branch, the fix on main."""
    made = Repository(folder)
    folder.mkdir(parents=True)
    made.git("init", "--quiet", "-b", "main")
    made.commit("the release", {**BASE, **META})
    made.git("branch", "releases/v1")
    made.commit(SUBJECT, {**PATCH, **TEST})
    return made


def read(upstream: Repository, *names: str, branch: str = "releases/v1") -> scaffold.Facts:
    return scaffold.read_commits(str(upstream.folder), names or ("HEAD",), branch)


def fix(upstream: Repository) -> str:
    return upstream.git("rev-parse", "main")


def fill(folder: Path, keys: set[str]) -> None:
    """Answer what was asked for, and nothing else."""
    path = folder / "plan.toml"
    text = path.read_text(encoding="utf-8")
    lines = {line for line in ASKED if f"# fill in: {line}\n" in text}
    named = {key.rpartition(".")[2] for key in keys} - {"pick", "fixed"}
    assert {line.partition(" ")[0] for line in lines} == named, "a line for each key"
    for line in lines:
        text = text.replace(f"# fill in: {line}\n", f"{ASKED[line]}\n")
    path.write_text(text, encoding="utf-8")


def test_what_the_repository_says_is_filled_in(upstream: Repository, tmp_path: Path) -> None:
    upstream.git("remote", "add", "origin", "https://me:secret@github.com/me/fork.git")
    upstream.git("remote", "add", "upstream", "git@github.com:example/project.git")
    before = picture(upstream.folder)
    made = scaffold.write_kit(
        read(upstream, fix(upstream)[:10]), tmp_path / "kit", scaffold.check_choices(device="cpu")
    )
    assert picture(upstream.folder) == before, "the repository is only read"
    fill(tmp_path / "kit", {key for key, _ in made.to_fill})
    found = load_plan(tmp_path / "kit", DEVICES)
    assert (found.id, found.title) == ("5", "Fix the answer")
    assert (found.upstream.repo, found.upstream.pull, found.upstream.original_pull) == ("example/project", 5, 4)
    assert (found.pick.commits, found.pick.drop) == ((fix(upstream)[:12],), ("/CHANGES*",))
    assert [each.name for each in found.branch] == ["releases/v1"]
    assert (found.install.distribution, found.install.root) == ("demo", "src")
    assert found.verify.reach == (found.check[0].id,)
    check = (tmp_path / "kit" / found.check[0].file).read_text(encoding="utf-8")
    assert "#   tests/test_conv.py\n" in check
    assert "#   src/demo/ops/conv.py\n" in check
    assert "secret" not in (tmp_path / "kit/plan.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_only_what_is_named_is_missing(upstream: Repository, tmp_path: Path, device: str, *, known: bool) -> None:
    if known:
        upstream.git("remote", "add", "origin", "https://github.com/example/project")
    else:
        upstream.switch("releases/v1", "releases/v1")
        upstream.commit("no name", dict.fromkeys(META))
    made = scaffold.write_kit(read(upstream, fix(upstream)), tmp_path / "kit", scaffold.check_choices(device=device))
    keys = {key for key, _ in made.to_fill}
    with pytest.raises(PlanError) as caught:
        load_plan(tmp_path / "kit", DEVICES)
    assert set(re.findall(r"toml: ([\w.-]+): Field required", caught.value.why)) == keys
    assert len(caught.value.why.splitlines()) == len(keys), "and nothing else is wrong"
    assert ("upstream.repo" in keys, "install.distribution" in keys) == (not known, not known)
    fill(tmp_path / "kit", keys)
    found = load_plan(tmp_path / "kit", DEVICES)
    assert found.check[0].expected_under(DEVICES[device].models(found)), "the table is one that this device reads"
    assert bool(found.emulator) == (device == "emulator")


def test_after_the_named_keys_and_the_check_the_kit_runs(tmp_path: Path) -> None:
    job = make_job(tmp_path / "job")
    commit = job.upstream.git("rev-parse", "main")
    asked = ("--repo", str(job.upstream.folder), "--commit", commit, "--branch", "release", "--device", "cpu")
    done = job.backproof("new", *asked, "--release", "demo==1.0", "--id", "made", "--out", "made")
    assert done.returncode == 0, done.stdout + done.stderr
    keys = set(re.findall(r"^  ([\w.]+): ", done.stdout, re.MULTILINE))
    fill(job.folder / "made", keys)
    _write_check(job.folder / "made", "")
    unwritten = _run(job, "unwritten")
    assert unwritten["outcome"] != "pass", "an unwritten check carries nothing"
    _write_check(job.folder / "made", CHECK)
    told = _run(job, "written")
    assert (told["outcome"], told["level"]) == ("pass", 2), told["sentence"]


def _write_check(kit: Path, text: str) -> None:
    (path,) = (kit / "checks").iterdir()
    path.write_text(text or path.read_text(encoding="utf-8"), encoding="utf-8")


def _run(job: PlainJob, out: str) -> dict[str, object]:
    where = ("--repo", str(job.upstream.folder), "--python", str(job.target.python), "--device", "cpu")
    done = job.backproof("run", str(job.folder / "made"), "--out", out, *where)
    assert "Traceback" not in done.stderr
    found: dict[str, object] = json.loads((job.folder / out / "run.json").read_text(encoding="utf-8"))
    return found


def test_a_release_becomes_the_target(upstream: Repository, tmp_path: Path) -> None:
    facts = read(upstream, fix(upstream))
    texts = {
        device: tomllib.loads(
            scaffold.build_plan_text(facts, scaffold.check_choices(device=device, release="demo==1.0"))
        )
        for device in DEVICES
    }
    packages = {device: text["target"]["packages"] for device, text in texts.items()}
    assert packages["cpu"] == ["setuptools==84.2.1", "setuptools-scm==10.3.4", "wheel==0.48.0"]
    assert packages["emulator"] == ["torch==2.13.0", "numpy==2.4.6", *packages["cpu"]]
    assert texts["cpu"]["target"]["requirement"] == "demo==1.0"
    assert "cmake" in scaffold.build_plan_text(facts, scaffold.check_choices(device="cpu", release="demo==1.0"))
    assert "target" not in tomllib.loads(scaffold.build_plan_text(facts, scaffold.check_choices(device="cpu")))


def test_the_release_names_the_distribution_where_the_branch_does_not(upstream: Repository) -> None:
    upstream.switch("releases/v1", "releases/v1")
    upstream.commit("no name", dict.fromkeys(META))
    text = scaffold.build_plan_text(
        read(upstream, fix(upstream)), scaffold.check_choices(device="cpu", release="De_mo==1.0")
    )
    assert tomllib.loads(text)["install"]["distribution"] == "de-mo"


def test_several_commits_of_no_one_pull_request(upstream: Repository, tmp_path: Path) -> None:
    second = upstream.commit("More of it (#9)", {"src/demo/ops/other.py": "MORE = 1\n", "noted": ""})
    facts = read(upstream, fix(upstream) + "^", second, second[:12])
    assert (facts.title, facts.pull, len(facts.wanted)) == ("Fix the answer", None, 2)
    assert "src/demo/ops/other.py" in facts.modules
    text = scaffold.build_plan_text(facts, scaffold.check_choices())
    assert tomllib.loads(text)["id"] == facts.wanted[0][:12]
    assert "# fill in" in text.partition("[pick]")[0]


@pytest.mark.parametrize(
    ("names", "branch", "word"),
    [
        (("0" * 40,), "releases/v1", "no such commit"),
        (("--all",), "releases/v1", "no such commit"),
        (("main^",), "releases/v1", "no such commit"),
        (None, "release/v1", "no branch"),
    ],
)
def test_a_name_that_is_not_there_is_refused(
    upstream: Repository, names: tuple[str, ...] | None, branch: str, word: str
) -> None:
    with pytest.raises(PlanError, match=word) as caught:
        read(upstream, *(names or (fix(upstream),)), branch=branch)
    assert caught.value.exit_code is ExitCode.USAGE


def test_a_merge_is_not_taken_for_a_fix(upstream: Repository) -> None:
    upstream.switch("side", "HEAD^")
    upstream.commit("beside", {"side": ""})
    upstream.switch("main", "main")
    upstream.git("merge", "--quiet", "--no-ff", "-m", "Merge", "side")
    with pytest.raises(PlanError, match="merge"):
        read(upstream, fix(upstream))


def test_a_commit_whose_parent_a_shallow_clone_hides_says_nothing(upstream: Repository, tmp_path: Path) -> None:
    upstream.git(
        "clone", "--quiet", "--depth=1", "--no-single-branch", f"file://{upstream.folder}", str(tmp_path / "s")
    )
    with pytest.raises(HostError, match="parent"):
        read(Repository(tmp_path / "s"), fix(upstream))


@pytest.mark.parametrize("choice", [{"identity": "../x"}, {"identity": "a" * 101}, {"identity": "Ä"}])
def test_an_id_is_a_name_and_no_path(choice: dict[str, str]) -> None:
    with pytest.raises(PlanError, match="id"):
        scaffold.check_choices(**choice)


@pytest.mark.parametrize("release", ["demo", "demo>=1", "demo==1.*", "demo==1 --index-url=x", "-e.==1", "demo==1\n"])
def test_a_release_is_pinned(release: str) -> None:
    with pytest.raises(PlanError, match="pin"):
        scaffold.check_choices(release=release)


def test_an_unknown_device_gets_a_did_you_mean() -> None:
    with pytest.raises(PlanError) as caught:
        scaffold.check_choices(device="emulater")
    assert "did you mean 'emulator'" in caught.value.why


def test_the_pins_are_those_of_the_kits() -> None:
    kits = sorted((ROOT / "patches").glob("*/plan.toml"))
    used = {pin for each in kits if (target := load_plan(each, DEVICES).target) for pin in target.packages}
    assert set(scaffold.PINS) <= used
    names = {pin.partition("==")[0] for pin in scaffold.PINS}
    assert {pin for pin in used if pin.partition("==")[0] in names} == set(scaffold.PINS), "one version of each"
