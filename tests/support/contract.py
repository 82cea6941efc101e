"""GitHub's own published descriptions, cut to what we call: every request and answer in these tests is held to them.

Fetched once into the user's cache from npm, pinned by hash, never committed (13 MB). Where npm cannot be reached the
tests that need them fail and say so: a contract that is skipped holds nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from graphql import (
    DocumentNode,
    FieldDefinitionNode,
    GraphQLSchema,
    NamedTypeNode,
    ObjectTypeDefinitionNode,
    TypeNode,
    build_ast_schema,
    build_schema,
    parse,
    print_ast,
)
from openapi_schema_validator import OAS30Validator, oas30_format_checker
from user_cache import cached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REST = (
    "@octokit/openapi@23.0.2",
    "pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg==",
    "package/generated/api.github.com.json",
)
GRAPH = (
    "@octokit/graphql-schema@15.26.1",
    "RFDC2MpRBd4AxSRvUeBIVeBU7ojN/SxDfALUd7iVYOSeEK3gZaqR2MGOysj4Zh2xj2RY5fQAUT+Oqq7hWTraMA==",
    "package/schema.graphql",
)
REPO = "/repos/{owner}/{repo}"
OPERATIONS = (
    ("get", REPO),
    ("get", f"{REPO}/branches/{{branch}}"),
    ("get", f"{REPO}/git/matching-refs/{{ref}}"),
    ("get", f"{REPO}/commits/{{ref}}"),
    ("get", f"{REPO}/commits/{{ref}}/check-runs"),
    ("get", f"{REPO}/commits/{{ref}}/statuses"),
    ("post", f"{REPO}/check-runs"),
    ("post", f"{REPO}/statuses/{{sha}}"),
    ("get", f"{REPO}/contents/{{path}}"),
    ("get", f"{REPO}/issues/{{issue_number}}/comments"),
    ("post", f"{REPO}/issues/{{issue_number}}/comments"),
    ("get", f"{REPO}/issues/comments/{{comment_id}}"),
    ("patch", f"{REPO}/issues/comments/{{comment_id}}"),
    ("delete", f"{REPO}/issues/comments/{{comment_id}}"),
    ("get", f"{REPO}/pulls/{{pull_number}}"),
    ("get", f"{REPO}/pulls/{{pull_number}}/commits"),
    ("get", f"{REPO}/pulls/{{pull_number}}/files"),
    ("get", f"{REPO}/pulls/{{pull_number}}/reviews"),
    ("get", f"{REPO}/pulls"),
    ("post", f"{REPO}/pulls"),
    ("post", f"{REPO}/git/blobs"),
    ("post", f"{REPO}/git/trees"),
    ("post", f"{REPO}/git/commits"),
    ("post", f"{REPO}/git/refs"),
    ("get", "/search/issues"),
    ("post", "/app/installations/{installation_id}/access_tokens"),
)
TYPES = {
    "Query": {"viewer", "repository"},
    "User": {"login"},
    "Actor": {"login"},
    "Repository": {"pullRequest"},
    "PullRequest": {"reviewThreads"},
    "PullRequestReviewThreadConnection": {"nodes", "pageInfo"},
    "PullRequestReviewThread": {
        "id",
        "isResolved",
        "isOutdated",
        "path",
        "line",
        "startLine",
        "originalLine",
        "originalStartLine",
        "resolvedBy",
        "comments",
    },
    "PullRequestReviewCommentConnection": {"nodes", "pageInfo"},
    "PullRequestReviewComment": {"author", "body", "url", "originalCommit"},
    "Commit": {"oid"},
    "PageInfo": {"hasNextPage", "endCursor"},
}
_MULTI = {"path", "ref", "branch"}


def _fetch(package: str, integrity: str, member: str) -> bytes:
    """One file of an npm package, through npm itself, its archive held to the hash that stands here."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run(
                ["npm", "pack", "--silent", "--ignore-scripts", package],
                cwd=folder,
                check=True,
                capture_output=True,
                timeout=120,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise AssertionError(
                f"{package} cannot be fetched with npm ({error}): these tests hold every request to GitHub's published "
                "description and do not run without it. Install npm, or check that it reaches its registry."
            ) from error
        (archive,) = Path(folder).glob("*.tgz")
        found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        assert found == integrity, f"{package} is not the package that this test was written against"
        with tarfile.open(archive) as opened:
            stream = opened.extractfile(member)
            assert stream is not None
            return stream.read()


