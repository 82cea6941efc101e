"""The state of the stand-in: one repository with pull requests, comments, threads, checks, files."""

from __future__ import annotations

import base64
import os
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contract import Contract, Operation

REPO = "example/project"


@dataclass
class World:
    """Plain data that a test fills in; answers are this over the least that the contract allows."""

    logins: dict[str, str] = field(default_factory=lambda: {"token-of-the-bot-000000": "the-bot[bot]"})
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict)
    commits: dict[str, dict[str, Any]] = field(default_factory=dict)
    pull_commits: dict[int, list[str]] = field(default_factory=dict)
    pull_files: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    reviews: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    threads: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    checks: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    marks: list[dict[str, Any]] = field(default_factory=list)
    statuses: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    contents: dict[tuple[str, str], str] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    issues: list[dict[str, Any]] = field(default_factory=list)
    comments: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    objects: Path | None = None
    """A git repository, where objects are made of what is posted: GitHub's names of them are git's."""
    opened: list[dict[str, Any]] = field(default_factory=list)
    next_id: int = 1000
    lag: int = 0
    """Listings that do not show a comment yet which was just made."""
    hidden: dict[int, int] = field(default_factory=dict)

    def pull(self, number: int, **facts: Any) -> None:
        self.pulls[number] = {
            "title": "a title",
            "body": "",
            "state": "open",
            "locked": False,
            "merged": False,
            "merged_at": None,
            "login": "ann",
            "head": "a" * 40,
            "base": "release",
            **facts,
        }

    def comment(self, number: int, login: str, body: str) -> dict[str, Any]:
        """Somebody writes a comment."""
        with self.lock:
            self.next_id += 1
            made = {"id": self.next_id, "issue": number, "login": login, "body": body}
            self.comments.append(made)
            self.hidden[self.next_id] = self.lag
            return made

    def bodies(self, number: int) -> list[str]:
        return [each["body"] for each in self.comments if each["issue"] == number]


