"""Public sources of an operator on the model of the device: ``run_operators.py NAME=FOLDER...``, each the user's own copy.

NAME is flashserve or vllm-ascend; FOLDER has op_kernel and op_host of causal_conv1d. Nothing of them is kept but what the compiler
makes, in the user's cache.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.app.demo import make_environment
from backproof.devices import DEVICES
from backproof.kit.loader import load_plan
from platformdirs import user_cache_path

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONG = 30  # characters without blanks
ROOT = Path(__file__).resolve().parents[2]
KIT = ROOT / "patches" / "19353"
WHERE = {
    "flashserve": "fla/ops/ascendc/gdn/gdn_preprocess/causal_conv1d of https://github.com/flashserve/flash-linear-attention-npu",
    "vllm-ascend": "csrc/moe/causal_conv1d of https://github.com/vllm-project/vllm-ascend",
}


def find_copied_lines(folders: list[str]) -> list[str]:
    """Return lines of the repository that stand in a source, too; short ones are anybody's."""
    hashes = {digest for folder in folders for path in _list_code(Path(folder)) for digest, _ in _hash_lines(path)}
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [ROOT / name for name in names.split("\0") if name]
    lines = [(path, text) for path in files if path.is_file() for digest, text in _hash_lines(path) if digest in hashes]
    return [f"{path.relative_to(ROOT)}: {text}" for path, text in lines]


def _list_code(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix in {".h", ".cpp", ".hpp"}]


def _hash_lines(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        text = "".join(line.split())
        if len(text) >= _LONG and not text.startswith("#include"):
            yield hashlib.sha256(text.encode()).hexdigest(), line.strip()[:100]


def run(sources: list[str]) -> int:
    named = {name: folder for name, _, folder in (source.partition("=") for source in sources)}
    for name, where in WHERE.items():
        if name not in named:
            print(f"{name}: not at hand; give {name}=FOLDER, a copy of {where}")
    if not named:
        return 4
    if found := find_copied_lines(list(named.values())):
        print("\n".join(f"a line of an operator's source: {line}" for line in found))
        return 1
    plan = load_plan(KIT, DEVICES)
    assert plan.target is not None
    python = make_environment(plan, plan.target, print)
    cache = user_cache_path("backproof") / "operators"
    places = (ROOT / "pipeline" / "backproof" / "target", KIT)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
    command = [str(python), str(Path(__file__).with_name("conv_sources.py")), str(cache), *sources]
    return subprocess.run(command, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
