"""What must not be published is not there, whatever stands around it; what is no secret stays readable."""

from __future__ import annotations

import getpass
import socket
from typing import TYPE_CHECKING

import pytest
from backproof.core import redaction
from backproof.core.redaction import find_secrets, redact, redact_for_public
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from pathlib import Path

PRIVATE = {
    "10.23.4.5": "ADDRESS",
    "192.168.100.17": "ADDRESS",
    "fe80::1ff:fe23:4567:890a": "ADDRESS",
    "2001:db8:85a3::8a2e:370:7334": "ADDRESS",
    "52:54:00:ab:cd:ef": "ADDRESS",
    "/home/zhangwei/ascend/log": "/home/USER/ascend/log",
    "/Users/ann/work": "/Users/USER/work",
    r"C:\Users\Ann\vllm": r"C:\Users\USER\vllm",
    "npu-node-17.prod.internal": "HOST",
    "worker3.cluster.local": "HOST",
    "serial number: 2102313NEY10KA000123": "serial number: SERIAL",
    "SN: 033EGX10L9000456": "SN: SERIAL",
    "VDie ID : 8CC80D5F 20C08E16 51A40208 0114010A 0D10001C": "VDie ID : SERIAL",
    "boot_id=0f6b2a4e-92d7-4a58-8f5e-0c8f7b1f2a33": "boot_id=SERIAL",
    "0f6b2a4e-92d7-4a58-8f5e-0c8f7b1f2a33": "SERIAL",
    "zhang.wei@corp.example.com": "MAIL",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345": "***",
    "github_pat_11ABCDEFG0123456789_abcdefghijklmnop": "***",
    "ghs_2233_eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0NTYifQ.c2lnbmF0dXJlLWJ5dGVz": "***",
    "hf_0123456789abcdefghij": "***",
    "AKIA0123456789ABCDEF": "***",
    "https://ann:hunter2hunter2@git.example.com/x.git": "https://***@git.example.com/x.git",
    "https://ghp-alone@git.example.com/x.git": "https://***@git.example.com/x.git",
    "Authorization: Bearer abcdefghijklmnop0123456789": "Authorization: Bearer ***",
    "Authorization: Basic YW5uOmh1bnRlcjJodW50ZXI=": "Authorization: Basic ***",
}
"""What must not be published, and what stands there instead."""


@pytest.mark.parametrize("text", PRIVATE)
def test_what_names_a_machine_or_a_person_goes_and_the_rest_stays(text: str) -> None:
    assert redact_for_public(f"before {text} after", env={}) == f"before {PRIVATE[text]} after"


@pytest.mark.parametrize(
    "text",
    [
        "CANN 9.2.0, HDK 26.1.1, torch_npu 2.10.0.post7",
        "2026-03-01-09:55:33.588",
        "at 09:55:32 the engine stopped",
        "c10::Error in at::add, torch::autograd::Node",
        "vllm_ascend/ops/triton/kda/conv_state.py:127",
        "0x103f00ca retCode=0x91 task_id=202",
        "listens on 127.0.0.1:8027 and 0.0.0.0",
        "aclrtSynchronizeStreamWithTimeout(stream()), error code is 507011",
        "https://github.com/vllm-project/vllm-ascend/pull/19353",
        "f5826a4f5826a4f5826a4f5826a4f5826a4f5826",
        "ann <123+ann@users.noreply.github.com>",
        "threading.local() of a host.local_port",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact_for_public(text, env={}) == text


def test_the_hosts_own_names_go() -> None:
    shown = redact_for_public("on A3-Node-07 under /mnt/ann-models", names=("a3-node-07", "ann-models"), env={})
    assert shown == "on HOST under /mnt/HOST"


def test_names_that_say_nothing_and_short_ones_stay_and_the_longest_goes_first() -> None:
    names = ("Worker", "LOCALHOST", "abc", "node-7", "node-7-rack", "a.node-7", "abcd", "x.y+z")
    shown = redact_for_public("worker localhost abc abcd node-7-rack a.node-7 node-77 x.y+z xzy+z", names=names, env={})
    assert shown == "worker localhost abc HOST HOST HOST node-77 HOST xzy+z"


def test_this_machine_and_its_user_go_unnamed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "a3-lab-12.example.org")
    monkeypatch.setattr(getpass, "getuser", lambda: "zhangwei")
    monkeypatch.setenv("HOME", str(tmp_path / "zw-home"))
    redaction._own_names.cache_clear()
    try:
        shown = redact_for_public("zhangwei at a3-lab-12 (a3-lab-12.example.org), zw-home", env={})
    finally:
        redaction._own_names.cache_clear()
    assert shown == "HOST at HOST (HOST), HOST"


def test_a_container_whose_user_has_no_name_is_no_trouble(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr(getpass, "getuser", nobody)
    monkeypatch.setattr(socket, "gethostname", lambda: "box-1234")
    monkeypatch.setenv("HOME", str(tmp_path / "zw-home"))
    redaction._own_names.cache_clear()
    try:
        assert redaction._own_names() == {"box-1234", "zw-home"}
    finally:
        redaction._own_names.cache_clear()


ENVIRONMENT = {
    "MY_TOKEN": "abcdef",
    "OTHER_SECRET": "abcde",
    "DB_PASSWORD": "abcdef-longer",
    "GIT_AUTHOR_NAME": "ann author",
    "USE_AUTH": "false",
    "api_key": "0123456789",
    "HOME": "/home/somebody",
}


def test_secrets_are_what_the_environment_calls_so_the_longest_first() -> None:
    assert find_secrets(ENVIRONMENT) == ("abcdef-longer", "0123456789", "abcdef")


def test_the_environment_is_ours_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", "a-token-of-no-known-shape")
    assert "a-token-of-no-known-shape" in find_secrets()
    assert redact("x=a-token-of-no-known-shape;") == "x=***;"
    assert redact_for_public("x=a-token-of-no-known-shape;") == "x=***;"


def test_known_tokens_go_wherever_they_stand_whole_also_where_one_is_a_part_of_another() -> None:
    assert redact("x=abcdef-longer;abcdefabcdef", env=ENVIRONMENT) == "x=***;******"
    assert redact_for_public("x=abcdef-longer;abcdefabcdef", env=ENVIRONMENT) == "x=***;******"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("127.0.0.1 ::1 0.0.0.0 10.0.0.1", "127.0.0.1 ::1 0.0.0.0 ADDRESS"),
        ("999.1.1.1 is no address", "999.1.1.1 is no address"),
        ("09:55:32:01 is no address", "09:55:32:01 is no address"),
    ],
)
def test_only_addresses_of_somebody_are_masked(text: str, shown: str) -> None:
    assert redact_for_public(text, env={}) == shown


@given(st.sampled_from(list(PRIVATE)[:6]), st.text("abc \n\t()[]{}<>|*_`,;'\"", max_size=20))
def test_surroundings_do_not_hide_it(text: str, around: str) -> None:
    secret = "zhangwei" if "zhangwei" in text else text
    assert secret not in redact_for_public(f"{around} {text} {around}", env={})


@given(st.text(max_size=400))
def test_any_text_comes_out_and_a_second_time_changes_nothing(text: str) -> None:
    once = redact_for_public(text, env={})
    assert redact_for_public(once, env={}) == once


def test_a_long_hostile_line_takes_no_time() -> None:
    for unit in ("a.", "0:", "1.", "ab:", "/home/", "eyJ", "-----BEGIN PRIVATE KEY-----", "a-", "@a."):
        assert redact_for_public(unit * 20_000, env={}) is not None
