"""The files to read: files of many folders, compressed ones and whole archives unpacked to a private folder.

Nothing here blocks or follows a name from an archive: what cannot be read becomes a note, and the rest is still read.
A file that grows is read up to the size it had when it was found.
"""

from __future__ import annotations

import os
import stat
from typing import IO, TYPE_CHECKING

from backproof.triage.inputs import MAX_FILES, NOT_LOGS, SNIFFED, LogFiles, Source, find_form, is_binary, join_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def collect_files(paths: Sequence[Path], folder: Callable[[], Path]) -> LogFiles:
    """Collect all readable files below `paths`, sorted by label, and note the rest as not read.

    With one path, labels are relative to it, also to an archive; with several, each starts with the name of its path.
    """
    files = LogFiles(folder=folder, alone=len(paths) == 1 and not paths[0].is_dir())
    for number, path in enumerate(paths):
        _visit_path(files, path, "" if len(paths) == 1 else _name_top(paths, number))
    if files.left_out:
        files.notes.append(
            f"left out as no logs: {', '.join(files.left_out[:10])}{_format_more(len(files.left_out) - 10)}"
        )
    files.sources.sort(key=lambda source: source.label)
    return files


def _format_more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def _name_top(paths: Sequence[Path], number: int) -> str:
    name = paths[number].name or "path"
    twin = sum(path.name == paths[number].name for path in paths[:number])
    return f"{name}~{twin + 1}" if twin else name


def _visit_path(files: LogFiles, path: Path, label: str) -> None:
    try:
        state = path.stat()  # follows links: a dangling one, or a loop of links, says so here
    except OSError as error:
        files.unread.append(f"could not read {label or path.name}: {error.strerror or error}")
        return
    key = (state.st_dev, state.st_ino)
    if key in files.seen:
        files.notes.append(f"{label or path.name} was read already under another name")
        return
    files.seen.add(key)
    if stat.S_ISDIR(state.st_mode):
        _visit_folder(files, path, label)
    elif not stat.S_ISREG(state.st_mode):
        files.unread.append(f"did not read {label or path.name}: not a regular file")
    else:
        _add_file(files, path, label)


def _visit_folder(files: LogFiles, path: Path, label: str) -> None:
    try:
        names = sorted(os.listdir(path))  # noqa: PTH208 - plain names, bytes that are no text included
    except OSError as error:
        files.unread.append(f"could not read {label or path.name}: {error.strerror or error}")
        return
    for name in names:
        _visit_path(files, path / name, join_label(label, name))


def _add_file(files: LogFiles, path: Path, label: str) -> None:
    label = label or path.name
    if NOT_LOGS.search(path.name):
        files.left_out.append(label)
        return
    if len(files.sources) >= MAX_FILES:
        files.unread.append(f"did not read {label}: more than {MAX_FILES} files")
        return
    try:
        with _open_file(path) as raw:
            _add_opened(files, raw, path, label)
    except OSError as error:
        files.unread.append(f"could not read {label}: {error.strerror or error}")


def _add_opened(files: LogFiles, raw: IO[bytes], path: Path, label: str) -> None:
    start = raw.read(SNIFFED)
    if find_form(start):
        from backproof.triage import archives  # noqa: PLC0415 - see there

        raw.seek(0)
        archives.unpack_stream(files, raw, label, inner="" if label == path.name and files.alone else label)
    elif is_binary(start):
        files.left_out.append(label)
    else:
        files.sources.append(Source(label=label, path=path, size=os.fstat(raw.fileno()).st_size))


def _open_file(path: Path) -> IO[bytes]:
    """Open without waiting: a FIFO that took the file's place since `stat` opens at once and is refused."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError("not a regular file")
    return os.fdopen(handle, "rb")
