"""Rows 1, 2, 8 and 13: a run told under another name, or with another kit than it was made with."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

from scene import Attempt, Said, Scene

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

USAGE, ERROR = (2,), (3, 4)
OTHER = "releases/v9.9"


def _relabel(*options: str, command: tuple[str, ...] = ("run", "run", "--only", "report")) -> Callable[[Scene], Said]:
    def act(scene: Scene) -> Said:
        return scene.backproof(*command, *options)

    return act


def _relabel_kit(scene: Scene) -> Said:
    return scene.backproof("run", _copy_kit(scene), "--out", "run", "--only", "report")


def _relabel_repository(scene: Scene) -> Said:
    shutil.copytree(scene.job.upstream.folder, scene.job.folder / "elsewhere")
    return scene.backproof("run", "run", "--only", "report", "--repo", scene.job.folder / "elsewhere")


def _move_branch(scene: Scene) -> Said:
    """The branch of the run is another commit now."""
    upstream = scene.job.upstream
    upstream.git("checkout", "--quiet", "release")
    upstream.commit("later", {"src/demo/later.py": b"LATER = 1\n"})
    return scene.backproof(*scene.job.arguments())


def _edit_run(reader: tuple[str, ...], **changes: Any) -> Callable[[Scene], Said]:
    """As with an editor: run.json says something else."""

    def act(scene: Scene) -> Said:
        def change(data: dict[str, Any]) -> None:
            for place, value in changes.items():
                where, name = (data[place.split("__")[0]], place.split("__")[1]) if "__" in place else (data, place)
                where[name] = value

        scene.edit("run.json", change)
        return _read(scene, reader)

    return act


def _read(scene: Scene, reader: tuple[str, ...]) -> Said:
    said = scene.backproof(*reader)
    if reader[0] != "bundle":
        return said
    checked = scene.backproof("bundle", "--verify", "out.tar.gz")
    return Said(code=max(said.code, checked.code), text=said.text + checked.text)


SHOW, REPORT = ("show", "run"), ("run", "run", "--only", "report")
BUNDLE = ("bundle", "run", "--out", "out.tar.gz")
MERGE, PRESENT = ("ci", "merge", "run", "--kit", "kit", "--out", "merged"), ("ci", "present", "run")
READ = (0, 2, 3, 4)
"""What a command that only shows may end with: the verdict is in its words."""


def _copy_kit(scene: Scene) -> Path:
    return shutil.copytree(scene.job.kit, scene.job.folder / "other kit")


def _strict_kit(scene: Scene) -> Path:
    """The same id, and a check that never ran."""
    kit = _copy_kit(scene)
    (kit / "checks" / "test_strict.py").write_text("def test_strict(device):\n    assert False\n")
    with (kit / "plan.toml").open("a") as plan:
        plan.write(
            '\n[[check]]\nid = "strict"\nfile = "checks/test_strict.py"\nclaim = "nothing else broke"\n'
            '[check.expect.cpu]\nbase = "pass"\npick = "pass"\nfixed = "pass"\nrole = "guard"\n'
        )
    return kit


def _tell_with(*reader: str) -> Callable[[Scene], Said]:
    """A run of the kit, told with a stricter one of the same id."""

    def act(scene: Scene) -> Said:
        return scene.backproof(*reader, "--kit", _strict_kit(scene))

    return act


def _resume_with_strict(scene: Scene) -> Said:
    strict = _strict_kit(scene)
    shutil.rmtree(scene.job.kit)
    strict.rename(scene.job.kit)
    return scene.backproof("run", "run", "--only", "report")


def _change_kit(path: str, text: str | None, *, command: tuple[str, ...] = ("run", "run")) -> Callable[[Scene], Said]:
    """A file of the kit is other than when the run began; None takes it away."""

    def act(scene: Scene) -> Said:
        file = scene.job.kit / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            file.unlink()
        else:
            file.write_text((file.read_text() if file.exists() else "") + text)
        return scene.backproof(*command)

    return act


def _swap_data(scene: Scene) -> Said:
    """The check reads a file of the kit, which is another one when the run goes on."""
    scene.write_check(
        "import json, pathlib\n\n\ndef test_answers(device):\n    from demo.ops import conv\n\n"
        "    here = pathlib.Path(__file__).with_name('wanted.json')\n"
        "    assert conv.answer() == json.loads(here.read_text())\n"
    )
    data = scene.job.kit / "checks" / "wanted.json"
    data.write_text(json.dumps(42))
    if scene.run_again().code:
        raise RuntimeError("the run with a data file did not pass")
    data.write_text(json.dumps(41))
    return scene.run_again()


ATTEMPTS = (
    Attempt(row=1, name="another branch", act=_relabel("--branch", OTHER), codes=USAGE, words=("--branch", OTHER)),
    Attempt(row=1, name="another device", act=_relabel("--device", "emulator"), codes=USAGE, words=("--device",)),
    Attempt(
        row=1, name="another interpreter", act=_relabel("--python", sys.executable), codes=USAGE, words=("--python",)
    ),
    Attempt(row=1, name="another kit, by its folder", act=_relabel_kit, codes=USAGE, words=("other kit",)),
    Attempt(row=1, name="another repository", act=_relabel_repository, codes=USAGE, words=("--repo", "elsewhere")),
    Attempt(row=1, name="signed off, after it was not", act=_relabel("--signoff"), codes=USAGE, words=("--signoff",)),
    Attempt(
        row=1,
        name="another branch for one stage",
        act=_relabel("--branch", OTHER, command=("run", "run", "--only", "validate")),
        codes=USAGE,
        words=(OTHER,),
    ),
    Attempt(row=1, name="the branch moved", act=_move_branch, codes=USAGE, words=("release",)),
    *(
        Attempt(row=2, name=f"{name} in run.json, {reader[0]} {reader[1]}", act=_edit_run(reader, **change), codes=READ)
        for name, change in (
            ("another branch", {"settings__branch": OTHER}),
            ("another device", {"settings__device": "emulator"}),
            ("another tip", {"subject__tip": "f" * 40}),
            ("another kit's content", {"subject__kit": {}}),
            ("another release", {"subject__target": {"distribution": "demo", "version": "9.9", "record": "a" * 64}}),
            ("another image", {"subject__image": "quay.io/ascend/vllm-ascend:v9.9"}),
            ("another kit", {"kit": "strict"}),
        )
        for reader in (SHOW, REPORT, BUNDLE, MERGE, PRESENT)
    ),
    Attempt(row=8, name="merged with a strict kit", act=_tell_with(*MERGE[:3], "--out", "merged"), codes=USAGE),
    Attempt(row=8, name="presented with a strict kit", act=_tell_with(*PRESENT), codes=USAGE),
    Attempt(row=8, name="bundled with a strict kit", act=_tell_with(*BUNDLE), codes=USAGE),
    Attempt(row=8, name="reported with a strict kit in its place", act=_resume_with_strict, codes=USAGE),
    Attempt(
        row=8, name="a looked-at host with a strict kit", act=_tell_with("host", "serve", "--run", "run"), codes=USAGE
    ),
    Attempt(row=13, name="a data file of the check, resumed", act=_swap_data, codes=USAGE, words=("wanted.json",)),
    *(
        Attempt(row=13, name=name, act=_change_kit(path, text), codes=USAGE, words=(path,))
        for name, path, text in (
            ("a data file that is new", "checks/rows.json", "[]"),
            ("a check that changed", "checks/test_answers.py", "\n# more\n"),
            ("a check that is new", "checks/conftest.py", "import pytest\n"),
            ("a fix-up that changed", "fixups/limit.toml", "\n# more\n"),
            ("a plan that changed", "plan.toml", "\n# more\n"),
            ("a reference of an operator", "operators.py", "ANSWER = 41\n"),
        )
    ),
    Attempt(
        row=13,
        name="a data file, and only the report",
        act=_change_kit("checks/rows.json", "[]", command=REPORT),
        codes=USAGE,
        words=("rows.json",),
    ),
)
