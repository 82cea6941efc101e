"""A line of an operator's source is seen in each thing that is given away."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from copied_lines import find_copied_lines, read_archive, read_repository
from repositories import Repository

LINE = "    this->tokensOfTheRequest = (last - first) * kRowsOfState;"
SHORT = "int a = 0;"


@pytest.fixture
def source(tmp_path: Path) -> str:
    folder = tmp_path / "source" / "op_kernel"
    folder.mkdir(parents=True)
    (folder / "a.h").write_text(f"{SHORT}\n{LINE}\n")
    return str(folder.parent)


def test_a_wheel(tmp_path: Path, source: str) -> None:
    file = tmp_path / "a.whl"
    with zipfile.ZipFile(file, "w") as wheel:
        wheel.writestr("a/model.h", f"{SHORT}\n\t{LINE.replace(' ', '  ')}\r\n")
        wheel.writestr("a/other.h", SHORT)
    (line,) = find_copied_lines([source], read_archive(file))
    assert line.startswith("a.whl: a/model.h: this->tokens")


def test_a_bundle(tmp_path: Path, source: str) -> None:
    file = tmp_path / "a.bundle.tar.gz"
    with tarfile.open(file, "w:gz") as bundle:
        for name, text in (("report.md", LINE), ("run.json", SHORT)):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            bundle.addfile(member, io.BytesIO(text.encode()))
    (line,) = find_copied_lines([source], read_archive(file))
    assert line.startswith("a.bundle.tar.gz: report.md: this->tokens")


def test_a_repository(tmp_path: Path, source: str) -> None:
    repository = Repository(tmp_path / "repo")
    repository.folder.mkdir()
    repository.git("init", "--quiet")
    repository.commit("one", {"a.py": SHORT, "b.md": LINE})
    (line,) = find_copied_lines([source], read_repository(repository.folder))
    assert line.startswith("b.md: this->tokens")


def test_what_is_neither_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(SHORT)
    with pytest.raises(tarfile.ReadError):
        list(read_archive(tmp_path / "a.txt"))
