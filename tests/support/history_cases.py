"""Shapes of public bug reports about backports, as small repositories: each has a fix on main and a branch `release`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from repositories import Repository

    Case = Callable[[Repository], str]

NEWS = "docs/news.md"


def _lines(word: str = "line") -> list[str]:
    return [f"{word} {number} of the text\n" for number in range(1, 21)]


def _module(limit: int, end: str = "\n") -> str:
    return "".join([*_lines(), f"limit = {limit}\n", *_lines("rest")]).replace("\n", end)


def crlf_not_normalised(repository: Repository) -> str:
    """All is declared as text, and the repository holds CRLF: a checkout of it is never clean."""
    repository.commit("Start the module", {"mod.py": _module(10, "\r\n")})
    (repository.folder / ".gitattributes").write_text("* text\n")
    repository.git("add", ".gitattributes")
    repository.git("commit", "--quiet", "--message", "Say that all is text")
    repository.git("branch", "release")
    # The fix keeps the CRLF: it was made by a tool that does not convert.
    blob = repository.git("hash-object", "-w", "--no-filters", "--stdin", stdin=_module(100, "\r\n"))
    repository.git("update-index", "--cacheinfo", f"100644,{blob},mod.py")
    repository.git("commit", "--quiet", "--message", "Raise the limit (#151)")
    return repository.git("rev-parse", "HEAD")


def _union(repository: Repository, attributes: str) -> str:
    repository.commit("Start", {"mod.py": _module(10), NEWS: "# news\n", attributes: "*.md merge=union\n"})
    repository.switch("release")
    repository.commit("Note", {NEWS: "# news\n- on the release\n"})
    repository.switch("main", "main")
    repository.commit("Note on main", {NEWS: "# news\n- on main\n"})
    return repository.commit(
        "Raise the limit (#161)", {"mod.py": _module(100), NEWS: "# news\n- on main\n- the limit is larger\n"}
    )


def union_in_folder(repository: Repository) -> str:
    """`merge=union` stands in the attributes of a folder."""
    return _union(repository, "docs/.gitattributes")


def union_at_root(repository: Repository) -> str:
    """`merge=union` stands in the attributes of the root, which the fix does not touch."""
    return _union(repository, ".gitattributes")


def new_file_in_moved_folder(repository: Repository) -> str:
    """The fix adds a file to a folder that has another name on the release: where it belongs, a person must say."""
    parts = {f"p{number}.py": "".join(_lines(f"part{number}")) for number in range(1, 5)}
    repository.commit("Start the package", {f"old/{name}": text for name, text in parts.items()})
    repository.switch("release")
    repository.switch("main", "main")
    moved = {f"new/{name}": text for name, text in parts.items()}
    repository.commit("Move old to new (#130)", {**dict.fromkeys(f"old/{name}" for name in parts), **moved})
    guarded = moved["new/p2.py"].replace("part2 10 of", "part2 10 guarded of")
    return repository.commit("Guard (#131)", {"new/guard.py": "".join(_lines("check")), "new/p2.py": guarded})


LANDING: dict[str, Case] = {
    "15-crlf-not-normalised": crlf_not_normalised,
    "16-union-in-folder": union_in_folder,
    "17-union-at-root": union_at_root,
}
