"""The run folder: run.json, events.jsonl, one folder per stage. The only place that writes there."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from filelock import FileLock, Timeout
from pydantic import ValidationError

from backproof.core.errors import HostError, PlanError
from backproof.core.model import Evidence, Record
from backproof.core.redaction import redact, redact_json
from backproof.records.proof import Run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO

RUN_FILE = "run.json"
EVENTS_FILE = "events.jsonl"
LOCK_FILE = ".lock"

R = TypeVar("R", bound=Record)


def now() -> str:
    """UTC, ISO 8601, seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def digest_of(value: Any) -> str:
    """SHA-256 of a JSON-able value in canonical form."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_written(path: Path, kind: type[R], *, what: str, command: str) -> R:
    """Read what a command wrote, from a file that the user names.

    Raises:
        PlanError: it holds nothing of the kind.
    """
    try:
        return kind.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise PlanError(
            f"{path}: no {what} can be read from it",
            why=str(error).splitlines()[0],
            next_step=f"name the file that `{command}` wrote",
        ) from error


def write_atomic(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write a file so that a kill or a full disk leaves either the old content or the new, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _append_whole(stream: FileIO, end: int, data: bytes) -> None:
    """All of it or nothing: a full disk takes a part first, and refuses only the next write."""
    written = 0
    try:
        written = stream.write(data)
    finally:
        if written != len(data):
            stream.truncate(end)
    if written != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), stream.name)


class Ledger:
    """One run folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()

    @property
    def store(self) -> Path:
        """Our git object store of this run."""
        return self.folder / "store.git"

    def stage_folder(self, stage: str) -> Path:
        folder = self.folder / stage
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def write_record(self, relative: str, record: Record) -> Path:
        """Write a record as readable JSON, without secrets; returns its path."""
        path = self.folder / relative
        content = redact_json(record.model_dump(mode="json", by_alias=True))
        write_atomic(path, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
        return path

    def write_text(self, relative: str, text: str) -> Path:
        path = self.folder / relative
        write_atomic(path, redact(text).encode("utf-8", "backslashreplace"))
        return path

    @property
    def place(self) -> str:
        return str(self.folder)

    def read_bytes(self, path: str, limit: int = -1) -> bytes:
        """Return a file of this run, or its first bytes."""
        with (self.folder / path).open("rb") as stream:
            return stream.read(limit)

    def read_record(self, relative: str, kind: type[R]) -> R | None:
        """A record of this run; None when it is absent or of another version (it is then made again)."""
        try:
            return kind.model_validate_json(self.read_bytes(relative))
        except (OSError, ValidationError):
            return None

    def register_evidence(self, path: Path, *, claim: str, command: str) -> Evidence:
        """Register a file of the run folder as evidence."""
        relative = path.absolute().relative_to(self.folder).as_posix()
        return Evidence(path=relative, sha256=sha256_of(path), claim=claim, command=redact(command))

    def write_evidence(self, relative: str, content: Record | str | bytes, *, claim: str, command: str) -> Evidence:
        """Write a file of the run folder, a record as readable JSON, and register it as evidence."""
        match content:
            case Record():
                self.write_record(relative, content)
            case str():
                self.write_text(relative, content)
            case bytes():
                write_atomic(self.folder / relative, content)
        return self.register_evidence(self.folder / relative, claim=claim, command=command)

    def holds(self, evidence: Evidence) -> bool:
        """Whether the file is still there, in this folder, with its hash: run.json may come from another machine."""
        path = self.folder / evidence.path
        try:
            inside = path.resolve().is_relative_to(self.folder.resolve())
            return inside and path.is_file() and sha256_of(path) == evidence.sha256
        except (OSError, ValueError):
            return False

    def log_event(self, kind: str, **facts: Any) -> None:
        """Append one line to events.jsonl; a line cut by a kill or a full disk is only that line."""
        self.folder.mkdir(parents=True, exist_ok=True)
        line = json.dumps(redact_json({"at": now(), "event": kind, **facts}), ensure_ascii=False, default=str)
        data = (line + "\n").encode("utf-8", "backslashreplace")
        with (self.folder / EVENTS_FILE).open("a+b", buffering=0) as stream:
            end = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, end - 1))
            cut = stream.read(1) not in {b"", b"\n"}
            _append_whole(stream, end, b"\n" + data if cut else data)

    def load_run(self) -> Run | None:
        """The run as last written; None when there is none of this version."""
        return self.read_record(RUN_FILE, Run)

    def save_run(self, run: Run) -> Run:
        """Write run.json and return the run; only `app` calls this."""
        self.write_record(RUN_FILE, run)
        return run

    def set_aside(self) -> Path | None:
        """Move a run.json that cannot be read (another version, cut) out of the way; nothing is deleted."""
        path = self.folder / RUN_FILE
        if not path.exists() or self.load_run() is not None:
            return None
        aside = path.with_name(f"run.{datetime.now(UTC):%Y%m%dT%H%M%S}.old.json")
        path.replace(aside)
        return aside

    @contextmanager
    def hold_lock(self) -> Iterator[None]:
        """Hold the folder: one run at a time.

        Raises:
            HostError: another run holds it.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.folder / LOCK_FILE)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise HostError(
                f"{self.folder}: another run works in this folder",
                why="its lock is held by a live process",
                next_step="wait for it, or give another --out",
            ) from error
        try:
            yield
        finally:
            lock.release()
