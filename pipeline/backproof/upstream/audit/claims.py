"""What a pull request says of its own validation, quoted, and whether the original says the same. Pure functions."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Literal

from backproof.records.audit import ValidationClaim
from backproof.upstream.audit.answers import answer_claim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.rundir.loaded_run import LoadedRun

Kind = Literal["not-run", "ci-only", "device", "numbers", "ran"]

_RAN = r"(?:run|runs|ran|test|tests|tested|verified|validated|performed|executed|benchmarked|reproduced)"
_PASSED = r"(?:pass(?:ed|es|ing)?|failed|healthy|succeed(?:ed|s)?|green)"
_CI = "(?-i:CI)"
# Not \b at a name: a Chinese letter beside it is a letter, too.
_DEVICE = (
    r"(?<![A-Za-z0-9.\[])(?:Ascend[ -]?(?:\d{3}\w{0,8}|NPUs?|hardware|devices?)|Atlas[ -]?(?:\d{3}\w?(?: ?[IT] ?)?(?: ?A\d)?|A\d)|910[A-D]?\d?[A-Z]?(?:_\w{1,8})?"
    r"|310P\d?|A[235]|[AHBL]\d{2,3}(?:SXM|S)?|MI[23]\d{2}\w?|Gaudi ?\d?|TPU ?v\d\w?)(?![A-Za-z0-9]|-\w)"
)
# A part of a version is no count ("0.27.1 test-path"), and a date is no fraction.
_COUNT = r"(?<![\w./-])\d[\d,]*(?: ?(?:\+|of|out of|/) ?\d[\d,]*)?"
_PATTERNS: dict[Kind, re.Pattern[str]] = {
    "not-run": re.compile(
        rf"\b(?:no|not|never|without|cannot|untested|unverified|\w+n['’]t)\b.{{0,60}}?\b{_RAN}\b"
        r"|\b(?:untested|unverified|not yet (?:run|tested)|(?:verification|validation|tests?)\b.{0,60}\bpending)\b|(?:未|没有|尚未|无法).{0,20}(?:验证|测试|运行|执行)",
        re.IGNORECASE,
    ),
    "ci-only": re.compile(
        rf"\b{_CI}\b.{{0,40}}\b(?:only|vehicle|validat\w+|cover\w*|pass\w*)\b"
        rf"|\b(?:only|relies on|rely on|(?:delegated|left) to|by|with|through)\b.{{0,30}}\b{_CI}\b(?![/-])"
        rf"|(?:仅|只|由|经|通过).{{0,10}}{_CI}(?![/-])|{_CI}.{{0,10}}(?:通过|验证|覆盖)",
        re.IGNORECASE,
    ),
    "device": re.compile(_DEVICE),
    "numbers": re.compile(
        rf"{_COUNT} ?(?:(?:unit|e2e|new|existing|focused|targeted|相关)[ -])?(?:tests?|cases?|requests?|checks?|passed|failed|healthy|skipped)\b(?!-)"
        rf"|{_COUNT} ?[个条项].{{0,6}}(?:用例|测试|请求|通过)|(?:通过|成功|失败) ?{_COUNT}|(?<![\w./-])\d+ ?/ ?\d+(?![\w./])"
        r"|\bHTTP(?:/\d(?:\.\d)?)? ?(?:code |status )?[1-5]\d\d\b"
        r"|(?<![\w.])\d[\d,]*(?:\.\d+)? ?(?:tok(?:en)?s?/s|req(?:uest)?s?/s|it/s|[QT]PS\b|ms\b|%)",
        re.IGNORECASE,
    ),
}
_NAMES = r"^\W*(?:hardware|devices?|machine|platform)\W*[:：=]|硬件"
_DONE = rf"\b(?:ran|run on|tested|verified|validated|performed|executed|benchmarked|reproduced|validation used|{_PASSED})\b|验证|测试|通过|{_NAMES}"
_ABOUT: dict[Kind, re.Pattern[str]] = {
    "device": re.compile(_DONE, re.IGNORECASE),
    "numbers": re.compile(
        rf"{_DONE}|\b(?:{_RAN}|throughput|latency|TTFT|TPOT|ITL|accuracy|speed-?up|HTTP)\b|吞吐|精度|时延",
        re.IGNORECASE,
    ),
}
"""What makes the name of a device, or a number, a claim."""
_WAS = re.compile(
    r"(?:\b(?:tests?|checks?|pytest|suite|hooks?|e2e|serving|py_compile|ruff|mypy|test_\w+)|\.py)\b.{0,80}\b(?:pass(?:ed|es)|succeeded|green)\b"
    r"|^\W*(?:locally |manually )?(?:tested|verified|validated)\b|\b(?:was|were|been) (?:\w+ )?(?:tested|verified)\b|(?:验证|测试).{0,4}通过",
    re.IGNORECASE,
)
"""A claim without a device or a number."""
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
_HIDDEN = re.compile(
    r"<!--.*?-->|^ {0,3}(?:co-authored-by|signed-off-by):[^\n]*|^- vLLM (?:version|main):[^\n]*",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_QUOTE = 400
_MOST = 40
_ALIKE = 0.9


def find_claims(text: str, original: str | None, run: LoadedRun | None = None) -> tuple[ValidationClaim, ...]:
    """Return sentences about validation.

    Args:
        text: of the pull request.
        original: of the original pull request; what it says, too, is marked inherited.
        run: each claim is held to it.
    """
    known = [_strip_markup(item) for item in _split_sentences(original or "")]
    claims = [
        ValidationClaim(
            kinds=kinds,
            quote=sentence[:_QUOTE],
            inherited=_is_alike(_strip_markup(sentence), known),
            answer=answer_claim(sentence, kinds, _list_devices(sentence), run) if run else None,
        )
        for sentence in _split_sentences(text)
        if (kinds := _find_kinds(sentence))
    ]
    return tuple(claims[:_MOST])


def _find_kinds(sentence: str) -> tuple[Kind, ...]:
    """A bare fraction or a bare device name is no claim; numbers need a word of running, and so do devices."""
    if sentence.endswith(("?", "？")):
        return ()
    kinds: tuple[Kind, ...] = tuple(
        kind
        for kind, pattern in _PATTERNS.items()
        if pattern.search(sentence) and (kind not in _ABOUT or _ABOUT[kind].search(sentence))
    )
    return kinds or (("ran",) if _WAS.search(sentence) else ())


def _list_devices(sentence: str) -> tuple[str, ...]:
    return tuple(match[0] for match in _PATTERNS["device"].finditer(sentence))


def _split_sentences(text: str) -> Iterator[str]:
    for part in _ENDS.split(_HIDDEN.sub(" ", text[:60_000])):
        line = " ".join(part.split()).lstrip("#>*-+ ")
        if 6 <= len(line) <= 2000:
            yield line


def _strip_markup(sentence: str) -> str:
    return re.sub(r"[\W_]+", " ", sentence).strip().lower()


def _is_alike(sentence: str, known: list[str]) -> bool:
    return any(
        sentence == item or (len(sentence) > 20 and difflib.SequenceMatcher(None, sentence, item).ratio() >= _ALIKE)
        for item in known[:400]
    )
