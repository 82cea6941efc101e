"""The demo runs a kit on a device that its checks say something about, whatever the kit is about."""

from __future__ import annotations

from pathlib import Path

import pytest
from backproof.adapters.git import RepositoryBuilder, Source
from backproof.app import demo
from backproof.core.errors import PlanError
from backproof.devices import DEVICES
from backproof.kit.loader import load_plan
from kits import write_kit

EMULATOR = (
    '[emulator]\noperators = "operators.py"\n[[emulator.model]]\nid = "plain"\nmodel = "plain"\nmeaning = "as it is"\n'
)


def _kit(tmp_path: Path, device: str, *, emulator: bool = False) -> Path:
    kit = write_kit(tmp_path / "kit", ["a" * 12])
    text = (kit / "plan.toml").read_text(encoding="utf-8").replace("[check.expect.plain]", f"[check.expect.{device}]")
    (kit / "plan.toml").write_text(text if emulator else text.replace(EMULATOR, ""), encoding="utf-8")
    return kit


def test_a_kit_with_operator_models_runs_on_the_emulator(tmp_path: Path) -> None:
    kit = _kit(tmp_path, "plain", emulator=True)
    assert demo.choose_device(load_plan(kit, DEVICES), kit) == "emulator"


def test_a_kit_for_a_plain_cpu_runs_there(tmp_path: Path) -> None:
    kit = _kit(tmp_path, "cpu")
    assert demo.choose_device(load_plan(kit, DEVICES), kit) == "cpu"


def test_operators_that_no_check_uses_do_not_choose_the_device(tmp_path: Path) -> None:
    kit = _kit(tmp_path, "cpu", emulator=True)
    assert demo.choose_device(load_plan(kit, DEVICES), kit) == "cpu"


def test_a_kit_for_hardware_only_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    kit = _kit(tmp_path, "ascend")
    with pytest.raises(PlanError, match="without hardware"):
        demo.choose_device(load_plan(kit, DEVICES), kit)


def test_a_series_is_found_from_a_folder_named_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git works in the new repository: a path that is named from our folder would not be found there."""
    (tmp_path / "kit").mkdir()
    mail = "From 0\nFrom: A <a@example.org>\nDate: Thu, 1 Jan 2026 00:00:00 +0000\nSubject: [PATCH] change\n\n---\n"
    change = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"
    (tmp_path / "kit" / "0001.patch").write_text(mail + change)
    monkeypatch.chdir(tmp_path)
    builder = RepositoryBuilder.create(tmp_path / "repo", date="2026-01-01T00:00:00+00:00")
    (tmp_path / "repo" / "a.txt").write_text("one\n")
    builder.commit_all("the release", branch="release")
    builder.apply_series([Path("kit/0001.patch")], ref="refs/pull/7/head")
    assert (tmp_path / "repo" / "a.txt").read_text() == "one\n"
    assert Source.open("repo").find_pull_head(7) is not None
