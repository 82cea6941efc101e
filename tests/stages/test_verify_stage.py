"""What the verify stage asks, writes and says, whole: with real checks on the plain CPU, and in each of its parts."""

from __future__ import annotations

import json
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.core.errors import PlanError
from backproof.core.model import Arm, Evidence, Finding, Outcome
from backproof.devices import DEVICES
from backproof.devices.check_result import CheckResult, Loaded, TestResult
from backproof.install import overlay
from backproof.install.interpreter import InterpreterFacts, ProbeFacts
from backproof.kit import plan
from backproof.kit.plan import Check, Expected
from backproof.records.proof import (
    Claim,
    FixupRecord,
    InstalledFile,
    InstallRecord,
    Settings,
    StageResult,
    VerifyRecord,
)
from backproof.rundir.ledger import Ledger, sha256_of
from backproof.stages import install as installing
from backproof.stages import verify as stage
from backproof.verdict.claims.reached import LineReach, ReachRecord
from contexts import context_of
from installed_kit import NEW, PLAN, Prepared, prepare
from kits import PROOF
from target_env import CONV, FILES, FIXED, install, make

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from backproof.rundir.context import Context
    from repositories import Repository

PASSES = Expected(base="fail", pick="pass", fixed="pass")
SPOILS = Expected(base="fail", pick="fault:silent", fixed="fault:silent", role="limit", meaning="known")
CHANGE: dict[str, str | bytes | None] = {
    f"src/{CONV}": FIXED,
    f"src/{NEW}": b"ROWS = 1\n\n\ndef rows(given=0):\n    return (\n        given\n        or ROWS\n    )\n",
    "src/demo/ops/other.py": None,
    "src/demo/ops/no-module.py": b"# said only\n",
    "src/demo/ops/words.txt": b"not (python\n",
    "docs/fix.md": "fixed\n",
}
WORKS = """
import os
def test_works():
    import demo.ops.conv
    from demo.ops.rows import rows
    assert demo.ops.conv.answer() == 42
    assert os.environ["DEMO"] == "on"
    assert rows() == 1
def test_works_too():
    raise AssertionError("it was not chosen")
"""
HALF = "def test_half():\n    import demo.ops.conv\n    assert demo.ops.conv.answer() == 42\n"
SKIPS = "import pytest\ndef test_skips():\n    pytest.skip('no')\n"
# Start-up code of the target: the process of one check ends before anything of ours runs in it.
DIES = b"import os, sys; sys.orig_argv[-1].isdigit() and '\"dies\"' in open(sys.orig_argv[-2]).read() and os._exit(9)\n"

SAID_ONLY = Finding(
    severity="note", text="the patch leaves no changed line with code there", where="src/demo/ops/no-module.py"
)


def _check(name: str, *, select: str | None = None, **expect: Expected) -> Check:
    return Check(id=name, file=f"test_{name}.py", claim="it works", select=select, expect=expect or {"cpu": PASSES})


@pytest.fixture
def made(tmp_path: Path, upstream: Repository) -> Iterator[Prepared]:
    """A patch that changes, adds and deletes a module, adds a text and what no distribution installs; it is in place."""
    target = make(tmp_path / "target env")
    install(target, files={**FILES, "demo/words.txt": b"words\n"})
    ready = prepare(tmp_path, upstream, change=CHANGE, target=target)
    kit = ready.ctx.kit
    for name, text in {"works": WORKS, "half": HALF, "skips": SKIPS, "dies": HALF}.items():
        (kit / f"test_{name}.py").write_text(text, encoding="utf-8")
    installing.run(replace(ready.ctx, hold=True))
    ready.ctx.effects.close()
    yield ready
    overlay.undo_overlay(ready.target.site, force=True)


def _on_cpu(made: Prepared, checks: Sequence[Check], said: list[str] | None = None, **verify: Any) -> Context:
    """The run on the plain CPU, where checks need nothing of a device."""
    own = {"cwd": str(made.target.folder), "env": {"DEMO": "on"}}
    asked = plan.Verify.model_validate({"reach": [each.id for each in checks], "service": own, **verify})
    changed = made.ctx.plan.model_copy(update={"check": tuple(checks), "verify": asked})
    settings = made.ctx.settings.model_copy(update={"device": "cpu"})
    return replace(made.ctx, loaded_plan=changed, settings=settings, say=([] if said is None else said).append)


