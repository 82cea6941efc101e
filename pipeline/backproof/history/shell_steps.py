"""The exact commands to go on after a simulated pick, for the user's own clone. The tests run them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from backproof.core.plural import format_count
from backproof.history.try_causes import Verdict
from backproof.records.picks import ConflictKind, PickOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.history.picks import Simulation, Simulator
    from backproof.history.try_causes import Step

_CONTINUE = "git -c core.editor=true cherry-pick --continue"


def start(fix: str, branch: str, release: str) -> list[str]:
    return [_line("git", "checkout", "-b", f"backport-{fix[:8]}-to-{branch.rsplit('/', 1)[-1]}", release)]


def landing(
    simulator: Simulator, sha: str, simulation: Simulation, onto: str, *, mainline: int | None = None
) -> list[str]:
    """Pick a commit that lands, its dropped paths left as the release has them."""
    pick = _line("git", "cherry-pick", "-x", *(["-m", str(mainline)] if mainline else []), sha)
    if not simulation.dropped:
        return [pick]
    stops = bool(simulation.clashes)
    before = "HEAD" if stops else "HEAD~1"
    return [
        f"{pick} || true" if stops else pick,
        *_left_out(simulator, simulation.dropped, onto, before),
        _CONTINUE if stops else "git commit --quiet --amend --no-edit",
    ]


def _left_out(simulator: Simulator, paths: Sequence[str], onto: str, before: str) -> list[str]:
    there = [path for path in paths if simulator.objects.entry(onto, path)]
    absent = [path for path in paths if path not in there]
    lines = [_line("git", "rm", "-r", "-f", "--quiet", "--ignore-unmatch", "--", *absent)] if absent else []
    return lines + ([_line("git", "checkout", before, "--", *there)] if there else [])


def steps(simulator: Simulator, taken: Sequence[Step], simulation: Simulation, onto: str) -> list[str]:
    """Make the changes that a simulation has shown to help."""
    lines: list[str] = []
    for step in taken:
        sha = step.cause.commit.sha
        if step.way is Verdict.HUNKS_DO:
            paths = sorted(clash.path for clash in simulation.real)
            lines.append(
                f"{_line('git', 'diff', '--binary', '--full-index', f'{sha}^', sha, '--', *paths)} | git apply --3way"
            )
            lines.append(
                _line(
                    "git",
                    "commit",
                    "--quiet",
                    "-m",
                    f"Take the part of {sha[:12]} that {format_count(len(paths), 'file')} rest{'s' if len(paths) == 1 else ''} on",
                )
            )
        elif step.cause.side == "release":
            lines.append(_line("git", "revert", "--no-edit", sha))
        elif step.landed is not None:
            lines += landing(simulator, sha, step.landed, onto)
    return lines


def by_hand(simulator: Simulator, fix: str, simulation: Simulation, onto: str, shown: Sequence[Step]) -> list[str]:
    """Pick with conflicts: what to look at, and how to finish."""
    lines = [_line("git", "cherry-pick", "-x", fix) + "  # stops: the conflicts below are for a person"]
    lines += _left_out(simulator, simulation.dropped, onto, "HEAD")
    for step in shown:
        lines.append(_line("git", "show", step.cause.commit.sha, "--", *sorted(step.cause.lines)))
    gone = [each.path for each in simulation.real if each.kind is ConflictKind.DELETED_BY_BRANCH]
    edited = [each.path for each in simulation.real if each.path not in gone]
    if gone:
        lines.append("# the release does not have these files; this leaves them out:")
        lines.append(_line("git", "rm", "-f", "--quiet", "--", *gone))
    if edited:
        lines.append(f"# edit {_line(*edited)}, then:")
        lines.append(_line("git", "add", "--", *edited))
    return [*lines, _CONTINUE]


def lands(simulation: Simulation) -> bool:
    return simulation.landing in {PickOutcome.CLEAN, PickOutcome.CLEAN_AFTER_DROPS}


def _line(*words: str) -> str:
    return " ".join(_quoted(word) for word in words)


def _quoted(word: str) -> str:
    """A shell word; names that are not UTF-8, or hold control characters, are spelled in bytes, as bash reads them."""
    if word.isprintable() and word.isascii():
        return shlex.quote(word)
    data = word.encode("utf-8", "surrogateescape")
    return "$'" + "".join(chr(b) if 32 <= b < 127 and b not in b"'\\" else f"\\x{b:02x}" for b in data) + "'"
