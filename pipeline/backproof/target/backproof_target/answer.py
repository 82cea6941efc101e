"""Where an answer goes: a handle that the caller reads, a line for each answer, and not for what this process starts."""

from __future__ import annotations

import json
import os
from typing import Any


class Answer:
    """An open handle of the caller. It says what it is: a process that was asked to keep quiet can still find it."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def shut(self) -> None:
        """Close it here: what is answered by this handle is another process's to say."""
        os.close(self.handle)

    def keep_own(self) -> None:
        """Leave it to this process: nothing that it starts gets the handle. Standard output stays as it is."""
        if self.handle > 2:
            os.set_inheritable(self.handle, False)  # noqa: FBT003 - positional only
            os.register_at_fork(after_in_child=self.shut)

    def put(self, result: dict[str, Any]) -> None:
        line = json.dumps(result, sort_keys=True, allow_nan=False, default=str).encode() + b"\n"
        while line:
            line = line[os.write(self.handle, line) :]
