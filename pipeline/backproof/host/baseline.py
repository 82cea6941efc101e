"""Compares a host with what a release was validated with. A deviation is not a cause: it is where to look last."""

from __future__ import annotations

import json
import os
import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Literal

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from backproof.host.identity import read_identity
from backproof.records.host import Deviation, DoctorRecord
from backproof.rundir.ledger import now

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from backproof.kit.plan import Baseline
    from backproof.records.host import Reading, Verdict

_ASCEND_BUILD: Final = re.compile(r"\.(?:rc|t)(\d+)")
_ASCEND_UPDATE: Final = re.compile(r"(rc\d+)\.(\d+)$")


def compare_host(baseline: Baseline, readings: Sequence[Reading], arguments: Sequence[str]) -> DoctorRecord:
    """Compare versions, environment and, where given, launch arguments with what the release was validated with."""
    here = read_identity()
    rows = [*compare_versions(readings, baseline.versions)]
    rows += compare_arguments(baseline.arguments, arguments) if arguments else ()
    rows += compare_environment(baseline.environment, os.environ)
    return DoctorRecord(
        at=now(),
        host=here.host,
        boot_id=here.boot_id,
        deviations=tuple(rows),
        unread=tuple(reading for reading in readings if reading.value is None),
    )


def compare_versions(readings: Iterable[Reading], baseline: Mapping[str, str]) -> tuple[Deviation, ...]:
    """Return one row per version of the baseline, equal ones too, then what else was read."""
    by_name = {canonicalize_name(reading.name): reading for reading in readings}
    rows = [
        _compare_version(name, version, by_name.pop(canonicalize_name(name), None))
        for name, version in baseline.items()
    ]
    extra = [reading for reading in by_name.values() if reading.value is not None]
    return (*rows, *(_compare_version(reading.name, None, reading) for reading in extra))


def compare_arguments(expected: Sequence[str], given: Sequence[str]) -> tuple[Deviation, ...]:
    """Return launch arguments that are missing, differ or are extra; equal ones are left out."""
    return tuple(_compare_mappings("argument", parse_options(expected), parse_options(given)))


def compare_environment(expected: Mapping[str, str], environment: Mapping[str, str]) -> tuple[Deviation, ...]:
    """Return variables of the baseline that are missing or differ. Other variables are nobody's business."""
    named = {name: environment[name] for name in expected if name in environment}
    return tuple(_compare_mappings("environment", expected, named))


def _compare_mappings(
    subject: Literal["argument", "environment"], expected: Mapping[str, str], actual: Mapping[str, str]
) -> Iterable[Deviation]:
    for name in dict.fromkeys([*expected, *actual]):
        want, have = expected.get(name), actual.get(name)
        if want != have:
            verdict: Verdict = "missing" if have is None else "extra" if want is None else "different"
            yield Deviation(subject=subject, name=name, expected=want, found=have, verdict=verdict)


def parse_options(argv: Sequence[str]) -> dict[str, str]:
    """Return `--key value`, `--key=value` and flags as a mapping; a JSON object is one option a key, other JSON is in one form.

    A flag that is switched off, `--no-x`, is `--x` with the value false.
    """
    options: dict[str, str] = {}
    for word, after in zip_longest(argv, argv[1:], fillvalue=""):
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            value = value if equals else "" if after.startswith("--") else after
            if name.startswith("--no-") and not value:
                name, value = f"--{name.removeprefix('--no-')}", "false"
            options |= dict(_split_json(name, value))
    return options


def _split_json(name: str, value: str) -> Iterator[tuple[str, str]]:
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = None
    if isinstance(parsed, dict) and parsed:
        for key, part in parsed.items():
            yield from _split_json(f"{name}.{key}", json.dumps(part))
    else:
        yield name, value if parsed is None else json.dumps(parsed, sort_keys=True)


def _compare_version(name: str, expected: str | None, reading: Reading | None) -> Deviation:
    value = reading.value if reading else None
    if reading is None or value is None:
        verdict: Verdict = "not read"
        note = reading.why if reading else "nothing reads it"
    elif expected is None:
        verdict, note = "extra", "the baseline does not name it"
    else:
        verdict, note = _judge_version(value, expected), f"read from {reading.source}"
    return Deviation(subject="version", name=name, expected=expected, found=value, verdict=verdict, note=note)


def _judge_version(actual: str, expected: str) -> Verdict:
    here, validated = parse_version(actual), parse_version(expected)
    if here is None or validated is None:
        return "same" if actual == expected else "different"
    return "same" if here == validated else "newer" if here > validated else "older"


def parse_version(text: str) -> Version | None:
    """Return a version that can be compared; None for another text. A part behind `+` names who built it."""
    # Ascend's own spelling: `8.0.RC3.10` is a release candidate and its update, `1.0.T53` a test build.
    public = _ASCEND_UPDATE.sub(r"\1.post\2", _ASCEND_BUILD.sub(r"rc\1", text.lower().partition("+")[0]))
    try:
        return Version(public)
    except InvalidVersion:
        return None
