"""The doctor compares a host with the baseline, keeps the comparison in a run, and calls no deviation a cause."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof import bundle
from backproof.app import runner
from backproof.bundle import envelope
from backproof.bundle.archive import read_archive
from backproof.cli import cli
from backproof.core.errors import PlanError
from backproof.devices import DEVICES
from backproof.host import baseline
from backproof.host.identity import read_identity
from backproof.kit.loader import load_plan
from backproof.records.host import Deviation, DoctorRecord, Reading
from backproof.rundir.ledger import Ledger
from backproof.rundir.subject import hash_kit
from backproof.stages import REGISTRY, report
from backproof.upstream import publish
from backproof.verdict import run_verdict
from click.testing import CliRunner, Result
from contexts import context_of
from kits import write_kit
from stories import proved

if TYPE_CHECKING:
    from backproof.records.proof import Run

ROWS = [
    ("newer", "2.10.0.post7", "2.10.0.post4"),
    ("newer", "8.0.RC3.10", "8.0.RC3"),
    ("newer", "8.0.RC3.10", "8.0.RC3.9"),
    ("newer", "8.0.RC3", "8.0.0.alpha001"),
    ("newer", "1.0.T53", "1.0.T9"),
    ("older", "26.0.RC1", "26.1.1"),
    ("older", "8.0.RC3.10", "8.0.0"),
    ("same", "0.30.rc2", "0.30.0rc2"),
    ("same", "v2.10+cpu", "2.10.0"),
    ("same", "main", "main"),
    ("different", "main", "1.0"),
    ("different", "1.0", "V100R001C83SPC001"),
]


@pytest.mark.parametrize(("verdict", "have", "want"), ROWS)
def test_verdicts(verdict: str, have: str, want: str) -> None:
    (row,) = baseline.compare_versions([Reading(name="torch-npu", value=have)], {"torch_npu": want})
    assert row.verdict == verdict


def test_not_read_and_extra() -> None:
    readings = [Reading(name="driver", value=None, why="because"), Reading(name="vllm", value="0.30")]
    rows = baseline.compare_versions(readings, {"driver": "26.0.RC1", "fla_npu": "1.0"})
    assert [(row.name, row.verdict) for row in rows] == [
        ("driver", "not read"),
        ("fla_npu", "not read"),
        ("vllm", "extra"),
    ]
    assert rows[0].note == "because"


def test_arguments() -> None:
    rows = baseline.compare_arguments(
        [
            "--max-num-seqs",
            "32",
            "--speculative-config",
            '{"method": "mtp", "n": 5}',
            "--seed=1024",
            "--extra",
            '{"b":1,"a":2}',
            "--async-scheduling",
            "--graph",
            '{"mode": "FULL", "sizes": [1, 2], "deep": {"x": true}}',
        ],
        [
            *("--max-num-seqs=16", "--no-enable-prefix-caching", "--seed", "1024", "--extra", '{"a": 2, "b": 1}'),
            *("--no-async-scheduling", "--graph", '{"sizes": [1, 2], "mode": "PIECEWISE", "deep": {"x": false}}'),
        ],
    )
    assert {(row.name, row.expected, row.found, row.verdict) for row in rows} == {
        ("--max-num-seqs", "32", "16", "different"),
        ("--speculative-config.method", '"mtp"', None, "missing"),
        ("--speculative-config.n", "5", None, "missing"),
        ("--enable-prefix-caching", None, "false", "extra"),
        ("--async-scheduling", "", "false", "different"),
        ("--graph.mode", '"FULL"', '"PIECEWISE"', "different"),
        ("--graph.deep.x", "true", "false", "different"),
    }


def test_environment_looks_at_the_baseline_only() -> None:
    rows = baseline.compare_environment({"A": "1", "B": "2"}, {"A": "1", "B": "3", "SECRET_TOKEN": "x"})
    assert [(row.name, row.found, row.verdict) for row in rows] == [("B", "3", "different")]


def kit(folder: Path, **changes: str) -> Path:
    """A kit on the disk with a baseline of versions and one variable; its id is that of the runs of `stories`."""
    given = write_kit(folder, ["d" * 40])
    file = given / "plan.toml"
    text = file.read_text(encoding="utf-8").replace('id = "small"', f'id = "{changes.get("id", "small")}"')
    more = '[baseline]\nversions = { torch = "0.0.1", driver = "26.0.RC1" }\nenvironment = { DOCTOR_TEST_TOKEN = "none" }\n'
    file.write_text(f"{text}\n{more}", encoding="utf-8")
    return given


def run_of(path: Path, kit: Path) -> Path:
    """A judged run whose settings name a real kit and a real interpreter."""
    folder = proved(path, kit=hash_kit(kit))
    settings = folder.run.settings.model_copy(update={"kit": str(kit), "python": sys.executable})
    run = folder.run.model_copy(update={"settings": settings})
    folder.ledger.save_run(run)
    folder.ledger.save_run(run_verdict.summarise_run(run, folder.ledger, REGISTRY))
    return path


def call(*words: str | Path) -> Result:
    return CliRunner(env={"COLUMNS": "240"}).invoke(cli, ["host", "doctor", *(str(word) for word in words)])


def judged(run: Path) -> tuple[object, ...]:
    run_record = json.loads((run / "run.json").read_text())
    return run_record["outcome"], run_record["level"], run_record["sentence"], run_record["arms"]


def test_with_a_run_the_comparison_is_evidence_and_changes_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCTOR_TEST_TOKEN", "s3cret-of-the-host")
    run = run_of(tmp_path / "run", kit(tmp_path / "kit"))
    before = judged(run)
    done = call("--run", run)
    assert done.exit_code == 0, done.output
    assert "A deviation is not a cause." in done.output
    record = DoctorRecord.model_validate_json((run / "doctor/doctor.json").read_bytes())
    rows = {row.name: row for row in record.deviations}
    assert (rows["torch"].expected, rows["driver"].expected) == ("0.0.1", "26.0.RC1"), "the baseline of the run's kit"
    assert sys.executable in rows["torch"].note, "asked of the run's interpreter"
    assert rows["DOCTOR_TEST_TOKEN"].found == "***", "what is secret does not reach the disk"
    assert judged(run) == before
    stages = {stage["stage"]: stage for stage in json.loads((run / "run.json").read_text())["stages"]}
    assert stages["doctor"]["evidence"][0]["path"] == "doctor/doctor.json"
    again = run_verdict.summarise_run(*_reread(run), REGISTRY)
    assert (again.outcome, again.level) == before[:2], "judged again with it, it is the same"


def _reread(run: Path) -> tuple[Run, Ledger]:
    ledger = Ledger(run)
    run_record = ledger.load_run()
    assert run_record
    return run_record, ledger


def test_the_report_shows_it_and_a_second_look_takes_its_place(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", kit(tmp_path / "kit"))
    assert call("--run", run).exit_code == 0
    assert call("--run", run, "--json").exit_code == 0
    run_record, ledger = _reread(run)
    assert [stage.stage for stage in run_record.stages].count("doctor") == 1
    the_plan = load_plan(tmp_path / "kit", DEVICES)
    ctx = context_of(ledger, tmp_path, run_record.settings, loaded_plan=the_plan)
    runner.run_stages(ctx, run_record, (report,))
    assert "The doctor looked at" in (run / "report.html").read_text()
    assert "doctor" in {stage.stage for stage in _reread(run)[0].stages}


def test_the_bundle_has_it_and_verifies(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", kit(tmp_path / "kit"))
    assert call("--run", run).exit_code == 0
    made = bundle.make_bundle(publish.load_publishable(run, REGISTRY), tmp_path / "b.tar.gz")
    files = {file.path for file in made.verified.manifest.files}
    assert "run/doctor/doctor.json" in files
    assert made.verified.replayed.loaded.doctor is not None
    here = read_identity()
    text = read_archive(envelope.open_sealed(made.file), most=1000)["run/doctor/doctor.json"].decode()
    assert here.boot_id not in text
    assert sys.executable not in text


def test_a_plan_or_a_run_is_needed_and_they_must_be_of_one_kit(tmp_path: Path) -> None:
    assert call().exit_code == 2
    run = run_of(tmp_path / "run", kit(tmp_path / "kit"))
    done = call("--run", run, "--plan", kit(tmp_path / "other", id="other"))
    assert isinstance(done.exception, PlanError)
    assert "this run is of kit small, the plan is of other" in done.exception.what
    empty = tmp_path / "empty"
    empty.mkdir()
    assert isinstance(call("--run", empty).exception, PlanError)


def test_without_a_run_nothing_is_kept(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", kit(tmp_path / "kit"))
    before = (run / "run.json").read_bytes()
    done = call("--plan", tmp_path / "kit", "--json", "--", "--seed", "7")
    assert set(json.loads(done.output)) == {"schema_version", "deviations"}
    assert (run / "run.json").read_bytes() == before


def test_the_sentence_counts_what_deviates_and_leaves_out_what_the_baseline_does_not_name() -> None:
    rows = [
        Deviation.model_validate(
            {"subject": "version", "name": name, "expected": "1", "found": actual, "verdict": verdict}
        )
        for name, actual, verdict in (
            ("a", "1", "same"),
            ("b", "2", "newer"),
            ("c", None, "not read"),
            ("d", "1", "extra"),
        )
    ]
    record = DoctorRecord(at="2026-01-02T03:04:05+00:00", host="h", boot_id="b", deviations=tuple(rows))
    assert record.sentence == "3 compared with the baseline: 1 deviates, 1 not read; a deviation is not a cause"