def _claims(ctx: Context) -> tuple[StageResult, tuple[Claim, ...]]:
    result = stage.run(ctx)
    record = ctx.ledger.read_record("verify/verify.json", VerifyRecord)
    assert record is not None
    assert record.arm is Arm.FIXED
    assert all(ctx.ledger.holds(each) for each in result.evidence)
    return result, record.claims


def _evidence(ctx: Context, path: str, claim: str, command: str | None = None) -> Evidence:
    return Evidence(
        path=path,
        sha256=sha256_of(ctx.ledger.folder / path),
        claim=claim,
        command=f"backproof run {ctx.ledger.folder} --only verify" if command is None else command,
    )


def _run_of(made: Prepared, name: str) -> str:
    """The command of one check; it is what a person would type, so the paths are quoted."""
    script = Path(stage.__file__).parent.parent / "target" / "run_check.py"
    request = made.ctx.ledger.folder / "verify" / "reach" / f"{name}.cpu.request.json"
    return f"'{made.target.python}' {script} {request}"


def _probe_of(made: Prepared) -> str:
    return f"'{made.target.python}' {Path(stage.__file__).parent.parent / 'target' / 'probe.py'} MARKER"


def test_a_pass_says_and_names_all_that_it_rests_on(made: Prepared) -> None:
    said: list[str] = []
    ctx = _on_cpu(
        made, [_check("works", select="works")], said, modules=["demo.ops", "demo.ops.conv"], reach_select="not too"
    )
    result, claims = _claims(ctx)
    site = made.target.site
    probed = _evidence(
        ctx, "verify/probe.json", "what the import system of the target would load, and why", _probe_of(made)
    )
    hashed = _evidence(
        ctx,
        "verify/installed.json",
        "each file of the patch as it is in the target",
        "sha256sum of the 5 files of the patch in site-packages",
    )
    ran = _evidence(ctx, "verify/reach/works.cpu.json", "what works executed and launched", _run_of(made, "works"))
    reached = _evidence(ctx, "verify/reached.json", "each changed line of code, and how it was reached")
    assert claims == (
        Claim(
            name="loaded",
            sentence="all 4 modules of the patch would be loaded from the patched files",
            outcome=Outcome.PASS,
            evidence=(probed,),
        ),
        Claim(
            name="complete",
            sentence="all 5 files of the patch are installed, each equal to its git blob",
            outcome=Outcome.PASS,
            evidence=(hashed,),
        ),
        Claim(
            name="reached",
            sentence="all 6 changed lines of code are reached by works: 6 executed, "
            "0 in kernels launched from the same source",
            outcome=Outcome.PASS,
            findings=(SAID_ONLY,),
            evidence=(reached, ran),
        ),
    )
    whole = _evidence(ctx, "verify/verify.json", "the three claims: loaded, complete, reached")
    assert result == StageResult(
        stage="verify",
        outcome=Outcome.PASS,
        sentence="; ".join(f"{each.name}: {each.sentence}" for each in claims),
        evidence=(whole, probed, hashed, reached, ran),
        findings=(SAID_ONLY,),
    )
    assert said == ["    which lines works reaches, under cpu"]
    assert ctx.ledger.read_record("verify/reached.json", ReachRecord) == ReachRecord(
        checks=("works",),
        lines=(
            LineReach(path=f"src/{CONV}", line=2, way="executed"),
            *(LineReach(path=f"src/{NEW}", line=line, way="executed") for line in (1, 4, 5, 6, 7)),
        ),
        without_code=("src/demo/ops/no-module.py",),
    )
    found = json.loads((ctx.ledger.folder / "verify/installed.json").read_text(encoding="utf-8"))
    assert found["files"] == {
        f"src/{CONV}": sha256_of(site / CONV),
        "src/demo/ops/no-module.py": sha256_of(site / "demo/ops/no-module.py"),
        "src/demo/ops/other.py": None,
        f"src/{NEW}": sha256_of(site / NEW),
        "src/demo/ops/words.txt": sha256_of(site / "demo/ops/words.txt"),
    }
    modules = json.loads((ctx.ledger.folder / "verify/probe.json").read_text(encoding="utf-8"))["modules"]
    assert {each["name"]: each["path"] for each in modules} == {
        "demo.ops.conv": f"src/{CONV}",
        "demo.ops.other": "src/demo/ops/other.py",
        "demo.ops.rows": f"src/{NEW}",
        "demo.ops": "demo/ops/__init__.py",
    }


