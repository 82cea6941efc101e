"""Something done again and again beside the work of a command, by a thread that no fork can catch in the middle of it."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NAME: Final = "backproof-ticker"
_acting = threading.Lock()
# A forked child has none of our threads: whatever lock one of them held would be held there for ever.
os.register_at_fork(before=_acting.acquire, after_in_parent=_acting.release, after_in_child=_acting.release)


@contextmanager
def tick(seconds: float, action: Callable[[], None]) -> Iterator[None]:
    """Do it at that interval during the block; the first OSError ends it: nobody reads what it writes any more."""
    stop = threading.Event()
    ticker = threading.Thread(target=_repeat, args=(seconds, action, stop), name=_NAME, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        stop.set()
        ticker.join()


def _repeat(seconds: float, action: Callable[[], None], stop: threading.Event) -> None:
    while not stop.wait(seconds):
        with _acting:
            try:
                action()
            except OSError:
                return


def can_fork() -> bool:
    """Return whether a forked child could get by: beside this thread there are none but tickers."""
    others = (thread for thread in threading.enumerate() if thread is not threading.current_thread())
    return hasattr(os, "fork") and all(thread.name == _NAME for thread in others)
