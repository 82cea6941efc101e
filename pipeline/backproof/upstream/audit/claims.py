"""What a pull request says of its own validation, quoted, and whether the original says the same. Pure functions."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Literal

from backproof.records.audit import ValidationClaim

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["not-run", "ci-only", "device", "numbers"]

_RAN = r"(?:run|runs|ran|test|tests|tested|verified|validated|performed|executed|benchmarked|reproduced)"
_PATTERNS: dict[Kind, re.Pattern[str]] = {
    "not-run": re.compile(
        rf"\b(?:no|not|never|without|cannot|untested|unverified|\w+n['’]t)\b.{{0,60}}?\b{_RAN}\b"
        r"|\b(?:untested|unverified|not yet (?:run|tested))\b|(?:未|没有|尚未|无法).{0,20}(?:验证|测试|运行|执行)",
        re.IGNORECASE,
    ),
    "ci-only": re.compile(
        r"\bCI\b.{0,40}\b(?:only|vehicle|validat\w+|cover\w*)\b|\b(?:only|relies on|rely on)\b.{0,30}\bCI\b"
        r"|(?:仅|只).{0,10}CI",
        re.IGNORECASE,
    ),
    "device": re.compile(
        r"\b(?:Ascend[ -]?\d{3}\w{0,8}|Atlas[ -]?\d{3}\w?(?: ?[IT] ?)?(?: ?A\d)?|910[A-D]?\d?(?:_\w{1,8})?|310P\d?"
        r"|A[235](?= |\b[^\w])|[AHBL]\d{2,3}(?:SXM|S)?|MI[23]\d{2}\w?|Gaudi ?\d?|TPU ?v\d\w?)\b"
    ),
    "numbers": re.compile(
        r"\b\d+ ?/ ?\d+\b|\b\d+(?: ?\+ ?\d+)? ?(?:unit |e2e )?(?:tests?|cases?|requests?|passed|failed|healthy)\b",
        re.IGNORECASE,
    ),
}
_ENDS = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_HIDDEN = re.compile(r"<!--.*?-->", re.DOTALL)
_QUOTE = 400
_MOST = 40
_ALIKE = 0.9


def find_claims(text: str, original: str | None) -> tuple[ValidationClaim, ...]:
    """Sentences about validation. With the original's text, those it also has are marked inherited."""
    known = [_strip_markup(item) for item in _split_sentences(original or "")]
    found = [
        ValidationClaim(kinds=kinds, quote=sentence[:_QUOTE], inherited=_is_alike(_strip_markup(sentence), known))
        for sentence in _split_sentences(text)
        if (kinds := _find_kinds(sentence))
    ]
    return tuple(found[:_MOST])


def _find_kinds(sentence: str) -> tuple[Kind, ...]:
    """A bare fraction or a bare device name is no claim; numbers need a word of running, and so do devices."""
    kinds: tuple[Kind, ...] = tuple(kind for kind, pattern in _PATTERNS.items() if pattern.search(sentence))
    strong = {"not-run", "ci-only"} & set(kinds)
    about = re.search(
        rf"\b(?:{_RAN}|pass(?:ed|es)?|fail(?:ed|ures?)?|healthy)\b|验证|测试|通过", sentence, re.IGNORECASE
    )
    return kinds if strong or about else ()


def _split_sentences(text: str) -> Iterator[str]:
    for part in _ENDS.split(_HIDDEN.sub(" ", text[:60_000])):
        line = " ".join(part.split()).lstrip("#>*-+ ")
        if 8 <= len(line) <= 2000:
            yield line


def _strip_markup(sentence: str) -> str:
    return re.sub(r"[\W_]+", " ", sentence).strip().lower()


def _is_alike(sentence: str, known: list[str]) -> bool:
    return any(
        sentence == item or (len(sentence) > 20 and difflib.SequenceMatcher(None, sentence, item).ratio() >= _ALIKE)
        for item in known[:400]
    )
