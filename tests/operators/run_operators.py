"""Public sources of an operator on the model of the device: ``run_operators.py [--cost] NAME=FOLDER... [FILE...]``.

NAME is one of WHERE; FOLDER, the user's own copy, has op_kernel and op_host of causal_conv1d. Nothing of them is kept but what the
compiler makes, in the user's cache. FILE is what is given away, a wheel or a bundle: no line of a source may be in it, as in the
repository. ``--cost`` measures what a launch costs instead.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.app.demo import make_environment
from backproof.devices import DEVICES
from backproof.kit.loader import load_plan
from copied_lines import find_copied_lines, read_archive, read_repository
from platformdirs import user_cache_path

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
KIT = ROOT / "patches" / "19353"
HERE = Path(__file__).parent
WHERE = {
    "flashserve": "fla/ops/ascendc/gdn/gdn_preprocess/causal_conv1d of https://github.com/flashserve/flash-linear-attention-npu",
    "vllm-ascend": "csrc/moe/causal_conv1d of https://github.com/vllm-project/vllm-ascend",
    "vllm-ascend-0.23.0rc1": "csrc/moe/causal_conv1d of the source distribution vllm_ascend-0.23.0rc1",
}


def run(arguments: list[str]) -> int:
    script = ROOT / "bench" / "kernel.py" if "--cost" in arguments else HERE / "conv_sources.py"
    sources = [argument for argument in arguments if "=" in argument]
    archives = [argument for argument in arguments if "=" not in argument and argument != "--cost"]
    named = {name: folder for name, _, folder in (source.partition("=") for source in sources)}
    for name, where in WHERE.items():
        if name not in named:
            print(f"{name}: not at hand; give {name}=FOLDER, a copy of {where}")
    if not named:
        return 4
    if lines := find_copied_lines(named.values(), read_given(archives)):
        print("\n".join(f"a line of an operator's source: {line}" for line in lines))
        return 1
    print(f"no line of a source in the repository{''.join(f', {Path(file).name}' for file in archives)}")
    return run_in_target(script, sources)


def read_given(archives: list[str]) -> Iterator[tuple[str, bytes]]:
    yield from read_repository(ROOT)
    for file in archives:
        yield from read_archive(Path(file))


def run_in_target(script: Path, sources: list[str]) -> int:
    plan = load_plan(KIT, DEVICES)
    assert plan.target is not None
    python = make_environment(plan, plan.target, print)
    cache = user_cache_path("backproof") / "operators"
    places = (ROOT / "pipeline" / "backproof" / "target", KIT, HERE)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
    return subprocess.run([str(python), str(script), str(cache), *sources], env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
