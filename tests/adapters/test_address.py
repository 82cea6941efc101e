"""A password in an address of a repository reaches the server, and no record and no list of arguments."""

from __future__ import annotations

import base64
import functools
import os
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from backproof.adapters import proc
from backproof.adapters.environment import build_environment
from backproof.adapters.git import Source, command
from backproof.adapters.git.address import take_password
from backproof.app.execution import Request, _read_options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from repositories import Repository

LOGIN = "Basic " + base64.b64encode(b"ann:hun@ter/2").decode()


class Guarded(SimpleHTTPRequestHandler):
    """git's plain HTTP protocol, for one user."""

    def do_GET(self) -> None:
        if self.headers.get("Authorization") == LOGIN:
            super().do_GET()
        else:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "0")
    before = dict(os.environ)
    yield
    for name in set(os.environ) - set(before):
        del os.environ[name]


def test_the_server_gets_it_and_git_has_it_in_no_argument(
    tmp_path: Path, upstream: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream.commit("base", {"a.py": "1\n"})
    upstream.git("clone", "--quiet", "--bare", str(upstream.folder), str(tmp_path / "served.git"))
    upstream.git("--git-dir", str(tmp_path / "served.git"), "update-server-info")
    started: list[str] = []
    real = proc.start_session

    def note(argv: Any, **options: Any) -> Any:
        started.append(" ".join(argv))
        return real(argv, **options)

    monkeypatch.setattr(proc, "start_session", note)
    handler = functools.partial(Guarded, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/served.git"
        source = Source.open(address.replace("http://", "http://ann:hun%40ter%2F2@"))
        server.shutdown()
    assert source.refs["refs/heads/main"] == upstream.git("rev-parse", "HEAD")
    assert source.name == address
    assert any(address in line for line in started)
    assert not [line for line in started if "hun" in line or LOGIN in line]


@pytest.mark.parametrize(
    ("address", "plain"),
    [
        ("https://ann:hunter2@h.example/x.git", "https://h.example/x.git"),
        ("https://ghp_token@h.example/x.git", "https://h.example/x.git"),
        ("https://ann:hun@ter2@h.example:8443/x.git?a=b", "https://h.example:8443/x.git?a=b"),
        ("https://h.example/x.git", "https://h.example/x.git"),
        ("ssh://git@h.example/x.git", "ssh://git@h.example/x.git"),
        ("git@h.example:x.git", "git@h.example:x.git"),
        ("/a/folder@2", "/a/folder@2"),
    ],
)
def test_a_run_keeps_the_address_alone(tmp_path: Path, address: str, plain: str) -> None:
    assert _read_options(Request(folder=tmp_path, repo=address)) == {"repo": plain}


def test_code_under_test_does_not_get_it_and_the_users_own_settings_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"COUNT": "1", "KEY_0": "http.proxy", "VALUE_0": "http://p:1"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    for password in ("one", "two"):
        take_password(f"https://ann:{password}@h.example/x.git")
    environment = command.git_environment(own=False)
    assert environment["GIT_CONFIG_COUNT"] == "2"
    assert (environment["GIT_CONFIG_KEY_0"], environment["GIT_CONFIG_VALUE_0"]) == ("http.proxy", "http://p:1")
    assert base64.b64decode(environment["GIT_CONFIG_VALUE_1"].rpartition(" ")[2]) == b"ann:two"
    assert not [name for name in build_environment() if name.startswith("GIT_")]
