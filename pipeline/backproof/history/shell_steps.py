"""The exact commands to go on after a pick was tried, for the user's own clone. The tests run them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from backproof.core.plural import format_count
from backproof.history.try_causes import TrialVerdict
from backproof.records.picks import ConflictKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.history.picks import Picker, PickResult
    from backproof.history.try_causes import Trial

_COMMENT_CHARS = "#;@!$%^&|:"
"""Those that git itself chooses from with core.commentChar=auto."""


def render_start(fix: str, branch: str, release: str) -> list[str]:
    return [_join_words("git", "checkout", "-b", f"backport-{fix[:8]}-to-{branch.rsplit('/', 1)[-1]}", release)]


def render_pick(picker: Picker, sha: str, pick: PickResult, onto: str) -> list[str]:
    """Return the commands that pick a commit which lands, its dropped paths left as the release has them."""
    start, go_on = _render_cherry_pick(picker, sha)
    if not pick.dropped:
        return [start]
    stops = bool(pick.conflicts)
    before = "HEAD" if stops else "HEAD~1"
    return [
        f"{start} || true" if stops else start,
        *_render_dropped(picker, pick.dropped, onto, before),
        go_on if stops else "git commit --quiet --amend --no-edit",
    ]


def _render_cherry_pick(picker: Picker, sha: str) -> tuple[str, str]:
    """Return the commands that start a pick and finish one that stopped: a message keeps its lines that start with #."""
    commit = picker.objects.read_commit(sha)
    starts = {line[:1] for line in commit.message.split("\n")}
    char = next((char for char in _COMMENT_CHARS if char not in starts), "#")
    settings = [] if char == "#" else ["-c", f"core.commentChar={char}"]
    line = picker.find_mainline(commit)
    start = ["git", *settings, "cherry-pick", "-x", *(["-m", str(line)] if line else []), sha]
    return _join_words(*start), _join_words("git", *settings, "-c", "core.editor=true", "cherry-pick", "--continue")


def _render_dropped(picker: Picker, paths: Sequence[str], onto: str, before: str) -> list[str]:
    present = [path for path in paths if picker.objects.find_entry(onto, path)]
    absent = [path for path in paths if path not in present]
    lines = [_join_words("git", "rm", "-r", "-f", "--quiet", "--ignore-unmatch", "--", *absent)] if absent else []
    return lines + ([_join_words("git", "checkout", before, "--", *present)] if present else [])


def render_steps(picker: Picker, taken: Sequence[Trial], pick: PickResult, onto: str) -> list[str]:
    """Return the commands for the changes that were shown to help."""
    lines: list[str] = []
    for trial in taken:
        sha = trial.cause.commit.sha
        if trial.way is TrialVerdict.HUNKS_DO:
            lines += _render_part(picker, sha, sorted(conflict.path for conflict in pick.real_conflicts))
        elif trial.way is TrialVerdict.SOME_HUNKS:
            lines += _render_hunks(picker, sha, trial)
        elif trial.cause.side == "release":
            lines.append(_join_words("git", "revert", "--no-edit", sha))
        elif trial.landed is not None:
            lines += render_pick(picker, sha, trial.landed, onto)
    return lines


def _render_part(picker: Picker, sha: str, paths: Sequence[str]) -> list[str]:
    parent = picker.find_parent(picker.objects.read_commit(sha))
    rest = f"{format_count(len(paths), 'file')} rest{'s' if len(paths) == 1 else ''} on"
    diff = _join_words("git", "diff", "--binary", "--full-index", str(parent), sha, "--", *paths)
    commit = _join_words("git", "commit", "--quiet", "-m", f"Take the part of {sha[:12]} that {rest}")
    return [f"{diff} | git apply --3way", commit]


def _render_hunks(picker: Picker, sha: str, trial: Trial) -> list[str]:
    """Return the commands that bring some hunks of a commit: files that are then as there, and a patch of the others."""
    before, after = trial.change.before, trial.change.after
    theirs = picker.read_tree(sha)
    differing = picker.objects.diff_trees(before, after)
    equal = [path for path, (_, new) in differing.items() if new and new == picker.objects.find_entry(theirs, path)]
    gone = [path for path, (_, new) in differing.items() if new is None]
    lines = [_join_words("git", "checkout", sha, "--", *equal)] if equal else []
    lines += [_join_words("git", "rm", "--quiet", "--", *gone)] if gone else []
    if rest := [path for path in differing if path not in {*equal, *gone}]:
        lines.append(_render_patch(picker.store.make_patch(before, after, rest)))
    return [
        *lines,
        _join_words("git", "commit", "--quiet", "-m", f"Take the hunks of {sha[:12]} that the fix rests on"),
    ]


def _render_patch(patch: bytes) -> str:
    """Return the command that applies a patch: readable, or spelled in bytes where a terminal would change it."""
    text = patch.decode("utf-8", "surrogateescape")
    lines = text.splitlines()
    if "END" in lines or not all(line.isprintable() for line in lines):
        return f"printf %s {_quote_word(text)} | git apply --index"
    return f"git apply --index <<'END'\n{text}END"


def render_manual_pick(picker: Picker, fix: str, pick: PickResult, onto: str, shown: Sequence[Trial]) -> list[str]:
    """Return the commands for a pick with conflicts: what to look at, and how to finish."""
    start, go_on = _render_cherry_pick(picker, fix)
    lines = [f"{start}  # stops: the conflicts below are for a person"]
    lines += _render_dropped(picker, pick.dropped, onto, "HEAD")
    for trial in shown:
        lines.append(_join_words("git", "show", trial.cause.commit.sha, "--", *sorted(trial.cause.lines)))
    gone = [conflict.path for conflict in pick.real_conflicts if conflict.kind is ConflictKind.DELETED_BY_BRANCH]
    edited = [conflict.path for conflict in pick.real_conflicts if conflict.path not in gone]
    if gone:
        lines.append("# the release does not have these files; this leaves them out:")
        lines.append(_join_words("git", "rm", "-f", "--quiet", "--", *gone))
    if edited:
        lines.append(f"# edit {_join_words(*edited)}, then:")
        lines.append(_join_words("git", "add", "--", *edited))
    return [*lines, go_on]


def _join_words(*words: str) -> str:
    return " ".join(_quote_word(word) for word in words)


def _quote_word(word: str) -> str:
    """Quote a shell word; names that are not UTF-8, or hold control characters, are spelled in bytes, as bash reads them."""
    if word.isprintable() and word.isascii():
        return shlex.quote(word)
    data = word.encode("utf-8", "surrogateescape")
    return "$'" + "".join(chr(b) if 32 <= b < 127 and b not in b"'\\" else f"\\x{b:02x}" for b in data) + "'"
