"""A backport of a tiny distribution, picked for real into a real store, and a real environment that has the release."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.records.proof import Settings
from backproof.rundir.ledger import Ledger
from backproof.stages import fixup, pick
from contexts import context_of
from kits import PROOF
from target_env import CONV, FILES, FIXED, Target, install, make

if TYPE_CHECKING:
    from backproof.rundir.context import Context
    from repositories import Repository

NEW = "demo/ops/rows.py"
PLAN = """
schema = 1
id = "demo"
title = "A demo backport"
[upstream]
repo = "example/demo"
[pick]
commits = ["{commit}"]
[[branch]]
name = "release"
[install]
distribution = "demo"
mode = "{mode}"
root = "src"
[verify]
{verify}
{proof}
"""
BACKEND = """
import base64, hashlib, pathlib, zipfile
NAME = "demo-1.0"
def build_wheel(folder, config_settings=None, metadata_directory=None):
    wheel = pathlib.Path(folder, NAME + "-py3-none-any.whl")
    info = NAME + ".dist-info/"
    files = {str(p.relative_to("src")): p.read_bytes() for p in sorted(pathlib.Path("src").rglob("*.py"))}
    files[info + "METADATA"] = b"Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n"
    files[info + "WHEEL"] = b"Wheel-Version: 1.0\\nGenerator: demo\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    rows = [n + ",sha256=" + base64.urlsafe_b64encode(hashlib.sha256(d).digest()).rstrip(b"=").decode() + "," + str(len(d)) for n, d in files.items()]
    files[info + "RECORD"] = "\\n".join(rows + [info + "RECORD,,", ""]).encode()
    with zipfile.ZipFile(wheel, "w") as made:
        for name, data in files.items():
            made.writestr(name, data)
    return wheel.name
"""
PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "demo"\nversion = "1.0"\n'
PATCH: dict[str, str | bytes | None] = {
    f"src/{CONV}": FIXED,
    f"src/{NEW}": b"ROWS = 1\n",
    "tests/test_conv.py": "assert True\n",
    "csrc/conv.cpp": "int fixed;\n",
}


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A run that has picked and fixed up."""

    ctx: Context
    target: Target


def prepare(
    tmp_path: Path,
    upstream: Repository,
    *,
    mode: str = "overlay",
    verify: str = "",
    change: dict[str, str | bytes | None] | None = None,
    target: Target | None = None,
) -> Prepared:
    """Release files on a branch, the fix on main, the pick done, the release installed in an environment."""
    base: dict[str, str | bytes | None] = {f"src/{name}": data for name, data in FILES.items()}
    extra = {"backend.py": BACKEND, "pyproject.toml": PYPROJECT, "csrc/conv.cpp": "int broken;\n"}
    upstream.commit("the release", {**base, **extra, "tests/test_conv.py": "assert False\n"})
    upstream.git("branch", "release")
    fix = upstream.commit("fix the answer", PATCH if change is None else change)
    made = target or make(tmp_path / "target env")
    if target is None:
        install(made)
    kit = tmp_path / "kit"
    kit.mkdir()
    (kit / "operators.py").write_text("MODULES = {}\n")
    (kit / "test_works.py").write_text(
        "def test_works():\n    import demo.ops.conv\n    assert demo.ops.conv.answer() == 42\n"
    )
    (kit / "plan.toml").write_text(
        PLAN.format(commit=fix, mode=mode, verify=verify, proof=PROOF.format(file="test_works.py"))
    )
    ctx = context(tmp_path, upstream, made)
    pick.run(ctx)
    fixup.run(ctx)
    return Prepared(ctx=ctx, target=made)


def context(tmp_path: Path, upstream: Repository, target: Target, *, run: str = "run", hold: bool = False) -> Context:
    kit = tmp_path / "kit"
    settings = Settings(
        kit=str(kit), repo=str(upstream.folder), branch="release", python=str(target.python), device="emulator"
    )
    return context_of(Ledger(tmp_path / run), kit, settings, hold=hold)
