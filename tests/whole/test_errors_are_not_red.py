"""What keeps a check from being carried out is an error of that check: never red, and never FAIL."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from plain_job import PlainJob, make_job

if TYPE_CHECKING:
    from pathlib import Path

# Each is red on base alone: without the fix the answer is another one.
ON_BASE = {
    "a fixture that is not there": """
from demo.ops import conv

def test_answers(request):
    assert conv.answer() == 42 or request.getfixturevalue("nowhere")
""",
    "memory that a fixture lacks": """
import pytest
from demo.ops import conv

@pytest.fixture
def large():
    if conv.answer() != 42:
        raise MemoryError("no room")

def test_answers(large):
    assert conv.answer() == 42
""",
    "a connection that is refused": """
import socket
from demo.ops import conv

def test_answers():
    if conv.answer() != 42:
        socket.create_connection(("127.0.0.1", 1), timeout=5)
""",
    "a module that only the fix brings": """
from demo.ops import conv

def test_answers():
    from demo.ops import rows

    assert rows.ROWS == 1 and conv.answer() == 42
""",
}
EVERYWHERE = """
from demo.ops import conv

def test_answers():
    conv.answer()
    raise ConnectionRefusedError("the device is busy")
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> PlainJob:
    return make_job(tmp_path_factory.mktemp("errors") / "job")


def run_with(made: PlainJob, check: str, out: str) -> tuple[int, str, dict[str, str]]:
    (made.kit / "checks" / "test_answers.py").write_text(check, encoding="utf-8")
    job = PlainJob(folder=made.folder, kit=made.kit, upstream=made.upstream, target=made.target, out=out)
    done = job.run()
    run = job.story()
    return done.returncode, run["outcome"], {stage["stage"]: stage["sentence"] for stage in run["stages"]}


@pytest.mark.parametrize("reason", ON_BASE)
def test_base_is_not_red_by_an_error(made: PlainJob, reason: str) -> None:
    code, outcome, sentences = run_with(made, ON_BASE[reason], reason.replace(" ", "-"))
    assert (code, outcome) == (4, "error"), sentences
    assert "error in" in sentences["validate"]


def test_an_error_on_every_arm_is_no_failure_of_the_backport(made: PlainJob) -> None:
    code, outcome, sentences = run_with(made, EVERYWHERE, "everywhere")
    assert (code, outcome) == (4, "error"), sentences


def test_a_target_that_is_gone_is_no_failure_of_the_backport(tmp_path: Path) -> None:
    job = make_job(tmp_path / "job")
    for stage in ("pick", "fixup", "install"):
        done = job.backproof(*(job.arguments() if stage == "pick" else ["run", str(job.run_folder)]), "--only", stage)
        assert done.returncode == 0, done.stderr
    shutil.rmtree(job.target.site)
    done = job.backproof("run", str(job.run_folder), "--only", "verify")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "the target is gone" in done.stdout
