"""Texts that hold one failure without an Ascend code, as people paste them: each has a kind, none is an all-clear."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from backproof.triage import triage

if TYPE_CHECKING:
    from pathlib import Path

TRACEBACK = 'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in run\n    f()\n'
WORKER = "(Worker_TP3 pid=9) ERROR 11-03 10:10:03 [multiproc_executor.py:900] "
ONE_FAULT = {
    "a traceback": (f"{TRACEBACK}KeyError: 'weight_scale'\n", "host"),
    "a traceback of a worker": ("".join(WORKER + line + "\n" for line in f"{TRACEBACK}ValueError: x".split("\n")), "host"),
    "an exception alone": ("AssertionError: token_to_kv_pool_allocator memory leak detected!\n", "host"),
    "an exception of a package": ("pydantic_core._pydantic_core.ValidationError: 1 validation error\n", "host"),
    "ray": (
        f"(RayWorkerWrapper pid=4, ip=10.0.0.2) {TRACEBACK.splitlines()[0]}\n(RayWorkerWrapper pid=4, ip=10.0.0.2) IndexError: x\n",
        "host",
    ),
    "sglang": (f"[2026-11-03 10:10:03 TP3] Scheduler hit an exception: {TRACEBACK}AssertionError: leak\n", "host"),
    "engine start": ("RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n", "host"),
    "segmentation fault": ("Fatal Python error: Segmentation fault\n\nThread 0x00 (most recent call first):\n", "host"),
    "segmentation fault of a shell": ("Segmentation fault (core dumped)\n", "host"),
    "abort": ("terminate called after throwing an instance of 'std::bad_function_call'\n", "host"),
    "double free": ("double free or corruption (!prev)\n", "host"),
    "bus error": ("Bus error (core dumped)\n", "host"),
    "killed": ("Killed\n", "host"),
    "torchrun, signal": ("  traceback : Signal 9 (SIGKILL) received by PID 4107\n", "host"),
    "torchrun, exit code": ("failed (exitcode: -9) local_rank: 3 (pid: 4107) of binary: /usr/bin/python\n", "host"),
    "launcher, exit code": ("worker 3 exited with code 137\n", "host"),
    "container": ("    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n", "host"),
    "kernel kills": ("[ 8812.345678] Out of memory: Killed process 4107 (python3) total-vm:1kB\n", "host"),
    "kernel, segmentation fault": ("[Tue Nov  3 10:10:03 2026] python3[41]: segfault at 0 ip 0 sp 0 error 4 in libruntime.so\n", "host"),
    "ray kills": ("ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\n", "host"),
    "ray actor": ("ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n", "host"),
    "no memory on the host": ("OSError: [Errno 12] Cannot allocate memory\n", "host"),
    "driver library": ("ImportError: libascend_hal.so: cannot open shared object file: No such file or directory\n", "environment"),
    "symbol": ("ImportError: /usr/lib/libtorch_npu.so: undefined symbol: _ZN3c10\n", "environment"),
    "module": (f"{TRACEBACK}ModuleNotFoundError: No module named 'vllm_ascend'\n", "environment"),
    "disk": (f"{TRACEBACK}OSError: [Errno 28] No space left on device\n", "environment"),
    "permission": ("PermissionError: [Errno 13] Permission denied: '/dev/davinci0'\n", "environment"),
    "port": (f"{TRACEBACK}OSError: [Errno 98] Address already in use\n", "link"),
    "cache blocks": (f"{TRACEBACK}ValueError: No available memory for the cache blocks. Try increasing x.\n", "oom"),
    "workspace": ("NPU out of memory. NPUWorkspaceAllocator tried to allocate 1.89 GiB(NPU 7; 60.96 GiB total capacity)\n", "oom"),
    "rpc": ("TimeoutError: RPC call to execute_model timed out.\n", "timeout"),
    "watchdog": ("[rank3]:[E1103 10:10:03.000000001 ProcessGroupHCCL.cpp:9] Watchdog caught collective operation timeout: x\n", "timeout"),
    "peer": ("RuntimeError: store->get('0') got error: failed to recv, got 0 bytes\n", "link"),
    "health check": ("Warning  Unhealthy  2m  kubelet  Liveness probe failed: HTTP probe failed with statuscode: 503\n", "host"),
    "no device in the container": ("dcmi module initialize failed. ret is -8005\n", "driver"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "kind"), ONE_FAULT.values(), ids=ONE_FAULT)
def test_one_fault_has_its_kind(tmp_path: Path, text: str, kind: str) -> None:
    (tmp_path / "paste.txt").write_text(text, encoding="utf-8")
    result = triage([tmp_path])
    assert result.first_fault is not None, result.verdict
    assert result.first_fault.kind == kind
    assert result.exit_code == 1
    assert result.advice


def test_there_are_as_many_as_were_measured() -> None:
    assert len(ONE_FAULT) == 35


REPORTS = {
    "the kernel ends a process for systemd": (
        (
            "Nov 03 10:00:32 node-a systemd[1]: vllm.service: A process of this unit has been killed by the OOM killer.\n"
            "Nov 03 10:00:32 node-a systemd[1]: vllm.service: Main process exited, code=killed, status=9/KILL\n"
            "Nov 03 10:00:32 node-a systemd[1]: vllm.service: Failed with result 'oom-kill'.\n"
        ),
        (1, "host", "host node-a: the host or the container ran out of memory; 2 secondary errors"),
    ),
    "the cache does not hold one request": (
        (
            "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger "
            "than the available KV cache memory (9.10 GiB).\n"
        ),
        (1, "oom", "paste.txt: the model leaves no memory for its cache"),
    ),
    "a wait for others, not a fault of the rank that waits": (
        (
            f"[2026-11-03 10:10:01 TP1] Scheduler hit an exception: {TRACEBACK}"
            "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined.\n"
            "[2026-11-03 10:10:02] Received sigquit from a child process. It usually means the child failed.\n"
        ),
        (4, "timeout", "paste.txt: a wait for another process ran out; 1 secondary error"),
    ),
    "a device that may not be opened": (
        (
            "[ERROR] DRV(77,python3):2026-11-03-10:00:00.000.001 [ascend][curpid: 77, 77][drv][devdrv][devdrv_open_device 101]"
            "open /dev/davinci0 failed, errno=13(Permission denied)\n"
            "[ERROR] RUNTIME(77,python3):2026-11-03-10:00:00.000.002 [npu_driver.cc:300]77 DeviceOpen:[drv api] halDeviceOpen failed: device_id=0, drvRetCode=46\n"
            "[ERROR] ASCENDCL(77,python3):2026-11-03-10:00:00.000.003 [device.cpp:66]77 aclrtSetDevice:open device 0 failed, runtime result = 507899\n"
        ),
        (1, "environment", "device 0: the process may not open the device; 2 secondary errors"),
    ),
    "a paste that was wrapped within its words": (
        (
            "[rank1]: RuntimeError: npuSynchronizeDevice:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:\n"
            "456 NPU function error: AclrtSynchronizeDeviceWithTimeout, error code is 507015\n"
            "[rank1]: EZ9999: Inner Error!\n"
            "[rank1]: EZ9999: [PID: 411] 2026-11-03-10:00:05.001.002 The error from device(chipId:1, dieId:0), ser\n"
            "ial number is 9, there is an aicore error exception, core id is 0, error code = 0x8, dump info: pc start: 0x1\n"
        ),
        (5, "aicore", "rank 1: a kernel faulted on an AI or vector core; 4 secondary errors"),
    ),
    "two hosts in one file": (
        (
            f"worker-2: {TRACEBACK.splitlines()[0]}\nworker-2: FileNotFoundError: [Errno 2] No such file or directory: '/data/a'\n"
            "worker-1: [rank0]: RuntimeError: store->get('0') got error: wait timeout after 1800000ms\n"
        ),
        (
            1,
            "host",
            "host worker-2: a process on the host failed by itself: FileNotFoundError: [Errno 2] No such file or directory: '/data/a'; 1 secondary error",
        ),
    ),
}


@pytest.mark.parametrize(("text", "answer"), REPORTS.values(), ids=REPORTS)
def test_a_report_has_its_line_and_its_sentence(tmp_path: Path, text: str, answer: tuple[int, str, str]) -> None:
    (tmp_path / "paste.txt").write_text(text, encoding="utf-8")
    result = triage([tmp_path])
    assert result.first_fault is not None, result.verdict
    assert (result.first_fault.line, result.first_fault.kind, result.verdict) == answer
