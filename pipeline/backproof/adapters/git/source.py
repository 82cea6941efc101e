"""The user's repository, a path or a URL. It is only read: its refs are listed, its objects borrowed."""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock
from platformdirs import user_cache_path

from backproof.adapters.git.address import take_password
from backproof.adapters.git.command import checked, run_git
from backproof.core.errors import PlanError
from backproof.core.redaction import redact

if TYPE_CHECKING:
    from backproof.adapters import proc


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A git directory on this machine that commits come from (for a URL: our mirror of it)."""

    name: str
    git_dir: Path
    refs: dict[str, str]

    @classmethod
    def open(cls, repo: str, *, pull: int | None = None) -> Source:
        """Read the refs of a repository, given by path or URL.

        Raises:
            PlanError: the path is no git repository.
            HostError: the URL cannot be fetched.
        """
        repo = take_password(repo)
        git_dir = _find_git_dir(Path(repo).expanduser()) if _is_path(repo) else _update_mirror(repo, pull)
        return cls(name=redact(repo), git_dir=git_dir, refs=_list_refs(git_dir))

    @property
    def objects(self) -> Path:
        return self.git_dir / "objects"

    @property
    def shallow(self) -> Path | None:
        path = self.git_dir / "shallow"
        return path if path.exists() else None

    @property
    def addresses(self) -> dict[str, str]:
        """The URLs of the repository by name of the remote: upstream's own first, then origin, which may be a fork.

        For a URL it is that URL, under no name.
        """
        if not _is_path(self.name):
            return {"": self.name}
        remotes = _read_remotes(self.git_dir)
        return {name: remotes[name] for name in ("upstream", "origin", *sorted(remotes)) if name in remotes}

    def resolve_branch(self, name: str) -> str:
        """Return the commit that `find_branch` finds."""
        return self.find_branch(name)[1]

    def find_branch(self, name: str) -> tuple[str, str]:
        """Return a ref and its commit: of a branch (a local one wins), else a tag, a whole ref, or a revision of git's grammar.

        Raises:
            PlanError: there is no such branch.
        """
        names = [f"refs/{place}/{name}" for place in ("heads", "remotes/origin", "remotes/upstream", "tags", "remotes")]
        names += [ref for ref in self.refs if ref.startswith("refs/remotes/") and ref.split("/", 3)[3:] == [name]]
        ref = next((ref for ref in (*names, name, f"refs/{name}") if ref in self.refs), None)
        if ref is not None:
            return ref, self.refs[ref]
        command = ("rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}")
        done = run_git(f"--git-dir={self.git_dir}", *command, settings=_TRUSTED)
        if done.code != 0:
            raise self._missing_branch_error(name)
        return name, done.text.strip()

    def find_pull_head(self, pull: int | None) -> str | None:
        """Return the head of a pull request, where the repository has it."""
        names = [f"refs/pull/{pull}/head", f"refs/remotes/origin/pull/{pull}/head", f"refs/remotes/origin/pr/{pull}"]
        return next((self.refs[ref] for ref in names if ref in self.refs), None)

    def _missing_branch_error(self, name: str) -> PlanError:
        branches = sorted({ref.split("/", 2)[2] for ref in self.refs if ref.startswith("refs/heads/")})
        close = difflib.get_close_matches(name, branches, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(branches[:8]) or 'no branches'}"
        return PlanError(
            f"{self.name}: there is no branch {name!r}",
            why=f"the repository's refs do not list it; {hint}",
            next_step="name a branch with --branch, or fetch it into that repository",
        )


_TRUSTED = ("safe.directory=*",)
"""Only the command line may trust a folder of another owner, as in a container; nothing of it is run."""


def _is_path(repo: str) -> bool:
    return "://" not in repo and not (":" in repo.split("/", 1)[0] and not Path(repo).exists())


def _find_git_dir(path: Path) -> Path:
    command = ("rev-parse", "--show-object-format", "--path-format=absolute", "--git-common-dir")
    done = run_git("-C", str(path), *command, settings=_TRUSTED)
    if done.code != 0:
        raise PlanError(
            f"{path}: this is not a git repository",
            why=redact(done.error_text.strip()[-500:]) or "git did not say",
            next_step="name a clone or a URL with --repo",
        )
    kind, _, folder = done.text.strip().partition("\n")
    if kind != "sha1":
        raise PlanError(
            f"{path}: {kind} repositories are not supported",
            why="hashes of commits are read and compared as SHA-1",
            next_step="name a repository with SHA-1 objects",
        )
    return Path(folder)


def _list_refs(git_dir: Path) -> dict[str, str]:
    # Not for-each-ref: to peel, it opens every object, which takes 0.2 s where packed-refs already says it.
    listing = run_git(f"--git-dir={git_dir}", "show-ref", "--dereference", settings=_TRUSTED)
    if listing.code != 0 and listing.stderr:
        checked(listing, f"{git_dir}: its refs cannot be listed")
    # Code 1 and no word: a repository without refs. A peeled tag comes behind its own line and replaces it.
    rows = (line.split(" ", 1) for line in listing.text.splitlines())
    return {name.removesuffix("^{}"): sha for sha, name in rows}


def _read_remotes(git_dir: Path) -> dict[str, str]:
    """Read the repository's own file alone: with --file, git follows no include."""
    listing = run_git("config", "--file", str(git_dir / "config"), "--null", "--get-regexp", r"^remote\..*\.url$")
    rows = (row.partition("\n") for row in listing.text.split("\0") if row)
    return {key.removeprefix("remote.").removesuffix(".url"): redact(url) for key, _, url in rows}


def _update_mirror(url: str, pull: int | None) -> Path:
    """Fetch into a bare mirror of ours, kept between runs: the first fetch takes minutes, later ones seconds."""
    if url.startswith("-") or url.lower().startswith("ext::"):
        raise PlanError(
            f"{url}: not an address", why="git would take it for a command", next_step="give an https or ssh URL"
        )
    folder = user_cache_path("backproof") / "mirrors" / f"{hashlib.sha256(url.encode()).hexdigest()[:16]}.git"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not (folder / "HEAD").exists():
            checked(run_git("init", "--quiet", "--bare", str(folder)), f"{folder}: cannot be created")
        checked(_fetch(folder, "--prune", url, "+refs/heads/*:refs/heads/*"), f"{redact(url)}: cannot be fetched")
        if pull is not None:
            head = f"refs/pull/{pull}/head"
            done = _fetch(folder, url, f"+{head}:{head}")
            if "couldn't find remote ref" not in done.error_text:
                checked(done, f"{redact(url)}: {head} cannot be fetched")
    return folder


def _fetch(folder: Path, *args: str) -> proc.Completed:
    # The user's own configuration counts here: it holds proxies and credential helpers.
    options = (f"--git-dir={folder}", "fetch", "--quiet", "--no-tags", "--no-recurse-submodules")
    return run_git(*options, *args, own=False, timeout=3600)