def _request(ctx: Context, name: str) -> dict[str, Any]:
    """What was asked of the target, without what differs each time."""
    path = ctx.ledger.folder / "verify" / "reach" / f"{name}.request.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {key: found[key] for key in ("device", "session", "check", "operators", "files", "cover")}


def test_a_check_is_run_under_its_first_model_that_must_pass_and_traced(made: Prepared) -> None:
    """The emulator: this environment has nothing that it needs, so what was asked is all that there is."""
    models = [{"id": name, "model": f"the {name} one", "meaning": "m"} for name in ("limit", "first", "last")]
    check = _check("works", limit=SPOILS, elsewhere=PASSES, first=PASSES, last=PASSES)
    said: list[str] = []
    ctx = _on_cpu(made, [check], said)
    emulator = plan.Emulator.model_validate({"operators": "operators.py", "model": models})
    settings = ctx.settings.model_copy(update={"device": "emulator"})
    ctx = replace(ctx, loaded_plan=ctx.plan.model_copy(update={"emulator": emulator}), settings=settings)
    assert _claims(ctx)[1][2].outcome is Outcome.ERROR
    assert said == ["    which lines works reaches, under first"]
    site, kit = made.target.site, ctx.kit
    assert _request(ctx, "works.first") == {
        "device": "emulator",
        "session": "emulated",
        "check": {"id": "works", "file": str(kit / "test_works.py"), "select": None, "only": []},
        "operators": {"file": str(kit / "operators.py"), "model": "the first one", "options": {}},
        "files": [
            str(site / each) for each in (CONV, "demo/ops/no-module.py", "demo/ops/other.py", NEW, "demo/ops/words.txt")
        ],
        "cover": True,
    }


def test_lines_that_no_check_reaches_are_not_proved_and_not_refuted(made: Prepared) -> None:
    ctx = _on_cpu(made, [_check("half")])
    result, claims = _claims(ctx)
    missed = tuple(f"src/{NEW}:{line}" for line in (1, 4, 5, 6, 7))
    assert (claims[2].outcome, claims[2].sentence) == (
        Outcome.INCONCLUSIVE,
        f"5 of 6 changed lines of code are not reached by half: {', '.join(missed)}",
    )
    assert result.outcome is Outcome.INCONCLUSIVE
    unreached = [
        Finding(
            severity="warning",
            text="changed, and not reached by the checks: add one that runs it, or name it in verify.reach",
            where=each,
        )
        for each in missed
    ]
    assert result.findings == (*unreached, SAID_ONLY)


def test_a_part_of_a_statement_that_did_not_run_is_not_reached(made: Prepared) -> None:
    """The target's Python is ours: each line is taken as it was reported."""
    call = "def test_half():\n    import demo.ops.conv\n    from demo.ops.rows import rows\n"
    body = "    assert (demo.ops.conv.answer(), rows(2)) == (42, 2)\n"
    (made.ctx.kit / "test_half.py").write_text(call + body, encoding="utf-8")
    sentence = _claims(_on_cpu(made, [_check("half")]))[1][2].sentence
    assert sentence == f"1 of 6 changed lines of code is not reached by half: src/{NEW}:7"


def test_checks_together_reach_what_none_of_them_does_alone(made: Prepared) -> None:
    (made.ctx.kit / "test_works.py").write_text("def test_rows():\n    from demo.ops.rows import rows\n    rows()\n")
    ctx = _on_cpu(made, [_check("half"), _check("works")])
    _, claims = _claims(ctx)
    assert claims[2].sentence.startswith("all 6 changed lines of code are reached by half, works: 6 executed")
    assert [each.path for each in claims[2].evidence] == [
        "verify/reached.json",
        "verify/reach/half.cpu.json",
        "verify/reach/works.cpu.json",
    ]


