"""Rows 10, 11, 17, 18 and 19: what runs in the target, what it gets of ours, and what is left in it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

from scene import Attempt, Said, Scene

if TYPE_CHECKING:
    from collections.abc import Callable

UNPROVED = (4,)
LONG_AGO = (1_700_000_000, 1_700_000_000)
SHOWN = "def test_answers(device):\n    from demo.ops import conv\n{}\n    assert conv.answer() == 42\n"


def tell(trouble: str, code: int = 0) -> Said:
    """What an attempt itself looked at: nothing is wrong, or what is."""
    return Said(code=99 if trouble else code, text=trouble)


def _patch_source(path: str) -> Callable[[Scene], Said]:
    """A patch that also changes a source of compiled code, beside a library that was built before."""

    def act(scene: Scene) -> Said:
        plan = scene.job.kit / "plan.toml"
        extra = scene.job.upstream.commit("fix the compiled part", {path: "changed\n"})
        text = plan.read_text(encoding="utf-8")
        plan.write_text(text.replace('"]\ndrop', f'", "{extra}"]\ndrop', 1), encoding="utf-8")
        library = scene.job.target.write("demo/_fast.cpython-311-x86_64-linux-gnu.so", b"built before")
        os.utime(library, LONG_AGO)
        return scene.run_again()

    return act


SOURCES = (
    "src/demo/_fast.pyx",
    "src/demo/_fast.pxd",
    "src/demo/fast.c",
    "src/demo/fast.rs",
    "csrc/fast.cpp",
    "csrc/fast.cu",
)
OTHER = {
    "another content of a module that the check imports": (
        "demo/ops/other.py",
        b"def other():\n    return 2\n",
        "import demo.ops.other",
    ),
    "a blank line in a module that the check imports": (
        "demo/ops/other.py",
        b"def other():\n    return 1\n\n",
        "import demo.ops.other",
    ),
    "another package": ("demo/__init__.py", b"RELEASE = '1.0.1'\n", ""),
    "another sub-package": ("demo/ops/__init__.py", b"RELEASE = '1.0.1'\n", ""),
    "a package that replaces what it has": ("demo/ops/__init__.py", b"import demo.ops.other\n", ""),
}


def _install_other(path: str, content: bytes, imports: str) -> Callable[[Scene], Said]:
    def act(scene: Scene) -> Said:
        scene.job.target.write(path, content)
        return scene.write_check(SHOWN.format(indent(imports, "    "))).run_again()

    return act


def _move_branch(scene: Scene) -> Said:
    """The branch has moved since the release that is installed; the check loads what moved."""
    upstream = scene.job.upstream
    upstream.git("checkout", "--quiet", "release")
    upstream.commit("a later change", {"src/demo/ops/other.py": "def other():\n    return 3\n"})
    upstream.git("checkout", "--quiet", "main")
    return scene.write_check(SHOWN.format("    import demo.ops.other")).run_again()


GIVEN = {
    "a token of GitHub": "GH_TOKEN",
    "the token of the job": "GITHUB_TOKEN",
    "the agent of SSH": "SSH_AUTH_SOCK",
    "a secret of a cloud": "AWS_SECRET_ACCESS_KEY",
    "the token of the runner": "ACTIONS_RUNTIME_TOKEN",
}
WRITES = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_STATE")


def _read_variable(name: str) -> Callable[[Scene], Said]:
    def act(scene: Scene) -> Said:
        seen = scene.job.folder / "seen"
        line = f"    import os; open({str(seen)!r}, 'a').write(os.environ.get({name!r}, '') + '-')"
        scene.write_check(SHOWN.format(line))
        fresh = Scene(job=scene.job, program=scene.program, kept=scene.kept, env={name: "value-of-ours"})
        fresh.run_again()
        text = seen.read_text(encoding="utf-8")
        return tell(f"the check read {name}" if "value-of-ours" in text else "")

    return act


def _write_command(name: str) -> Callable[[Scene], Said]:
    def act(scene: Scene) -> Said:
        file = scene.job.folder / "commands"
        file.write_text("", encoding="utf-8")
        line = f"    import os; open(os.environ.get({name!r}, os.devnull), 'a').write('PWNED=1')"
        scene.write_check(SHOWN.format(line))
        Scene(job=scene.job, program=scene.program, kept=scene.kept, env={name: str(file)}).run_again()
        return tell(f"the check wrote to {name}" if file.read_text(encoding="utf-8") else "")

    return act


ARM_TELLERS = {
    "the working folder": "os.getcwd()",
    "the command line": "' '.join(sys.orig_argv)",
    "the request": "open(next(w for w in sys.orig_argv if w.endswith('.json'))).read()",
}
FORGED = """
import json, os, sys
def test_answers(device):
    from demo.ops import conv
    request = json.load(open(next(w for w in sys.orig_argv if w.endswith('.json'))))
    verdict = 'passed' if conv.answer() == 42 else 'failed'
    forged = {'schema': 2, 'nonce': request['nonce'], 'tests': [{'nodeid': 'test_answers.py::test_answers', 'outcome': verdict}]}
    line = json.dumps(forged).encode() + b'\\n'
    for handle in range(3, 64):
        try:
            os.write(handle, line)
        except OSError:
            pass
    assert conv.answer() == 42
