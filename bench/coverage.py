"""How much of public tables triage knows.

Usage: python bench/coverage.py RUNTIME MIND_CLUSTER

RUNTIME and MIND_CLUSTER are git repositories of hicann/runtime and Ascend/mind-cluster, bare or not; their newest commit counts. Each
entity of ascend-fd that is about a log of the stack, a host or a server is made into one line, its words in their order; it counts
as known when a rule takes the line, and as classed when triage gives it a kind.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from backproof.triage import codes, line_header, rules

if TYPE_CHECKING:
    from collections.abc import Iterator

ALARMS = "src/dfx/error_manager/error_code.json"
ACL = "include/external/acl/error_codes/rt_error_codes.h"
FD = "component/ascend-faultdiag/src/ascend_fd/configuration/"
OURS = (
    "CANN_Plog",
    "CANN_Device",
    "NPU_OS",
    "NPU_Device",
    "NPU_History",
    "NPU_Host",
    "OS",
    "TrainLog",
    "MindIE",
    "PyMotor_vLLM_Log",
)
PLOG = "[ERROR] {}(77,python3):2026-05-06-07:08:09.123.456 [file.cc:1]77 {}"
HEADS = {
    "CANN_Plog": PLOG,
    "CANN_Device": PLOG,
    "NPU_Device": PLOG,
    "NPU_OS": "[EVENT] KERNEL(35,sklogd):2026-05-06-07:08:09.123.456 [klogd.c:1][ascend] [ERROR] {1}",
    "NPU_History": "[2026-05-06 07:08:09.123456] system exception {1}",
    "NPU_Host": "[Wed May  6 07:08:09 2026] [ascend] [ERROR] {1}",
    "OS": "[Wed May  6 07:08:09 2026] {1}",
}
MODULE = re.compile(r"^\[?(?:ERROR\] )?([A-Z]{2,12})\b\(?$")


def read_file(repo: str, path: str) -> str:
    return subprocess.run(
        ["/usr/bin/env", "git", "-C", repo, "show", f"HEAD:{path}"], capture_output=True, text=True, check=True
    ).stdout


def print_row(name: str, known: int, total: int, remark: str = "") -> None:
    print(f"| {name} | {known} of {total} ({known / max(total, 1):.0%}) | {remark} |")


def count_alarms(text: str) -> None:
    seen = [entry["ErrCode"] for entry in json.loads(text)["error_info_list"]]
    kinds = [codes.find_kind(codes.decode_code("alarm_code", code)) for code in seen]
    named = sum(bool(codes.decode_code("alarm_code", code).meaning) for code in seen)
    other = kinds.count(None)
    print_row("alarm codes", named, len(seen), f"{other} ({other / len(seen):.1%}) of no kind")


def count_numbers(name: str, table: str, numbers: list[str]) -> None:
    print_row(name, sum(bool(codes.decode_code(table, number).meaning) for number in numbers), len(numbers))


def count_triples(text: str) -> None:
    members = [re.findall(r"0x[0-9a-f]+|\d+", key) for key in json.loads(text)]
    rows = [codes.find_codes(f"errcode:({', '.join(member)})") for member in members]
    print_row("AI Core errors", sum(bool(row) for row in rows), len(rows))


def list_lines(entity: dict[str, Any], source: str) -> Iterator[str]:
    for words in (entity.get("regex") or {}).get("in", []):
        plain = words if isinstance(words, list) else [words]
        module = next((hit[1] for word in plain if (hit := MODULE.match(word.strip()))), "RUNTIME")
        yield HEADS.get(source, "{1}").format(module, " ".join(plain))


def count_entities(text: str) -> None:
    known: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for entity in json.loads(text)["knowledge-repository"].values():
        sources = [source.split("-")[0].strip() for source in str(entity.get("source_file")).split("|")]
        source = next((source for source in sources if source in OURS), None)
        lines = list(list_lines(entity, source)) if source else []
        if source and lines:
            total[source] += 1
            known[source] += any(is_known(line) for line in lines)
    for source in total:
        print_row(f"ascend-fd, {source}", known[source], total[source])
    print_row("ascend-fd, all that concern us", known.total(), total.total())


def is_known(line: str) -> bool:
    book = rules.load_shipped_rules()
    numbers = [book.match_head(head) for head in line_header.read_heads(line.encode())]
    return any(number >= 0 and book.rules[number].role not in {"noise", "context"} for number in numbers)


def main() -> None:
    runtime, cluster = sys.argv[1:3]
    print("| table | known | |\n| --- | --- | --- |")
    count_alarms(read_file(runtime, ALARMS))
    count_numbers("ACL codes", "acl", re.findall(r"ACL_ERROR_RT_\w+\s*(?:\\\s*)?(\d{6})", read_file(runtime, ACL)))
    count_triples(read_file(cluster, f"{FD}aicore-error-code-config-en.json"))
    knowledge = read_file(cluster, f"{FD}kg-config.json")
    count_numbers("device events", "event", sorted(set(re.findall(r'"(0x8[0-9A-F]{7})": \{', knowledge))))
    count_entities(knowledge)


if __name__ == "__main__":
    main()
