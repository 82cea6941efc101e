"""Gets a host ready to record a failure, and collects the logs that it left (post-mortem, section 7.1).

Old logs are renamed, never deleted. No process is ended: the person who runs the service ends it. A program that a host
does not have (dmesg, npu-smi) is a note in the manifest.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import os
import shlex
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from backproof.adapters import proc
from backproof.core.errors import HostError
from backproof.core.model import Record, Sha256
from backproof.core.redaction import redact_json
from backproof.rundir.ledger import write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SESSION: Final = "capture.json"
_BLOCK: Final = 1 << 20
# Without DEBUG the runtime drops what names streams and tasks; the timeouts keep a slow log from looking like a hang.
# CANN log reference (ASCEND_*), HCCL guide (HCCL_*).
VARIABLES: Final = {
    "ASCEND_GLOBAL_LOG_LEVEL": "0",
    "ASCEND_GLOBAL_EVENT_ENABLE": "1",
    "ASCEND_SLOG_PRINT_TO_STDOUT": "0",
    "ASCEND_HOST_LOG_FILE_NUM": "1000",
    "ASCEND_LOG_SYNC_SAVE": "1",
    "HCCL_CONNECT_TIMEOUT": "1200",
    "HCCL_EXEC_TIMEOUT": "1200",
}
_COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "dmesg.txt": ("dmesg", "-T"),
    "npu-smi-info.txt": ("npu-smi", "info"),
    "npu-smi-usages.txt": ("npu-smi", "info", "-t", "usages", "-i", "0"),
    "npu-smi-health.txt": ("npu-smi", "info", "-t", "health", "-i", "0"),
}


class CaptureSession(Record):
    """A capture between start and stop."""

    schema_version: int = 1
    started: str
    log_dir: str
    moved: str | None
    argv: tuple[str, ...]
    environment: dict[str, str]

    @property
    def command(self) -> str:
        """The line for a shell that starts the service."""
        words = [f"{name}={value}" for name, value in self.environment.items()]
        return shlex.join(["env", *words, *self.argv])


class CapturedFile(Record):
    """A member of the archive."""

    name: str
    size: int
    sha256: Sha256


class Manifest(Record):
    """The files of an archive, and notes on those that could not be collected."""

    schema_version: int = 1
    started: str
    stopped: str
    archive: str
    argv: tuple[str, ...]
    files: tuple[CapturedFile, ...]
    notes: tuple[str, ...]


def log_directory(env: Mapping[str, str]) -> Path:
    """Return where the runtime writes: ASCEND_PROCESS_LOG_PATH before ASCEND_WORK_PATH before the home folder."""
    work = env.get("ASCEND_WORK_PATH") or f"{env.get('HOME', '/root')}/ascend"
    return Path(env.get("ASCEND_PROCESS_LOG_PATH") or f"{work}/log")


def start_capture(
    argv: Sequence[str], folder: Path, *, env: Mapping[str, str] | None = None, now: dt.datetime | None = None
) -> CaptureSession:
    """Move old logs aside and write the session. Return what to run; `folder` receives the session and the archive."""
    record = folder / SESSION
    if record.exists():
        raise HostError(
            "a capture is running already",
            why=f"{record} exists",
            next_step="backproof host capture stop, then start again",
        )
    moment = now or dt.datetime.now(dt.UTC)
    logs = log_directory(os.environ if env is None else env)
    aside = _choose_name_aside(logs, moment)
    session = CaptureSession(
        started=moment.isoformat(timespec="seconds"),
        log_dir=str(logs),
        moved=str(aside) if aside else None,
        argv=tuple(argv),
        environment={**VARIABLES, "ASCEND_PROCESS_LOG_PATH": str(logs)},
    )
    _write_private(record, session)  # first: a stop after a kill still knows where the old logs went
    _move_logs(logs, aside)
    return session


def _write_private(path: Path, record: Record) -> None:
    """Write a record that only its owner reads: the command of a session may hold secrets."""
    write_atomic(path, record.model_dump_json(indent=1).encode(), mode=0o600)


def _choose_name_aside(logs: Path, moment: dt.datetime) -> Path | None:
    """Return a free name beside the log folder, None when there is nothing to move."""
    if not logs.exists():
        return None
    name = logs.with_name(f"{logs.name}.before-{moment:%Y%m%dT%H%M%S}")
    while name.exists():
        name = name.with_name(f"{name.name}x")
    return name


def _move_logs(logs: Path, aside: Path | None) -> None:
    try:
        if aside is not None:
            logs.rename(aside)
        logs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HostError(
            "the old logs could not be moved aside",
            why=f"{logs}: {error.strerror or error}",
            next_step="check who owns the folder",
        ) from error


def stop_capture(folder: Path, *, now: dt.datetime | None = None) -> Manifest:
    """Collect plog, dmesg and npu-smi into one archive beside its manifest; the service is left as it is."""
    session = _read_session(folder)
    moment = now or dt.datetime.now(dt.UTC)
    name = f"capture-{moment:%Y%m%dT%H%M%S}.tar.gz"
    notes: list[str] = []
    files = _write_archive(folder / name, Path(session.log_dir), notes)
    manifest = Manifest(
        started=session.started,
        stopped=moment.isoformat(timespec="seconds"),
        archive=name,
        argv=tuple(redact_json(list(session.argv))),  # the manifest travels with the archive
        files=files,
        notes=tuple(notes),
    )
    _write_private(folder / f"{name}.manifest.json", manifest)
    (folder / SESSION).rename(folder / f"{name}.session.json")
    return manifest


def _write_archive(path: Path, logs: Path, notes: list[str]) -> tuple[CapturedFile, ...]:
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".capture-", delete=False) as raw:
        with tarfile.open(fileobj=raw, mode="w:gz") as archive:
            files = (*_add_logs(archive, logs, notes), *_add_outputs(archive, notes))
        raw.flush()
        os.fsync(raw.fileno())
    Path(raw.name).replace(path)
    return files


def _read_session(folder: Path) -> CaptureSession:
    try:
        return CaptureSession.model_validate_json((folder / SESSION).read_text("utf-8"))
    except FileNotFoundError as error:
        raise HostError(
            "no capture is running", why=f"{folder / SESSION} is not there", next_step="backproof host capture start"
        ) from error
    except ValidationError as error:
        raise HostError(
            "the session of the capture cannot be read",
            why=str(error),
            next_step=f"move {folder / SESSION} aside and start again",
        ) from error


def _add_logs(archive: tarfile.TarFile, logs: Path, notes: list[str]) -> Iterator[CapturedFile]:
    """Add regular files below the log folder; links and pipes are notes, for they may lead anywhere or block."""
    if not logs.is_dir():
        notes.append(f"no logs: {logs} is not there")
    for folder, _, names in os.walk(
        logs, onerror=lambda error: notes.append(f"could not read {error.filename}: {error.strerror}")
    ):
        for name in sorted(names):
            path = Path(folder) / name
            if path.is_symlink() or not path.is_file():
                notes.append(f"did not take {path}: not a regular file")
                continue
            try:
                yield _add_file(archive, path, f"log/{path.relative_to(logs)}")
            except OSError as error:
                notes.append(f"could not read {path}: {error.strerror or error}")


def _add_file(archive: tarfile.TarFile, path: Path, name: str) -> CapturedFile:
    """Add a file as it is now: a copy, for a log that grows or shrinks meanwhile would spoil the archive."""
    with tempfile.TemporaryFile() as copy, path.open("rb") as stream:
        for _ in range(0, os.fstat(stream.fileno()).st_size, _BLOCK):
            copy.write(stream.read(_BLOCK))
        return _add_stream(archive, copy, name)


def _add_stream(archive: tarfile.TarFile, stream: io.BufferedIOBase, name: str) -> CapturedFile:
    member = tarfile.TarInfo(name)
    member.size, member.mode = stream.seek(0, os.SEEK_END), 0o644
    stream.seek(0)
    digest = hashlib.file_digest(stream, "sha256").hexdigest()
    stream.seek(0)
    archive.addfile(member, stream)
    return CapturedFile(name=name, size=member.size, sha256=digest)


def _add_outputs(archive: tarfile.TarFile, notes: list[str]) -> Iterator[CapturedFile]:
    for name, argv in _COMMANDS.items():
        done = proc.run_process(argv, timeout=60)
        if done.code != 0:
            notes.append(f"no {name}: `{done.command}` ended with code {done.code}: {done.error_text.strip()[-200:]}")
            continue
        yield _add_stream(archive, io.BytesIO(done.stdout), name)