def test_a_check_without_a_test_that_ran_tells_nothing(made: Prepared) -> None:
    ctx = _on_cpu(made, [_check("half"), _check("skips")])
    what = "check skips: nothing ran"
    result, claims = _claims(ctx)
    assert claims[2] == Claim(
        name="reached",
        sentence=f"{what}: so it says nothing about the lines",
        outcome=Outcome.ERROR,
        evidence=(
            _evidence(ctx, "verify/reach/half.cpu.json", "what half executed and launched", _run_of(made, "half")),
            _evidence(ctx, "verify/reach/skips.cpu.json", "what skips executed and launched", _run_of(made, "skips")),
            _evidence(ctx, "verify/reached.error.txt", what),
        ),
    )
    assert result.outcome is Outcome.ERROR
    written = (ctx.ledger.folder / "verify/reached.error.txt").read_text(encoding="utf-8")
    assert written == f"{what}: so it says nothing about the lines\n"


def test_a_check_whose_process_dies_tells_nothing(made: Prepared) -> None:
    made.target.write("dies.pth", DIES)
    ctx = _on_cpu(made, [_check("half"), _check("dies")])
    what = "check dies: the target interpreter gave no result"
    reached = _claims(ctx)[1][2]
    assert reached == Claim(
        name="reached",
        sentence=reached.sentence,
        outcome=Outcome.ERROR,
        evidence=(
            _evidence(ctx, "verify/reach/half.cpu.json", "what half executed and launched", _run_of(made, "half")),
            _evidence(ctx, "verify/reached.error.txt", what),
        ),
    )
    assert reached.sentence.startswith(f"{what}: it ended with code 9")


def test_a_check_with_nothing_that_must_pass_is_a_mistake_of_the_plan(made: Prepared) -> None:
    never = _check("half", cpu=SPOILS, plain=PASSES)
    with pytest.raises(PlanError) as caught:
        stage.run(_on_cpu(made, [never]))
    assert (caught.value.what, caught.value.why, caught.value.next_step) == (
        "verify.reach: half has nothing that must pass on fixed on the device cpu",
        "only a check that runs to its end shows which lines it reaches",
        "name another check in verify.reach, or another --device",
    )


def test_without_the_patch_no_check_is_tried(made: Prepared) -> None:
    made.target.write(CONV, FILES[CONV])
    ctx = _on_cpu(made, [_check("half")])
    result, claims = _claims(ctx)
    assert claims[2] == Claim(
        name="reached", sentence="not tried: the code in the target is not the patch", outcome=Outcome.ABORTED
    )
    assert result.outcome is Outcome.FAIL
    assert [each.where for each in result.findings] == [f"src/{CONV}", f"src/{CONV}"]
    assert not (ctx.ledger.folder / "verify" / "reach").exists()


def test_reach_that_is_not_asked_for_is_left_out_of_the_outcome(made: Prepared) -> None:
    result, claims = _claims(_on_cpu(made, []))
    assert claims[2] == Claim(
        name="reached", sentence="not asked for: the plan has no verify.reach", outcome=Outcome.SKIP
    )
    assert result.outcome is Outcome.PASS


def _copy_of(files: Mapping[str, bytes], folder: Path) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def test_the_service_decides_what_is_found_first(made: Prepared, tmp_path: Path) -> None:
    shadow = _copy_of(FILES, tmp_path / "shadow")
    ctx = _on_cpu(made, [], service={"cwd": str(shadow), "launch": "module"})
    assert f"{shadow / CONV} (current folder) shadows" in _claims(ctx)[1][0].sentence


def test_a_patch_that_was_taken_out_is_no_failure_of_the_backport(made: Prepared) -> None:
    overlay.undo_overlay(made.target.site)
    ctx = _on_cpu(made, [])
    with pytest.raises(PlanError) as caught:
        stage.run(ctx)
    assert (caught.value.what, caught.value.why, caught.value.next_step) == (
        "demo: the patch is not in the target",
        "every file is the release's own, and no overlay of this run is in place: it was taken out again",
        f"put it in first: `backproof run {ctx.ledger.folder} --only install`, then verify",
    )
    made.target.write(CONV, FIXED)  # a part of it, by hand: that is a failure
    assert _claims(ctx)[1][1].sentence.startswith("4 of 5 files lack the patch: src/demo/ops/no-module.py")


