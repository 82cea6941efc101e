"""Run checks in the target interpreter: ``python run_check.py REQUEST.json [HANDLE]``, or ``--batch BATCH.json`` for several.

The answer goes to an open pipe of the caller, not to standard output: targets print banners when they are imported. Without
a handle, as for a person who runs it again, it goes there all the same.
Exit code 0 means that the result says what happened, whatever it was; 3 that the request itself could not be read.
"""

from __future__ import annotations

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def _own_folder_last() -> None:
    """A script's folder is put first on the path, where it would shadow the target's own modules; ours goes last."""
    sys.path[:] = [item for item in sys.path if not item or Path(item).resolve() != _HERE]
    sys.path.append(str(_HERE))


def run_request(arguments: list[str]) -> int:
    sys.dont_write_bytecode = True  # the target's folders stay as they were
    _own_folder_last()
    from backproof_target.caller import die_with_caller
    from backproof_target.request import RequestError

    die_with_caller()
    try:
        if arguments[0] == "--batch":
            _run_several(Path(arguments[1]))
        else:
            _run_one(Path(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 1)
    except RequestError as refused:
        print(refused, file=sys.stderr)
        return 3
    return 0


def _run_one(path: Path, handle: int) -> None:
    from backproof_target.answer import Answer
    from backproof_target.request import read_request
    from backproof_target.session import run_session

    run_session(read_request(path), Answer(handle))


def _run_several(path: Path) -> None:
    from backproof_target.batch import read_jobs, run_all

    run_all(*read_jobs(path))


if __name__ == "__main__":
    sys.exit(run_request(sys.argv[1:]))
