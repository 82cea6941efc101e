"""One variable at a time: the post-mortem's experiment changed four at once and could not be attributed (6.4).

Both sides are taken apart into named values and compared; anything but the one named difference is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.core.model import Arm
    from backproof.kit.serving import Experiment, Serve, Side

ABSENT = "(absent)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Configuration:
    """All that can differ between two sides."""

    label: str
    serve: Serve
    arguments: tuple[str, ...]
    arm: Arm


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """One named value on both sides."""

    name: str
    one: str
    other: str

    def __str__(self) -> str:
        return f"{self.name}: {self.one} / {self.other}"


def configured(experiment: Experiment, side: Side, serve: Serve, baseline: Sequence[str]) -> Configuration:
    """The service's own configuration with what the side changes."""
    own = baseline if serve.arguments is None else serve.arguments
    words = side.arguments if side.arguments is not None else tuple(own)
    for name in (*side.remove, *(each for each in side.add if each.startswith("--"))):
        words = without(words, name)
    changes: dict[str, Any] = {"env": {**serve.env, **side.env}}
    if side.concurrency is not None:
        changes |= {"concurrency": side.concurrency, "fails_at": None}
    return Configuration(
        label=side.label,
        serve=serve.model_copy(update=changes),
        arguments=(*words, *side.add),
        arm=side.arm or experiment.arm,
    )


def without(words: Sequence[str], name: str) -> tuple[str, ...]:
    """The arguments without one of them and its values, however it is spelt."""
    kept: list[str] = []
    skipping = False
    wanted = _name(name)[0]
    for word in words:
        if word.startswith("--"):
            skipping = _name(word)[0] == wanted
        if not skipping:
            kept.append(word)
    return tuple(kept)


def _name(word: str) -> tuple[str, str | None]:
    """An argument's name as vLLM reads it: `--no-x` is `--x` switched off, underscores are hyphens."""
    name, equals, value = word.partition("=")
    name = name.replace("_", "-")
    if name.startswith("--no-"):
        return f"--{name[5:]}", "off"
    return name, value if equals else None


def values(words: Sequence[str]) -> dict[str, str]:
    """Arguments by name; what stands alone is numbered, a name without a value is on."""
    found: dict[str, list[str]] = {}
    now, alone = "", 0
    for word in words:
        if word.startswith("--"):
            now, value = _name(word)
            found.setdefault(now, []).extend([value] if value is not None else [])
        elif now:
            found[now].append(word)
        else:
            alone += 1
            found[f"argument {alone}"] = [word]
    return {name: " ".join(each) or "on" for name, each in found.items()}


def differences(one: Configuration, other: Configuration) -> tuple[Difference, ...]:
    """All that differs; two JSON values are compared key by key, so that each setting in them counts."""
    pairs = [("", _facts(one), _facts(other)), ("", values(one.arguments), values(other.arguments))]
    pairs.append(("env.", dict(one.serve.env), dict(other.serve.env)))
    found: list[Difference] = []
    for prefix, left, right in pairs:
        for name in sorted(left.keys() | right.keys()):
            found += _compared(f"{prefix}{name}", left.get(name), right.get(name))
    return tuple(found)


def _facts(side: Configuration) -> dict[str, str]:
    facts = side.serve.model_dump(mode="json", exclude={"env", "arguments"})
    return {**{name: json.dumps(value) for name, value in facts.items()}, "arm": side.arm.value}


def _compared(name: str, one: str | None, other: str | None) -> list[Difference]:
    if one == other:
        return []
    left, right = _json(one), _json(other)
    if left is not None and right is not None:
        return [
            each
            for key in sorted(left.keys() | right.keys())
            for each in _compared(f"{name}.{key}", _text(left, key), _text(right, key))
        ]
    return [Difference(name=name, one=_shown(one), other=_shown(other))]


def _json(text: str | None) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text) if text else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _text(values_: Mapping[str, Any], key: str) -> str | None:
    return json.dumps(values_[key], sort_keys=True) if key in values_ else None


def _shown(value: str | None) -> str:
    return ABSENT if value is None else value[:200]


def require_one(experiment: Experiment, one: Configuration, other: Configuration) -> Difference:
    """The one difference, which must be the named variable.

    Raises:
        PlanError: with the list of differences.
    """
    found = differences(one, other)
    named = [each for each in found if _is(experiment.variable, each.name)]
    if len(found) == 1 and named:
        return found[0]
    listed = "; ".join(str(each) for each in found) or "none at all"
    what = f"{len(found)} variables" if len(found) != 1 else f"{found[0].name}, not in {experiment.variable}"
    raise PlanError(
        f"experiment {experiment.id}: the sides {one.label} and {other.label} differ in {what}",
        why=f"what differs ({one.label} / {other.label}): {listed}",
        next_step=f"change {experiment.variable} alone: what changes together cannot be told apart",
    )


def _is(variable: str, name: str) -> bool:
    wanted = _name(variable)[0] if variable.startswith("--") else variable
    return name == wanted or name.startswith(f"{wanted}.")
