"""What the stages hand to each other and leave in the run folder: one frozen record per file.

They live here because stages never import each other.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from backproof.core.model import Arm, Evidence, Finding, Outcome, Record, Sha256, ShownPath, StageRecord
from backproof.records.arm_tests import ArmTest  # noqa: TC001 - pydantic reads it
from backproof.records.picks import ConflictRecord, PickOutcome  # noqa: TC001 - pydantic reads the types

Role = Literal["proof", "guard", "limit"]
Verdict = Literal["as-expected", "not-discriminating", "not-reproduced", "not-shown", "unexpected", "failed", "error"]
"""What a case on one arm is, beside what the plan expects of it."""
_ORIGIN = (
    r"^$|^backproof==[\w.!+-]+$|^backproof @ git\+https://[\w./~%:-]+@[0-9a-f]{40,64}$|^sources( at [0-9a-f]{40,64})?$"
)
"""Nothing else: the comment shows it as a command."""
PATCH_FILE = "backport.mbox"
"""The whole backport in mail format, beside fixup.json."""
UPSTREAM_FILE = "upstream.mbox"
"""What was picked, as upstream has it, beside pick.json."""
INVENTORY_FILE = "inventory.json"
"""The device of the checks, beside validate.json."""


class FileChange(Record):
    """One path of a patch: the git blob (40 hex digits) before and after, None where the file is absent."""

    path: ShownPath
    before: str | None
    after: str | None


class PickedCommit(Record):
    """One commit of the plan and what became of it on the release branch."""

    wanted: str = Field(description="as the plan names it")
    source: str = Field(description="the full hash in the repository")
    landed: str | None = Field(description="the hash of our commit; None when nothing landed")
    subject: str
    author: str
    outcome: PickOutcome
    mainline: int | None = Field(default=None, description="for a merge commit: the parent that is the main line")
    dropped: tuple[ShownPath, ...] = ()
    reconstructed: bool = Field(default=False, description="the repository says that this commit is a reconstruction")


class OtherCommit(Record):
    """A commit of the pull request that the plan does not pick."""

    commit: str
    subject: str
    why: str
    computed: bool = Field(description="True when trees show it, False when it could not be computed")


class PickRecord(StageRecord):
    """pick/pick.json."""

    branch: str
    base: str
    base_tree: str
    head: str
    head_tree: str
    commits: tuple[PickedCommit, ...]
    changes: tuple[FileChange, ...]
    conflicts: tuple[ConflictRecord, ...] = ()
    others: tuple[OtherCommit, ...] = ()
    suspects: tuple[ShownPath, ...] = Field(
        default=(), description="names and arguments that the picks use and the release lacks"
    )


class LandedFixup(Record):
    """One fix-up of the kit and what became of it."""

    id: str
    reason: str
    outcome: Literal["applied", "already-there"]
    landed: str | None
    files: tuple[str, ...]


class FixupRecord(StageRecord):
    """fixup/fixup.json."""

    head: str
    head_tree: str
    fixups: tuple[LandedFixup, ...]
    changes: tuple[FileChange, ...] = Field(description="from the release to the fixed tree")


class InstalledFile(Record):
    """One file of the patch in the target: where it is, and its SHA-256 before and after (None: absent)."""

    path: str
    installed: str
    before: Sha256 | None
    after: Sha256 | None


class InstallRecord(StageRecord):
    """install/install.json."""

    mode: Literal["overlay", "pip"]
    arm: Arm
    distribution: str
    version: str
    location: str
    editable: bool
    since: str = Field(default="", description="when the stage began to change the target (UTC, ISO 8601)")
    files: tuple[InstalledFile, ...]
    outside: tuple[str, ...] = Field(
        default=(), description="paths of the patch that the distribution does not install"
    )
    compared: int = Field(default=0, description="other files of the distribution that the branch has, too")
    differs: tuple[ShownPath, ...] = Field(
        default=(),
        description="of these, below site-packages, what is not as in the branch; modules that are missing, too",
    )
    held: bool = Field(default=False, description="left in place until `backproof run RUN --undo`")


class Claim(Record):
    """One claim of the verify stage."""

    name: Literal["loaded", "complete", "reached"]
    sentence: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    evidence: tuple[Evidence, ...] = ()


class VerifyRecord(StageRecord):
    """verify/verify.json."""

    arm: Arm
    claims: tuple[Claim, ...]


class Case(Record):
    """One check on one arm under one operator model (or on the device)."""

    check: str
    model: str
    arm: Arm
    role: Role
    expected: str
    observed: str = Field(description="pass, fail, fault:<kind>, mixed:<kinds>, flaky, or error")
    verdict: Verdict
    sentence: str
    tests: tuple[ArmTest, ...] = ()
    steps: int = 0
    steps_failed: int = 0
    faults: dict[str, int] = {}
    observations: dict[str, Any] = Field(default={}, description="what each step saw, summed over the steps")
    first: str = Field(default="", description="the first fault or failure, in one sentence")
    seconds: float = 0
    evidence: tuple[Evidence, ...] = ()


class ValidateRecord(StageRecord):
    """validate/validate.json."""

    device: str
    device_facts: dict[str, str]
    cases: tuple[Case, ...]
    hashes: dict[Arm, dict[str, Sha256 | None]] = Field(
        default={}, description="of each installed file of the patch on each arm, by its absolute path"
    )
    rounds: dict[str, int] = Field(default={}, description="how often the plan asks for each check, where it does")
    spoiled: str = Field(default="", description="why no result counts: the device went bad meanwhile")
    limits: tuple[str, ...] = ()


class DeviceInventory(Record):
    """validate/inventory.json: what a device host says of itself. Without it no run exceeds level 2."""

    device: str
    host: str = Field(description="equals device_facts.host of validate.json")
    boot_id: str = Field(description="equals device_facts.boot_id of validate.json")
    driver: str
    runtime: str
    versions: dict[str, str] = {}
    stand_in: bool = Field(default=False, description="a tool that answered says that it is a stand-in")


class ReportRecord(StageRecord):
    """report/report.json."""

    sentence: str = Field(description="the run's, as the files say it")
    files: tuple[str, ...] = Field(description="relative to run.json")


class StageResult(Record):
    """How one stage ended. A pass names at least one evidence file; the ledger refuses one that does not."""

    stage: str
    outcome: Outcome
    sentence: str
    evidence: tuple[Evidence, ...] = ()
    findings: tuple[Finding, ...] = ()
    digest: str = ""
    seconds: float = 0
    reused: bool = False


class ArmSummary(Record):
    """One arm over all proofs and limits of the plan."""

    outcome: Outcome
    as_expected: bool
    sentence: str


class Settings(Record):
    """Where a run works; kept in the run folder so that later commands need only `--run`."""

    kit: str
    repo: str
    branch: str
    python: str
    device: str
    signoff: bool = False
    operator_source: str = Field(default="", description="the user's own copy of the device operators' source")


class Target(Record):
    """The release that the interpreter has. Its RECORD lists every file with its hash: another build has another one."""

    distribution: str
    version: str
    record: str = Field(pattern=r"^([0-9a-f]{64})?$", description="SHA-256 of the file; empty where it has none")


class Subject(Record):
    """What a run is of, beside its settings: what was behind their names when it began."""

    kit: dict[str, Sha256] = Field(description="every file of the kit, by its path there")
    tip: str = Field(description="the commit that the branch pointed at")
    target: Target | None = Field(default=None, description="None: nothing was installed there when the run began")
    published: bool = Field(
        default=False, description="the branch is the published release's own files: upstream's branch was not read"
    )
    image: str = Field(default="", max_length=500, description="of the container, as BACKPROOF_IMAGE names it")


class Run(Record):
    """run.json: the whole story of one run."""

    schema_version: Literal[4] = 4
    tool: str
    origin: str = Field(
        default="",
        pattern=_ORIGIN,
        description="a requirement for pip that installs this Backproof, or `sources` with their commit",
    )
    id: str
    kit: str
    title: str
    settings: Settings
    subject: Subject
    started: str
    ended: str = ""
    outcome: Outcome = Outcome.ERROR
    level: int | None = Field(default=None, ge=0, le=4, description="null: the backport did not even land")
    sentence: str = ""
    arms: dict[Arm, ArmSummary] = {}
    stages: tuple[StageResult, ...] = ()
    earlier: tuple[StageResult, ...] = Field(
        default=(),
        description="results of an earlier command that may be reused when their turn comes; they count for nothing",
    )
    evidence: tuple[Evidence, ...] = ()
    limits: tuple[str, ...] = ()
    files: dict[str, str] = Field(default={}, description="comment.md, report.html, junit.xml: relative to run.json")

    @property
    def place(self) -> str:
        """What the backport landed on: the branch, or the published release whose files stood for it."""
        target = self.subject.target
        if self.subject.published and target:
            return f"{target.distribution} {target.version} as published"
        return self.settings.branch
