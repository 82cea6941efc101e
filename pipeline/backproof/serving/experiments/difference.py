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
    left: str
    right: str

    def __str__(self) -> str:
        return f"{self.name}: {self.left} / {self.right}"


def configure_side(experiment: Experiment, side: Side, serve: Serve, baseline: Sequence[str]) -> Configuration:
    """Return the service's own configuration with the changes of the side."""
    own = baseline if serve.arguments is None else serve.arguments
    words = side.arguments if side.arguments is not None else tuple(own)
    for name in (*side.remove, *(word for word in side.add if word.startswith("--"))):
        words = remove_argument(words, name)
    changes: dict[str, Any] = {"env": {**serve.env, **side.env}}
    if side.concurrency is not None:
        changes |= {"concurrency": side.concurrency, "fails_at": None}
    return Configuration(
        label=side.label,
        serve=serve.model_copy(update=changes),
        arguments=(*words, *side.add),
        arm=side.arm or experiment.arm,
    )


def remove_argument(words: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the arguments without one of them and its values, however it is spelt."""
    remaining: list[str] = []
    skipping = False
    wanted = _split_option(name)[0]
    for word in words:
        if word.startswith("--"):
            skipping = _split_option(word)[0] == wanted
        if not skipping:
            remaining.append(word)
    return tuple(remaining)


def _split_option(word: str) -> tuple[str, str | None]:
    """Return name and value as vLLM reads them: `--no-x` is `--x` switched off, underscores are hyphens."""
    name, equals, value = word.partition("=")
    name = name.replace("_", "-")
    if name.startswith("--no-"):
        return f"--{name[5:]}", "off"
    return name, value if equals else None


def parse_arguments(words: Sequence[str]) -> dict[str, str]:
    """Return arguments by name; a word that stands alone is numbered, a name without a value is on."""
    arguments: dict[str, list[str]] = {}
    name, alone = "", 0
    for word in words:
        if word.startswith("--"):
            name, value = _split_option(word)
            arguments.setdefault(name, []).extend([value] if value is not None else [])
        elif name:
            arguments[name].append(word)
        else:
            alone += 1
            arguments[f"argument {alone}"] = [word]
    return {name: " ".join(values) or "on" for name, values in arguments.items()}


def find_differences(left: Configuration, right: Configuration) -> tuple[Difference, ...]:
    """Return all that differs; two JSON values are compared key by key, so that each setting in them counts."""
    pairs = [("", _describe_service(left), _describe_service(right))]
    pairs.append(("", parse_arguments(left.arguments), parse_arguments(right.arguments)))
    pairs.append(("env.", dict(left.serve.env), dict(right.serve.env)))
    return tuple(
        difference
        for prefix, a, b in pairs
        for name in sorted(a.keys() | b.keys())
        for difference in _compare_values(f"{prefix}{name}", a.get(name), b.get(name))
    )


def _describe_service(side: Configuration) -> dict[str, str]:
    facts = side.serve.model_dump(mode="json", exclude={"env", "arguments"})
    return {**{name: json.dumps(value) for name, value in facts.items()}, "arm": side.arm.value}


def _compare_values(name: str, left: str | None, right: str | None) -> list[Difference]:
    if left == right:
        return []
    a, b = _parse_json(left), _parse_json(right)
    if a is None or b is None:
        return [Difference(name=name, left=_show_value(left), right=_show_value(right))]
    return [
        difference
        for key in sorted(a.keys() | b.keys())
        for difference in _compare_values(f"{name}.{key}", _dump_key(a, key), _dump_key(b, key))
    ]


def _parse_json(text: str | None) -> Mapping[str, Any] | None:
    try:
        content = json.loads(text) if text else None
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _dump_key(content: Mapping[str, Any], key: str) -> str | None:
    return json.dumps(content[key], sort_keys=True) if key in content else None


def _show_value(value: str | None) -> str:
    return ABSENT if value is None else value[:200]


def require_one_difference(experiment: Experiment, left: Configuration, right: Configuration) -> Difference:
    """Return the one difference, which must be the named variable.

    Raises:
        PlanError: with the list of differences.
    """
    differences = find_differences(left, right)
    named = [difference for difference in differences if _names_variable(experiment.variable, difference.name)]
    if len(differences) == 1 and named:
        return differences[0]
    listed = "; ".join(map(str, differences)) or "none at all"
    what = f"{len(differences)} variables"
    if len(differences) == 1:
        what = f"{differences[0].name}, not in {experiment.variable}"
    raise PlanError(
        f"experiment {experiment.id}: the sides {left.label} and {right.label} differ in {what}",
        why=f"the differences ({left.label} / {right.label}): {listed}",
        next_step=f"change {experiment.variable} alone: variables that change together cannot be told apart",
    )


def _names_variable(variable: str, name: str) -> bool:
    wanted = _split_option(variable)[0] if variable.startswith("--") else variable
    return name == wanted or name.startswith(f"{wanted}.")
