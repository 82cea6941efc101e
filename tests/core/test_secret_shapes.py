"""Every kind of secret that was ever met in a log goes, whatever stands around it: one line a kind."""

from __future__ import annotations

import json
import shlex
from typing import Final

import pytest
from backproof.core.redaction import redact, redact_for_public, redact_json
from backproof.core.secret_shapes import SHAPES

A20: Final = "a1B2c3D4e5F6g7H8i9J0"
A32: Final = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
A40: Final = "wJalrXUtnFEMIK7MDENGbPxRfiCYzEXAMPLEKEY0"
KINDS: Final = {
    "password=": ("connect(host=db, password=hunter2)", "hunter2"),
    "password:": ("password: correct-horse", "correct-horse"),
    "password in JSON": ('{"password": "hunter2", "user": "ann"}', "hunter2"),
    "password in a repr": ("{'passwd': 'hunter2'}", "hunter2"),
    "password in escaped JSON": (r"{\"password\": \"hunter22\"}", "hunter22"),
    "PGPASSWORD": ("PGPASSWORD=hunter2 psql", "hunter2"),
    "passphrase": ("passphrase = open sesame99".replace(" s", "-s"), "open-sesame99"),
    "pwd=": ("Server=db;Pwd=hunter2;", "hunter2"),
    "--password X": ("mysql --password hunter2", "hunter2"),
    "--password=X": ("mysql --password=hunter2", "hunter2"),
    "--api-key X": ("vllm serve model --api-key my-own-key", "my-own-key"),
    "--api-key=X": ("vllm serve model --api-key=my-own-key", "my-own-key"),
    "--token X": ("huggingface-cli login --token abc-def-ghi", "abc-def-ghi"),
    "--hf-token X": ("vllm serve --hf-token abc-def-ghi", "abc-def-ghi"),
    "token in JSON": ('"token": "abcdefghij"', "abcdefghij"),
    "access_token in an address": ("https://h/x?access_token=abcdefghij&y=1", "abcdefghij"),
    "key in an address": ("https://h/v1?key=abcdefghij", "abcdefghij"),
    "signature in an address": ("https://h/o?X-Amz-Signature=0123456789abcdef", "0123456789abcdef"),
    "sig of a shared access": ("https://h/c?sv=2024&sig=abc%2Fdef%3D", "abc%2Fdef%3D"),
    "HF_TOKEN": ("HF_TOKEN=some-value-here", "some-value-here"),
    "CI_JOB_TOKEN": ("CI_JOB_TOKEN: abcdefghij", "abcdefghij"),
    "MODELSCOPE_API_TOKEN": ("MODELSCOPE_API_TOKEN=0f6b2a4e-92d7-4a58-8f5e", "0f6b2a4e-92d7"),
    "client_secret": ("client_secret=abcdefghij", "abcdefghij"),
    "AWS key id": ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    "AWS temporary key id": ("ASIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE"),
    "AWS secret": (f"aws_secret_access_key = {A40}", A40),
    "AWS secret in the environment": (f"AWS_SECRET_ACCESS_KEY={A40}", A40),
    "Alibaba key id": (f"LTAI{A20}", f"LTAI{A20}"),
    "Tencent key id": (f"AKID{A32}", f"AKID{A32}"),
    "AK": (f"ak={A20.upper()}", A20.upper()),
    "SK": (f"SK: {A40}", A40),
    "Azure account key": (f"AccountKey={A40}+x/y==", A40),
    "GitHub": (f"ghp_{A20}{A20[:16]}", f"ghp_{A20}"),
    "GitHub of an App": (f"ghs_{A20}{A20[:16]}", f"ghs_{A20}"),
    "GitHub, fine-grained": (f"github_pat_{A20}_{A40}", f"github_pat_{A20}"),
    "GitLab": (f"glpat-{A20}", f"glpat-{A20}"),
    "GitLab runner": (f"glrt-{A20}", f"glrt-{A20}"),
    "Hugging Face": (f"hf_{A20}{A20[:14]}", f"hf_{A20}"),
    "OpenAI": (f"sk-{A40}", f"sk-{A40}"),
    "OpenAI project": (f"sk-proj-{A40}", A40),
    "Anthropic": (f"sk-ant-api03-{A40}", A40),
    "Stripe": (f"sk_live_{A20}", f"sk_live_{A20}"),
    "NVIDIA": (f"nvapi-{A40}", A40),
    "Groq": (f"gsk_{A40}", A40),
    "Google": (f"AIza{A32}xyz", f"AIza{A32}"),
    "Google OAuth": (f"ya29.{A40}", A40),
    "Slack": (f"xoxb-1234567890-{A20}", A20),
    "Slack hook": (f"https://hooks.slack.com/services/T0/B0/{A20}", A20),
    "Feishu hook": (f"https://open.feishu.cn/open-apis/bot/v2/hook/{A32}", A32),
    "WeCom hook": (f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={A32}", A32),
    "DingTalk hook": (f"https://oapi.dingtalk.com/robot/send?access_token={A32}{A32}", A32),
    "Telegram": (f"1234567890:AAE{A32}x", A32),
    "PyPI": (f"pypi-AgEIcHlwaS5vcmc{A20}", A20),
    "npm": (f"npm_{A20}{A20[:16]}", A20),
    "Docker": (f"dckr_pat_{A20}", A20),
    "Vault": (f"hvs.{A40}", A40),
    "SendGrid": (f"SG.{A20}.{A40}", A40),
    "Databricks": (f"dapi{A32}", A32),
    "JWT": (f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{A40}", A40),
    "private key": (f"-----BEGIN OPENSSH PRIVATE KEY-----\n{A40}\n-----END OPENSSH PRIVATE KEY-----", A40),
    "user of an address": ("https://ann:hunter2@git.example.com/x", "hunter2"),
    "password alone in an address": ("redis://:hunter2@cache:6379/0", "hunter2"),
    "a token as a user": ("https://abcdefghij@git.example.com/x", "abcdefghij"),
    "password with an at sign": ("postgres://ann:hun@ter2@db/x", "ter2@"),
    "Authorization": ("Authorization: Bearer abcdefghijklmnop", "abcdefghijklmnop"),
    "Authorization in JSON": ('"Authorization": "Basic YW5uOmh1bnRlcjI="', "YW5uOmh1bnRlcjI"),
    "X-Api-Key": ("X-Api-Key: abcdefghij", "abcdefghij"),
    "PRIVATE-TOKEN": ("PRIVATE-TOKEN: abcdefghij", "abcdefghij"),
    "Cookie": ("Cookie: session=abcdef; csrftoken=ghijkl", "ghijkl"),
    "Set-Cookie": ("set-cookie: sid=abcdef; HttpOnly", "abcdef"),
    "netrc": ("machine h login ann password hunter2", "hunter2"),
    "curl -u": ("curl -s -u ann:hunter2 https://h", "hunter2"),
    "sshpass": ("sshpass -p hunter2 ssh h", "hunter2"),
    "registry login": ('{"auths": {"r": {"auth": "YW5uOmh1bnRlcjI="}}}', "YW5uOmh1bnRlcjI"),
    "Chinese password": ("用户名 ann 密码：hunter2", "hunter2"),
    "Chinese key": ("访问密钥为 abcdefghij", "abcdefghij"),
    "beside Chinese text": ("密钥AKIAIOSFODNN7EXAMPLE，勿外传", "AKIAIOSFODNN7EXAMPLE"),
}
"""Kind: a text, and what must not be in it afterwards."""
NAMED: Final = {
    "address beside an underscore": ("rank0_10.23.4.5_8000", "10.23.4.5"),
    "address in Chinese text": ("节点10.23.4.5超时", "10.23.4.5"),
    "folder of a user on a mount": ("/mnt/zhangwei/models/x", "zhangwei"),
    "folder of a user on a disk": ("/data1/zhangwei/run", "zhangwei"),
    "serial number in Chinese": ("序列号：2102313NEY10KA000123", "2102313NEY10KA000123"),
    "serial number in JSON": ('"sn": "2102313NEY10KA000123"', "2102313NEY10KA000123"),
    "host name in JSON": ('"hostname": "a3-rack7-node2"', "a3-rack7-node2"),
    "host name in Chinese": ("主机名：a3-rack7-node2", "a3-rack7-node2"),
}
HARMLESS: Final = (
    "max_tokens=4096, max_num_batched_tokens: 8192",
    "eos_token='</s>' bos_token_id=1 pad_token=<pad> token_ids=[1, 2]",
    "tokenizer=Qwen3-8B tokenizer_mode='auto' skip_tokenizer_init=False",
    "INFO: Avg prompt throughput: 12.3 tokens/s, generation: 4.5 tokens/s",
    "token 17 of 32: 'hello'; next token: 5021",
    "task-scheduler of disk-cache, risk-free, ask-me-anything-at-all-please",
    "password: None, secret=null, api_key=False",
    "--max-tokens 128 --tokenizer Qwen/Qwen3-8B --no-token-healing",
    "key=value, keys: 3, monkey-patch, key-value-store-of-blocks",
    "author: ann, authority, authored by ann",
    "cookies are sweet; bearer of news, basic block 12",
    "f5826a4f5826a4f5826a4f5826a4f5826a4f5826 sha256:" + A32 * 2,
    "/mnt/models/Qwen3 /data/weights /mnt/data/cache",
    # From messages of real commits.
    "there is no token: publish stops before it sends anything",
    "private_key = load_pem_private_key(data, None)",
    "---------------Inter-token Latency----------------",
    "the cost of token creation/validation grew",
    "a release of pypi-link-and-python-version-filter",
    'curl -H "X-Auth-Token:$OS_TOKEN" and a secret=True.',
)


def test_no_kind_is_without_a_text() -> None:
    """A shape that masks nothing of the table is dead, or the table forgot it."""
    texts = [text for text, _ in KINDS.values()]
    import re

    unused = [
        kind
        for kind, (_, shape) in SHAPES.items()
        if not any(re.search(shape, text, re.ASCII | re.IGNORECASE) for text in texts)
    ]
    assert unused == ["Shopify, Square, Linear, Figma, Tailscale"]
    assert len(KINDS) + len(NAMED) >= 69


@pytest.mark.parametrize("around", ["{}", "before {} after", "x:\n{}\n", "（{}）", "[{}]"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_goes(kind: str, around: str) -> None:
    text, secret = KINDS[kind]
    shown = redact(around.format(text) if around != "{}" else text, env={})
    assert secret not in shown
    assert "***" in shown
    assert redact(shown, env={}) == shown


@pytest.mark.parametrize("kind", NAMED)
def test_what_names_a_machine_or_a_person_goes(kind: str) -> None:
    text, secret = NAMED[kind]
    assert secret not in redact_for_public(text, env={})


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact_for_public(text, env={}) == text


def test_words_of_a_command_are_masked_by_the_one_before() -> None:
    words = ["vllm", "serve", "m", "--api-key", "my-own-key", "--port", "8000"]
    assert redact_json(words) == ["vllm", "serve", "m", "--api-key", "***", "--port", "8000"]
    assert "my-own-key" not in redact(shlex.join(words))


def test_json_stays_json_and_a_key_names_its_value() -> None:
    value = {"token": "abc", "notes": ["password=hunter2", {"api_key": "k"}], "tokens": 7, "x": None, "auth_token": ""}
    shown = redact_json(value)
    assert shown == {
        "token": "***",
        "notes": ["password=***", {"api_key": "***"}],
        "tokens": 7,
        "x": None,
        "auth_token": "",
    }
    assert json.loads(json.dumps(shown)) == shown


def test_a_key_of_many_lines_goes_from_a_long_log() -> None:
    log = "INFO a line of a log that says little\n" * 2000
    text = f"{log}{KINDS['private key'][0]}\n{log}api_key={A40}\n{log}"
    shown = redact(text, env={})
    assert A40 not in shown
    assert shown.count("\n") == text.count("\n") - 2
