"""statement.json: an in-toto statement, version 1, of what landed and how far it was proved. Unsigned, and it says so.

The format: https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md; the names of the digests:
https://github.com/in-toto/attestation/blob/main/spec/v1/digest_set.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backproof.report.view import RunView

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.bundle.manifest import Manifest
    from backproof.bundle.replay import ReplayedRun
    from backproof.records.proof import PickRecord, Run
    from backproof.rundir.loaded_run import LoadedRun

TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:x-backproof:backport-proof:v1"
UNSIGNED = (
    "This statement carries no signature. It says what the evidence in the bundle shows to whoever recomputes it "
    "(`backproof bundle --verify`), and nothing about who made it."
)


def build_statement(replayed: ReplayedRun, manifest: Manifest) -> dict[str, Any]:
    """Return a function of the bundle's own records: whoever has them can build it again and compare."""
    return {
        "_type": TYPE,
        "subject": list(_list_subjects(replayed.loaded)),
        "predicateType": PREDICATE_TYPE,
        "predicate": _build_predicate(replayed, manifest),
    }


def _list_subjects(run: LoadedRun) -> Iterator[dict[str, Any]]:
    """Yield the landed commit with its tree, then each file as landed; nothing when nothing landed there."""
    if run.fixup is None or run.contradictions:
        return
    yield {
        "name": f"backport of {run.run.kit} on {run.run.place}",
        "digest": {"gitCommit": run.fixup.head, "gitTree": run.fixup.head_tree},
    }
    installed = {file.path: file.after for file in run.install.files} if run.install else {}
    for change in run.fixup.changes:
        if change.after is not None:
            digest = {"gitBlob": change.after}
            if sha256 := installed.get(change.path):
                digest["sha256"] = sha256
            yield {"name": change.path, "digest": digest}


def _name_base(run: Run, pick: PickRecord) -> dict[str, str]:
    """Name the commit of the branch; of a release that was only published, nothing but its files is known."""
    return {"gitTree": pick.base_tree} if run.subject.published else {"gitCommit": pick.base}


def _build_predicate(replayed: ReplayedRun, manifest: Manifest) -> dict[str, Any]:
    loaded, run = replayed.loaded, replayed.loaded.run
    level = None if run.level is None else {"number": run.level, "name": RunView(loaded=loaded).level_name}
    return {
        "signed": False,
        "note": UNSIGNED,
        "tool": run.tool,
        "run": {"id": run.id, "started": run.started, "ended": replayed.recorded.ended},
        "kit": run.kit,
        "upstream": replayed.plan.upstream.model_dump(mode="json"),
        "branch": None if run.subject.published else run.settings.branch,
        "published": run.subject.target.model_dump(mode="json")
        if run.subject.published and run.subject.target
        else None,
        "base": _name_base(run, loaded.pick) if loaded.pick else None,
        "outcome": run.outcome.value,
        "level": level,
        "sentence": run.sentence,
        "arms": {arm.value: summary.model_dump(mode="json") for arm, summary in run.arms.items()},
        "stages": [
            {"stage": result.stage, "outcome": result.outcome.value, "sentence": result.sentence}
            for result in run.stages
        ],
        "limits": list(run.limits),
        "evidence": [
            {"name": entry.path, "digest": {"sha256": entry.sha256}}
            for entry in manifest.files
            if entry.path in replayed.recorded_paths
        ],
        "not_established": sorted(loaded.altered),
    }