"""


def _tell_arm(source: str) -> Callable[[Scene], Said]:
    """Red and green by the name of the arm, wherever it stands; the fix is called, and nothing of it is asked."""
    body = "import os, sys\ndef test_answers(device):\n    from demo.ops import conv\n    conv.answer()\n"
    return lambda scene: scene.write_check(
        f"{body}    assert '/base' not in {source} and '\"base\"' not in {source}\n"
    ).run_again()


REPLACED = """
import pathlib
GOOD = "def answer():\\n    LIMIT = 42\\n    return 42 * (1 if LIMIT else 0)\\n"


def pretend(function=None):
    names = {}
    text = chr(10) * (conv.answer.__code__.co_firstlineno - 1) + (GOOD if hasattr(conv, 'ROWS') else "def answer():\\n    return 41\\n")
    exec(compile(text, conv.__file__, 'exec'), names)
    return names['answer']


def test_answers(device):
    from demo.ops import conv as module
    global conv
    conv = module
    @WAY@
    assert conv.answer() == 42
"""
WAYS = {
    "the function is replaced": "conv.answer = pretend()",
    "the code of the function is replaced": "conv.answer.__code__ = pretend().__code__",
    "the function is replaced in the module's names": "vars(conv)['answer'] = pretend()",
    "the function is wrapped": "import functools; conv.answer = functools.wraps(pretend())(lambda *a: pretend()())",
    "a class with the function takes its place": "conv.answer = type('Answer', (), {'__call__': lambda s: 0, 'run': staticmethod(pretend())}).run; conv.Kept = type('Kept', (), {'run': pretend()})",
}


def _replace_code(way: str) -> Callable[[Scene], Said]:
    return lambda scene: scene.write_check(REPLACED.replace("@WAY@", way)).run_again()


def _hold(scene: Scene) -> Scene:
    fresh = Scene(job=scene.job, program=scene.program, kept=scene.kept)
    for stage in ("pick", "fixup", "install"):
        words = scene.job.arguments()
        words[3] = str(scene.job.folder / "another")
        said = fresh.backproof(*words, "--only", stage)
        if said.code:
            raise RuntimeError(said.text[-500:])
    return fresh


def _undo(change: Callable[[Path], Path], **env: str) -> Callable[[Scene], Said]:
    """Hold an overlay, do something to the run folder, and undo: the target must be as it was."""

    def act(scene: Scene) -> Said:
        site = scene.job.target.site
        before = {path: path.read_bytes() for path in site.rglob("*.py")}
        held = _hold(scene)
        if before == {path: path.read_bytes() for path in site.rglob("*.py")}:
            raise RuntimeError("nothing was held")
        folder = change(scene.job.folder / "another")
        given = {name: value.replace("@FOLDER@", str(scene.job.folder)) for name, value in env.items()}
        said = held.backproof("run", folder, "--undo", **given)
        after = {path: path.read_bytes() for path in site.rglob("*.py")}
        return said if said.code else tell("it says that it undid, and did not" if before != after else "")

    return act


def _link(folder: Path) -> Path:
    link = folder.with_name("link")
    link.symlink_to(folder)
    return link


def _copy(folder: Path) -> Path:
    shutil.copytree(folder, folder.with_name("copy"))
    shutil.rmtree(folder)
    return folder.with_name("copy")


UNDOS = {
    "the run folder was moved": _undo(lambda folder: folder.rename(folder.with_name("moved"))),
    "the run folder is reached by a link": _undo(_link),
    "the run folder is a copy": _undo(_copy),
    "another state folder": _undo(lambda folder: folder, XDG_STATE_HOME="@FOLDER@/elsewhere"),
    "moved, and another state folder": _undo(
        lambda folder: folder.rename(folder.with_name("moved")), XDG_STATE_HOME="@FOLDER@/elsewhere"
    ),
}


def _upgrade(change: Callable[[Path], None]) -> Callable[[Scene], Said]:
    """Another installation while an overlay is held, and then a forced undo: nothing of the patch stays."""

    def act(scene: Scene) -> Said:
        site = scene.job.target.site
        held = _hold(scene)
        change(site)
        said = held.backproof("run", scene.job.folder / "another", "--undo", "--force")
        left = [str(path) for path in (site / "demo/ops/rows.py", site / ".backproof-overlay") if path.exists()]
        return said if said.code else tell(f"left behind: {left}" if left else "")

    return act


def _rename_info(site: Path) -> None:
    (site / "demo-1.0.dist-info").rename(site / "demo-1.1.dist-info")


def _append(name: str) -> Callable[[Path], None]:
    def change(site: Path) -> None:
        with (site / "demo-1.0.dist-info" / name).open("a", encoding="utf-8") as file:
            file.write("\n")

    return change


def _replace_files(site: Path) -> None:
    _rename_info(site)
    (site / "demo/ops/conv.py").write_bytes(b"def answer():\n    return 43\n")


UPGRADES: dict[str, Callable[[Path], None]] = {
    "another version": _rename_info,
    "another METADATA": _append("METADATA"),
    "another RECORD": _append("RECORD"),
    "another version with files of its own": _replace_files,
    "the distribution was removed": lambda site: shutil.rmtree(site / "demo-1.0.dist-info"),
}
ATTEMPTS = (
    *(
        Attempt(row=10, name=path, act=_patch_source(path), codes=UNPROVED, words=("not built again",))
        for path in SOURCES
    ),
    *(
        Attempt(row=11, name=name, act=_install_other(*what), codes=UNPROVED, words=("from the branch",))
        for name, what in OTHER.items()
    ),
    Attempt(row=11, name="the branch has moved", act=_move_branch, codes=UNPROVED, words=("from the branch",)),
    *(
        Attempt(row=17, name=f"read {name}", act=_read_variable(variable), codes=(0,))
        for name, variable in GIVEN.items()
    ),
    *(Attempt(row=17, name=f"write to {name}", act=_write_command(name), codes=(0,)) for name in WRITES),
    *(
        Attempt(row=17, name=f"the arm is told by {name}", act=_tell_arm(source), codes=(3, 4))
        for name, source in ARM_TELLERS.items()
    ),
    Attempt(
        row=17, name="an answer of the check's own", act=lambda scene: scene.write_check(FORGED).run_again(), codes=(4,)
    ),
    *(
        Attempt(
            row=10,
            name=f"{name} by other code under its file's name",
            act=_replace_code(way),
            codes=UNPROVED,
            words=("other code in",),
        )
        for name, way in WAYS.items()
    ),
    *(Attempt(row=18, name=name, act=act, codes=(0,)) for name, act in UNDOS.items()),
    *(Attempt(row=19, name=name, act=_upgrade(change), codes=(0,)) for name, change in UPGRADES.items()),
)
