"""Stand-ins for what the backend of the memcache store imports: there is no kernel and no device operator in it.

The store's client library exists on device hosts only. Its stand-in remembers each call and gives a plain answer, so
that a check can tell a call that went through from one that never reached the store.
"""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

MODELS = {"store": "a store that starts at once, remembers what it was asked, and answers 0 for each key"}
OPTIONS: dict[str, tuple[str, ...]] = {}
LIMITS = (
    "The memcache store is a stand-in: what its client library does with a call is not modelled.",
    "The scheduler and the worker that call the backend do not run; the checks call it as they do.",
)


class DistributedObjectStore:
    """The client of a store: each call is noted with its arguments."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def init(self, rank: int, *, init_bm: bool) -> int:
        self.calls.append(("init", rank, init_bm))
        return 0

    def register_buffer(self, pointer: int, size: int) -> int:
        self.calls.append(("register_buffer", pointer, size))
        return 0

    def batch_get_key_info(self, keys: list[str]) -> list[str]:
        self.calls.append(("batch_get_key_info", *keys))
        return [f"info of {key}" for key in keys]

    def batch_alloc(self, keys: list[str], sizes: list[int]) -> list[int]:
        self.calls.append(("batch_alloc", *zip(keys, sizes, strict=True)))
        return [0] * len(keys)

    def batch_is_exist(self, keys: list[str]) -> list[int]:
        self.calls.append(("batch_is_exist", *keys))
        return [1] * len(keys)

    def batch_add_lease(self, keys: list[str], lease_ttl_ms: int) -> list[int]:
        self.calls.append(("batch_add_lease", lease_ttl_ms, *keys))
        return [0] * len(keys)

    def batch_remove_lease(self, keys: list[str]) -> int:
        self.calls.append(("batch_remove_lease", *keys))
        return 0

    def batch_write_finish(self, keys: list[str], results: list[int]) -> list[int]:
        self.calls.append(("batch_write_finish", *zip(keys, results, strict=True)))
        return [0] * len(keys)


def _world_group() -> SimpleNamespace:
    return SimpleNamespace(local_rank=0)


# Every name that the two files under test import; any other below these packages is an error.
MODULES: dict[str, dict[str, Any]] = {
    "vllm": {},
    "vllm.config": {"ParallelConfig": SimpleNamespace},
    "vllm.distributed": {},
    "vllm.distributed.parallel_state": {"get_world_group": _world_group},
    "vllm.logger": {"logger": logging.getLogger("vllm")},
    "memcache_hybrid": {"DistributedObjectStore": DistributedObjectStore},
}
SKELETON = ("vllm_ascend",)
