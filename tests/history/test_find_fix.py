"""From logs to the commit that fixes what they show: ranked with why, and silent where nothing fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from backproof.adapters.git.patches import list_unmerged
from backproof.history import find_fix, fix_index
from backproof.history.find_fix import rank_fixes, search_history, weigh_words
from backproof.history.fix_index import FixIndex, open_index
from backproof.history.index_file import locate_index
from backproof.history.repository import open_repository
from backproof.records.picks import PickOutcome
from backproof.records.triage import Clue
from backproof.triage import triage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from repositories import Repository

LOG = """\
(Worker_TP0 pid=9) ERROR 02-14 10:00:01 [executor.py:9] Traceback (most recent call last):
(Worker_TP0 pid=9) ERROR 02-14 10:00:01 [executor.py:9]   File "/srv/flux/loader.py", line 9, in load_weights
(Worker_TP0 pid=9) ERROR 02-14 10:00:01 [executor.py:9]   File "/srv/flux/mapping.py", line 7, in remap_expert_names
(Worker_TP0 pid=9) ERROR 02-14 10:00:01 [executor.py:9] KeyError: 'gate_up_proj.weight_scale_second'
"""
FAULT = "[ERROR] ASCENDCL(7,):2027-02-14-10:00:00.000.002 [stream.cpp:1]7 aclrtSynchronizeStream:synchronize stream failed, runtime result = 507034\n"


@pytest.fixture
def project(upstream: Repository) -> Repository:
    """A main with a fix of the failure above among other commits, and a release from before it."""
    upstream.commit(
        "first (#1)", {"flux/mapping.py": "def remap_expert_names(name):\n    return name\n", "a.py": "a = 0\n"}
    )
    upstream.git("branch", "release/1")
    for number in range(30):
        upstream.commit(
            f"[Feature] part {number} of the load", {f"flux/part{number}.py": f"loader_{number} = {number}\n"}
        )
    upstream.commit(
        "[BugFix] Keep the second scale (#41)\n\nIt failed with vector core timeout, error code is 507034.",
        {"flux/mapping.py": "def remap_expert_names(name):\n    return name.replace('weight_scale_second', 'scale')\n"},
    )
    for number in range(30):
        upstream.commit(f"[Doc] page {number}", {f"docs/{number}.md": "remap_expert_names load_weights\n"})
    return upstream


@pytest.fixture
def index(project: Repository) -> Iterator[tuple[FixIndex, list[str]]]:
    with open_repository(str(project.folder), print) as opened:
        store, main = opened.picker.store, project.git("rev-parse", "main")
        with open_index(opened.source, store, main, print) as made:
            yield made, list_unmerged(store, main, project.git("rev-parse", "release/1"))


def read_clues(tmp_path: Path, text: str) -> tuple[Clue, ...]:
    (tmp_path / "server.log").write_text(text, encoding="utf-8")
    return triage([tmp_path / "server.log"]).clues


@pytest.mark.parametrize("text", [LOG, FAULT], ids=["a traceback", "a code of a device"])
def test_the_fix_comes_first_with_what_it_shares(tmp_path: Path, index: tuple[FixIndex, list[str]], text: str) -> None:
    ranked = rank_fixes(index[0], read_clues(tmp_path, text), index[1], least=0)
    assert ranked[0].subject == "[BugFix] Keep the second scale (#41)"
    assert {"remap_expert_names", "507034"} & set(ranked[0].shared)


def test_a_name_is_the_same_in_one_word(project: Repository) -> None:
    """An error has the kernel with underscores, the message of its fix the operator that it belongs to."""
    project.commit("[BugFix] No position of GatherRowsV3 is left unset (#52)", {"a.py": "a = 1\n"})
    with open_repository(str(project.folder), print) as opened:
        store, main = opened.picker.store, project.git("rev-parse", "main")
        with open_index(opened.source, store, main, print) as made:
            ranked = rank_fixes(made, [Clue(what="kernel", text="gather_rows_v3")], [main], least=0)
    assert [fix.sha for fix in ranked] == [main]


def test_a_release_gets_its_own_answer_for_each(
    tmp_path: Path, project: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find_fix, "LEAST", 0.0)
    with open_repository(str(project.folder), print) as opened:
        record = search_history(opened, read_clues(tmp_path, LOG), release="release/1", main_branch=None, top=3)
    assert record.candidates == 61
    assert (record.fixes[0].outcome, record.fixes[0].affected) == (PickOutcome.CLEAN, "yes")


@pytest.mark.parametrize(
    "text",
    [
        "OSError: [Errno 28] No space left on device\n",
        "Killed\n",
        'Traceback (most recent call last):\n  File "/srv/other.py", line 9, in run\nValueError: too many values to unpack\n',
    ],
)
def test_a_failure_without_a_fix_gets_none(tmp_path: Path, index: tuple[FixIndex, list[str]], text: str) -> None:
    assert rank_fixes(index[0], read_clues(tmp_path, text), index[1]) == []


def test_the_index_grows_and_is_made_once(project: Repository) -> None:
    said: list[str] = []
    with open_repository(str(project.folder), said.append) as opened:
        main = project.git("rev-parse", "main")
        with open_index(opened.source, opened.picker.store, main, said.append) as made:
            assert made.score_word("unheard_of") == {}
    new = project.commit("[BugFix] unheard_of (#99)", {"a.py": "a = 1\n"})
    with (
        open_repository(str(project.folder), said.append) as opened,
        open_index(opened.source, opened.picker.store, new, said.append) as made,
    ):
        assert list(made.score_word("unheard_of")) == [new]
    assert len(said) == 1


def test_a_damaged_index_is_made_again(project: Repository) -> None:
    with open_repository(str(project.folder), print) as opened:
        main = project.git("rev-parse", "main")
        path = locate_index("fixes", [str(fix_index._VERSION), str(opened.source.git_dir.resolve())])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"no database" * 1000)
        with open_index(opened.source, opened.picker.store, main, print) as made:
            assert made.score_word("507034")


@pytest.mark.parametrize("word", ['a"b', "NEAR(x", "subject : y", "*", "a AND b", "\x00"])
def test_words_of_a_log_are_no_query_language(index: tuple[FixIndex, list[str]], word: str) -> None:
    assert isinstance(index[0].score_word(word), dict)


def test_inner_frames_weigh_more_and_prose_less() -> None:
    weights = weigh_words(
        [
            Clue(what="frame", text="/a/inner.py:1 in raise_it"),
            Clue(what="frame", text="/a/outer.py:1 in call_it"),
            Clue(what="raised", text="KeyError: gate_up_proj missing"),
        ]
    )
    assert weights["raise_it"] > weights["call_it"]
    assert weights["gate_up_proj"] > weights["missing"]
