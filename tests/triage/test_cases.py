"""Every kind of failure as a story: the first fault exact, every other line in its class."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.triage import TriageResult, triage
from log_stories import Story, read_stories

if TYPE_CHECKING:
    from collections.abc import Iterator

STORIES = read_stories()
SAMPLES = Path(__file__).parent / "samples"


def differences(story: Story, result: TriageResult) -> list[str]:
    first = result.first_fault
    lists: dict[str, tuple[str, ...]] = {"first": (f"{first.file}:{first.line}",) if first else ()}
    lists |= dict(result.list_lines())
    wrong = [
        f"{name}: {sorted(lists[name])} instead of {sorted(lines)}"
        for name, lines in story.lines.items()
        if sorted(lists[name]) != sorted(lines)
    ]
    answers = {
        "kind": first.kind if first else None,
        "device": result.device,
        "rank": result.rank,
        "kernel": result.kernel,
        "code": result.code,
    }
    return wrong + [
        f"{name}: {answers[name]} instead of {value}"
        for name, value in story.head.items()
        if name in answers and value != _text(answers[name])
    ]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_story(story: Story, tmp_path: Path) -> None:
    story.write_files(tmp_path)
    result = triage([tmp_path])
    assert differences(story, result) == []
    assert result.outcome == story.head.get("outcome", "healthy" if story.head["kind"] is None else "first-fault")


def test_stories_cover_every_sign() -> None:
    for name in ("first", "detail", "pointer", "secondary", "noise"):
        assert sum(bool(story.lines[name]) for story in STORIES) > 1, name


@pytest.mark.parametrize("story", [s for s in STORIES if s.head["kind"]], ids=lambda story: story.name)
def test_packed(story: Story, tmp_path: Path) -> None:
    """The same answer from an archive of the folder, whose lines are named relative to it."""
    folder = tmp_path / "logs"
    folder.mkdir()
    story.write_files(folder)
    packed = tmp_path / "logs.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(folder, arcname=".")
    assert differences(story, triage([packed])) == []


def test_compressed_files(tmp_path: Path) -> None:
    """Rotated files, each compressed: lines are counted in the plain text."""
    story = next(story for story in STORIES if story.name == "a5-wording-mte")
    story.write_files(tmp_path)
    for path in list(tmp_path.rglob("*.log")):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    result = triage([tmp_path])
    assert result.first_fault is not None
    assert result.first_fault.file == "rank_1/plog-32_20270214100000001.log.gz"
    assert result.first_fault.line == 2


def test_several_paths_keep_their_names(tmp_path: Path) -> None:
    story = next(story for story in STORIES if story.name == "all-ranks-fault")
    story.write_files(tmp_path)
    result = triage([tmp_path / f"rank{number}" for number in range(4)])
    assert differences(story, result) == []


def test_one_file(tmp_path: Path) -> None:
    story = next(story for story in STORIES if story.name == "ray-prefix")
    story.write_files(tmp_path)
    assert differences(story, triage([tmp_path / "ray.log"])) == []


def test_archive_names_are_only_labels(tmp_path: Path) -> None:
    story = next(story for story in STORIES if story.name == "ray-prefix")
    text = "\n".join(story.files["ray.log"]).encode()
    packed = tmp_path / "evil.tar"
    with tarfile.open(packed, "w") as archive:
        member = tarfile.TarInfo("../../../../escaped.log")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
        link = tarfile.TarInfo("link.log")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    result = triage([packed])
    assert result.first_fault is not None
    assert result.first_fault.file == "escaped.log"
    assert [path.name for path in tmp_path.iterdir()] == ["evil.tar"]
    assert any("link.log" in note for note in result.notes)


@pytest.mark.parametrize("folder", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_sample(folder: Path) -> None:
    """A sample is right by its first fault, or by another answer that it accepts, and by the class of every line."""
    expected = json.loads((folder / "expect.json").read_text("utf-8"))
    result = triage([folder])
    assert find_first(result) in list(accepted_firsts(expected))
    for name in ("device", "rank", "code"):
        assert expected[name] is None or expected[name] == getattr(result, name), name
    assert result.exit_code == (0 if expected.get("sure") is None and expected["first_scene"] is None else 1) or (
        "why" in expected and result.exit_code == 4
    )
    other = expected.get("accept_lines", {})
    for name, key in LISTS.items():
        wanted = {line for line in expected[f"{key}_lines"] if line not in other}
        wanted |= {line for line, role in other.items() if role == name}
        assert set(map(drop_archives, dict(result.list_lines())[name])) == wanted, name


# `accept_lines` of a sample names lines whose class here differs from the answer's: the heading of a list goes with the lines around it; what a
# traceback or a launcher prints around the reason is in no list; a detail in another block than its fault is a secondary error.
LISTS = {"detail": "scene", "pointer": "pointer", "secondary": "echo", "noise": "noise"}


def find_first(result: TriageResult) -> dict[str, object] | None:
    """The first fault, or the error that stands for one that no rule knows."""
    if result.first_fault is not None:
        return {
            "file": drop_archives(result.first_fault.file),
            "line": result.first_fault.line,
            "kind": result.first_fault.kind,
        }
    error = result.earliest_error
    return {"file": error.file, "line": error.line, "kind": "unknown"} if error else None


def drop_archives(label: str) -> str:
    """The label inside the archives that hold the file."""
    return re.sub(r".*\.(?:zip|tar|tar\.gz)/", "", label)


def accepted_firsts(expected: dict[str, Any]) -> Iterator[dict[str, object] | None]:
    first = expected["first_scene"]
    yield first
    for other in expected.get("accept", ()):
        yield other["first_scene"] if "first_scene" in other else first | other
