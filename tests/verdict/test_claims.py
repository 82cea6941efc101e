"""The three claims of verify, whole: what was found on one side, every word that is said of it on the other."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from backproof.core.model import Evidence, Finding, Outcome
from backproof.devices.check_result import CheckResult, Launch
from backproof.install.interpreter import (
    CachedFile,
    DistributionFacts,
    InterpreterFacts,
    ModuleCopy,
    ModuleFacts,
    PathEntry,
    ProbeFacts,
)
from backproof.install.overlay.journal import NOT_A_FILE
from backproof.records.proof import Claim, InstalledFile
from backproof.verdict.claims.complete import judge_complete
from backproof.verdict.claims.lines import ChangedLines, changed_lines
from backproof.verdict.claims.loaded import Wanted, judge_loaded
from backproof.verdict.claims.reached import LineReach, ReachRecord, Subject, compute_reach, judge_reached

RELEASE, PATCHED, OTHER = "1122334455667788" * 4, "0123456789abcdef" * 4, "fedcba9876543210" * 4
EVIDENCE = (Evidence(path="verify/found.json", sha256="e" * 64, claim="what was found", command="look"),)
HERE = "/site/demo/conv.py"
SAID_OF = "src/demo/conv.py"


def _file(name: str, *, before: str | None = RELEASE, after: str | None = PATCHED) -> InstalledFile:
    return InstalledFile(path=f"src/{name}", installed=f"/site/{name}", before=before, after=after)


def _fail(text: str, where: str = SAID_OF) -> Finding:
    return Finding(severity="fail", text=text, where=where)


def _warning(text: str, where: str = SAID_OF) -> Finding:
    return Finding(severity="warning", text=text, where=where)


UNREACHED = "changed, and not reached by the checks: add one that runs it, or name it in verify.reach"


def _note(text: str, where: str = "") -> Finding:
    return Finding(severity="note", text=text, where=where)


def test_complete_when_each_file_is_its_blob_and_the_deleted_one_is_gone() -> None:
    files = (_file("a.py"), _file("new.py", before=None), _file("gone.py", after=None))
    found = {"src/a.py": PATCHED, "src/new.py": PATCHED, "src/gone.py": None}
    assert judge_complete(files, found, evidence=EVIDENCE) == Claim(
        name="complete",
        sentence="all 3 files of the patch are installed, each equal to its git blob",
        outcome=Outcome.PASS,
        evidence=EVIDENCE,
    )


def test_one_file_is_told_as_one() -> None:
    whole = judge_complete((_file("a.py"),), {"src/a.py": PATCHED}, evidence=EVIDENCE)
    assert whole.sentence == "the one file of the patch is installed, equal to its git blob"
    without = judge_complete((_file("a.py"),), {"src/a.py": RELEASE}, evidence=EVIDENCE)
    assert without.sentence == "1 of 1 file lacks the patch: src/a.py"


def test_each_file_that_is_not_its_blob_is_said_with_what_it_is_instead() -> None:
    files = (
        _file("a.py"),
        _file("gone.py", after=None),
        _file("old.py"),
        _file("odd.py"),
        _file("right.py"),
        _file("linked.py"),
    )
    found = {
        "src/a.py": None,
        "src/gone.py": RELEASE,
        "src/old.py": RELEASE,
        "src/odd.py": OTHER,
        "src/right.py": PATCHED,
        "src/linked.py": NOT_A_FILE,
    }
    assert judge_complete(files, found, evidence=EVIDENCE) == Claim(
        name="complete",
        sentence="5 of 6 files lack the patch: src/a.py, src/gone.py, src/old.py, src/odd.py, src/linked.py",
        outcome=Outcome.FAIL,
        findings=(
            _fail("/site/a.py is missing", "src/a.py"),
            _fail("/site/gone.py is still there; the patch deletes it", "src/gone.py"),
            _fail("/site/old.py is still the release's own file, without the patch", "src/old.py"),
            _fail("/site/odd.py is neither the release's nor the patch's (SHA-256 fedcba987654)", "src/odd.py"),
            _fail("/site/linked.py is not a regular file", "src/linked.py"),
        ),
        evidence=EVIDENCE,
    )


def test_no_file_at_all_is_an_error_and_no_pass() -> None:
    assert judge_complete((), {}, evidence=EVIDENCE) == Claim(
        name="complete",
        sentence="no file of the patch is installed: nothing can be told",
        outcome=Outcome.ERROR,
        evidence=EVIDENCE,
    )


def _changed(changed: set[int], statement: dict[int, set[int]]) -> ChangedLines:
    return ChangedLines(
        changed=frozenset(changed),
        executable=frozenset(statement),
        in_functions=frozenset(),
        statement={line: frozenset(lines) for line, lines in statement.items()},
    )


CALL = b"x = dict(\n    a=1,\n    b=2,\n)\n"
COMPOUND = b"""\
def f(
    n,
):

    # a comment of the head
    for each in n:
        print(
            each,
        )
    return n
