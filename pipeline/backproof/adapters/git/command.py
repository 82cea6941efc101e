"""Git commands that nothing of the caller's surroundings steers: no hook, filter or editor of theirs runs."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from backproof.adapters import proc
from backproof.core.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# Hooks and CI jobs leak GIT_DIR, GIT_INDEX_FILE and their like: https://github.com/pre-commit/pre-commit/issues/300
_KEEP = {"GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_SSL_CAINFO", "GIT_SSL_NO_VERIFY", "GIT_EXEC_PATH"}
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "C",
    "GIT_EDITOR": ":",
    "GIT_OPTIONAL_LOCKS": "0",
    # refs/replace would swap the commit that is picked for another one behind the same hash.
    "GIT_NO_REPLACE_OBJECTS": "1",
}
_OWN = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
}
_WHOLE = 1 << 30
_SETTINGS = (
    "core.quotePath=false",
    "core.hooksPath=/dev/null",
    "core.autocrlf=false",
    "core.fsmonitor=false",
    # Without it git reads ~/.config/git/attributes even where GIT_CONFIG_GLOBAL shuts the configuration out.
    "core.attributesFile=/dev/null",
    "commit.gpgSign=false",
    "rerere.enabled=false",
    "gc.auto=0",
    "advice.detachedHead=false",
    # The default of 1000 misses package renames, and a missed rename is a false conflict:
    # https://github.com/apache/texera/issues/6963
    "merge.renameLimit=32767",
    "merge.conflictStyle=diff3",
)


def git_environment(extra: Mapping[str, str] | None = None, *, own: bool = True) -> dict[str, str]:
    """Return the environment of a git command; `own` also shuts out the user's and the system's configuration."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or _is_kept(name, own=own)
    }
    return {**inherited, **_QUIET, **(_OWN if own else {}), **(extra or {})}


def _is_kept(name: str, *, own: bool) -> bool:
    return name in _KEEP or (not own and name.startswith("GIT_CONFIG"))


def run_git(
    *args: str,
    cwd: Path | None = None,
    settings: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    own: bool = True,
    stdin: bytes = b"",
    timeout: float = 600,
) -> proc.Completed:
    """Run one git command and return what it did, whatever its code; its answer is kept whole, for a cut one misleads."""
    flags = [flag for setting in (*_SETTINGS, *settings) for flag in ("-c", setting)]
    argv = ["git", *flags, *args]
    require_git()
    return proc.run_process(argv, cwd=cwd, env=git_environment(env, own=own), stdin=stdin, timeout=timeout, keep=_WHOLE)


def require_git() -> None:
    """Raise HostError where there is no git: else the lack of it reads as a lack of what it was asked for."""
    if shutil.which("git") is None:
        raise HostError(
            "git cannot be started",
            why="there is no `git` on PATH",
            next_step="install git 2.31 or newer, then run again",
        )


def checked(done: proc.Completed, what: str) -> proc.Completed:
    """Return the command when it worked; else raise HostError with git's own message."""
    return done.require_success(what, next_step=_advise(done.error_text))


def _advise(message: str) -> str:
    if "No space left" in message:
        return "free some disk and run the same command again"
    if any(phrase in message for phrase in ("Could not resolve host", "unable to access", "Connection", "timed out")):
        return "check the network and the address, then run the same command again"
    if any(phrase in message for phrase in ("Authentication failed", "Permission denied", "could not read Username")):
        return "give git credentials for that address, or name a local clone with --repo"
    if any(phrase in message for phrase in ("missing blob", "unable to read", "bad object", "missing tree")):
        return (
            "the clone lacks objects: complete it with `git fetch --unshallow` or `git fetch --refetch`, then run again"
        )
    return "fix what git reports above, then run the same command again"