def _cached(name: str, key: object, make: Callable[[], str]) -> str:
    return cached(name, key, make).read_text(encoding="utf-8")


def _cut_rest() -> str:
    whole = json.loads(_fetch(*REST))
    paths: dict[str, dict[str, Any]] = {}
    for method, path in OPERATIONS:
        paths.setdefault(path, {})[method] = _without_examples(whole["paths"][path][method])
    components: dict[str, dict[str, Any]] = {}
    todo = list(_refs(paths))
    while todo:
        _, _, kind, name = todo.pop().split("/")
        if name not in components.setdefault(kind, {}):
            components[kind][name] = _without_examples(whole["components"][kind][name])
            todo += _refs(components[kind][name])
    return json.dumps({"openapi": whole["openapi"], "paths": paths, "components": components})


def _without_examples(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_examples(each) for key, each in value.items() if key != "examples"}
    return [_without_examples(each) for each in value] if isinstance(value, list) else value


def _refs(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from _refs(each)
    elif isinstance(value, list):
        for each in value:
            yield from _refs(each)


def _cut_graph() -> str:
    document = parse(_fetch(*GRAPH).decode(), no_location=True)
    kept = [each for node in document.definitions if (each := _cut_type(node)) is not None]
    text = "\n\n".join(print_ast(each) for each in kept)
    build_schema(text)
    return text


def _cut_type(node: Any) -> Any:
    name = node.name.value if getattr(node, "name", None) else ""
    if node.kind == "scalar_type_definition":
        return node
    if name not in TYPES:
        return None
    fields = tuple(_cut_field(each) for each in node.fields or () if each.name.value in TYPES[name])
    assert len(fields) == len(TYPES[name]), f"{name}: GitHub's schema lacks one of {TYPES[name]}"
    interfaces = (
        ()
        if node.kind != "object_type_definition"
        else tuple(i for i in node.interfaces or () if i.name.value == "Actor")
    )
    kind = type(node)
    return kind(name=node.name, fields=fields, interfaces=interfaces, directives=())


def _cut_field(field: FieldDefinitionNode) -> FieldDefinitionNode:
    """Arguments of a type that was cut away cannot be used, so they go."""
    kept = tuple(each for each in field.arguments or () if _named(each.type) in {"Int", "String", "Boolean", "ID"})
    return FieldDefinitionNode(name=field.name, type=field.type, arguments=kept, directives=())


def _named(node: TypeNode) -> str:
    inner: Any = node
    while not isinstance(inner, NamedTypeNode):
        inner = inner.type
    return inner.name.value


@dataclass(frozen=True)
class Operation:
    """One operation of the description."""

    method: str
    path: str
    parameters: tuple[str, ...]
    pattern: re.Pattern[str]


class Contract:
    """GitHub's REST description, cut."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        return tuple(_operation(method, path) for path, found in self.spec["paths"].items() for method in found)

    def find(self, method: str, path: str) -> tuple[Operation, dict[str, str]]:
        found = [
            (each, {name: unquote(value) for name, value in match.groupdict().items()})
            for each in self.operations
            if each.method == method.lower() and (match := each.pattern.fullmatch(path))
        ]
        assert found, f"{method} {path} is no operation that we said we would call"
        return max(found, key=lambda each: len(each[0].path))

    def deref(self, value: Any) -> Any:
        while isinstance(value, dict) and "$ref" in value:
            _, _, kind, name = value["$ref"].split("/")
            value = self.spec["components"][kind][name]
        return value

    def check(self, schema: Any, value: Any, what: str) -> None:
        """Raise AssertionError where the value is not of the schema."""
        whole = {**schema, "components": self.spec["components"]}
        errors = list(OAS30Validator(whole, format_checker=oas30_format_checker).iter_errors(value))
        said = [f"{'/'.join(map(str, each.absolute_path))}: {each.message[:200]}" for each in errors[:3]]
        assert not errors, f"{what}: {'; '.join(said)}"

    def check_request(self, operation: Operation, given: dict[str, str], query: dict[str, str], body: Any) -> None:
        described = self.spec["paths"][operation.path][operation.method]
        what = f"{operation.method.upper()} {operation.path}"
        known = {each["name"]: each for each in map(self.deref, described.get("parameters", ()))}
        for name, value in {**given, **query}.items():
            assert name in known, f"{what}: there is no parameter {name}"
            self.check(known[name]["schema"], self._typed(known[name]["schema"], value), f"{what}: {name}")
        missing = [name for name, each in known.items() if each.get("required") and name not in {**given, **query}]
        assert not missing, f"{what}: lacks {missing}"
        request = self.deref(described.get("requestBody"))
        if request and body is not None:
            self.check(request["content"]["application/json"]["schema"], body, what)
        assert not (request and request.get("required") and body is None), f"{what}: lacks its body"
        assert request or body is None, f"{what}: takes no body"

    def _typed(self, schema: Any, value: str) -> Any:
        kind = self.deref(schema).get("type")
        return int(value) if kind == "integer" and value.lstrip("-").isdigit() else value

    def answer_schema(self, operation: Operation, status: int) -> Any:
        """The schema of an answer; None where it has no body."""
        described = self.spec["paths"][operation.path][operation.method]["responses"]
        assert str(status) in described, f"{operation.method} {operation.path} does not answer {status}"
        content = self.deref(described[str(status)]).get("content", {})
        return content["application/json"]["schema"] if "application/json" in content else None

    def sample(self, schema: Any) -> Any:
        """The least value that a schema allows: what a test does not care about."""
        schema = self.deref(schema)
        if "allOf" in schema:
            return {name: value for each in schema["allOf"] for name, value in self.sample(each).items()}
        for word in ("oneOf", "anyOf"):
            if word in schema and "properties" not in schema:
                return self.sample(schema[word][0])
        if schema.get("nullable"):
            return None
        if schema.get("enum"):
            return schema["enum"][0]
        return self._sample_of(schema)

    def _sample_of(self, schema: dict[str, Any]) -> Any:
        kind = schema.get("type", "object")
        if kind == "object":
            properties = schema.get("properties", {})
            return {name: self.sample(properties[name]) for name in schema.get("required", ()) if name in properties}
        texts = {"date-time": "2026-01-02T03:04:05Z", "uri": "https://example.invalid/", "email": "a@example.invalid"}
        plain: dict[str, Any] = {"array": [], "integer": 1, "number": 1.0, "boolean": False}
        return plain[kind] if kind in plain else texts.get(schema.get("format", ""), "x" * schema.get("minLength", 1))


def _operation(method: str, path: str) -> Operation:
    names = tuple(re.findall(r"{([^}]+)}", path))
    pattern = re.escape(path)
    for name in names:
        pattern = pattern.replace(re.escape(f"{{{name}}}"), f"(?P<{name}>{'.+' if name in _MULTI else '[^/]+'})")
    return Operation(method=method, path=path, parameters=names, pattern=re.compile(pattern))


@cache
def rest() -> Contract:
    return Contract(json.loads(_cached("rest.json", (REST, OPERATIONS), _cut_rest)))


@cache
def graph() -> GraphQLSchema:
    found: DocumentNode = parse(_cached("schema.graphql", (GRAPH, sorted(map(repr, TYPES))), _cut_graph))
    assert any(isinstance(each, ObjectTypeDefinitionNode) for each in found.definitions)
    return build_ast_schema(found)