"""
CAUGHT = b"""\
@staticmethod
def f(n):
    try:
        return int(n)
    except ValueError:
        return 0
"""
MATCHED = b"""\
def f(n):
    match n:
        case 1:
            return 2
        case 3:
            return 4
"""
ANNOTATED = b"""\
def f(
    n: g,
):
    return n
"""
ONE_LINE = b"def f(n): return n\n"
BIG = b"x = 1\n" * 250


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(None, b"a = 1\n\nb = 2\n", _changed({1, 2, 3}, {1: {1}, 3: {3}}), id="a new file"),
        pytest.param(b"", b"a = 1\n", _changed({1}, {1: {1}}), id="an empty file that was"),
        pytest.param(b"a = 1\n", b"", _changed(set(), {}), id="an empty file that is"),
        pytest.param(b"a = 1\nb = 2\nc = 3\n", b"a = 1\nc = 3\n", _changed(set(), {}), id="a line less"),
        pytest.param(b"a = 1\nb = 2\nc = 3\n", b"a = 1\nb = 0\nc = 3\n", _changed({2}, {2: {2}}), id="the middle line"),
        pytest.param(
            b"b = 2\n", b"a = 1\nb = 2\nc = 3\n", _changed({1, 3}, {1: {1}, 3: {3}}), id="the first, the last"
        ),
        pytest.param(
            b"a = 1\r\nb = 2\r\n", b"a = 1\r\nb = 3\r\n", _changed({2}, {2: {2}}), id="lines that end with CR LF"
        ),
        pytest.param(b"a = 1\n", b"a = 1\n# b\n", _changed({2}, {}), id="a comment"),
        pytest.param(b"a = 1\n" + CALL, CALL + b"a = 1\n", _changed({5}, {5: {5}}), id="a line that moved"),
        pytest.param(CALL.replace(b"2", b"1"), CALL, _changed({3}, {3: {1, 2, 3, 4}}), id="a line inside a statement"),
        pytest.param(
            None, ANNOTATED, _changed({1, 2, 3, 4}, {1: {1, 2, 3}, 2: {1, 2, 3}, 4: {4}}), id="annotations run"
        ),
        pytest.param(
            None,
            COMPOUND,
            _changed(set(range(1, 11)), {1: {1, 2, 3, 4, 5}, 6: {6}, 7: {7, 8, 9}, 8: {7, 8, 9}, 10: {10}}),
            id="of a compound statement the head",
        ),
        pytest.param(
            None,
            CAUGHT,
            _changed(set(range(1, 7)), {1: {1}, 2: {2}, 3: {3}, 4: {4}, 5: {5}, 6: {6}}),
            id="a decorator and an except are lines of their own",
        ),
        pytest.param(
            None,
            MATCHED,
            _changed(set(range(1, 7)), {1: {1}, 2: {2}, 3: {3}, 4: {4}, 5: {5}, 6: {6}}),
            id="each case is a line of its own",
        ),
        pytest.param(None, ONE_LINE, _changed({1}, {1: {1}}), id="head and body in one line"),
        pytest.param(BIG, b"y = 2\n" + BIG, _changed({1}, {1: {1}}), id="a line that a large file repeats"),
    ],
)
def test_changed_lines(before: bytes | None, after: bytes, expected: ChangedLines) -> None:
    """Which lines are new or other, which of them have code, and what else belongs to their statement."""
    found = changed_lines(before, after)
    assert (found.changed, found.executable, found.statement) == (
        expected.changed,
        expected.executable,
        expected.statement,
    )


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (b"def f(:\n", "invalid syntax (<unknown>, line 1)"),
        (b"a = 1\nreturn a\n", "'return' outside function (<patched>, line 2)"),
    ],
)
def test_a_file_that_is_no_python_is_refused(after: bytes, why: str) -> None:
    with pytest.raises(SyntaxError) as caught:
        changed_lines(None, after)
    assert str(caught.value) == why


KERNEL = b"""\
import os

