"""Signs on the host that code other than the patched files may run: old processes, libraries not built again."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from backproof.core.model import Finding
from backproof.install import processes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.install.interpreter import ProbeFacts
    from backproof.records.proof import InstallRecord

_COMPILED = {".pyx", ".pxd", ".pxi", ".c", ".cc", ".cpp", ".cxx", ".cu", ".h", ".hpp", ".rs", ".asc"}
_ASIDE = {"test", "tests", "testing", "docs", "benchmarks", "examples"}


def find_stale_libraries(record: InstallRecord) -> Iterator[Finding]:
    """Yield the libraries that are older than a patch of their sources: they run as they were, whatever the patch says."""
    sources = [path for path in (*record.outside, *(file.path for file in record.files)) if _is_compiled(path)]
    if not sources:
        return
    since = datetime.fromisoformat(record.since).timestamp()
    top = {PurePosixPath(file.installed).relative_to(record.location).parts[0] for file in record.files}
    libraries = (path for name in sorted(top) for path in sorted((Path(record.location) / name).rglob("*.so*")))
    for library in libraries:
        if library.stat().st_mtime < since:
            text = f"{library} is older than the change of {', '.join(sources[:3])}: it was not built again"
            yield Finding(severity="warning", text=text, where=sources[0])


def _is_compiled(path: str) -> bool:
    pure = PurePosixPath(path)
    return not _ASIDE & set(pure.parts[:-1]) and (pure.parts[0] == "csrc" or pure.suffix in _COMPILED)


def find_older_processes(facts: ProbeFacts, record: InstallRecord) -> Iterator[Finding]:
    """Yield the processes of the target that are older than the change of a file: they keep the old code in memory."""
    changed = [path.stat().st_ctime for path in (Path(file.installed) for file in record.files) if path.exists()]
    if not changed:
        return
    old = processes.find_older(max(changed), prefix=Path(facts.interpreter.prefix), site=Path(record.location))
    for process in old:
        text = f"process {process.pid} started {process.since}, before the files changed: it may still run the old code"
        yield Finding(severity="warning", text=text, where=process.command)
