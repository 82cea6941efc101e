"""An OpenAI-compatible service that computes nothing and fails as it is told: streams, log lines, plogs, endings.

`--X-at N` means: as soon as N requests are in flight. `--unless FILE:TEXT` switches a crash off when the file has the
text, as a fix does.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import os
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

WORDS = [
    "the",
    "a",
    "tide",
    "wind",
    "ship",
    "lamp",
    "shore",
    "wave",
    "light",
    "keeper",
    "evening",
    "north",
    "bell",
    "fog",
    "rock",
    "sail",
    "star",
]

PLOG = """\
[WARNING] OP({pid},):{0} [op_cache.cpp:1204][NNOP][CanUse]4177 OpName:[Indexer_88] cannot hit cache
[ERROR] RUNTIME({pid},):{1} [stars_engine.cc:1617]4190 ProcLogicCqReport:Task run failed, device_id=15, stream_id=80, task_id=202, sqe_type=0(ffts), errType=0x1(task exception), sqSwStatus=0
[ERROR] RUNTIME({pid},):{2} [device_error_core_proc.cc:645]4190 PrintCoreInfo:The error from device(chipId:7, dieId:1), serial number is 11, there is an exception of fftsplus aivector error, core id is 3, error code = 0x800000, dump info: pc start: 0x1000
[ERROR] RUNTIME({pid},):{3} [device_error_core_proc.cc:658]4190 PrintCoreInfo:The extend info: errcode:(0x800000, 0, 0) errorStr: The DDR address of the MTE instruction is out of range. fsmId:0, tslot:3, blk:7, sublk:0, subErrType:4.
[ERROR] RUNTIME({pid},):{4} [api_impl.cc:2256]{pid} StreamSynchronize:context is abort, status=0x7150050.
"""
OOM = """\
[ERROR] RUNTIME({pid},):{0} [npu_driver.cc:900]4190 DevMemAlloc:[drv api] halMemAlloc failed:size=2097152(bytes), type=2, moduleId=3, drvRetCode=6!
[ERROR] RUNTIME({pid},):{1} [api_c.cc:1081]{pid} rtMalloc:ErrCode=207001, desc=[driver error:out of memory], InnerCode=0x7020016
"""
METRICS = """\
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{{engine="0"}} {flight}.0
vllm:num_requests_waiting{{engine="0"}} 0.0
vllm:kv_cache_usage_perc{{engine="0"}} 0.011
"""
TRACEBACK = """\
(Worker_TP15 pid={pid}) ERROR {stamp} [multiproc_executor.py:962] Traceback (most recent call last):
(Worker_TP15 pid={pid}) ERROR {stamp} [multiproc_executor.py:962]   File "/app/acl_graph.py", line 240, in __call__
(Worker_TP15 pid={pid}) ERROR {stamp} [multiproc_executor.py:962] RuntimeError: synchronize NPU function error: aclrtSynchronizeStreamWithTimeout(stream()), error code is 507011
"""


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--served-model-name", default="glm")
    for name in ("crash", "oom", "hang", "corrupt", "garbage", "tie", "kill", "refuse", "cut", "plain-exit"):
        parser.add_argument(f"--{name}-at", type=int, default=0)
    parser.add_argument("--slow", type=float, default=0.0, help="seconds per token and request in flight")
    parser.add_argument("--delay", type=float, default=0.002)
    parser.add_argument("--unless", default="")
    parser.add_argument("--still", default="", help="what --unless does not switch off")
    parser.add_argument("--never-ready", action="store_true")
    parser.add_argument("--end-at-start", action="store_true")
    parser.add_argument("--no-logprobs", action="store_true")
    parser.add_argument("--no-metrics", action="store_true")
    parser.add_argument("--always-garbage", action="store_true")
    parser.add_argument("--flaky", default="", help="FILE:N:M crash-at works in N of M starts, counted in the file")
    return parser.parse_known_args()[0]


class Fake:
    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.flight = 0
        self.most = 0
        self.fallen = False
        self.armed = self._armed()

    def _armed(self) -> bool:
        file, _, text = self.given.unless.partition(":")
        if file and text in Path(file).read_text(encoding="utf-8"):
            return False
        if not self.given.flaky:
            return True
        counter, times, of = self.given.flaky.split(":")
        seen = int(Path(counter).read_text(encoding="utf-8")) if Path(counter).exists() else 0
        Path(counter).write_text(str(seen + 1), encoding="utf-8")
        return seen % int(of) < int(times)

    def on(self, name: str) -> bool:
        limit = getattr(self.given, f"{name}_at")
        return (self.armed or name == self.given.still) and bool(limit) and self.most >= limit

    def say(self, text: str) -> None:
        stamp = datetime.now(UTC).astimezone().strftime("%m-%d %H:%M:%S")
        sys.stdout.write(f"(APIServer pid={os.getpid()}) INFO {stamp} {text}\n")
        sys.stdout.flush()

    def stats(self) -> None:
        self.say(
            f"[loggers.py:259] Engine 000: Avg prompt throughput: 812.4 tokens/s, Avg generation throughput: 253.6 "
            f"tokens/s, Running: {self.flight} reqs, Waiting: 0 reqs, NPU KV cache usage: 1.1%, Prefix cache hit rate: 0.0%"
        )

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request per connection, answered until it is closed: HTTP enough for a client that streams."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            path = head.split(" ", 2)[1]
            length = next(
                (int(line[15:]) for line in head.lower().splitlines() if line.startswith("content-length:")), 0
            )
            body = json.loads(await reader.readexactly(length)) if length else {}
            await self.answer(path, body, writer)
            writer.close()

    async def answer(self, path: str, body: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        if path == "/v1/completions":
            await self.complete(body, writer)
        elif path == "/v1/models":
            await reply(writer, 200, json.dumps({"data": [{"id": self.given.served_model_name}]}))
        elif path == "/metrics" and not self.given.no_metrics:
            await reply(writer, 200, METRICS.format(flight=self.flight))
        elif path == "/health":
            await reply(writer, 503 if self.given.never_ready or self.fallen else 200, "")
        else:
            await reply(writer, 404, "")

    async def complete(self, asked: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        if asked.get("logprobs") and self.given.no_logprobs:
            await reply(writer, 400, json.dumps({"error": {"message": "logprobs are not supported"}}))
            return
        self.flight += 1
        self.most = max(self.most, self.flight)
        if self.flight > 1:
            self.stats()
        try:
            await self.stream(asked, writer)
        finally:
            self.flight -= 1

    async def stream(self, asked: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        words = self.words(asked["prompt"], asked["max_tokens"])
        for number, right in enumerate(words):
            await asyncio.sleep(self.given.delay + self.given.slow * self.flight)
            self.misbehave(number)
            if self.on("hang") and number:
                await asyncio.sleep(3600)
            if self.on("cut") and number > 2:
                writer.transport.abort()
                return
            if self.on("refuse"):
                await send(writer, {"error": {"message": "internal", "code": 500}})
                return
            await send(writer, {"choices": [self.choice(number, right, words, asked)]})
        await send(writer, {"choices": [], "usage": {"completion_tokens": len(words)}})
        writer.write(b"data: [DONE]\n\n")
        await writer.drain()

    def choice(self, number: int, right: str, words: list[str], asked: dict[str, Any]) -> dict[str, Any]:
        other = WORDS[(WORDS.index(right.strip()) + 1) % len(WORDS)] + " "
        near = number == 5
        word = right
        if self.on("tie") and near:
            word = other
        if self.on("corrupt") and number >= 6:
            word = WORDS[(WORDS.index(right.strip()) + 7) % len(WORDS)] + " "
        if self.on("garbage") or self.given.always_garbage:
            word = "!"
        found: dict[str, Any] = {"text": word, "finish_reason": "length" if number + 1 == len(words) else None}
        if asked.get("logprobs"):
            likely = {right: -0.70, other: -0.72} if near else {right: -0.05, other: -4.0}
            found["logprobs"] = {"tokens": [word], "top_logprobs": [likely]}
        return found

    @staticmethod
    def words(prompt: str, count: int) -> list[str]:
        seed = hashlib.sha256(prompt.encode()).digest()
        return [WORDS[(seed[n % 32] + n) % len(WORDS)] + " " for n in range(count)]

    def misbehave(self, number: int) -> None:
        if self.fallen or number < 2:
            return
        if self.on("kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.on("plain_exit"):
            os._exit(3)
        for name, text in (("crash", PLOG), ("oom", OOM)):
            if self.on(name):
                self.fall(text)

    def fall(self, plog: str) -> None:
        """As a worker does: the device's log first, the traceback after it, the end soon."""
        self.fallen = True
        pid, now = os.getpid(), time.time()
        stamps = [datetime.fromtimestamp(now + n / 1000).strftime("%Y-%m-%d-%H:%M:%S.%f") for n in range(5)]  # noqa: DTZ006
        stamps = [f"{each[:-3]}.{each[-3:]}" for each in stamps]
        folder = Path(os.environ["ASCEND_PROCESS_LOG_PATH"]) / "debug" / "plog"
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"plog-{pid}_{int(now * 1000)}.log"
        file.write_text(plog.format(*stamps, pid=pid), encoding="utf-8")
        stamp = datetime.now(UTC).astimezone().strftime("%m-%d %H:%M:%S")
        sys.stdout.write(TRACEBACK.format(pid=pid, stamp=stamp))
        sys.stdout.flush()
        os._exit(1)


async def reply(writer: asyncio.StreamWriter, status: int, text: str) -> None:
    body = text.encode()
    writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
    await writer.drain()


async def send(writer: asyncio.StreamWriter, chunk: dict[str, Any]) -> None:
    writer.write(f"data: {json.dumps(chunk)}\n\n".encode())
    await writer.drain()


async def main() -> None:
    given = options()
    if given.end_at_start:
        sys.exit("ValueError: no such model")
    fake = Fake(given)
    server = await asyncio.start_server(fake.serve, "127.0.0.1", given.port)
    fake.say("[api_server.py:1] Application startup complete.")
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