def test_a_module_beyond_the_patch_that_has_no_hash_in_record_must_be_in_its_place(
    made: Prepared, tmp_path: Path
) -> None:
    """RECORD may name a file without a hash; one that is gone is not one that the patch deletes."""
    made.target.write("demo/more.py", b"more = 1\n")
    with next(made.target.site.glob("demo-*.dist-info/RECORD")).open("a", encoding="utf-8") as record:
        record.write("demo/more.py,,\n")
    ctx = _on_cpu(made, [], modules=["demo.more"])
    assert _claims(ctx)[1][0].sentence == "all 4 modules of the patch would be loaded from the patched files"
    (made.target.site / "demo/more.py").unlink()
    assert _claims(ctx)[1][0].findings == (
        Finding(severity="fail", text="demo.more would not be found by the import system", where="demo/more.py"),
    )
    folder = _copy_of({**FILES, "demo/more.py": b"more = 1\n"}, tmp_path / "shadow")
    shadow = folder / "demo/more.py"
    ctx = _on_cpu(made, [], modules=["demo.more"], service={"cwd": str(folder), "launch": "module"})
    found = f"(SHA-256 {sha256_of(shadow)[:12]}, the patch has no file)"
    assert _claims(ctx)[1][0].findings[-1] == Finding(
        severity="fail",
        text=f"{shadow} (current folder) shadows the patched file {made.target.site / 'demo/more.py'} {found}",
        where="demo/more.py",
    )


def test_a_module_that_the_distribution_does_not_have_is_a_mistake_of_the_plan(made: Prepared) -> None:
    with pytest.raises(PlanError) as caught:
        stage.run(_on_cpu(made, [], modules=["demo.no.such"]))
    assert (caught.value.what, caught.value.why, caught.value.next_step) == (
        "verify.modules: demo.no.such is no module of the distribution",
        "demo-1.0.dist-info/RECORD lists neither demo/no/such.py nor demo/no/such/__init__.py",
        "correct the name in the plan",
    )


def _bare(tmp_path: Path, **verify: Any) -> Context:
    """A run that has nothing yet but its plan."""
    kit = tmp_path / "kit"
    loaded = plan.Plan.model_validate(
        tomllib.loads(
            PLAN.format(commit="1" * 40, mode="overlay", verify="", proof=PROOF.format(file="test_works.py"))
        ),
        context=DEVICES,
    )
    settings = Settings(kit=str(kit), repo="r", branch="b", python="/target/python", device="cpu")
    loaded = loaded.model_copy(update={"verify": plan.Verify.model_validate(verify)})
    return context_of(Ledger(tmp_path / "run"), kit, settings, loaded_plan=loaded)


def test_what_the_stage_depends_on(tmp_path: Path) -> None:
    ctx = _bare(tmp_path, modules=["demo.more"], reach=["works"])
    ctx.ledger.write_record("fixup/fixup.json", FixupRecord(head="1" * 40, head_tree="2" * 40, fixups=(), changes=()))
    assert stage.inputs(ctx) == {
        "tree": "2" * 40,
        "python": "/target/python",
        "verify": {
            "modules": ["demo.more"],
            "reach": ["works"],
            "reach_select": None,
            "service": {"launch": "script", "cwd": ".", "env": {}, "passes": []},
        },
    }


def test_the_stage_that_is_missing_is_named(tmp_path: Path) -> None:
    ctx = _bare(tmp_path)
    for call, file, name in (
        (stage.inputs, "fixup/fixup.json", "fixup"),
        (stage.run, "install/install.json", "install"),
    ):
        with pytest.raises(PlanError) as caught:
            call(ctx)
        assert (caught.value.what, caught.value.why, caught.value.next_step) == (
            f"{ctx.ledger.folder}: there is no {file}",
            f"the stage {name} has not run here",
            f"run `backproof run {ctx.ledger.folder} --only {name}` first",
        )


@pytest.mark.parametrize(
    ("of_the_check", "of_the_plan", "narrowed"),
    [
        (None, None, None),
        ("a or b", None, "(a or b)"),
        (None, "not c", "(not c)"),
        ("a or b", "not c", "(a or b) and (not c)"),
    ],
)
def test_the_plan_narrows_what_a_check_chooses(
    tmp_path: Path, of_the_check: str | None, of_the_plan: str | None, narrowed: str | None
) -> None:
    check = _check("works", select=of_the_check)
    found = stage._narrow_check(_bare(tmp_path, reach_select=of_the_plan), check)
    assert found == check.model_copy(update={"select": narrowed})


