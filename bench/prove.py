"""What a proof costs beside plain pytest: the same four runs (base and fixed, twice each) in the same warm environment.

    tox run -e bench-prove -- --repo PATH --branch BRANCH COMMIT...

Each commit stands on the branch. The ratio is that of the time of all commands, in one run, one after the other.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

from backproof.adapters.git import Source, Store
from backproof.app.prove import ProveRequest, prove_backport
from backproof.core.model import Arm
from backproof.proving.lanes import Lanes
from backproof.proving.subject import read_landed
from backproof.proving.trees import lay_out
from backproof.recipes.cache import Environment, prepare_environment
from backproof.recipes.release import read_release


def measure(commit: str, branch: str, repo: str) -> tuple[float, float, str]:
    """Return the seconds of the proof and of plain pytest, and what the proof says."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = Store.create(folder / "store", Source.open(repo))
        source = Source.open(repo)
        parent = store.objects.read_commit(store.resolve_commit(commit) or commit).parents[0]
        environment = prepare_environment(read_release(store, source, branch, parent), print)
        request = ProveRequest(what=(commit,), branch=branch, repo=repo, out=folder / "proof", landed=True)
        begun = time.monotonic()
        proof = prove_backport(request, lambda _: None)
        ours = time.monotonic() - begun
        return ours, run_plain(store, environment, commit, proof.files, folder), f"{proof.outcome} {len(proof.proofs)}"


def run_plain(store: Store, environment: Environment, commit: str, files: tuple[str, ...], folder: Path) -> float:
    """Run the same files on the same trees, twice each, with nothing of ours."""
    subject = read_landed(store, (store.resolve_commit(commit) or commit,), Lanes(recipe=environment.recipe))
    trees = {
        arm: lay_out(store, subject, environment, folder / arm, fixed=arm is Arm.FIXED) for arm in (Arm.BASE, Arm.FIXED)
    }
    argv = [
        str(environment.python),
        "-m",
        "pytest",
        "-q",
        "--continue-on-collection-errors",
        *environment.recipe.options,
        *files,
    ]
    begun = time.monotonic()
    for _ in range(2):
        for tree in trees.values():
            env = {
                "PATH": "/usr/bin:/bin",
                "HOME": str(folder),
                **environment.recipe.env,
                "PYTHONPATH": ":".join(tree.path),
            }
            subprocess.run(argv, cwd=tree.folder, env=env, check=False, capture_output=True)
    return time.monotonic() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commits", nargs="+")
    parser.add_argument("--repo", required=True)
    parser.add_argument("--branch", required=True)
    options = parser.parse_args()
    totals = [0.0, 0.0]
    for commit in options.commits:
        ours, plain, said = measure(commit, options.branch, options.repo)
        totals = [totals[0] + ours, totals[1] + plain]
        print(f"{commit[:12]}: {ours:.1f} s, plain pytest {plain:.1f} s, {ours / plain:.2f} times; {said}")
    print(f"all: {totals[0] / totals[1]:.2f} times plain pytest")


if __name__ == "__main__":
    main()
