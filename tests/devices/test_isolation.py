"""A check's process gets little of ours: no token, no handle that is another's, no folder that tells the arm."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.core.errors import TargetError
from backproof.core.model import Arm
from backproof.devices import cpu
from backproof.devices.check_run import CheckEnvironment, CheckJob, run_batch, run_check
from backproof.kit.plan import Check

if TYPE_CHECKING:
    from backproof.devices.check_run import CompletedCheck

SECRETS = {
    "GH_TOKEN": "ghp-not-of-any-shape",
    "GITHUB_TOKEN": "x-not-of-any-shape",
    "GITHUB_ENV": "/nowhere/github-env",
    "GITHUB_PATH": "/nowhere/github-path",
    "GITHUB_OUTPUT": "/nowhere/github-output",
    "ACTIONS_RUNTIME_TOKEN": "runtime-not-of-any-shape",
    "RUNNER_TEMP": "/nowhere/runner",
    "SSH_AUTH_SOCK": "/nowhere/agent",
    "AWS_SECRET_ACCESS_KEY": "aws-not-of-any-shape",
    "PYTHON_KEYRING_TOKEN": "of-a-name-that-passes",
    "OMP_PASSWORD": "of-a-pattern-that-passes",
}
HANDLES = "[int(name) for name in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{name}')]"


def environment(tmp_path: Path, body: str, **env: str) -> CheckEnvironment:
    kit = tmp_path / "kit"
    kit.mkdir(exist_ok=True)
    (kit / "test_it.py").write_text(f"import os, sys\n{body}", encoding="utf-8")
    work = tmp_path / "run" / "validate" / Arm.FIXED.value
    return CheckEnvironment(
        python=Path(sys.executable), env=env, kit=kit, device=cpu, arm=Arm.FIXED, files=[], work=work
    )


def job(name: str = "it", *, timeout: float = 60) -> CheckJob:
    check = Check.model_validate(
        {
            "id": name,
            "file": "test_it.py",
            "claim": "c",
            "timeout": timeout,
            "expect": {"cpu": dict.fromkeys(Arm, "pass")},
        }
    )
    return CheckJob(name=f"{name}.cpu", check=check, operators=None)


def check(tmp_path: Path, body: str, **env: str) -> CompletedCheck:
    return run_check(environment(tmp_path, body, **env), job())


def see(tmp_path: Path, expression: str, **env: str) -> Any:
    """What a check sees: it says it in the message of its failure."""
    done = check(tmp_path, f"import json\ndef test_it():\n    raise AssertionError(json.dumps({expression}))\n", **env)
    (test,) = done.result.tests
    return json.loads(test.message.partition("AssertionError: ")[2])


def test_variables_come_from_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**SECRETS, "OMP_NUM_THREADS": "3", "LC_TIME": "C", "MADE_UP": "x"}.items():
        monkeypatch.setenv(name, value)
    seen = see(tmp_path, "dict(os.environ)", OF_THE_PLAN="yes")
    assert not set(seen) & {*SECRETS, "MADE_UP"}
    assert (seen["OMP_NUM_THREADS"], seen["LC_TIME"], seen["OF_THE_PLAN"]) == ("3", "C", "yes")


def test_nothing_that_the_process_can_ask_tells_the_arm_or_the_run(tmp_path: Path) -> None:
    seen = see(
        tmp_path,
        "[os.getcwd(), sys.orig_argv, open(sys.argv[0]).read(), dict(os.environ)]".replace(
            "open(sys.argv[0]).read()", "open(sys.orig_argv[-2]).read()"
        ),
    )
    assert "check-" in seen[0]
    assert Arm.FIXED.value not in json.dumps(seen).replace(str(tmp_path / "kit"), "")


ONCE_MORE = f"""
import json
def test_it():
    own = {HANDLES}
    for handle in own:
        try:
            os.write(handle, b'{{}}\\n' if handle > 2 else b'')
        except OSError:
            pass
"""


def test_an_answer_of_the_check_beside_the_real_one_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TargetError):
        check(tmp_path, ONCE_MORE)


FORGED = """
import json
request = json.load(open(sys.orig_argv[-2]))
answer = {"schema": 2, "nonce": request["nonce"], "tests": [{"nodeid": "a::b", "outcome": "passed"}]}
def test_it():
    os.write(int(sys.orig_argv[-1]), json.dumps(answer).encode() + b"\\n")
    assert False
"""


def test_a_forged_answer_cannot_take_the_place_of_the_real_one(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="not the one that was asked for") as caught:
        check(tmp_path, FORGED)
    assert "3 lines of 2 at most" in caught.value.why


@pytest.mark.parametrize(
    "start",
    [
        "import subprocess; out = subprocess.run([sys.executable, '-c', CODE], close_fds=False, capture_output=True).stdout",
        "child = os.fork(); (os.waitpid(child, 0), out := b'') if child else (exec(CODE), os._exit(0))",
    ],
    ids=["started", "forked"],
)
def test_what_the_check_starts_has_no_handle_of_ours(tmp_path: Path, start: str) -> None:
    code = "import os\nfor h in range(3, 200):\n    try: os.write(h, b'{}' + bytes([10]))\n    except OSError: pass\n"
    done = check(tmp_path, f"CODE = {code!r}\ndef test_it():\n    {start}\n")
    assert [test.outcome for test in done.result.tests] == ["passed"]


def test_a_daemon_that_outlives_the_check_does_not_keep_us_waiting(tmp_path: Path) -> None:
    body = (
        "import subprocess\ndef test_it():\n    subprocess.Popen(['sleep', '20'], pass_fds=[int(sys.orig_argv[-1])])\n"
    )
    done = check(tmp_path, body)
    assert [test.outcome for test in done.result.tests] == ["passed"]


def test_the_jobs_of_a_batch_cannot_answer_for_each_other(tmp_path: Path) -> None:
    made = environment(tmp_path, ONCE_MORE.replace("b'{}", 'b\'{"forged": 1}'))
    answers = run_batch(made, [job("one"), job("two")], parallel=2)
    assert all(isinstance(answer, TargetError) for answer in answers)
    quiet = environment(tmp_path, "def test_it():\n    pass\n")
    results = run_batch(quiet, [job("one"), job("two")], parallel=2)
    assert [answer.result.pytest_exit for answer in results if not isinstance(answer, TargetError)] == [0, 0]


def test_what_a_check_prints_and_raises_is_written_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "of no shape at all")
    shown = "'ghp_' + 'a1' * 18, 'of no shape ' + 'at all', 'password=' + '2retnuh2retnuh'[::-1]"
    body = f"def test_it():\n    os.write(1, ' '.join([{shown}]).encode() + b'\\n')\n    raise ValueError({shown})\n"
    done = check(tmp_path, body)
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file() and not path.is_symlink()]
    texts = {path.name: path.read_text(encoding="utf-8") for path in files if "carried" not in path.parts}
    assert {"it.cpu.json", "it.cpu.log", "it.cpu.request.json"} <= set(texts)
    for secret in ("ghp_a1", "of no shape at all", "hunter2"):
        assert not [name for name, text in texts.items() if secret in text]
    assert "***" in texts["it.cpu.log"]
    assert "***" in done.result.tests[0].message
