"""What the backend of the memcache store answers before and after the store is started.

On hosts whose store talks to the device directly the store is started with the first write ("lazy"). Until then the
scheduler and the workers ask about keys all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from vllm_ascend.distributed.kv_transfer.kv_pool.ascend_store.backend.memcache_backend import MemcacheBackend

if TYPE_CHECKING:
    from pathlib import Path

LEASES: list[tuple[str, tuple[Any, ...]]] = [
    ("batch_add_lease", (["a"], 5)),
    ("batch_remove_lease", (["a"],)),
    ("batch_write_finish", (["a"], [0])),
]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The backend waits for the store's threads; the stand-in has none."""
    monkeypatch.setattr(f"{MemcacheBackend.__module__}.MEMCACHE_THREAD_START_WAIT_S", 0)


def _backend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, protocol: str = "device_sdma", lazy: bool = True
) -> Any:
    settings = tmp_path / "mmc-local.conf"
    settings.write_text(f"# of the check\nock.mmc.local_service.protocol = {protocol}\n", encoding="utf-8")
    monkeypatch.setenv("MMC_LOCAL_CONFIG_PATH", str(settings))
    return MemcacheBackend(None, local_rank=3, lazy_init=lazy)


@pytest.mark.parametrize("keys", [[], ["a"], ["a", "b", "c"]], ids=["no-key", "one-key", "three-keys"])
def test_before_start_keys(device: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: list[str]) -> None:
    backend = _backend(tmp_path, monkeypatch)
    assert backend.store is None, "the store is up already, so nothing was tested"
    found = backend.batch_get_key_info(keys)
    device.observe(found=found, started=backend.store is not None)
    assert found == []
    assert backend.store is None, "a question must not start the store"


def test_before_start_allocation(device: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = _backend(tmp_path, monkeypatch)
    backend.register_buffer([4096], [64])
    assert backend.batch_alloc(["a", "b"], [8, 16]) == [0, 0]
    device.observe(calls=[each[0] for each in backend.store.calls])
    assert backend.store.calls == [
        ("init", 3, True),
        ("register_buffer", 4096, 64),
        ("batch_alloc", ("a", 8), ("b", 16)),
    ]


def test_before_start_then_as_ever(device: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The empty answer is of the time before the start only; the store is started once."""
    backend = _backend(tmp_path, monkeypatch)
    before = backend.batch_get_key_info(["a"])
    backend.batch_alloc(["a"], [8])
    backend.batch_alloc(["b"], [8])
    after = backend.batch_get_key_info(["a"])
    device.observe(before=before, after=after)
    assert (before, after) == ([], ["info of a"])
    assert [each[0] for each in backend.store.calls].count("init") == 1


@pytest.mark.parametrize(
    ("protocol", "lazy"), [("device_sdma", False), ("host_rdma", True)], ids=["not-lazy", "other-protocol"]
)
def test_started_at_once(
    device: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str, lazy: bool
) -> None:
    backend = _backend(tmp_path, monkeypatch, protocol=protocol, lazy=lazy)
    assert backend.batch_get_key_info(["a", "b"]) == ["info of a", "info of b"]
    assert backend.batch_alloc(["a"], [8]) == [0]
    device.observe(calls=[each[0] for each in backend.store.calls])
    assert [each[0] for each in backend.store.calls] == ["init", "batch_get_key_info", "batch_alloc"]


def test_started_late(device: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = _backend(tmp_path, monkeypatch)
    assert backend.exists(["a"]) == [0]
    backend.ensure_initialized()
    assert backend.exists(["a"]) == [1]
    assert backend.batch_get_key_info(["a"]) == ["info of a"]
    device.observe(calls=[each[0] for each in backend.store.calls])


@pytest.mark.parametrize(("call", "arguments"), LEASES, ids=[name for name, _ in LEASES])
def test_leases(
    device: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, arguments: tuple[Any, ...]
) -> None:
    """Any answer will do."""
    backend = _backend(tmp_path, monkeypatch)
    device.observe(call=call)
    getattr(backend, call)(*arguments)
