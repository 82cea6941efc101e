"""Decode the numbers of the Ascend stack. The tables are data: codes.toml, each with the source of its numbers."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Final

from backproof.core.model import Record
from backproof.records.codes import Code

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Where each numbering shows up in a line, most telling first.
_SEEN: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("ts", re.compile(r"\b(?:retCode|errorCode)=(0x[0-9a-fA-F]{2,3})\b")),
    ("inner", re.compile(r"\b(?:InnerCode|status|retCode)=(0x7[0-9a-fA-F]{6})\b")),
    (
        "acl",
        re.compile(
            r"(?:ErrCode=|runtime result = |error code(?: is |[:=] ?)|errno\[|ErrorNo: |Error number is |failed: )([1235]\d{5})\b"
        ),
    ),
    ("alarm_code", re.compile(r"\b(E[0-9A-Z]\d{4})\b")),
    ("mindie", re.compile(r"\b(MIE05E\w{6})\b")),
    ("event", re.compile(r"(?:event_id|[Ee]vent id|excep_code|exception[_ ]code)\W{1,4}(0x[0-9a-fA-F]{8})\b")),
    ("aicore", re.compile(r"(?:errcode:\(|error code = )(0x[0-9a-fA-F]+|\d{2,3}|0(?=, ?0, ?0\)))")),
    ("aicore2", re.compile(r"errcode:\([^,]{1,20}, ?(0x[0-9a-fA-F]+)")),
    ("aicore3", re.compile(r"errcode:\([^,]{1,20},[^,]{1,20}, ?(0x[0-9a-fA-F]+)")),
    ("errtype", re.compile(r"errType=(0x[0-9a-fA-F]+)")),
    ("hccl", re.compile(r"(?:hcclRet -> |error code is \[?|ret\[)(\d{1,2})\b")),
)


USER_TABLES: Final = ("acl", "alarm_code", "mindie")
"""Numberings that a user meets, the most telling first."""


class CodeTable(Record):
    """One numbering."""

    source: str
    entries: dict[str, str]


@cache
def load_tables() -> Mapping[str, CodeTable]:
    text = resources.files("backproof.triage").joinpath("codes.toml").read_text("utf-8")
    return {name: CodeTable.model_validate(table) for name, table in tomllib.loads(text).items()}


def normalize_code(code: str) -> str:
    """Return the key of a code: `0x07150050` and `0X7150050` are the same."""
    return hex(int(code, 16)) if code.lower().startswith("0x") else code


def decode_code(table: str, code: str) -> Code:
    """Return the meaning of a number, empty when the table does not have it."""
    numbering = load_tables()[table]
    key = normalize_code(code)
    meaning = numbering.entries.get(key) or (_decode_event(key) if table == "event" else "")
    return Code(table=table, code=key, meaning=meaning, source=numbering.source)


def _decode_event(key: str) -> str:
    """Take a device event apart: 16 bits name the part of the device, 16 bits what is wrong with it."""
    module, failure = divmod(int(key, 16), 1 << 16)
    names = (decode_code("event_module", hex(module)), decode_code("event_failure", hex(failure)))
    return ": ".join(name.meaning for name in names if name.meaning)


@lru_cache(maxsize=4096)
def find_kind(code: Code) -> str | None:
    """Return the kind of first fault that a code means, if it means a precise one."""
    numbering = load_tables().get(f"{code.table.rstrip('23')}_kind")
    patterns = numbering.entries.items() if numbering else ()
    return next((kind for pattern, kind in patterns if re.search(pattern, f"{code.code} {code.meaning}")), None)


@lru_cache(maxsize=4096)
def find_codes(subject: str) -> tuple[Code, ...]:
    """Return all numbers of a line that a table knows, in the order of the chain: TS, inner, ACL, alarm."""
    codes = [decode_code(table, hit) for table, pattern in _SEEN for hit in pattern.findall(subject)]
    return tuple(code for code in codes if code.meaning or code.table in USER_TABLES)


def build_chain(codes: Iterable[Code]) -> list[Code]:
    """Return TS code, inner code and ACL code: as seen, completed by the maps of the runtime where a link is missing."""
    first: dict[str, Code] = {}
    for code in codes:
        if code.table in {"ts", "inner", "acl"}:
            first.setdefault(code.table, code)
    _complete_chain(first, "ts", "ts_to_inner", "inner")
    _complete_chain(first, "inner", "inner_to_acl", "acl")
    return [first[table] for table in ("ts", "inner", "acl") if table in first]


def _complete_chain(first: dict[str, Code], given: str, table: str, missing: str) -> None:
    if given in first and missing not in first:
        code = load_tables()[table].entries.get(first[given].code)
        if code:
            first[missing] = decode_code(missing, code)
