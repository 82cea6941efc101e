"""The shapes of secrets, one line a kind: what has such a shape is masked wherever it stands.

A kind is a regular expression; what it matches goes, but for its group `keep`. Repetitions are bounded: without that, a long
word would be tried from each of its letters. In doubt it is a secret, but for the words of a model: its tokens are none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_NAME: Final = (
    r"(?:pass(?:word|wd|phrase|code)|pwd(?<!\wpwd)|secret(?:[_-]?(?:access[_-]?)?key(?:[_-]?id)?)?|credentials?"
    r"|key(?:(?<=api.key)|(?<=apikey)|(?<=access.key)|(?<=accesskey)|(?<=private.key)|(?<=privatekey)|(?<=account.key)|(?<=accountkey)"
    r"|(?<=signing.key)|(?<=encryption.key))(?:[_-]?id)?|token(?:(?<![a-z]token)|(?<=accesstoken)|(?<=authtoken)|(?<=csrftoken))"
    r"(?<!eos.token)(?<!bos.token)(?<!pad.token)(?<!unk.token)(?<!sep.token)(?<!cls.token)(?<!mask.token)(?<!stop.token)(?<!next.token)"
    r"(?<!last.token)(?<!image.token)(?<!special.token)(?<!per.token)(?<!new.token)"
    r"|connection[_-]?string|密码|口令|令牌|密钥|私钥|凭证|凭据)"
)
"""How what holds a secret is called. `max_tokens`, `eos_token`, `token_ids` and a tokenizer are not called so."""
_ASSIGNED: Final = rf"{_NAME}(?:_?\d{{1,3}}|_value|_base64|_b64)?\\?[\"']?\s{{0,3}}(?:[:=：]=?|=>|是|为)\s{{0,3}}"
_HARMLESS: Final = r"(?!(?:true|false|null|none|\*{3}|\d{1,5}|\$\{?[a-z_]\w{0,60}\}?)(?![\w-]|\.\w))(?!\*{3})"
"""Values that are none: constants, counts, the name of a variable. A mask is not masked again."""
_PROSE: Final = r"(?!(?<=[a-z,;]\stoken:\s)[a-z]{1,15}(?![\w-]|\.\w))(?![a-z_][\w.]{0,80}\()"
"""A sentence about a token (`no token: publish stops`) goes on with a word, and code with a call. A key of a file may stand alone."""

SHAPES: Final[dict[str, tuple[str, str]]] = {
    "private key": (
        "-----begin",
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[^-]{0,8000}(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?",
    ),
    # GitHub's stateless tokens carry a JWT behind the prefix, and an App signs with one.
    "JWT": ("eyj", r"\b(?:gh[pousr]_[\w-]{0,40})?eyJ[\w-]{10,2000}\.[\w-]{10,4000}\.[\w-]{10,1000}"),
    "GitHub": (
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255})",
    ),
    "GitLab": (
        "glpat- glptt- gldt- glrt- glcbt- glft- glimt- glagent- gloas- glsoat-",
        r"\bgl(?:pat|ptt|dt|rt|cbt|ft|imt|agent|oas|soat)-[\w.-]{16,300}",
    ),
    "Hugging Face": ("hf_ api_org_", r"\b(?:hf|api_org)_[A-Za-z0-9]{20,200}"),
    "OpenAI, Anthropic, DeepSeek and their like": ("sk-", r"\bsk-(?:[a-z]{2,12}-|[a-z]{3}\d\d-){0,2}[\w-]{16,300}"),
    "Stripe": ("k_live_ k_test_ whsec_", r"\b[spr]k_(?:live|test)_[A-Za-z0-9]{10,200}|\bwhsec_[A-Za-z0-9+/=]{20,200}"),
    "Groq, Replicate, NVIDIA, Perplexity": ("gsk_ r8_ nvapi- pplx-", r"\b(?:gsk_|r8_|nvapi-|pplx-)[\w-]{20,200}"),
    "AWS key id": ("akia asia aroa aida abia acca", r"\b(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    "Alibaba and Tencent Cloud key id": ("ltai akid", r"\b(?:LTAI[0-9A-Za-z]{12,24}|AKID[0-9A-Za-z]{13,40})\b"),
    "Google": ("aiza ya29. gocspx-", r"\bAIza[\w-]{35}|\bya29\.[\w-]{20,500}|\bGOCSPX-[\w-]{20,60}"),
    "Slack": ("xox xapp-", r"\bxox[a-z](?:\.xox[a-z])?-[\w-]{10,300}|\bxapp-\d-[\w-]{10,300}"),
    "Slack, Discord, WeCom, Feishu and DingTalk hooks": (
        "hook",
        (
            r"(?P<keep>//(?:hooks\.slack\.com/(?:services|workflows)/|(?:\w{1,20}\.)?discord(?:app)?\.com/api/webhooks/|open\.(?:feishu\.cn|"
            r"larksuite\.com)/open-apis/bot/v2/hook/|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=))[\w/-]{10,300}"
        ),
    ),
    "Telegram": (":aa", r"\b\d{8,10}:AA[\w-]{30,40}"),
    "PyPI": ("pypi-", r"\bpypi-AgE[\w-]{13,400}"),
    "npm, Docker, DigitalOcean, Doppler": (
        "npm_ dckr_ o_v1_ p_v1_ r_v1_ dp.",
        r"\b(?:npm_|dckr_(?:pat|oat)_|do[orp]_v1_|dp\.(?:pt|st|ct)\.)[\w.-]{16,200}",
    ),
    "Vault": ("hvs. hvb. hvr.", r"\bhv[sbr]\.[\w-]{20,300}"),
    "SendGrid, Mailgun, Twilio": (
        "sg. key- sk",
        r"\bSG\.[\w-]{16,40}\.[\w-]{16,80}|\bkey-[0-9a-f]{32}\b|\bSK[0-9a-f]{32}\b",
    ),
    "Shopify, Square, Linear, Figma, Tailscale": (
        "shp sq0 lin_api_ figd_ tskey-",
        r"\b(?:shp(?:at|ca|pa|ss)_|sq0[a-z]{3}-|lin_api_|figd_|tskey-[a-z]{2,10}-)[\w-]{20,200}",
    ),
    "Atlassian, Databricks, age": (
        "atatt atctt atbb dapi age-secret-key-",
        r"\bAT(?:ATT|CTT|BB)[A-Za-z0-9]{1}[\w=-]{20,300}|\bdapi[0-9a-f]{32}\b|\bAGE-SECRET-KEY-1[0-9A-Z]{50,60}",
    ),
    "user of an address": (
        "@",
        r"(?P<keep>(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,20}://)(?!\*{3}@)[^/\s\"'<>]{1,2500}(?=@)",
    ),
    "parameter of an address": (
        "key= sig= signature= auth= code= jwt= sas= sid= session= sessionid= token= credential=",
        (
            r"(?P<keep>[?&;](?:key|sig|signature|auth|code|jwt|sas|sid|session(?:id)?|x-(?:amz|goog|oss)-(?:signature|security-token|credential))"
            rf"=){_HARMLESS}[^&\s\"'<>#]{{4,2000}}"
        ),
    ),
    "header": (
        "authorization x- private- job- deploy- api-key",
        (
            r"(?P<keep>(?<![\w-])[\"']?(?:(?:proxy-)?authorization|(?:x|private|job|deploy)-[\w-]{0,30}(?:key|token|secret|auth)|api-key)[\"']?"
            rf"\s{{0,3}}[:=]\s{{0,3}}[\"']?(?:(?:bearer|basic|digest|token|negotiate|apikey)\s+)?+){_HARMLESS}[^\s\"',;]{{6,4000}}"
        ),
    ),
    "cookie": (
        "cookie",
        r"(?P<keep>(?<![\w-])(?:set-)?cookie[\"']?\s{0,3}[:=]\s{0,3}+[\"']?+)(?!\*{3})[^\r\n\"']{4,4000}",
    ),
    "scheme": (
        "bearer basic token",
        r"(?P<keep>\b(?:bearer|basic|token(?=\s+\S{0,4000}\d))\s+)[A-Za-z0-9+/._~-]{16,4000}=*",
    ),
    "quoted value": (
        "pass pwd secret credential key token connection akid 密 口令 令牌 私钥 凭",
        rf"(?P<keep>{_ASSIGNED}(?P<quote>\\?[\"'])){_HARMLESS}[^\"'\\\r\n]{{3,2000}}",
    ),
    "value": (
        "pass pwd secret credential key token connection akid 密 口令 令牌 私钥 凭",
        rf"(?P<keep>{_ASSIGNED}){_HARMLESS}{_PROSE}[^\s\"'&,;<>|(){{}}\[\]]{{4,2000}}",
    ),
    "option": (
        "-pass -secret -api -access -auth -token -credential -hf",
        (
            r"(?P<keep>(?<![\w-])--?(?=\w)[\w-]{0,30}(?:password|passwd|passphrase|secret|api-?key|access-?key|(?<!stop-)(?<!eos-)(?<!bos-)(?<!pad-)token|credentials?)"
            rf"(?:\s+|=)[\"']?){_HARMLESS}(?!-)[^\s\"']{{3,2000}}"
        ),
    ),
    "login of a netrc": ("login", r"(?P<keep>\blogin\s+)(?!\*{3})\S{1,200}\s+password\s+\S{1,500}"),
    "user of curl": (
        "curl",
        r"(?P<keep>\bcurl\b[^\n]{0,300}?\s(?:-u|--user)\s*[\"']?)[^\s\"':]{1,200}:[^\s\"']{1,500}",
    ),
    "sshpass": ("sshpass", r"(?P<keep>\bsshpass\s+-p\s*[\"']?)[^\s\"']{2,200}"),
    "access key pair": (
        "ak sk key",
        r"(?P<keep>(?<![a-z])(?:ak|sk|access[_ -]?key|secret[_ -]?key)[\"']?\s{0,3}[:=：]\s{0,3}[\"']?)[A-Za-z0-9+/]{16,80}(?![A-Za-z0-9])",
    ),
    "registry login": ("auth", r"(?P<keep>\"auth\"\s{0,3}:\s{0,3}\")[A-Za-z0-9+/=]{8,2000}"),
}
"""Each kind with the words of which one stands in every match, in lower case, and its regular expression."""
_LONG: Final = 4096
_SPANNING: Final = frozenset({"private key", "login of a netrc"})
"""Kinds that go over several lines."""

_Shape: TypeAlias = tuple[tuple[str, ...], re.Pattern[str]]


def _compile(kinds: Collection[str]) -> tuple[_Shape, ...]:
    shapes = (SHAPES[kind] for kind in SHAPES if kind in kinds)
    return tuple(
        (tuple(words.split()), re.compile(shape, re.ASCII | (re.IGNORECASE if "(?P<keep>" in shape else 0)))
        for words, shape in shapes
    )


_WIDE, _NARROW = _compile(_SPANNING), _compile(SHAPES.keys() - _SPANNING)


def mask_shapes(text: str, mask: str) -> str:
    """Return the text with each secret of a known shape masked."""
    text = _mask(text, _choose(text, _WIDE), mask)
    shapes = _choose(text, _NARROW)
    if len(text) < _LONG or not shapes:
        return _mask(text, shapes, mask)
    return "".join(_mask(line, _choose(line, shapes), mask) for line in text.splitlines(keepends=True))


def _choose(text: str, shapes: Sequence[_Shape]) -> list[_Shape]:
    """Return the shapes whose words stand in the text: a look for words costs little, most texts have none."""
    lowered = text.lower()
    return [shape for shape in shapes if any(word in lowered for word in shape[0])]


def _mask(text: str, shapes: Sequence[_Shape], mask: str) -> str:
    for _, shape in shapes:
        text = shape.sub(lambda match: f"{match.groupdict().get('keep') or ''}{mask}", text)
    return text