@dataclass(frozen=True)
class Ask:
    """One request, already held to the contract."""

    world: World
    contract: Contract
    operation: Operation
    given: dict[str, str]
    query: dict[str, str]
    body: Any
    login: str | None

    def over(self, schema: str, **facts: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.contract.sample({"$ref": f"#/components/schemas/{schema}"})
        return {**found, **facts}

    @property
    def number(self) -> int:
        return int(self.given.get("pull_number") or self.given["issue_number"])


class Refuse(Exception):  # noqa: N818 - an answer
    def __init__(self, status: int, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers or {}


def _missing() -> Refuse:
    return Refuse(404, "Not Found")


def repository(ask: Ask) -> tuple[int, Any]:
    return 200, ask.over("full-repository", full_name=REPO, default_branch="main")


def branch(ask: Ask) -> tuple[int, Any]:
    sha = ask.world.branches.get(ask.given["branch"])
    if sha is None:
        raise Refuse(404, "Branch not found")
    commit = ask.over("commit", sha=sha)
    return 200, ask.over("branch-with-protection", name=ask.given["branch"], commit=commit)


def refs(ask: Ask) -> tuple[int, Any]:
    wanted = f"refs/{ask.given['ref']}"
    found = [(f"refs/heads/{name}", sha) for name, sha in ask.world.branches.items()]
    return 200, [
        ask.over("git-ref", ref=ref, object={"type": "commit", "sha": sha, "url": "https://example.invalid/"})
        for ref, sha in found
        if ref.startswith(wanted)
    ]


def _commit(ask: Ask, sha: str) -> dict[str, Any]:
    facts = ask.world.commits.get(sha, {})
    made = ask.over("commit", sha=sha)
    made["commit"] = {**made["commit"], "message": facts.get("message", "a commit")}
    if "tree" in facts:
        made["commit"]["tree"] = {"sha": facts["tree"], "url": "https://example.invalid/"}
    parents = facts.get("parents", ["0" * 40])
    made["parents"] = [{"sha": each, "url": "https://example.invalid/"} for each in parents]
    made["files"] = [ask.over("diff-entry", **each) for each in facts.get("files", ())]
    return made


def commit(ask: Ask) -> tuple[int, Any]:
    found = [sha for sha in ask.world.commits if sha.startswith(ask.given["ref"])]
    if not found:
        raise Refuse(422, "No commit found for SHA: " + ask.given["ref"])
    return 200, _commit(ask, found[0])


def check_runs(ask: Ask) -> tuple[int, Any]:
    runs = [
        ask.over("check-run", id=index, **each) for index, each in enumerate(ask.world.checks.get(ask.given["ref"], ()))
    ]
    return 200, {"total_count": len(runs), "check_runs": runs}


def create_check_run(ask: Ask) -> tuple[int, Any]:
    _writer(ask)
    made = {name: value for name, value in ask.body.items() if name in {"name", "status", "conclusion", "external_id"}}
    made["html_url"] = f"https://github.com/{REPO}/runs/{len(ask.world.checks)}"
    ask.world.checks.setdefault(ask.body["head_sha"], []).append({**made, "head_sha": ask.body["head_sha"]})
    ask.world.marks.append(ask.body)
    return 201, ask.over("check-run", id=1, **made)


def create_status(ask: Ask) -> tuple[int, Any]:
    _writer(ask)
    ask.world.statuses.setdefault(ask.given["sha"], []).insert(0, dict(ask.body))
    return 201, ask.over("status", **ask.body)


def statuses(ask: Ask) -> tuple[int, Any]:
    return 200, [
        ask.over("status", id=index, **each) for index, each in enumerate(ask.world.statuses.get(ask.given["ref"], ()))
    ]


def contents(ask: Ask) -> tuple[int, Any]:
    text = ask.world.contents.get((ask.query.get("ref", "main"), ask.given["path"]))
    if text is None:
        raise _missing()
    data = base64.encodebytes(text.encode()).decode()
    facts = {"type": "file", "encoding": "base64", "content": data, "path": ask.given["path"], "size": len(text)}
    return 200, ask.over("content-file", **facts)


def _comment(ask: Ask, made: dict[str, Any]) -> dict[str, Any]:
    user = ask.over("simple-user", login=made["login"])
    url = f"https://github.com/{REPO}/pull/{made['issue']}#issuecomment-{made['id']}"
    issue = f"https://api.github.com/repos/{REPO}/issues/{made['issue']}"
    return ask.over("issue-comment", id=made["id"], body=made["body"], user=user, html_url=url, issue_url=issue)


def list_comments(ask: Ask) -> tuple[int, Any]:
    if ask.number not in ask.world.pulls:
        raise _missing()
    with ask.world.lock:
        made = [each for each in ask.world.comments if each["issue"] == ask.number]
        shown = [each for each in made if not ask.world.hidden[each["id"]]]
        ask.world.hidden = {name: max(0, left - 1) for name, left in ask.world.hidden.items()}
        return 200, [_comment(ask, each) for each in shown]


def _writer(ask: Ask) -> str:
    if ask.login is None:
        raise Refuse(401, "Requires authentication")
    return ask.login


def create_comment(ask: Ask) -> tuple[int, Any]:
    login = _writer(ask)
    pull = ask.world.pulls.get(ask.number)
    if pull is None:
        raise _missing()
    if pull["locked"]:
        raise Refuse(403, "Unable to create comment because issue is locked.")
    if len(ask.body["body"]) > 65_536:
        raise Refuse(422, "Body is too long (maximum is 65536 characters)")
    return 201, _comment(ask, ask.world.comment(ask.number, login, ask.body["body"]))


def _own(ask: Ask) -> dict[str, Any]:
    login = _writer(ask)
    found = [each for each in ask.world.comments if each["id"] == int(ask.given["comment_id"])]
    if not found:
        raise _missing()
    if found[0]["login"] != login:
        raise Refuse(403, "Must have admin rights to Repository.")
    return found[0]


def read_comment(ask: Ask) -> tuple[int, Any]:
    """One comment by its number: no list that lags."""
    found = [each for each in ask.world.comments if each["id"] == int(ask.given["comment_id"])]
    if not found:
        raise _missing()
    return 200, _comment(ask, found[0])


def update_comment(ask: Ask) -> tuple[int, Any]:
    with ask.world.lock:
        made = _own(ask)
        made["body"] = ask.body["body"]
        return 200, _comment(ask, made)


def delete_comment(ask: Ask) -> tuple[int, Any]:
    with ask.world.lock:
        ask.world.comments.remove(_own(ask))
        return 204, None


def pull(ask: Ask) -> tuple[int, Any]:
    facts = ask.world.pulls.get(ask.number)
    if facts is None:
        raise _missing()
    found = ask.over("pull-request")
    found.update({name: value for name, value in facts.items() if name not in {"login", "head", "base"}})
    found["number"] = ask.number
    found["user"] = ask.over("simple-user", login=facts["login"])
    found["head"] = {**found["head"], "sha": facts["head"]}
    found["base"] = {**found["base"], "ref": facts["base"]}
    return 200, found


def pull_commits(ask: Ask) -> tuple[int, Any]:
    return 200, [_commit(ask, sha) for sha in ask.world.pull_commits.get(ask.number, ())]


def pull_files(ask: Ask) -> tuple[int, Any]:
    return 200, [ask.over("diff-entry", **each) for each in ask.world.pull_files.get(ask.number, ())]


def reviews(ask: Ask) -> tuple[int, Any]:
    made = []
    for index, each in enumerate(ask.world.reviews.get(ask.number, ())):
        facts = {name: value for name, value in each.items() if name != "login"}
        user = ask.over("simple-user", login=each["login"])
        made.append(ask.over("pull-request-review", id=index, user=user, **facts))
    return 200, made


def search(ask: Ask) -> tuple[int, Any]:
    words = [word for word in ask.query["q"].lower().split() if ":" not in word and word != "or"]
    words = [word.strip('"()') for word in words]
    kinds = [word for word in ask.query["q"].split() if word in {"is:issue", "is:pr"}]
    if not kinds:
        raise Refuse(422, "Query must include 'is:issue' or 'is:pull-request'")
    found = []
    for each in ask.world.issues:
        text = f"{each['title']} {each.get('body') or ''}".lower()
        if ("pull" in each) == (kinds[0] == "is:pr") and any(word in text for word in words):
            found.append(_issue(ask, each))
    return 200, {"total_count": len(found), "incomplete_results": False, "search_type": "lexical", "items": found}


def _issue(ask: Ask, each: dict[str, Any]) -> dict[str, Any]:
    facts = {name: value for name, value in each.items() if name != "pull"}
    made = ask.over("issue-search-result-item", id=each["number"], score=1.0, state="open", **facts)
    made["html_url"] = f"https://github.com/{REPO}/issues/{each['number']}"
    if "pull" in each:
        nothing = dict.fromkeys(("diff_url", "html_url", "patch_url", "url"))
        made["pull_request"] = {**nothing, "merged_at": each["pull"]}
    return made


def installation_token(ask: Ask) -> tuple[int, Any]:
    ask.world.logins["ghs_installation0000000000"] = "an-app[bot]"
    return 201, ask.over("installation-token", token="ghs_installation0000000000", expires_at="2099-01-01T00:00:00Z")  # noqa: S106


def _git(ask: Ask, *args: str, data: bytes = b"", index: str = "") -> str:
    author = {f"GIT_{who}_{what}": f"the-bot-{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = {**os.environ, **author, "GIT_CONFIG_GLOBAL": os.devnull, **({"GIT_INDEX_FILE": index} if index else {})}
    argv = ["git", "--git-dir", str(ask.world.objects), *args]
    return subprocess.run(argv, input=data, capture_output=True, check=True, env=env).stdout.decode().strip()


def create_blob(ask: Ask) -> tuple[int, Any]:
    _writer(ask)
    sha = _git(ask, "hash-object", "-w", "--stdin", data=base64.b64decode(ask.body["content"]))
    return 201, ask.over("short-blob", sha=sha)


def create_tree(ask: Ask) -> tuple[int, Any]:
    _writer(ask)
    with tempfile.TemporaryDirectory() as folder:
        index = f"{folder}/index"
        _git(ask, "read-tree", ask.body["base_tree"], index=index)
        rows = (
            f"{each['mode'] if each['sha'] else 0} {each['sha'] or '0' * 40}\t{each['path']}\n"
            for each in ask.body["tree"]
        )
        _git(ask, "update-index", "--index-info", data="".join(rows).encode(), index=index)
        return 201, ask.over("git-tree", sha=_git(ask, "write-tree", index=index))


def create_commit(ask: Ask) -> tuple[int, Any]:
    _writer(ask)
    parents = [word for sha in ask.body["parents"] for word in ("-p", sha)]
    sha = _git(ask, "commit-tree", ask.body["tree"], *parents, data=ask.body["message"].encode())
    ask.world.commits[sha] = {"message": ask.body["message"], "tree": ask.body["tree"]}
    return 201, ask.over("git-commit", sha=sha)


def create_ref(ask: Ask) -> tuple[int, Any]:
    _writer(ask)
    name = ask.body["ref"].removeprefix("refs/heads/")
    if name in ask.world.branches:
        raise Refuse(422, "Reference already exists")
    ask.world.branches[name] = ask.body["sha"]
    return 201, ask.over("git-ref", ref=ask.body["ref"])


def _opened(ask: Ask, made: dict[str, Any], schema: str) -> dict[str, Any]:
    url = f"https://github.com/{REPO}/pull/{made['number']}"
    return ask.over(schema, number=made["number"], html_url=url, title=made["title"])


def list_pulls(ask: Ask) -> tuple[int, Any]:
    wanted = (ask.query["head"], ask.query["base"])
    shown = [made for made in ask.world.opened if (made["head"], made["base"]) == wanted]
    return 200, [_opened(ask, made, "pull-request-simple") for made in shown]


def open_pull(ask: Ask) -> tuple[int, Any]:
    _writer(ask)
    if any(made["head"] == ask.body["head"] for made in ask.world.opened):
        raise Refuse(422, "A pull request already exists")
    made = {**ask.body, "number": 77 + len(ask.world.opened)}
    ask.world.opened.append(made)
    return 201, _opened(ask, made, "pull-request")


_R = "/repos/{owner}/{repo}"
ROUTES = {
    ("get", _R): repository,
    ("get", f"{_R}/branches/{{branch}}"): branch,
    ("get", f"{_R}/git/matching-refs/{{ref}}"): refs,
    ("get", f"{_R}/commits/{{ref}}"): commit,
    ("get", f"{_R}/commits/{{ref}}/check-runs"): check_runs,
    ("get", f"{_R}/commits/{{ref}}/statuses"): statuses,
    ("post", f"{_R}/check-runs"): create_check_run,
    ("post", f"{_R}/statuses/{{sha}}"): create_status,
    ("get", f"{_R}/contents/{{path}}"): contents,
    ("get", f"{_R}/issues/{{issue_number}}/comments"): list_comments,
    ("post", f"{_R}/issues/{{issue_number}}/comments"): create_comment,
    ("get", f"{_R}/issues/comments/{{comment_id}}"): read_comment,
    ("patch", f"{_R}/issues/comments/{{comment_id}}"): update_comment,
    ("delete", f"{_R}/issues/comments/{{comment_id}}"): delete_comment,
    ("get", f"{_R}/pulls/{{pull_number}}"): pull,
    ("get", f"{_R}/pulls/{{pull_number}}/commits"): pull_commits,
    ("get", f"{_R}/pulls/{{pull_number}}/files"): pull_files,
    ("get", f"{_R}/pulls/{{pull_number}}/reviews"): reviews,
    ("get", f"{_R}/pulls"): list_pulls,
    ("post", f"{_R}/pulls"): open_pull,
    ("post", f"{_R}/git/blobs"): create_blob,
    ("post", f"{_R}/git/trees"): create_tree,
    ("post", f"{_R}/git/commits"): create_commit,
    ("post", f"{_R}/git/refs"): create_ref,
    ("get", "/search/issues"): search,
    ("post", "/app/installations/{installation_id}/access_tokens"): installation_token,
}


def graph_root(world: World, login: str | None) -> dict[str, Any]:
    """What a GraphQL query finds; graphql-core resolves it by GitHub's own schema."""

    def threads(number: int) -> Any:
        def connection(_info: Any, first: int = 100, after: str | None = None, **_: Any) -> dict[str, Any]:
            start = int(after or 0)
            found = world.threads.get(number, [])
            more = start + first < len(found)
            info = {"hasNextPage": more, "endCursor": str(start + first) if more else None}
            return {"nodes": found[start : start + first], "pageInfo": info}

        return connection

    def pull_request(_info: Any, number: int) -> dict[str, Any] | None:
        return {"reviewThreads": threads(number)} if number in world.pulls else None

    def repo(_info: Any, owner: str, name: str, **_: Any) -> dict[str, Any] | None:
        return {"pullRequest": pull_request} if f"{owner}/{name}" == REPO else None

    return {"viewer": {"login": login} if login else None, "repository": repo}
