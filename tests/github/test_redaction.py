"""What must not be published is not there, whatever stands around it; what is no secret stays readable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.redaction import publishable, redact

PRIVATE = [
    "10.23.4.5",
    "192.168.100.17",
    "fe80::1ff:fe23:4567:890a",
    "2001:db8:85a3::8a2e:370:7334",
    "52:54:00:ab:cd:ef",
    "/home/zhangwei/ascend/log",
    "/Users/ann/work",
    r"C:\Users\Ann\vllm",
    "npu-node-17.prod.internal",
    "worker3.cluster.local",
    "serial number: 2102313NEY10KA000123",
    "SN: 033EGX10L9000456",
    "VDie ID : 8CC80D5F 20C08E16 51A40208 0114010A 0D10001C",
    "boot_id=0f6b2a4e-92d7-4a58-8f5e-0c8f7b1f2a33",
    "0f6b2a4e-92d7-4a58-8f5e-0c8f7b1f2a33",
    "zhang.wei@corp.example.com",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "github_pat_11ABCDEFG0123456789_abcdefghijklmnop",
    "ghs_2233_eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0NTYifQ.c2lnbmF0dXJlLWJ5dGVz",
    "https://ann:hunter2hunter2@git.example.com/x.git",
    "Authorization: Bearer abcdefghijklmnop0123456789",
]
SECRETS = [
    "10.23.4.5", "192.168.100.17", "1ff:fe23", "85a3", "ab:cd:ef", "zhangwei", "/ann/", "\\Ann\\", "npu-node-17",
    "worker3", "2102313NEY10KA000123", "033EGX10L9000456", "20C08E16", "0f6b2a4e", "zhang.wei", "0123456789abcdef",
    "11ABCDEFG", "c2lnbmF0dXJl", "hunter2", "abcdefghijklmnop0123",
]  # fmt: skip


@pytest.mark.parametrize("text", PRIVATE)
def test_what_names_a_machine_or_a_person_goes(text: str) -> None:
    shown = publishable(f"before {text} after", env={})
    assert not [each for each in SECRETS if each.lower() in shown.lower()], shown
    assert shown.startswith("before ")
    assert shown.endswith(" after")


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
    assert publishable(text, env={}) == text


def test_the_hosts_own_names_go() -> None:
    shown = publishable("on A3-Node-07 under /mnt/ann-models", names=("a3-node-07", "ann-models"), env={})
    assert shown == "on HOST under /mnt/HOST"


def test_a_known_token_goes_wherever_it_stands() -> None:
    env = {"GH_TOKEN": "a-token-of-no-known-shape"}
    assert "a-token-of" not in redact("x=a-token-of-no-known-shape;", env=env)


@given(
    st.sampled_from(list(zip(PRIVATE[:6], SECRETS[:6], strict=True))), st.text("abc \n\t()[]{}<>|*_`,;'\"", max_size=20)
)
def test_surroundings_do_not_hide_it(pair: tuple[str, str], around: str) -> None:
    text, secret = pair
    assert secret not in publishable(f"{around} {text} {around}", env={})


@given(st.text(max_size=400))
def test_any_text_comes_out_and_a_second_time_changes_nothing(text: str) -> None:
    once = publishable(text, env={})
    assert publishable(once, env={}) == once


def test_a_long_hostile_line_takes_no_time() -> None:
    for unit in ("a.", "0:", "1.", "ab:", "/home/", "eyJ", "-----BEGIN PRIVATE KEY-----", "a-", "@a."):
        assert publishable(unit * 20_000, env={}) is not None
