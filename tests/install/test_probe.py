"""The probe tells which file an import would give, and why, without importing the target."""

from __future__ import annotations

import hashlib
import os
import py_compile
import subprocess
import zipfile
from pathlib import Path

import pytest
from backproof.core.errors import ExitCode, PlanError, TargetError
from backproof.install.interpreter import ModuleFacts, ProbeFacts, probe_target
from backproof.kit.plan import Service
from target_env import CONV, FILES, FIXED, Target, install, make

_ALL = Path("~/.pyenv/versions").expanduser().glob("3.*/bin/python")
PYTHONS = sorted(each for each in _ALL if int(each.parts[-3].split(".")[1]) >= 8)


@pytest.fixture
def target(tmp_path: Path) -> Target:
    made = make(tmp_path / "a target")
    install(made)
    return made


def _ask(target: Target, *names: str, **service: object) -> ProbeFacts:
    modules = {name: name.replace(".", "/") + ".py" for name in names or ("demo.ops.conv",)}
    asked = Service.model_validate({"cwd": str(target.folder), **service})
    return probe_target(target.python, distribution="demo", service=asked, modules=modules).facts


def _conv(target: Target, **service: object) -> ModuleFacts:
    return _ask(target, **service).modules[0]


def _origin(facts: ModuleFacts) -> str:
    assert facts.winner is not None
    return facts.winner.origin


def _real_import(target: Target, *arguments: str, cwd: Path | None = None, **env: str) -> str:
    """What really is loaded: the probe must say the same."""
    code = "import demo.ops.conv as found; print(found.__file__)"
    command = [str(target.python), *(arguments or ("-c", f"import sys; sys.path.pop(0); {code}"))]
    given = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **env}
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=cwd, env=given).stdout.strip()


def test_the_installed_file_wins(target: Target) -> None:
    facts = _conv(target)
    assert facts.winner is not None
    assert facts.winner.origin == str(target.site / CONV) == _real_import(target)
    assert facts.winner.sha256 == hashlib.sha256(FILES[CONV]).hexdigest()
    assert facts.winner.kind == "site-packages"
    assert facts.winner.loader == "_frozen_importlib_external.SourceFileLoader"
    assert facts.winner.cached is not None
    assert facts.winner.cached.kind == "absent"
    assert (facts.others, facts.problems, facts.loaded) == ((), (), "")


def test_the_distribution_and_the_interpreter_are_described(target: Target) -> None:
    facts = _ask(target)
    (found,) = facts.distributions
    assert (found.version, found.editable, found.location) == ("1.0", False, str(target.site))
    assert found.scripts == ("demo-serve",)
    record = (target.site / "demo-1.0.dist-info/RECORD").read_bytes()
    assert found.record_sha256 == hashlib.sha256(record).hexdigest()
    assert facts.interpreter.prefix == str(target.folder)
    assert facts.interpreter.purelib == str(target.site)
    assert not any(
        "target/probe" in each.entry or each.entry.endswith("pipeline/backproof/target") for each in facts.path
    )


def test_nothing_of_the_target_is_imported_or_compiled(target: Target) -> None:
    target.write("demo/__init__.py", b"print('banner')\nimport os\nos._exit(3)\n")
    assert _origin(_conv(target)) == str(target.site / CONV)
    assert not list(target.site.rglob("*.pyc"))


def test_a_copy_on_pythonpath_shadows(target: Target, tmp_path: Path) -> None:
    shadow = tmp_path / "shadow"
    for name in FILES:
        (shadow / name).parent.mkdir(parents=True, exist_ok=True)
        (shadow / name).write_bytes(FILES[name])
    facts = _conv(target, env={"PYTHONPATH": str(shadow)})
    assert facts.winner is not None
    assert facts.winner.origin == str(shadow / CONV) == _real_import(target, PYTHONPATH=str(shadow))
    assert (facts.winner.kind, facts.winner.entry) == ("PYTHONPATH", str(shadow))
    assert [each.origin for each in facts.others] == [str(target.site / CONV)]


def test_a_namespace_copy_on_pythonpath_does_not_shadow_a_package(target: Target, tmp_path: Path) -> None:
    shadow = tmp_path / "shadow"
    (shadow / CONV).parent.mkdir(parents=True)
    (shadow / CONV).write_bytes(FIXED)
    facts = _conv(target, env={"PYTHONPATH": str(shadow)})
    assert _origin(facts) == str(target.site / CONV) == _real_import(target, PYTHONPATH=str(shadow))
    assert [each.origin for each in facts.others] == [str(shadow / CONV)]


