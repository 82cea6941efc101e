"""Claim 1: the modules that the import system would load are the patched files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backproof.core.model import Evidence, Finding, Outcome
from backproof.core.plural import format_all
from backproof.records.proof import Claim

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backproof.install.interpreter import ModuleCopy, ModuleFacts, ProbeFacts

Remark = tuple[Literal["note", "warning", "fail"], str]
_ORDINARY_LOADERS = ("SourceFileLoader", "zipimporter")


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What a module must be: the installed file with this content (None: the patch deletes it)."""

    path: str
    installed: str
    sha256: str | None


def judge_loaded(
    facts: ProbeFacts, wanted: dict[str, Wanted], *, more: Sequence[Finding], evidence: tuple[Evidence, ...]
) -> Claim:
    """Judge what the probe found of every module of the patch.

    Args:
        facts: of the probe.
        wanted: by module name.
        more: what the host knows beside: older processes, libraries that were not built again.
        evidence: the probe's answer.
    """
    order = {entry: place for place, entry in enumerate(dict.fromkeys(item.entry for item in facts.path))}
    findings = [
        Finding(severity=severity, text=text, where=module.path)
        for module in facts.modules
        for severity, text in _check_module(module, wanted[module.name], order)
    ]
    findings += [Finding(severity="warning", text=text) for text in _check_distributions(facts)]
    # A parent package is met on the way to each of its modules: said once.
    once = {(finding.severity, finding.text): finding for finding in (*findings, *more)}
    bad = [finding for finding in once.values() if finding.severity == "fail"]
    return Claim(
        name="loaded",
        sentence=_write_sentence(facts, bad),
        outcome=Outcome.FAIL if bad else Outcome.PASS if facts.modules else Outcome.ERROR,
        findings=tuple(once.values()),
        evidence=evidence,
    )


def _write_sentence(facts: ProbeFacts, bad: list[Finding]) -> str:
    if bad:
        return f"not the patched code would be loaded: {bad[0].text}"
    if not facts.modules:
        return "the patch has no module that could be loaded: nothing can be told"
    first = facts.distributions[0] if facts.distributions else None
    copied = (
        f" in a copy of {first.origin or first.location}, put first on PYTHONPATH" if first and first.editable else ""
    )
    return f"{format_all(len(facts.modules), 'module')} of the patch would be loaded from the patched files{copied}"


def _check_module(facts: ModuleFacts, wanted: Wanted, order: dict[str, int]) -> Iterator[Remark]:
    yield from (("warning", text) for text in facts.problems)
    winner = facts.winner
    if wanted.sha256 is None:
        if winner is not None:
            yield "fail", f"the patch deletes {facts.name}, but {_describe_copy(winner)} would still be loaded"
    elif winner is None:
        yield "fail", f"{facts.name} would not be found by the import system"
    else:
        yield from _check_winner(facts, winner, wanted, wanted.sha256)
        yield from (_check_other(other, winner, wanted, order) for other in facts.others)


def _check_winner(facts: ModuleFacts, winner: ModuleCopy, wanted: Wanted, sha256: str) -> Iterator[Remark]:
    here = winner.origin == wanted.installed
    if winner.sha256 != sha256:
        why = "is not the patched file" if here else f"shadows the patched file {wanted.installed}"
        hashes = f"SHA-256 {winner.sha256[:12]}, the patch has {sha256[:12]}"
        yield "fail", f"{_describe_copy(winner)} {why} ({hashes})"
    elif not here:
        yield "warning", f"the patched content would be loaded from elsewhere: {_describe_copy(winner)}"
    if facts.loaded and facts.loaded != winner.origin:
        yield "fail", f"{facts.loaded} is loaded already when the interpreter starts, before {winner.origin}"
    if winner.loader.rpartition(".")[2] not in _ORDINARY_LOADERS:
        yield "warning", f"{winner.origin} is loaded by {winner.loader}, which may change its code"
    yield from _check_compiled(winner)


def _check_compiled(winner: ModuleCopy) -> Iterator[Remark]:
    cached = winner.cached
    if cached is None or not cached.used:
        return
    if not cached.same:
        what = f"{cached.path} ({cached.kind}; {cached.why})"
        yield "fail", f"{what} would run instead of {winner.origin}: it is other code"
    elif cached.kind == "unchecked-hash":
        yield "note", f"{cached.path} is never compared with its source; it is equal now"


def _check_other(other: ModuleCopy, winner: ModuleCopy, wanted: Wanted, order: dict[str, int]) -> Remark:
    """A copy that loses. Before the winner on sys.path it loses by an accident of its parents: that is no proof."""
    ahead = f"{_describe_copy(other)} stands before the patched file on sys.path"
    if order.get(other.entry, len(order)) >= order.get(winner.entry, len(order)):
        return "note", f"another copy that is not loaded: {_describe_copy(other)}"
    if other.sha256 == wanted.sha256:
        return "warning", f"{ahead}, with the same code"
    return "fail", f"{ahead} with other code; it loses only because a folder above it has no __init__.py"


def _check_distributions(facts: ProbeFacts) -> Iterator[str]:
    if len(facts.distributions) > 1:
        listed = ", ".join(f"{item.version} in {item.location}" for item in facts.distributions)
        yield f"{len(facts.distributions)} installations of the distribution: {listed}"
    for distribution in facts.distributions:
        if distribution.editable:
            yield f"an editable installation of {distribution.origin or distribution.location}"


def _describe_copy(copy: ModuleCopy) -> str:
    by = {"finder": "by the finder ", "PYTHONPATH": "from PYTHONPATH ", ".pth line": "by a line of "}.get(copy.kind)
    return f"{copy.origin} ({by}{copy.detail})" if by else f"{copy.origin} ({copy.kind})"
