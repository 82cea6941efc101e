"""Claim 1: the modules that the import system would load are the patched files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.core.model import Evidence, Finding, Outcome
from backproof.core.plural import format_all
from backproof.records.proof import Claim

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backproof.install.interpreter import ModuleCopy, ModuleFacts, ProbeFacts

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
    findings = [found for module in facts.modules for found in _check_module(module, wanted[module.name], order)]
    # A parent package is met on the way to each of its modules: said once.
    findings = list(
        {
            (finding.severity, finding.text): finding for finding in (*findings, *_check_distributions(facts), *more)
        }.values()
    )
    bad = [finding for finding in findings if finding.severity == "fail"]
    outcome = Outcome.FAIL if bad else Outcome.PASS if facts.modules else Outcome.ERROR
    return Claim(
        name="loaded",
        sentence=_write_sentence(len(facts.modules), bad),
        outcome=outcome,
        findings=tuple(findings),
        evidence=evidence,
    )


def _write_sentence(count: int, bad: list[Finding]) -> str:
    if bad:
        return f"not the patched code would be loaded: {bad[0].text}"
    if not count:
        return "the patch has no module that could be loaded: nothing can be told"
    return f"{format_all(count, 'module')} of the patch would be loaded from the patched files"


def _check_module(facts: ModuleFacts, wanted: Wanted, order: dict[str, int]) -> Iterator[Finding]:
    yield from (_make_warning(facts, text) for text in facts.problems)
    winner = facts.winner
    if wanted.sha256 is None:
        if winner is not None:
            yield _make_failure(
                facts, f"the patch deletes {facts.name}, but {_describe_copy(winner)} would still be loaded"
            )
        return
    if winner is None:
        yield _make_failure(facts, f"{facts.name} would not be found by the import system")
        return
    yield from _check_winner(facts, winner, wanted, wanted.sha256)
    for other in facts.others:
        yield from _check_others(facts, other, winner, wanted, order)


def _check_winner(facts: ModuleFacts, winner: ModuleCopy, wanted: Wanted, sha256: str) -> Iterator[Finding]:
    here = winner.origin == wanted.installed
    if winner.sha256 != sha256:
        why = "is not the patched file" if here else f"shadows the patched file {wanted.installed}"
        yield _make_failure(
            facts, f"{_describe_copy(winner)} {why} (SHA-256 {winner.sha256[:12]}, the patch has {sha256[:12]})"
        )
    elif not here:
        yield _make_warning(facts, f"the patched content would be loaded from elsewhere: {_describe_copy(winner)}")
    if facts.loaded and facts.loaded != winner.origin:
        yield _make_failure(
            facts, f"{facts.loaded} is loaded already when the interpreter starts, before {winner.origin}"
        )
    if winner.loader.rpartition(".")[2] not in _ORDINARY_LOADERS:
        yield _make_warning(facts, f"{winner.origin} is loaded by {winner.loader}, which may change its code")
    yield from _check_compiled(facts, winner)


def _check_compiled(facts: ModuleFacts, winner: ModuleCopy) -> Iterator[Finding]:
    cached = winner.cached
    if cached is None or not cached.used:
        return
    if not cached.same:
        yield _make_failure(
            facts, f"{cached.path} ({cached.kind}; {cached.why}) would run instead of {winner.origin}: it is other code"
        )
    elif cached.kind == "unchecked-hash":
        yield Finding(severity="note", text=f"{cached.path} is never compared with its source; it is equal now")


def _check_others(
    facts: ModuleFacts, other: ModuleCopy, winner: ModuleCopy, wanted: Wanted, order: dict[str, int]
) -> Iterator[Finding]:
    """A copy that loses. Before the winner on sys.path it loses by an accident of its parents: that is no proof."""
    ahead = order.get(other.entry, len(order)) < order.get(winner.entry, len(order))
    if ahead and other.sha256 != wanted.sha256:
        yield _make_failure(
            facts,
            f"{_describe_copy(other)} stands before the patched file on sys.path with other code; "
            "it loses only because a folder above it has no __init__.py",
        )
    elif ahead:
        yield _make_warning(
            facts, f"{_describe_copy(other)} stands before the patched file on sys.path, with the same code"
        )
    else:
        yield Finding(
            severity="note", text=f"another copy that is not loaded: {_describe_copy(other)}", where=facts.path
        )


def _check_distributions(facts: ProbeFacts) -> Iterator[Finding]:
    if len(facts.distributions) > 1:
        listed = ", ".join(f"{item.version} in {item.location}" for item in facts.distributions)
        yield Finding(
            severity="warning", text=f"{len(facts.distributions)} installations of the distribution: {listed}"
        )
    for distribution in facts.distributions:
        if distribution.editable:
            yield Finding(
                severity="warning", text=f"an editable installation of {distribution.origin or distribution.location}"
            )


def _describe_copy(copy: ModuleCopy) -> str:
    by = {"finder": "by the finder ", "PYTHONPATH": "from PYTHONPATH ", ".pth line": "by a line of "}.get(copy.kind)
    return f"{copy.origin} ({by}{copy.detail})" if by else f"{copy.origin} ({copy.kind})"


def _make_failure(facts: ModuleFacts, text: str) -> Finding:
    return Finding(severity="fail", text=text, where=facts.path)


def _make_warning(facts: ModuleFacts, text: str) -> Finding:
    return Finding(severity="warning", text=text, where=facts.path)
