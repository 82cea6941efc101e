"""statement.json: an in-toto statement, version 1, of what landed and how far it was proved. Unsigned, and it says so.

The format: https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md; the names of the digests:
https://github.com/in-toto/attestation/blob/main/spec/v1/digest_set.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backproof.bundle.manifest import RUN
from backproof.report.view import RunView
from backproof.rundir.subject import contradictions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.bundle.manifest import Manifest
    from backproof.bundle.replay import Retold
    from backproof.rundir.loaded_run import LoadedRun

TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:x-backproof:backport-proof:v1"
UNSIGNED = (
    "This statement carries no signature. It says what the evidence in the bundle shows to whoever recomputes it "
    "(`backproof verify-bundle`), and nothing about who made it."
)


def statement(told: Retold, manifest: Manifest) -> dict[str, Any]:
    """A function of the bundle's own records, so that whoever has them can draw it up again and compare."""
    return {
        "_type": TYPE,
        "subject": list(_subjects(told.story)),
        "predicateType": PREDICATE_TYPE,
        "predicate": _predicate(told, manifest),
    }


def _subjects(story: LoadedRun) -> Iterator[dict[str, Any]]:
    """The landed commit with its tree, then each file as landed; nothing when nothing landed there."""
    if story.fixup is None or contradictions(story):
        return
    yield {
        "name": f"backport of {story.run.kit} on {story.run.settings.branch}",
        "digest": {"gitCommit": story.fixup.head, "gitTree": story.fixup.head_tree},
    }
    installed = {each.path: each.after for each in story.install.files} if story.install else {}
    for change in story.fixup.changes:
        if change.after is not None:
            digest = {"gitBlob": change.after}
            if found := installed.get(change.path):
                digest["sha256"] = found
            yield {"name": change.path, "digest": digest}


def _predicate(told: Retold, manifest: Manifest) -> dict[str, Any]:
    run, story = told.story.run, told.story
    level = None if run.level is None else {"number": run.level, "name": RunView(loaded=story).level_name}
    return {
        "signed": False,
        "note": UNSIGNED,
        "tool": run.tool,
        "run": {"id": run.id, "started": run.started, "ended": told.said.ended},
        "kit": run.kit,
        "upstream": told.plan.upstream.model_dump(mode="json"),
        "branch": run.settings.branch,
        "base": {"gitCommit": story.pick.base} if story.pick else None,
        "outcome": run.outcome.value,
        "level": level,
        "sentence": run.sentence,
        "arms": {arm.value: each.model_dump(mode="json") for arm, each in run.arms.items()},
        "stages": [
            {"stage": each.stage, "outcome": each.outcome.value, "sentence": each.sentence} for each in run.stages
        ],
        "limits": list(run.limits),
        "evidence": [
            {"name": each.path, "digest": {"sha256": each.sha256}}
            for each in manifest.files
            if each.path.startswith(RUN) and each.recorded_sha256
        ],
        "not_established": sorted(story.altered),
    }