def kernel(x):
    y = x
    return y

def other(x):
    return x
"""


def _launch(first: int, last: int, *, source: bytes, file: str = "/site/k.py", count: int = 1) -> Launch:
    digest = hashlib.sha256(source).hexdigest()
    return Launch(kernel="k", file=file, first_line=first, last_line=last, source_sha256=digest, count=count)


OF_KERNEL = b"def kernel(x):\n    y = x\n    return y\n"


def _ways(*launches: Launch, executed: tuple[int, ...] = ()) -> str:
    """One letter per line with code (1, 3, 4, 5, 7, 8): executed, launched, not reached."""
    seen: list[CheckResult] = []
    seen.append(CheckResult(schema=2, nonce="n", reached={"/site/k.py": executed}, launches=launches))
    subject = Subject(path="k.py", installed="/site/k.py", before=None, after=KERNEL)
    found = compute_reach([subject], seen, checks=("c",), same_python=True)
    assert [each.line for each in found.lines] == [1, 3, 4, 5, 7, 8]
    return "".join(each.way[0] for each in found.lines)


def test_a_launch_stands_for_the_lines_of_its_source_and_for_no_other() -> None:
    kernel = _launch(3, 5, source=OF_KERNEL)
    assert _ways() == "nnnnnn"
    assert _ways(kernel) == "nlllnn"
    assert _ways(kernel, executed=(1, 3, 7)) == "eellen"
    assert _ways(kernel, _launch(7, 8, source=b"def other(x):\n    return x\n")) == "nlllll"
    assert _ways(_launch(8, 8, source=b"    return x\n")) == "nnnnnl"
    assert _ways(_launch(1, 1, source=b"import os\n")) == "lnnnnn"
    assert _ways(_launch(3, 5, source=OF_KERNEL, count=0)) == "nnnnnn"
    assert _ways(_launch(3, 5, source=OF_KERNEL, file="/site/other.py")) == "nnnnnn"
    assert _ways(_launch(3, 5, source=OF_KERNEL.replace(b"y = x", b"y = 0"))) == "nnnnnn"
    assert _ways(_launch(4, 5, source=OF_KERNEL)) == "nnnnnn"


def test_every_line_has_its_way_and_every_file_its_place_in_the_record() -> None:
    seen: list[CheckResult] = []
    seen.append(CheckResult(schema=2, nonce="n", reached={"/site/a.py": (1,), "/site/b.py": (2,)}))
    seen.append(CheckResult(schema=2, nonce="n", reached={"/site/a.py": (3,)}))
    after = b"a = 1\nb = 2\nc = 3\n"
    subjects = [
        Subject(path="src/a.py", installed="/site/a.py", before=b"b = 2\n", after=after),
        Subject(path="src/broken.py", installed="/site/broken.py", before=None, after=b"a = 1\nreturn a\n"),
        Subject(path="src/said.py", installed="/site/said.py", before=b"a = 1\n", after=b"a = 1\n# so\n"),
        Subject(path="src/b.py", installed="/site/b.py", before=None, after=after),
    ]
    assert compute_reach(subjects, seen, checks=["one", "two"], same_python=True) == ReachRecord(
        checks=("one", "two"),
        lines=(
            LineReach(path="src/a.py", line=1, way="executed"),
            LineReach(path="src/a.py", line=3, way="executed"),
            LineReach(path="src/b.py", line=1, way="not reached"),
            LineReach(path="src/b.py", line=2, way="executed"),
            LineReach(path="src/b.py", line=3, way="not reached"),
        ),
        without_code=("src/said.py",),
        unreadable=("src/broken.py: 'return' outside function (<patched>, line 2)",),
    )


def test_under_another_python_a_case_that_did_not_match_stays_unreached() -> None:
    """One line of a statement stands for the others of it; the lines of another case are no lines of it."""
    seen: list[CheckResult] = []
    seen.append(CheckResult(schema=2, nonce="n", reached={"/site/m.py": (1, 2, 3, 4)}))
    subject = Subject(path="m.py", installed="/site/m.py", before=None, after=MATCHED)
    found = compute_reach([subject], seen, checks=("c",), same_python=False)
    assert {each.line: each.way for each in found.lines if each.way != "executed"} == {
        5: "not reached",
        6: "not reached",
    }


def _record(*ways: str, **more: Any) -> ReachRecord:
    lines = tuple(LineReach.model_validate({"path": "a.py", "line": n, "way": way}) for n, way in enumerate(ways, 1))
    return ReachRecord(checks=("one", "two"), lines=lines, **more)


def _unreached(*lines: int) -> tuple[Finding, ...]:
    return tuple(_warning(UNREACHED, f"a.py:{line}") for line in lines)


NONE = "not reached"
EIGHT = "a.py:1, a.py:2, a.py:3, a.py:4, a.py:5, a.py:6, a.py:7, a.py:8"


@pytest.mark.parametrize(
    ("record", "outcome", "sentence", "findings"),
    [
        (
            _record("executed", "launched", "executed"),
            Outcome.PASS,
            "all 3 changed lines of code are reached by one, two: 2 executed, 1 in kernels launched from the same source",
            (),
        ),
        (
            _record("launched"),
            Outcome.PASS,
            "the one changed line of code is reached by one, two: 0 executed, 1 in kernels launched from the same source",
            (),
        ),
        (
            _record(NONE),
            Outcome.INCONCLUSIVE,
            "1 of 1 changed line of code is not reached by one, two: a.py:1",
            _unreached(1),
        ),
        (
            _record("executed", NONE, "launched", NONE, unreadable=("b.py: odd",), without_code=("c.py",)),
            Outcome.INCONCLUSIVE,
            "2 of 4 changed lines of code are not reached by one, two: a.py:2, a.py:4",
            (
                *_unreached(2, 4),
                _warning("cannot be read by our Python: b.py: odd", ""),
                _note("the patch leaves no changed line with code there", "c.py"),
            ),
        ),
        (
            _record(*[NONE] * 8),
            Outcome.INCONCLUSIVE,
            f"8 of 8 changed lines of code are not reached by one, two: {EIGHT}",
            _unreached(*range(1, 9)),
        ),
        (
            _record(*[NONE] * 9),
            Outcome.INCONCLUSIVE,
            f"9 of 9 changed lines of code are not reached by one, two: {EIGHT} and 1 more",
            _unreached(*range(1, 10)),
        ),
        (
            _record("executed", unreadable=("b.py: odd", "c.py: odder")),
            Outcome.ERROR,
            "the changed lines cannot be told: b.py: odd",
            (
                _warning("cannot be read by our Python: b.py: odd", ""),
                _warning("cannot be read by our Python: c.py: odder", ""),
            ),
        ),
        (
            _record(without_code=("b.py", "c.py")),
            Outcome.INCONCLUSIVE,
            "the patch changes no line of code that could be reached",
            (
                _note("the patch leaves no changed line with code there", "b.py"),
                _note("the patch leaves no changed line with code there", "c.py"),
            ),
        ),
    ],
    ids=["all", "one", "one missed", "some", "eight", "nine", "unreadable", "nothing"],
)
def test_what_is_said_of_the_reached_lines(
    record: ReachRecord, outcome: Outcome, sentence: str, findings: tuple[Finding, ...]
) -> None:
    assert judge_reached(record, evidence=EVIDENCE) == Claim(
        name="reached", sentence=sentence, outcome=outcome, findings=findings, evidence=EVIDENCE
    )


def _copy(origin: str = HERE, sha256: str = PATCHED, **more: Any) -> ModuleCopy:
    plain: dict[str, Any] = {
        "loader": "importlib._bootstrap_external.SourceFileLoader",
        "entry": "/site",
        "kind": "site-packages",
        "detail": "/site",
        "cached": None,
    }
    return ModuleCopy(origin=origin, sha256=sha256, **{**plain, **more})


def _cached(kind: str, *, used: bool = True, same: bool | None = True) -> CachedFile:
    found = {"path": "/site/c.pyc", "kind": kind, "used": used, "same": same, "why": "as it says"}
    return CachedFile.model_validate(found)


def _module(
    winner: ModuleCopy | None,
    *others: ModuleCopy,
    name: str = "demo.conv",
    loaded_from: str = "",
    problems: tuple[str, ...] = (),
) -> ModuleFacts:
    path = f"src/{name.replace('.', '/')}.py"
    return ModuleFacts(name=name, path=path, winner=winner, others=others, loaded=loaded_from, problems=problems)


def _facts(
    *modules: ModuleFacts,
    path: tuple[str, ...] = ("/first", "/site", "/last"),
    found: tuple[DistributionFacts, ...] = (),
) -> ProbeFacts:
    words = dict.fromkeys(set(InterpreterFacts.model_fields) - {"flags", "lacks"}, "")
    return ProbeFacts(
        interpreter=InterpreterFacts.model_validate({**words, "flags": {}, "lacks": ()}),
        path=tuple(PathEntry(entry=each, kind="", detail="") for each in path),
        distributions=found,
        modules=modules,
    )


def _wanted(sha256: str | None = PATCHED, *names: str) -> dict[str, Wanted]:
    names = names or ("demo.conv",)
    return {
        name: Wanted(path=f"src/{(stem := name.replace('.', '/'))}.py", installed=f"/site/{stem}.py", sha256=sha256)
        for name in names
    }


FIRST = {"entry": "/first", "kind": "PYTHONPATH", "detail": "/first"}
LAST = {"entry": "/last", "kind": ".pth line", "detail": "/site/last.pth"}
FINDER = {"entry": "", "kind": "finder", "detail": "acme.Finder"}
SHADOW, BEHIND = "/first/demo/conv.py", "/last/demo/conv.py"
AHEAD = f"{SHADOW} (from PYTHONPATH /first) stands before the patched file on sys.path"


@pytest.mark.parametrize(
    ("module", "sha256", "findings"),
    [
        pytest.param(_module(_copy()), PATCHED, (), id="the patched file"),
        pytest.param(
            _module(_copy(), problems=("odd", "odder")), PATCHED, (_warning("odd"), _warning("odder")), id="problems"
        ),
        pytest.param(_module(None), None, (), id="deleted and gone"),
        pytest.param(
            _module(_copy(sha256=RELEASE), _copy(BEHIND, **LAST), problems=("odd",)),
            None,
            (_warning("odd"), _fail(f"the patch deletes demo.conv, but {HERE} (site-packages) would still be loaded")),
            id="deleted and there",
        ),
        pytest.param(
            _module(None, _copy(BEHIND, **LAST)),
            PATCHED,
            (_fail("demo.conv would not be found by the import system"),),
            id="not found",
        ),
        pytest.param(
            _module(_copy(sha256=OTHER)),
            PATCHED,
            (
                _fail(
                    f"{HERE} (site-packages) is not the patched file (SHA-256 fedcba987654, the patch has 0123456789ab)"
                ),
            ),
            id="other content",
        ),
        pytest.param(
            _module(_copy(SHADOW, OTHER, **FIRST), _copy()),
            PATCHED,
            (
                _fail(
                    f"{SHADOW} (from PYTHONPATH /first) shadows the patched file {HERE} "
                    "(SHA-256 fedcba987654, the patch has 0123456789ab)"
                ),
                _note(f"another copy that is not loaded: {HERE} (site-packages)", SAID_OF),
            ),
            id="a shadow",
        ),
        pytest.param(
            _module(_copy("/e/conv.py", **FINDER)),
            PATCHED,
            (_warning("the patched content would be loaded from elsewhere: /e/conv.py (by the finder acme.Finder)"),),
            id="the same content from elsewhere",
        ),
        pytest.param(_module(_copy(), loaded_from=HERE), PATCHED, (), id="loaded at start, the same"),
        pytest.param(
            _module(_copy(), loaded_from="/start/conv.py"),
            PATCHED,
            (_fail(f"/start/conv.py is loaded already when the interpreter starts, before {HERE}"),),
            id="loaded at start, another",
        ),
        pytest.param(_module(_copy(loader="zipimport.zipimporter")), PATCHED, (), id="from an archive"),
        pytest.param(
            _module(_copy(loader="acme.SourceFileLoader.Odd")),
            PATCHED,
            (_warning(f"{HERE} is loaded by acme.SourceFileLoader.Odd, which may change its code"),),
            id="a loader of its own",
        ),
        pytest.param(
            _module(_copy(cached=_cached("timestamp", same=False))),
            PATCHED,
            (_fail(f"/site/c.pyc (timestamp; as it says) would run instead of {HERE}: it is other code"),),
            id="compiled from other code",
        ),
        pytest.param(
            _module(_copy(cached=_cached("unchecked-hash", same=None))),
            PATCHED,
            (_fail(f"/site/c.pyc (unchecked-hash; as it says) would run instead of {HERE}: it is other code"),),
            id="compiled from code that nobody knows",
        ),
        pytest.param(
            _module(_copy(cached=_cached("unchecked-hash"))),
            PATCHED,
            (_note("/site/c.pyc is never compared with its source; it is equal now", SAID_OF),),
            id="compiled and never compared",
        ),
        pytest.param(_module(_copy(cached=_cached("timestamp"))), PATCHED, (), id="compiled from the same"),
        pytest.param(
            _module(_copy(cached=_cached("foreign", used=False, same=None))), PATCHED, (), id="compiled, unused"
        ),
        pytest.param(
            _module(_copy(), _copy(SHADOW, RELEASE, **FIRST)),
            PATCHED,
            (_fail(f"{AHEAD} with other code; it loses only because a folder above it has no __init__.py"),),
            id="other code ahead",
        ),
        pytest.param(
            _module(_copy(), _copy(SHADOW, **FIRST)), PATCHED, (_warning(f"{AHEAD}, with the same code"),), id="ahead"
        ),
        pytest.param(
            _module(_copy(), _copy(BEHIND, RELEASE, **LAST), _copy("/site/demo/conv/__init__.py", RELEASE)),
            PATCHED,
            (
                _note(f"another copy that is not loaded: {BEHIND} (by a line of /site/last.pth)", SAID_OF),
                _note("another copy that is not loaded: /site/demo/conv/__init__.py (site-packages)", SAID_OF),
            ),
            id="copies behind, and beside",
        ),
        pytest.param(
            _module(_copy(BEHIND, **LAST), _copy("/e/conv.py", RELEASE, **FINDER)),
            PATCHED,
            (
                _warning(f"the patched content would be loaded from elsewhere: {BEHIND} (by a line of /site/last.pth)"),
                _note("another copy that is not loaded: /e/conv.py (by the finder acme.Finder)", SAID_OF),
            ),
            id="a finder comes after every entry",
        ),
        pytest.param(
            _module(_copy("/e/conv.py", **FINDER), _copy(BEHIND, **LAST)),
            PATCHED,
            (
                _warning("the patched content would be loaded from elsewhere: /e/conv.py (by the finder acme.Finder)"),
                _warning(
                    f"{BEHIND} (by a line of /site/last.pth) stands before the patched file on sys.path, "
                    "with the same code"
                ),
            ),
            id="an entry comes before every finder",
        ),
    ],
)
def test_what_is_said_of_a_module(module: ModuleFacts, sha256: str | None, findings: tuple[Finding, ...]) -> None:
    bad = [each.text for each in findings if each.severity == "fail"]
    assert judge_loaded(_facts(module), _wanted(sha256), more=(), evidence=EVIDENCE) == Claim(
        name="loaded",
        sentence=f"not the patched code would be loaded: {bad[0]}"
        if bad
        else "the one module of the patch would be loaded from the patched files",
        outcome=Outcome.FAIL if bad else Outcome.PASS,
        findings=findings,
        evidence=EVIDENCE,
    )


@pytest.mark.parametrize(
    "path", [("/site", "/first"), ("/last", "/last", "/last", "/site"), ("/site", "/first", "/site")]
)
def test_an_entry_of_the_path_counts_where_it_is_first(path: tuple[str, ...]) -> None:
    """Entries that are there twice move nothing: what stands behind the patched file, or nowhere, is only a note."""
    copies = (_copy(SHADOW, RELEASE, **FIRST), _copy("/e/conv.py", RELEASE, **FINDER))
    found = judge_loaded(_facts(_module(_copy(), *copies), path=path), _wanted(), more=(), evidence=())
    assert [each.severity for each in found.findings] == ["note", "note"]


def test_the_first_of_several_failures_is_the_sentence_and_each_is_said_once() -> None:
    """Two modules tell of the same parent; what the host knows beside comes last."""
    modules = (
        _module(_copy(), problems=("the parent is odd",)),
        _module(None, name="demo.rows", problems=("the parent is odd",)),
        _module(None, name="demo.more"),
    )
    more = (_warning("an old process", "python"), _fail("demo.more would not be found by the import system", "late"))
    wanted = _wanted(PATCHED, "demo.conv", "demo.rows", "demo.more")
    assert judge_loaded(_facts(*modules), wanted, more=more, evidence=EVIDENCE) == Claim(
        name="loaded",
        sentence="not the patched code would be loaded: demo.rows would not be found by the import system",
        outcome=Outcome.FAIL,
        findings=(
            _warning("the parent is odd", "src/demo/rows.py"),
            _fail("demo.rows would not be found by the import system", "src/demo/rows.py"),
            _fail("demo.more would not be found by the import system", "late"),
            _warning("an old process", "python"),
        ),
        evidence=EVIDENCE,
    )


def _distribution(version: str, location: str, *, editable: bool = False, origin: str = "") -> DistributionFacts:
    words = dict.fromkeys(("folder", "installer", "record_sha256", "metadata_sha256"), "")
    return DistributionFacts(
        version=version, location=location, editable=editable, origin=origin, scripts=(), entry_points=(), **words
    )


def test_what_is_said_of_the_installations_of_the_distribution() -> None:
    one = _distribution("1.0", "/site")
    more = (_distribution("0.9", "/old", editable=True), _distribution("2.0", "/e", editable=True, origin="/checkout"))
    said = [
        judge_loaded(_facts(_module(_copy()), found=each), _wanted(), more=(), evidence=())
        for each in ((one,), (one, *more))
    ]
    assert [each.outcome for each in said] == [Outcome.PASS, Outcome.PASS]
    assert [each.findings for each in said] == [
        (),
        (
            _warning("3 installations of the distribution: 1.0 in /site, 0.9 in /old, 2.0 in /e", ""),
            _warning("an editable installation of /old", ""),
            _warning("an editable installation of /checkout", ""),
        ),
    ]


def test_no_module_at_all_is_an_error_and_no_pass() -> None:
    assert judge_loaded(_facts(), {}, more=(), evidence=EVIDENCE) == Claim(
        name="loaded",
        sentence="the patch has no module that could be loaded: nothing can be told",
        outcome=Outcome.ERROR,
        evidence=EVIDENCE,
    )
