"""The contract itself: what is not GitHub's is refused, and a contract that cannot be had is no pass."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import contract
import pytest
import requests
from backproof.adapters.github import threads
from graphql import parse, validate

if TYPE_CHECKING:
    from server import StandIn


def test_without_npm_the_tests_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(AssertionError, match="cannot be fetched with npm"):
        contract._fetch(*contract.REST)


def test_another_package_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    class Done:
        returncode = 0

    def pack(*_: object, cwd: str, **__: object) -> Done:
        with open(f"{cwd}/x.tgz", "wb") as stream:  # noqa: PTH123
            stream.write(b"something else")
        return Done()

    monkeypatch.setattr(subprocess, "run", pack)
    with pytest.raises(AssertionError, match="not the package"):
        contract._fetch(*contract.REST)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/repos/example/project/issues/7/comments?pages=2", None),
        ("GET", "/repos/example/project/issues/seven/comments", None),
        ("POST", "/repos/example/project/issues/7/comments", {"text": "x"}),
        ("POST", "/repos/example/project/issues/7/comments", None),
        ("GET", "/search/issues", None),
        ("PUT", "/repos/example/project/issues/7/comments", {"body": "x"}),
        ("GET", "/repos/example/project/forks", None),
    ],
)
@pytest.mark.usefixtures("_contract")
def test_a_request_that_is_not_githubs_breaks_the_contract(method: str, path: str, body: object) -> None:
    found = contract.rest()
    split = requests.models.PreparedRequest()
    split.prepare_url(f"http://x{path}", None)
    name, _, query = str(split.url).removeprefix("http://x").partition("?")

    def ask() -> None:
        operation, given = found.find(method, name)
        found.check_request(operation, given, dict(each.split("=") for each in query.split("&") if each), body)

    with pytest.raises(AssertionError):
        ask()


@pytest.mark.usefixtures("_contract")
def test_an_answer_that_is_not_githubs_breaks_the_contract() -> None:
    found = contract.rest()
    operation, _ = found.find("GET", "/repos/a/b/pulls/7")
    schema = found.answer_schema(operation, 200)
    whole = found.sample(schema)
    found.check(schema, whole, "whole")
    with pytest.raises(AssertionError, match="head"):
        found.check(schema, {name: value for name, value in whole.items() if name != "head"}, "cut")
    with pytest.raises(AssertionError, match="does not answer"):
        found.answer_schema(operation, 418)


@pytest.mark.usefixtures("_contract")
def test_the_query_is_of_githubs_schema() -> None:
    assert validate(contract.graph(), parse(threads.QUERY)) == []
    assert validate(contract.graph(), parse(threads.QUERY.replace("isResolved", "resolved"))) != []


def test_the_stand_in_tells_what_broke(hub: StandIn) -> None:
    assert requests.get(f"{hub.url}/repos/example/project/issues/7/comments?pages=2", timeout=5).status_code == 500
    assert "there is no parameter pages" in hub.violations.pop()
