"""The chain of claims, excerpts of evidence, and the patch beside upstream's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.core.model import Outcome
from backproof.report import render
from backproof.report.exhibits import NOT_TEXT, Exhibits, read_excerpt
from backproof.report.patch_diff import pair_files
from backproof.report.view import RunView
from pages import Reader, page
from run_kinds import load_judged
from stories import FIXED, PICKED, Folder, plan, proved

if TYPE_CHECKING:
    from repositories import Repository

HUNK = "@@ -{line} +{line} @@ def rows():\n-x = -1\n+x = {value}\n"


def mail(sha: str, **files: str) -> str:
    parts = [
        f"diff --git a/{name}.py b/{name}.py\n--- a/{name}.py\n+++ b/{name}.py\n{text}" for name, text in files.items()
    ]
    return f"From {sha} Mon Sep 17 00:00:00 2001\nSubject: rows\n\n---\n{''.join(parts)}\n"


def test_each_evidence_stands_once_under_the_narrowest_claim(tmp_path: Path) -> None:
    view = RunView(loaded=load_judged(proved(tmp_path)))
    exhibits = Exhibits(view)
    parts = [
        evidence for stage in view.stages for evidence in (stage.result.evidence, *(p.evidence for p in stage.parts))
    ]
    shown = [item for evidence in parts for item in exhibits.take(evidence)]
    assert sorted(item.number for item in shown) == list(range(1, len(view.run.evidence) + 1))
    verify = next(stage for stage in view.stages if stage.result.stage == "verify")
    assert [part.name for part in verify.parts] == ["loaded", "complete", "reached"]
    text = Reader(page(proved(tmp_path / "again"))).text
    assert re.search(r"pass loaded .*\s+Rests on e\d+\s+e\d+ shows that it is loaded", text)


def test_a_claim_opens_to_command_hash_and_excerpt(tmp_path: Path) -> None:
    text = Reader(page(proved(tmp_path))).text
    assert re.search(
        r'e\d+ shows that it is loaded\s+Command probe\s+File verify/loaded.json\s+SHA-256 [0-9a-f]{64}\s+"loaded"',
        text,
    )


def test_nothing_is_quoted_from_altered_evidence_and_its_claim_is_not_repeated(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    (tmp_path / "verify/loaded.json").write_text("a lie")
    loaded = load_judged(folder)
    made = Reader(render.render_page(loaded, plan())).text
    assert "a lie" not in made
    assert re.search(r"error loaded\s+evidence missing or altered", made)
    assert re.search(r"pass complete\s+complete: 1 of 1 files", made)
    view = RunView(loaded=loaded)
    assert [item.holds for item in Exhibits(view).take(view.claims[0].evidence)] == [False]
    assert next(stage for stage in view.stages if stage.result.stage == "pick").outcome is Outcome.PASS


def test_an_excerpt_has_the_end_of_a_long_file_and_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "long.log").write_text("".join(f"line {n}\n" for n in range(1000)))
    text = read_excerpt(str(tmp_path), "long.log")
    assert text.startswith("line 0\n")
    assert text.endswith("line 999\n")
    assert "bytes not shown" in text
    assert len(text) < 1800
    (tmp_path / "data").write_bytes(b"\x7fELF\0\0")
    assert read_excerpt(str(tmp_path), "data") == NOT_TEXT
    assert read_excerpt(str(tmp_path), "gone") == ""


@pytest.mark.parametrize("separator", ["\n", " ", '","'])
@pytest.mark.parametrize("shift", range(0, 40, 7))
def test_an_excerpt_cuts_no_word_in_two(tmp_path: Path, separator: str, shift: int) -> None:
    """Half a path or half a secret is one that no mask knows."""
    word = "/data/of/somebody/ghp_0123456789"
    (tmp_path / "long.log").write_text("x" * shift + separator + separator.join([word] * 100))
    text = read_excerpt(str(tmp_path), "long.log")
    assert text.count(word) > 30
    rest = re.sub(r"… \d+ bytes not shown …", "", text.replace(word, ""))
    assert set(rest) <= {*separator, "x", "\n"}


def test_sides_tell_same_adapted_dropped_added_and_fix_up_apart() -> None:
    theirs = mail(
        "1" * 40, a=HUNK.format(line=1, value="n"), b=HUNK.format(line=1, value="n"), note="@@ -0,0 +1 @@\n+n\n"
    )
    ours = mail(
        PICKED, a=HUNK.format(line=9, value="n"), b=HUNK.format(line=9, value="m"), c=HUNK.format(line=1, value="n")
    )
    ours += mail(FIXED, a=HUNK.format(line=9, value="0"))
    found = [(each.path, each.kind) for each in pair_files(theirs, ours, fixups=[FIXED], dropped=["note.py"])]
    assert found == [
        ("a.py", "same"),
        ("b.py", "adapted"),
        ("note.py", "dropped"),
        ("c.py", "added"),
        ("a.py", "fix-up"),
    ]


def patched(path: Path, *, reconstructed: bool) -> str:
    """The page of a run whose pick kept the source commit, of upstream or written to equal it."""
    folder = Folder(path)
    folder.pick(commit={"reconstructed": reconstructed})
    kept = folder.proof(
        "pick/upstream.mbox",
        mail(PICKED, rows=HUNK.format(line=1, value=0), gone=HUNK.format(line=1, value=2)),
        "source",
    )
    folder.stages[0] = folder.stages[0].model_copy(update={"evidence": (*folder.stages[0].evidence, kept)})
    folder.fixup(patch=mail(PICKED, rows=HUNK.format(line=1, value=1)))
    return Reader(page(folder)).text


def test_a_reconstruction_is_never_called_upstreams(tmp_path: Path) -> None:
    real, made = patched(tmp_path / "1", reconstructed=False), patched(tmp_path / "2", reconstructed=True)
    assert "beside upstream's" in real
    assert "not as upstream has it" in real
    assert "beside the reconstruction's" in made
    assert "not as the reconstruction has it" in made
    assert "upstream has it" not in made


def test_a_patch_that_is_none_is_shown_as_it_is() -> None:
    assert [each.landed for each in pair_files("", "+</pre>\n", fixups=[], dropped=[])] == ["+</pre>"]
    assert pair_files("", "", fixups=[], dropped=[]) == ()
    assert pair_files("", mail(PICKED), fixups=[], dropped=[]) == ()


def test_real_commits_lie_beside_what_landed(upstream: Repository) -> None:
    """What git writes is what is parsed: a rename, a new file, a deleted one, a path with a space."""
    base = upstream.commit("base", {"old.py": "a\nb\nc\n", "gone.py": "x\n", "a b.py": "1\n"})
    upstream.git("mv", "old.py", "new.py")
    upstream.git("rm", "-q", "gone.py")
    head = upstream.commit("change", {"a b.py": "2\n", "fresh.py": "y\n"})
    text = upstream.git("format-patch", "--stdout", f"{base}..{head}")
    found = {each.path: each.kind for each in pair_files(text, text, fixups=[], dropped=[])}
    assert set(found) == {"new.py", "gone.py", "a b.py", "fresh.py"}
    assert set(found.values()) == {"same"}
