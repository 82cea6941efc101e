"""The layout of the package: what shadows it not, what runs elsewhere, how large its parts may be."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import backproof
import pytest
from checkout import TESTS

PACKAGE = Path(backproof.__file__).parent
TARGET = PACKAGE / "target"
COMMAND = Path(sys.executable).with_name("backproof")
_BROKEN = 'raise RuntimeError("this module is not Backproof")\n'


def call(argv: list[str], folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv, cwd=folder, env={"PATH": "/usr/bin:/bin", **env}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", ["pipeline.py", "backproof.py"])
def test_a_module_of_that_name_in_the_current_folder_does_not_break_the_command(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(_BROKEN)
    done = call([str(COMMAND), "plan", "check", "nothing"], tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr


def test_a_pipeline_module_on_the_python_path_does_not_break_the_command(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "pipeline.py").write_text(_BROKEN)
    done = call([str(COMMAND), "plan", "check", "nothing"], tmp_path, PYTHONPATH=str(tmp_path / "elsewhere"))
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr


def test_python_m_backproof_is_the_command(tmp_path: Path) -> None:
    done = call([sys.executable, "-m", "backproof", "--version"], tmp_path)
    assert done.stdout == call([str(COMMAND), "--version"], tmp_path).stdout
    assert done.returncode == 0


def test_what_runs_in_the_target_imports_nothing_of_ours() -> None:
    files = sorted(TARGET.rglob("*.py"))
    assert len(files) > 20
    for path in files:
        named = {name for node in ast.walk(ast.parse(path.read_text("utf-8"))) for name in _imported(node)}
        assert not {name for name in named if name.split(".")[0] == "backproof"}, path


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def test_the_package_has_few_boxes_and_fewer_loose_modules() -> None:
    boxes = [path for path in PACKAGE.iterdir() if path.name not in {"__init__.py", "__pycache__", "py.typed"}]
    assert len(boxes) <= 26
    assert len([path for path in boxes if path.suffix == ".py"]) <= 3


def test_no_module_is_longer_than_300_lines() -> None:
    lengths = {path.relative_to(PACKAGE).as_posix(): text.count("\n") for path, text in sources().items()}
    assert len(lengths) > 200
    assert not {name: length for name, length in lengths.items() if length > 300}


def test_functions_are_short() -> None:
    """19 of 20 have at most 22 lines, from `def` to the last."""
    nodes = [node for text in sources().values() for node in ast.walk(ast.parse(text))]
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    lengths = sorted((node.end_lineno or 0) - node.lineno + 1 for node in nodes if isinstance(node, kinds))
    assert len(lengths) > 1000
    assert lengths[int(len(lengths) * 0.95)] <= 22


def sources() -> dict[Path, str]:
    return {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def test_tests_mirror_the_folders_of_the_package() -> None:
    """What spans the package is in `whole`; builders, stand-ins and shared fixtures are in `support`."""
    own = {"adversary", "campaign", "mutation", "operators", "support", "whole", "workflows"}
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    assert len(folders) > 20
    for folder in folders:
        assert folder.parts, "a test lies loose in tests/"
        assert folder.parts[0] in own or (PACKAGE / folder).is_dir(), folder
    assert [path.name for path in TESTS.glob("*.py")] == ["conftest.py"]
    assert not list((TESTS / "support").rglob("test_*.py"))


def test_names_say_what_a_function_does_and_stand_in_few_places() -> None:
    """One-word names under 40 %, no public name in more than three modules; dunders and members of Protocols apart."""
    members = {name for path in SOURCES for name in protocol_members(path)} | {"run", "inputs"}
    names = [name for path in SOURCES for name in function_names(path) if name not in members]
    assert len([name for name in names if "_" not in name.strip("_")]) < 0.4 * len(names)
    modules: dict[str, set[Path]] = {}
    for path in SOURCES:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                modules.setdefault(node.name, set()).add(path)
    assert {name for name, places in modules.items() if len(places) > 3} <= members


SOURCES = [path for path in sorted(PACKAGE.rglob("*.py")) if "__pycache__" not in path.parts]


def function_names(path: Path) -> list[str]:
    nodes = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)]
    return [node.name for node in nodes if not (node.name.startswith("__") and node.name.endswith("__"))]


def protocol_members(path: Path) -> set[str]:
    classes = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ClassDef)]
    protocols = [node for node in classes if any("Protocol" in ast.unparse(base) for base in node.bases)]
    return {item.name for node in protocols for item in node.body if isinstance(item, ast.FunctionDef)}


def test_a_variable_is_named_for_what_it_holds() -> None:
    named = [
        node for path in SOURCES for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Name)
    ]
    assert not [node.id for node in named if node.id == "each"]