RIGHT, WRONG = "a" * 64, "b" * 64
RECORD = InstallRecord(
    mode="overlay",
    arm=Arm.FIXED,
    distribution="demo",
    version="1.0",
    location="/site",
    editable=False,
    files=tuple(
        InstalledFile(path=f"src/{name}", installed=f"/site/{name}", before=WRONG, after=RIGHT)
        for name in ("a.py", "b.py")
    ),
)


def _ran(*loaded: tuple[str, str, str | None], outcomes: Sequence[str] = ("passed",), **more: Any) -> CheckResult:
    return CheckResult(
        schema=2,
        nonce="n",
        tests=tuple(TestResult.model_validate({"nodeid": "t", "outcome": each}) for each in outcomes),
        loaded=tuple(Loaded(module="m", file=file, sha256=one, source_sha256=two) for file, one, two in loaded),
        **more,
    )


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (_ran(("/site/a.py", RIGHT, RIGHT), ("/site/b.py", RIGHT, RIGHT)), ""),
        (_ran(("/site/other.py", WRONG, WRONG)), ""),
        (_ran(outcomes=["skipped", "passed"]), ""),
        (_ran(outcomes=["skipped", "failed"]), "it failed without a message (t), while its lines were counted"),
        (_ran(outcomes=[]), "nothing ran"),
        (_ran(outcomes=["skipped", "skipped"]), "nothing ran"),
        (_ran(error={"what": "no torch", "trace": "one\ntwo"}), "no torch: two"),
        (
            _ran(("/site/a.py", WRONG, WRONG), ("/site/b.py", RIGHT, None)),
            "other code was loaded: /site/a.py, /site/b.py",
        ),
        (_ran(("/site/a.py", RIGHT, RIGHT), ("/site/b.py", RIGHT, WRONG)), "other code was loaded: /site/b.py"),
    ],
)
def test_a_result_counts_when_a_test_ran_with_the_code_of_the_patch(result: CheckResult, told: str) -> None:
    assert stage._not_usable(result, RECORD) == told


OURS = sys.version_info


@pytest.mark.parametrize(
    ("version", "same"),
    [
        (f"{OURS[0]}.{OURS[1]}.99", True),
        (f"{OURS[0]}.{OURS[1]}", True),
        (f"{OURS[0]}.{OURS[1] + 1}.0", False),
        (f"{OURS[0] + 1}.{OURS[1]}.0", False),
        (f"{OURS[0]}.{OURS[1]}1.0", False),
    ],
)
def test_python_is_the_same_when_it_reports_lines_as_ours(version: str, same: bool) -> None:
    words = dict.fromkeys(set(InterpreterFacts.model_fields) - {"flags", "lacks"}, "")
    interpreter = InterpreterFacts.model_validate({**words, "flags": {}, "lacks": (), "version": version})
    assert stage._same_python(ProbeFacts(interpreter=interpreter, path=(), distributions=(), modules=())) is same


@pytest.mark.parametrize("loads", [True, False])
def test_checks_that_load_another_release_prove_nothing_of_the_branch(
    tmp_path: Path, upstream: Repository, loads: bool
) -> None:
    """The patch's own file is that of the branch; another one is not, and counts where a check loads it."""
    ready = prepare(tmp_path, upstream, change={f"src/{CONV}": FIXED})
    (ready.target.site / "demo/ops/other.py").write_bytes(b"def other():\n    return 'of 1.0.1'\n")
    text = HALF.replace("import demo.ops.conv\n", "import demo.ops.conv, demo.ops.other\n") if loads else HALF
    (ready.ctx.kit / "test_half.py").write_text(text, encoding="utf-8")
    installing.run(ready.ctx)
    reached = _claims(_on_cpu(ready, [_check("half")]))[1][2]
    ready.ctx.effects.close()
    assert reached.outcome is (Outcome.INCONCLUSIVE if loads else Outcome.PASS)
    assert ("the checks load 1 file that differs from the branch: demo/ops/other.py" in reached.sentence) is loads
