"""What a release branch says of itself: where its packages lie and what it is called. Else it says nothing."""

from __future__ import annotations

import json
import sys
from datetime import timedelta

import pytest
from backproof.scaffold.release import Release, read_release
from hypothesis import example, given, settings
from hypothesis import strategies as st

PACKAGE = "src/demo/__init__.py"
MODULE = "src/demo/ops/conv.py"


def read(files: dict[str, str], *changed: str) -> Release:
    return read_release(files.get, changed or (MODULE,))


@pytest.mark.parametrize(
    ("files", "changed", "root"),
    [
        ({PACKAGE}, (MODULE,), "src"),
        ({PACKAGE, "src/demo/ops/__init__.py"}, (MODULE, "src/demo/new.py"), "src"),
        ({"demo/__init__.py"}, ("demo/ops/conv.py",), ""),
        ({PACKAGE, "src/__init__.py"}, (MODULE,), ""),
        ({PACKAGE}, (MODULE, "setup.py", "tools/lint.py", "docs/conf.py"), "src"),
        ({PACKAGE, "tests/__init__.py", "docs/__init__.py"}, (MODULE, "tests/conftest.py", "docs/x.py"), "src"),
        ({PACKAGE, "other/__init__.py"}, (MODULE, "other/x.py"), None),
        ({"google/cloud/__init__.py"}, ("google/cloud/x.py",), None),
        ({"src/google/cloud/__init__.py"}, ("src/google/cloud/x.py",), None),
        (set(), (MODULE,), None),
        ({PACKAGE}, ("src/../demo/x.py", "/src/demo/x.py", "src//demo/x.py"), None),
        ({PACKAGE}, ("README.md",), None),
    ],
)
def test_the_folder_of_the_packages_is_told_or_left_open(
    files: set[str], changed: tuple[str, ...], root: str | None
) -> None:
    assert read(dict.fromkeys(files, ""), *changed).root == root


def test_a_path_of_the_change_is_asked_for_only_as_a_package() -> None:
    """GitHub is asked by address: a path that is no package's never becomes part of one."""
    asked: list[str] = []

    def files(path: str) -> None:
        asked.append(path)

    deep = "a/" * 1000 + "x.py"
    read_release(files, ("../../x/y.py", "a b/c.py", deep, "src/demo/x.py", *(f"p{n}/x.py" for n in range(100))))
    assert not [each for each in asked if ".." in each or " " in each]
    assert len(asked) < 40


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"pyproject.toml": '[project]\nname = "Demo_Kit"'}, "demo-kit"),
        ({"pyproject.toml": "[project]\nname = 3", "setup.cfg": "[metadata]\nname = demo"}, "demo"),
        ({"pyproject.toml": "[build-system]", "setup.cfg": "[metadata]\nname=demo%d"}, ""),
        ({"pyproject.toml": '[tool.poetry]\nname = "demo"'}, "demo"),
        ({"setup.py": "import setuptools\nsetuptools.setup(name='demo', version=V)"}, "demo"),
        ({"setup.py": "def f():\n    setup(version=1, name='demo')\n"}, "demo"),
        ({"setup.py": "pattern = '\\d'\nsetup(name='demo')"}, "demo"),
        ({"setup.py": "setup(name=NAME)"}, ""),
        ({"setup.py": "setup(name='one')\nsetup(name='two')"}, ""),
        ({"setup.py": "print 'of Python 2'\nsetup(name='demo')"}, ""),
        ({"pyproject.toml": "[project\n", "setup.cfg": "name\n[", "setup.py": "setup(name='demo')"}, "demo"),
        ({"pyproject.toml": '[project]\nname = "../demo"'}, ""),
        ({"pyproject.toml": f'[project]\nname = "{"d" * 300}"'}, ""),
        ({"pyproject.toml": f'[project]\nname = "demo"\n#{"x" * 300_000}'}, ""),
        ({}, ""),
    ],
)
def test_the_name_is_read_where_it_is_literal(files: dict[str, str], name: str) -> None:
    assert read(files).distribution == name


def test_what_the_build_wants_is_read() -> None:
    wanted = ["setuptools>=64", "Setuptools_SCM >= 8", "torch==2.10; python_version > '3'", "pip==1; x", 3, "@evil", ""]
    text = f"[build-system]\nrequires = {json.dumps(wanted)}"
    assert read({"pyproject.toml": text}).build == ("setuptools", "setuptools-scm", "torch")
    assert read({"pyproject.toml": "build-system = 3"}).build == ()


def test_setup_is_read_and_never_run(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("run")
    text = f"open({str(folder / 'ran')!r}, 'w')\nsetup(name=open({str(folder / 'ran')!r}, 'w').name)\n"
    assert read({"setup.py": text}).distribution == ""
    assert not list(folder.iterdir())


DEEP = 60_000


@settings(deadline=timedelta(seconds=5))
@given(text=st.text())
@example(text="[project]\nname = " + "[" * DEEP)
@example(text="a." * DEEP + "b = 1")
@example(text=f"{'a.' * 200}b = 1\n" * 300)
@example(text="(" * DEEP)
@example(text="-" * DEEP + "1")
@example(text="x" + ".y" * DEEP)
@example(text="setup(name=" + "1+" * DEEP + "1)")
@example(text="\0")
@example(text="[metadata]\nname = %(name)s")
def test_hostile_files_say_nothing_and_break_nothing(text: str) -> None:
    limit = sys.getrecursionlimit()
    for name in ("pyproject.toml", "setup.cfg", "setup.py"):
        assert read({name: text}).root is None
    assert sys.getrecursionlimit() == limit
