"""The steps of a run as a shell script, which gives the same trees without Backproof."""

from __future__ import annotations

import hashlib
import re
import shlex
from typing import TYPE_CHECKING

from backproof.adapters.git import Store
from backproof.core.errors import PlanError
from backproof.core.plain_text import one_line
from backproof.core.redaction import redact
from backproof.history import shell_steps
from backproof.history.picks import Picker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.records.proof import FixupRecord, PickRecord, Run, Settings
    from backproof.rundir.ledger import Ledger
    from backproof.rundir.loaded_run import LoadedRun

_HASH = re.compile(r"[0-9a-f]{40}")
_HEAD = """\
#!/bin/bash
# {title}
# Made by Backproof from the run {run}. Usage: bash THIS [FOLDER] [REPOSITORY]
set -euo pipefail
folder=${{1:-backport}}
default={repository}
repository=${{2:-$default}}
same() {{
  found=$(git rev-parse 'HEAD^{{tree}}')
  [ "$found" = "$1" ] || {{ echo "$2: the tree is $found and should be $1" >&2; exit 1; }}
  echo "$2: tree $1, as in the run"
}}
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_COMMITTER_NAME="${{GIT_COMMITTER_NAME:-Backproof}}" GIT_COMMITTER_EMAIL="${{GIT_COMMITTER_EMAIL:-backproof@localhost}}"
git init --quiet "$folder"
if [ -d "$repository" ]; then
  echo "$(cd -- "$repository" && git rev-parse --path-format=absolute --git-common-dir)/objects" > "$folder/.git/objects/info/alternates"
else
  git -C "$folder" fetch --quiet -- "$repository" {commits}
fi
cd "$folder"
git config core.hooksPath /dev/null
git config core.autocrlf false
git config merge.renameLimit 32767
git config commit.gpgSign false
# Files as they are in the repository: git refuses to pick over one that its own conversion makes look changed.
echo '* -text -ident -filter -working-tree-encoding' > .git/info/attributes
"""


def render_script(ledger: Ledger, loaded: LoadedRun) -> bytes:
    """Return the script of a run.

    Raises:
        PlanError: the run has not picked, or did not get through.
    """
    run, picked, fixed = loaded.run, loaded.pick, loaded.fixup
    if picked is None or picked.conflicts:
        raise PlanError(
            f"{ledger.folder}: there is nothing to reproduce",
            why="the pick stopped at a conflict" if picked else "nothing was picked here, or its record was altered",
            next_step="`backproof history explain` says why it conflicts and how to go on"
            if picked
            else "run it again",
        )
    _require_hashes(ledger, picked, fixed)
    lines = [_render_head(run, picked), *_render_picks(ledger, run.settings, picked)]
    body = "\n".join(lines).encode("utf-8", "surrogateescape") + b"\n"
    return body + (_render_fixups(ledger, picked, fixed) if fixed and fixed.head != picked.head else b"")


def _render_head(run: Run, picked: PickRecord) -> str:
    commits = " ".join([picked.base, *(commit.source for commit in picked.commits)])
    repository = shlex.quote(one_line(redact(run.settings.repo)))
    # A title is text from outside, and so is all of a run folder: in a comment it must stay on its line.
    return _HEAD.format(title=one_line(run.title), run=one_line(run.id), repository=repository, commits=commits)


def _require_hashes(ledger: Ledger, picked: PickRecord, fixed: FixupRecord | None) -> None:
    """Refuse what would stand in the script as a hash and is none: it would be a command of whoever wrote the record."""
    names = [picked.base, picked.base_tree, picked.head, picked.head_tree]
    names += [name for commit in picked.commits for name in (commit.source, commit.landed) if name is not None]
    names += [fixed.head, fixed.head_tree] if fixed else []
    if wrong := [name for name in names if not _HASH.fullmatch(name)]:
        raise PlanError(
            f"{ledger.folder}: {one_line(wrong[0], 80)!r} is no hash of a commit or a tree",
            why="the records of this run folder were not written by Backproof, or were altered",
            next_step="use nothing of it; make the run again",
        )


def _render_picks(ledger: Ledger, settings: Settings, picked: PickRecord) -> Iterator[str]:
    yield f"git checkout --quiet --detach {picked.base}"
    yield f"same {picked.base_tree} release"
    mainline = next((commit.mainline for commit in picked.commits if commit.mainline), None)
    with Picker(Store(ledger.store), mainline=mainline) as picker:
        tree = picked.base_tree
        for commit in picked.commits:
            if commit.landed is None:
                yield f"# {commit.source} is left out: {commit.outcome}"
                continue
            pick = picker.pick(commit.source, tree, drop=frozenset(commit.dropped).__contains__)
            lines = shell_steps.render_pick(picker, commit.source, pick, tree)
            yield from (_add_signoff(line, signoff=settings.signoff) for line in lines)
            tree = picker.read_tree(commit.landed)
            yield f"same {tree} {commit.source[:12]}"


def _add_signoff(line: str, *, signoff: bool) -> str:
    return line.replace("cherry-pick -x", "cherry-pick -x --signoff", 1) if signoff else line


def _render_fixups(ledger: Ledger, picked: PickRecord, fixed: FixupRecord) -> bytes:
    """Return the fix-ups as mails inside the script: the kit may be gone by then."""
    mails = Store(ledger.store).format_patch(picked.head, fixed.head)
    end = f"BACKPROOF_{hashlib.sha256(mails).hexdigest()[:24]}".encode()
    return (
        b"git am --quiet --keep-cr --committer-date-is-author-date <<'"
        + end
        + b"'\n"
        + mails
        + b"\n"
        + end
        + b"\n"
        + f"same {fixed.head_tree} fix-ups\n".encode()
    )
