"""Rows 15, 16, 20 and 21: text that becomes a command, secrets that stay, and input that is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scene import Attempt, Said, Scene
from target_attempts import SHOWN, tell

if TYPE_CHECKING:
    from collections.abc import Callable

REFUSED = (0, 1, 2, 3, 4)
"""What the script of a hostile folder may end with: what counts is that nothing of the folder ran."""
COMMANDS = {
    "a line of its own": "x\ntouch PWNED\n",
    "a substitution": "$(touch PWNED)",
    "back quotes": "`touch PWNED`",
    "an end of the quotes": "'; touch PWNED; '",
    "an option of git": "--upload-pack=touch PWNED;false",
}


def _reproduce(path: str, change: Callable[[Any], object]) -> Callable[[Scene], Said]:
    def act(scene: Scene) -> Said:
        scene.edit(path, lambda data: change(data) and None)
        said = scene.backproof("history", "reproduce", "run")
        script = scene.job.folder / "script.sh"
        script.write_text(said.text if said.code == 0 else "", encoding="utf-8")
        subprocess.run(["bash", str(script), "again"], cwd=scene.job.folder, capture_output=True, check=False)
        ran = list(scene.job.folder.rglob("PWNED"))
        return tell(f"a command of the folder ran: {ran}" if ran else "", said.code)

    return act


def _set(*names: str, value: str) -> Callable[[Any], object]:
    def change(data: Any) -> object:
        for name in names[:-1]:
            data = data[int(name) if name.isdigit() else name]
        data[names[-1]] = value
        return None

    return change


PRINTED = {
    "a token of GitHub": "'ghp_' + 'a1B2' * 9",
    "a password that is assigned": "'password=' + 'hunter' + '2hunter2'",
    "a key as an option": "'--api-key ' + 'hunter' + '2hunter2'",
    "a token in JSON": "'{\"token\": \"' + 'hunter' + '2hunter2\"}'",
    "a key of a cloud": "'ASIA' + 'IOSFODNN' + '7EXAMPLE'",
    "a password of an address": "'redis://:' + 'hunter' + '2hunter2@cache:6379'",
    "a cookie": "'Cookie: session=' + 'hunter' + '2hunter2'",
    "Chinese words before it": "'密码：' + 'hunter' + '2hunter2'",
}
SECRETS = ("ghp_a1B2", "hunter2hunter2", "IOSFODNN7EXAMPLE")


def _find_secrets(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file() and not {"store.git", "carried"} & set(path.parts)]
    found = [path.name for path in files if any(secret.encode() in path.read_bytes() for secret in SECRETS)]
    return f"in the clear in {sorted(set(found))}" if found else ""


def _print_secret(how: str, secret: str) -> Callable[[Scene], Said]:
    def act(scene: Scene) -> Said:
        scene.write_check(SHOWN.format(f"    {how.format(secret)}"))
        scene.run_again()
        return tell(_find_secrets(scene.job.folder / "another"))

    return act


def _name_secret(*words: str) -> Callable[[Scene], Said]:
    """A secret in an argument: whatever the command says of it, it stands in no file of a run."""

    def act(scene: Scene) -> Said:
        said = scene.backproof(*words)
        found = _find_secrets(scene.run) or _find_secrets(scene.job.folder / "another")
        return tell(found or ("printed" if any(secret in said.text for secret in SECRETS) else ""))

    return act


ALIVE = {
    "a code of the terminal": "\x1b[2J",
    "a code of eight bits": "\x9b2J",
    "an order of letters": "\u202egnihton",
    "a command of Actions": "\n::error::it fails",
    "an older command of Actions": "##[error]it fails",
}
READERS = {
    "show": ("show", "run"),
    "diff": ("diff", "run", "run"),
    "one stage": ("run", "run", "--only", "report"),
    "a list of runs": ("show", "."),
}


def _is_alive(text: str) -> bool:
    return any(mark in text for mark in ("\x1b", "\x9b", "\u202e", "\n::error::", "##[error]"))


def _show_title(mark: str, reader: str) -> Callable[[Scene], Said]:
    def act(scene: Scene) -> Said:
        scene.edit("run.json", lambda data: data.update(title=f"x{mark}"))
        text = scene.backproof(*READERS[reader]).text
        return tell(f"printed raw: {text[:200]!r}" if _is_alive(f"\n{text}") else "")

    return act


def _without_git(*words: str) -> Callable[[Scene], Said]:
    def act(scene: Scene) -> Said:
        empty = scene.job.folder / "no programs"
        empty.mkdir()
        return scene.backproof(
            *(word.replace("@REPO@", str(scene.job.upstream.folder)) for word in words), PATH=str(empty)
        )

    return act


def _cut_output(*words: str) -> Callable[[Scene], Said]:
    """Whatever reads the output has gone before the first byte."""

    def act(scene: Scene) -> Said:
        reader, writer = os.pipe()
        os.close(reader)
        command = [scene.program, *words]
        env = scene.job.environment()
        done = subprocess.run(
            command, cwd=scene.job.folder, env=env, stdout=writer, stderr=subprocess.PIPE, check=False
        )
        os.close(writer)
        return Said(code=done.returncode, text=done.stderr.decode("utf-8", "replace"))

    return act


def _verify_device(name: str) -> Callable[[Scene], Said]:
    def act(scene: Scene) -> Said:
        fifo = scene.job.folder / "fifo"
        os.mkfifo(fifo)
        try:
            return scene.backproof("bundle", "--verify", str(fifo) if name == "fifo" else name)
        finally:
            fifo.unlink()

    return act


def _old_python(answer: str) -> Callable[[Scene], Said]:
    def act(scene: Scene) -> Said:
        python = scene.job.folder / "old python"
        code = (
            f"#!{sys.executable}\nimport sys\nif '-c' in sys.argv: print({answer!r})\nelse: sys.exit('SyntaxError')\n"
        )
        python.write_text(code, encoding="utf-8")
        python.chmod(0o755)
        words = scene.job.arguments()
        words[3], words[words.index("--python") + 1] = str(scene.job.folder / "another"), str(python)
        return scene.backproof(*words)

    return act


ATTEMPTS = (
    *(
        Attempt(
            row=15,
            name=f"{name} in {'.'.join(place)}",
            act=_reproduce(path, _set(*place, value=text)),
            codes=REFUSED[:1] + REFUSED[2:],
        )
        for path, place in (("run.json", ("id",)), ("pick/pick.json", ("base",)))
        for name, text in COMMANDS.items()
    ),
    *(
        Attempt(row=16, name=f"{name}, printed", act=_print_secret("print({})", secret), codes=(0,))
        for name, secret in PRINTED.items()
    ),
    *(
        Attempt(row=16, name=f"{name}, raised", act=_print_secret("assert conv.answer() == 42, {}", secret), codes=(0,))
        for name, secret in PRINTED.items()
    ),
    Attempt(
        row=16,
        name="a password in the address of the repository",
        act=_name_secret(
            "run",
            "kit",
            "--out",
            "another",
            "--repo",
            "http://ann:hunter2hunter2@127.0.0.1:9/x.git",
            "--python",
            sys.executable,
            "--device",
            "cpu",
        ),
        codes=(0,),
    ),
    Attempt(
        row=16,
        name="a key among the arguments of a service",
        act=_name_secret("host", "doctor", "--run", "run", "--", "vllm", "serve", "m", "--api-key", "hunter2hunter2"),
        codes=(0,),
    ),
    *(
        Attempt(row=20, name=f"{name}, {reader}", act=_show_title(mark, reader), codes=(0,))
        for name, mark in ALIVE.items()
        for reader in READERS
    ),
    Attempt(
        row=21,
        name="a run without git",
        act=_without_git(
            "run", "kit", "--out", "another", "--repo", "@REPO@", "--python", sys.executable, "--device", "cpu"
        ),
        codes=(4,),
        words=("there is no `git` on PATH",),
    ),
    Attempt(
        row=21,
        name="history without git",
        act=_without_git("history", "explain", "HEAD", "--branch", "release", "--repo", "@REPO@"),
        codes=(4,),
        words=("there is no `git` on PATH",),
    ),
    *(
        Attempt(
            row=21, name=f"a bundle that is {name}", act=_verify_device(name), codes=(2,), words=("not a regular file",)
        )
        for name in ("/dev/zero", "/dev/null", "fifo")
    ),
    Attempt(
        row=21,
        name="a cut output of show",
        act=_cut_output("show", "run"),
        codes=(4,),
        words=("the output was cut off",),
    ),
    Attempt(
        row=21,
        name="a cut output of the help",
        act=_cut_output("--help"),
        codes=(4,),
        words=("the output was cut off",),
    ),
    *(
        Attempt(
            row=21,
            name=f"a target of Python {answer}",
            act=_old_python(answer),
            codes=(2,),
            words=(f"this is Python {answer}",),
        )
        for answer in ("2.7", "3.6", "3.7")
    ),
)