def test_a_namespace_package_is_walked(target: Target, tmp_path: Path) -> None:
    (target.site / "demo/__init__.py").unlink()
    (target.site / "demo/ops/__init__.py").unlink()
    facts = _conv(target)
    assert _origin(facts) == str(target.site / CONV) == _real_import(target)
    assert facts.problems == ()


def test_the_current_folder_shadows_only_a_module_launch(target: Target, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for name in FILES:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_bytes(FILES[name])
    started = _conv(target, launch="module", cwd=str(checkout))
    assert started.winner is not None
    assert started.winner.origin == str(checkout / CONV)
    assert started.winner.kind == "current folder"
    assert _origin(_conv(target, launch="script", cwd=str(checkout))) == str(target.site / CONV)
    (checkout / "starts.py").write_text("import demo.ops.conv as found\nprint(found.__file__)\n")
    assert _real_import(target, "-m", "starts", cwd=checkout) == str(checkout / CONV)
    safe = _conv(target, launch="module", cwd=str(checkout), env={"PYTHONSAFEPATH": "1"})
    assert _origin(safe) == str(target.site / CONV)


def test_a_pth_line_is_named(target: Target, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (target.site / "demo").rename(target.site / "moved")
    (checkout / CONV).parent.mkdir(parents=True)
    (checkout / CONV).write_bytes(FIXED)
    pth = target.write("checkout.pth", f"{checkout}\n".encode())
    facts = _conv(target)
    assert facts.winner is not None
    assert facts.winner.origin == str(checkout / CONV) == _real_import(target)
    assert (facts.winner.kind, facts.winner.detail) == (".pth line", str(pth))


FINDER = """
import sys
from importlib.machinery import PathFinder
from importlib.util import spec_from_file_location
MAPPING = {mapping!r}
class _EditableFinder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        for name, folder in MAPPING.items():
            if fullname == name:
                return spec_from_file_location(fullname, folder + "/__init__.py")
        return None
def install():
    sys.meta_path.{how}
"""


@pytest.mark.parametrize(("how", "wins"), [("append(_EditableFinder)", False), ("insert(0, _EditableFinder)", True)])
def test_an_editable_finder_is_named(target: Target, tmp_path: Path, how: str, wins: bool) -> None:
    checkout = tmp_path / "checkout"
    for name in FILES:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_bytes(FILES[name])
    code = FINDER.format(mapping={"demo": str(checkout / "demo")}, how=how)
    target.write("__editable___demo_1_0_finder.py", code.encode())
    pth = target.write("__editable__.demo-1.0.pth", b"import __editable___demo_1_0_finder as f; f.install()\n")
    facts = _conv(target)
    assert facts.winner is not None
    assert facts.winner.origin == _real_import(target) == str((checkout if wins else target.site) / CONV)
    editable = facts.winner if wins else facts.others[0]
    assert editable.origin == str(checkout / CONV)
    assert editable.kind == "finder"
    assert "_EditableFinder" in editable.detail
    assert str(pth) in editable.detail


def test_a_finder_that_needs_the_parent_is_told(target: Target) -> None:
    code = "import sys\nclass F:\n  def find_spec(self, name, path=None, target=None):\n    if '.' in name: sys.modules[name.rpartition('.')[0]]\nsys.meta_path.insert(0, F())\n"
    target.write("needs_parent.py", code.encode())
    target.write("needs_parent.pth", b"import needs_parent\n")
    facts = _conv(target)
    assert _origin(facts) == str(target.site / CONV)
    assert any("needs_parent.F" in each and "parent of demo.ops" in each for each in facts.problems)


def test_a_package_that_moves_its_path_is_told(target: Target) -> None:
    target.write("demo/__init__.py", b"__path__.insert(0, '/elsewhere')\n")
    assert any("__path__" in each for each in _conv(target).problems)
    target.write("demo/__init__.py", b"import types\nother = types.ModuleType('x')\nother.__path__ = []\n")
    assert _conv(target).problems == ()


def test_a_zip_is_read(target: Target, tmp_path: Path) -> None:
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for name, data in FILES.items():
            made.writestr(name, data)
    facts = _conv(target, env={"PYTHONPATH": str(archive)})
    assert facts.winner is not None
    assert facts.winner.origin == f"{archive}/{CONV}" == _real_import(target, PYTHONPATH=str(archive))
    assert facts.winner.loader == "zipimport.zipimporter"
    assert facts.winner.sha256 == hashlib.sha256(FILES[CONV]).hexdigest()


def test_a_stale_compiled_file_of_the_same_time_and_size_is_seen(target: Target) -> None:
    path = target.site / CONV
    py_compile.compile(str(path), doraise=True)
    before = path.stat()
    path.write_bytes(FIXED)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    cached = _conv(target).winner
    assert cached is not None
    assert cached.cached is not None
    assert (cached.cached.kind, cached.cached.used, cached.cached.same) == ("timestamp", True, False)


@pytest.mark.parametrize(
    ("mode", "kind", "used"),
    [
        (py_compile.PycInvalidationMode.UNCHECKED_HASH, "unchecked-hash", True),
        (py_compile.PycInvalidationMode.CHECKED_HASH, "checked-hash", False),
        (py_compile.PycInvalidationMode.TIMESTAMP, "timestamp", False),
    ],
)
def test_compiled_files_of_other_code(
    target: Target, mode: py_compile.PycInvalidationMode, kind: str, used: bool
) -> None:
    path = target.site / CONV
    os.utime(path, (1_700_000_000, 1_700_000_000))
    py_compile.compile(str(path), doraise=True, invalidation_mode=mode)
    path.write_bytes(FIXED)
    winner = _conv(target).winner
    assert winner is not None
    assert winner.cached is not None
    assert (winner.cached.kind, winner.cached.used) == (kind, used)
    assert winner.cached.same is (False if used else None)


def test_compiled_files_of_the_same_code(target: Target) -> None:
    path = target.write(
        CONV, b"'''d'''\nA = (1, 1.0, True, frozenset({1, 2}))\ndef f(x=-0.0):\n    return lambda: x in {3, 4}\n"
    )
    py_compile.compile(str(path), doraise=True)
    winner = _conv(target).winner
    assert winner is not None
    assert winner.cached is not None
    assert (winner.cached.used, winner.cached.same) == (True, True)


def test_two_distributions_are_both_told(target: Target) -> None:
    install(target, name="Demo", version="0.9", files={})
    assert sorted(each.version for each in _ask(target).distributions) == ["0.9", "1.0"]


def test_an_editable_installation_is_told(target: Target) -> None:
    target.write("demo-1.0.dist-info/direct_url.json", b'{"url": "file:///src", "dir_info": {"editable": true}}')
    (found,) = _ask(target).distributions
    assert (found.editable, found.origin) == (True, "file:///src")


def test_a_module_that_is_loaded_at_start_up_is_told(target: Target, tmp_path: Path) -> None:
    target.write("early.pth", b"import demo.ops.conv\n")
    assert _conv(target).loaded == str(target.site / CONV)


def test_a_module_that_is_not_there_has_no_winner(target: Target) -> None:
    facts = _ask(target, "demo.nothing", "nothing.at.all").modules
    assert [each.winner for each in facts] == [None, None]


def test_a_banner_does_not_hide_the_answer(target: Target) -> None:
    target.write("banner.pth", b"import sys; print('{}' * 3); sys.stdout = open('/dev/null', 'w')\n")
    assert _origin(_conv(target)) == str(target.site / CONV)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "import os, sys; sys.stderr.write('out of ' 'luck'); sys.stderr.flush(); os._exit(7)",
            ("code 7", "out of luck"),
        ),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", ("code -11", "printed nothing")),
        ("import time; time.sleep(60)", ("did not answer in time",)),
    ],
)
def test_an_interpreter_that_gives_no_answer(target: Target, line: str, words: tuple[str, ...]) -> None:
    target.write("breaks.pth", line.encode() + b"\n")
    with pytest.raises(TargetError) as caught:
        probe_target(target.python, distribution="demo", service=Service(cwd=str(target.folder)), timeout=2)
    assert caught.value.exit_code == ExitCode.ERROR
    for word in words:
        assert word in str(caught.value)


def test_no_interpreter_and_no_folder_are_usage_errors(tmp_path: Path, target: Target) -> None:
    with pytest.raises(PlanError, match="not an interpreter"):
        probe_target(tmp_path / "nothing", distribution="demo", service=Service())
    with pytest.raises(PlanError, match="no such folder"):
        probe_target(target.python, distribution="demo", service=Service(cwd=str(tmp_path / "nowhere")))


@pytest.mark.parametrize("python", PYTHONS, ids=lambda each: each.parts[-3])
def test_every_interpreter_here_answers(python: Path, tmp_path: Path) -> None:
    for name, data in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    service = Service(cwd=str(tmp_path), env={"PYTHONPATH": str(tmp_path)})
    found = probe_target(python, distribution="pip", service=service, modules={"demo.ops.conv": CONV}).facts
    assert found.interpreter.version.startswith(python.parts[-3][:4].rstrip("."))
    assert found.modules[0].winner is not None
    assert found.modules[0].winner.origin == str(tmp_path / CONV)
