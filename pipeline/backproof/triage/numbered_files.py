"""Where py7zr writes what it unpacks: into files with numbers for names, up to a limit. A member's own name is only a key."""

from __future__ import annotations

from contextlib import ExitStack
from typing import IO, TYPE_CHECKING

from py7zr.io import Py7zIO, WriterFactory

if TYPE_CHECKING:
    from pathlib import Path


class NumberedFiles(WriterFactory):
    """Opens a file for each member. Writing fails once all of them have `limit` bytes."""

    def __init__(self, folder: Path, *, limit: int) -> None:
        folder.mkdir()
        self._folder, self.left = folder, limit
        self.written: dict[str, Path] = {}
        self._streams = ExitStack()

    def create(self, filename: str) -> Py7zIO:
        path = self._folder / f"{len(self.written):06d}"
        self.written[filename] = path
        return _NumberedFile(self, self._streams.enter_context(path.open("w+b")))

    def close(self) -> None:
        """Close all files: the library leaves that to whoever opened them."""
        self._streams.close()


class _NumberedFile(Py7zIO):
    def __init__(self, files: NumberedFiles, stream: IO[bytes]) -> None:
        self._files, self._stream = files, stream

    def write(self, s: bytes | bytearray) -> int:
        self._files.left -= len(s)
        if self._files.left < 0:
            raise OSError("the archives unpack to more than they may")
        return self._stream.write(s)

    def read(self, size: int | None = None) -> bytes:
        return self._stream.read(-1 if size is None else size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def flush(self) -> None:
        self._stream.flush()

    def size(self) -> int:
        return self._stream.tell()
