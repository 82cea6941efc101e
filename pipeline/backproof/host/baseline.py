"""Compares a host with what a release was validated with. A deviation is not a cause: it is where to look last.

Reads files and asks the target interpreter for the metadata of its packages; imports none of them. What a host does not
have is a reading with a reason, never an error: most of it is absent on a host without an NPU.
"""

from __future__ import annotations

import json
import os
import re
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from backproof.adapters import proc
from backproof.records.host import Deviation, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from backproof.records.host import Verdict

PACKAGES: Final = ("torch", "torch_npu", "vllm", "vllm-ascend", "triton-ascend", "fla_npu")
_MARK: Final = "backproof-doctor "
_ASK: Final = (
    "import importlib.metadata as m, json, sys\n"
    "found = {}\n"
    "for name in sys.argv[1:]:\n"
    "    try: found[name] = m.version(name)\n"
    "    except m.PackageNotFoundError: found[name] = None\n"
    f"print({_MARK!r} + json.dumps(found))\n"
)
# hiascend software installation guide, "File Paths": where each package records its version.
_DRIVER: Final = ("usr/local/Ascend/driver/version.info",)
_FIRMWARE: Final = ("usr/local/Ascend/firmware/version.info",)
_TOOLKITS: Final = ("usr/local/Ascend/ascend-toolkit/latest", "usr/local/Ascend/cann", "usr/local/Ascend/nnae/latest")
_INSTALLED: Final = ("ascend_toolkit_install.info", "ascend_nnae_install.info", "version.cfg", "version.info")
_VERSION: Final = re.compile(
    r"^\s*(?:version|Version|toolkit_running_version|\w*version)\s*=\s*\[?\"?(?:[\w.]*:)?(?P<v>[\w.+-]+)", re.MULTILINE
)
_SMI: Final = re.compile(r"npu-smi\s+(?P<a>[\w.]+)|Version:\s*(?P<b>[\w.]+)")
_PHASE: Final = {"dev": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "c": -1, "rc": -1, "t": -1, "post": 1}


def read(python: Path | None, *, root: Path = Path("/"), env: Mapping[str, str] | None = None) -> tuple[Reading, ...]:
    """Versions of driver, firmware, CANN and packages. `python` is the target interpreter; None reads no packages."""
    here = os.environ if env is None else env
    return (_driver(root), _file("firmware", root, _FIRMWARE), _cann(root, here), *_packages(python))


def compare(readings: Iterable[Reading], baseline: Mapping[str, str]) -> tuple[Deviation, ...]:
    """One row per version of the baseline, equal ones too, then what else was read."""
    found = {key(each.name): each for each in readings}
    rows = [_version_row(name, expected, found.get(key(name))) for name, expected in baseline.items()]
    known = {key(name) for name in baseline}
    rows += [
        Deviation(
            subject="version",
            name=each.name,
            expected=None,
            found=each.value,
            verdict="extra",
            note="the baseline does not name it",
        )
        for key, each in found.items()
        if key not in known and each.value is not None
    ]
    return tuple(rows)


def compare_arguments(expected: Sequence[str], found: Sequence[str]) -> tuple[Deviation, ...]:
    """Launch arguments that are missing, differ or are extra; equal ones are left out."""
    return tuple(_mapping_rows("argument", options(expected), options(found)))


def compare_environment(expected: Mapping[str, str], found: Mapping[str, str]) -> tuple[Deviation, ...]:
    """Variables of the baseline that are missing or differ. What else is set is nobody's business."""
    mine = {name: found[name] for name in expected if name in found}
    return tuple(_mapping_rows("environment", expected, mine))


def _mapping_rows(
    subject: Literal["argument", "environment"], expected: Mapping[str, str], found: Mapping[str, str]
) -> Iterable[Deviation]:
    for name in dict.fromkeys([*expected, *found]):
        want, have = expected.get(name), found.get(name)
        if want != have:
            verdict: Verdict = "missing" if have is None else "extra" if want is None else "different"
            yield Deviation(subject=subject, name=name, expected=want, found=have, verdict=verdict)


def options(argv: Sequence[str]) -> dict[str, str]:
    """`--key value`, `--key=value` and flags as a mapping; JSON values are compared as JSON, not as text."""
    found: dict[str, str] = {}
    for word, after in zip_longest(argv, argv[1:], fillvalue=""):
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            found[name] = _plain(value if equals else "" if after.startswith("--") else after)
    return found


def _plain(value: str) -> str:
    try:
        return json.dumps(json.loads(value), sort_keys=True)
    except ValueError:
        return value


def key(name: str) -> str:
    """One spelling of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _version_row(name: str, expected: str, reading: Reading | None) -> Deviation:
    if reading is None or reading.value is None:
        why = reading.why if reading else "nothing reads it"
        return Deviation(subject="version", name=name, expected=expected, found=None, verdict="not read", note=why)
    return Deviation(
        subject="version",
        name=name,
        expected=expected,
        found=reading.value,
        verdict=_verdict(reading.value, expected),
        note=f"read from {reading.source}",
    )


def _verdict(found: str, expected: str) -> Verdict:
    mine, theirs = order(found), order(expected)
    if mine == theirs:
        return "same"
    if not mine[0] or not theirs[0]:
        return "different"
    return "newer" if mine > theirs else "older"


def order(version: str) -> tuple[tuple[int, ...], int, int]:
    """Sort key: numbers of the release without zeros at its end, phase (rc before, post after), number of the phase.

    Ascend's own spelling is read, too: `26.0.RC1`, `8.0.RC3.10`, `0.30.rc2`. A part behind `+` says who built it.
    """
    words = re.findall(r"\d+|[a-z]+", version.lower().lstrip("v").partition("+")[0])
    first = next((at for at, word in enumerate(words) if not word.isdigit()), len(words))
    release = [int(word) for word in words[:first]]
    while release and release[-1] == 0:
        release.pop()
    phase = _PHASE.get(words[first], 0) if first < len(words) else 0
    number = int(words[first + 1]) if first + 1 < len(words) and words[first + 1].isdigit() else 0
    return tuple(release), phase, number


def _driver(root: Path) -> Reading:
    reading = _file("driver", root, _DRIVER)
    if reading.value is not None:
        return reading
    done = proc.run(["npu-smi", "info"], timeout=60)
    hit = _SMI.search(done.text) if done.code == 0 else None
    if hit:
        return Reading(name="driver", value=hit["b"] or hit["a"], source="npu-smi info")
    return Reading(name="driver", value=None, why=f"{reading.why}; npu-smi info ended with code {done.code}")


def _file(name: str, root: Path, paths: Iterable[str]) -> Reading:
    """The first version that one of the files holds."""
    reasons = []
    for path in paths:
        try:
            text = (root / path).read_text("utf-8", "replace")[:20_000]
        except OSError as error:
            reasons.append(f"could not read /{path}: {error.strerror or error}")
            continue
        if hit := _VERSION.search(text):
            return Reading(name=name, value=hit["v"], source=f"/{path}")
        reasons.append(f"no version in /{path}")
    return Reading(name=name, value=None, why="; ".join(reasons) or "no place to look")


def _cann(root: Path, env: Mapping[str, str]) -> Reading:
    named = [env[name].lstrip("/") for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME") if env.get(name)]
    # Newer toolkits install to cann-<version>: the newest one is in use where nothing says otherwise.
    found = (path.name.removeprefix("cann-") for path in (root / "usr/local/Ascend").glob("cann-*"))
    usual = (*_TOOLKITS, *(f"usr/local/Ascend/cann-{each}" for each in sorted(found, key=order, reverse=True)))
    homes = [home for home in (*named, *usual) if (root / home).is_dir()]
    files = [str(path.relative_to(root)) for home in homes for path in _records(root / home)]
    if not files:
        return Reading(name="CANN", value=None, why="no toolkit in its usual places, and ASCEND_HOME_PATH names none")
    return _file("CANN", root, files)


def _records(home: Path) -> list[Path]:
    """Files of a toolkit that hold its version, the most telling first."""
    found = [
        path
        for name in _INSTALLED
        for folder in (*sorted(home.glob("*-linux")), home)
        if (path := folder / name).is_file()
    ]
    return list(dict.fromkeys(found))


def _packages(python: Path | None) -> list[Reading]:
    if python is None:
        return [Reading(name=name, value=None, why="no target interpreter was given") for name in PACKAGES]
    done = proc.run([str(python), "-c", _ASK, *PACKAGES], timeout=60)
    line = next((line for line in done.text.splitlines() if line.startswith(_MARK)), None)
    if done.code != 0 or line is None:
        why = f"{python} ended with code {done.code}: {done.error_text.strip()[-200:]}"
        return [Reading(name=name, value=None, why=why) for name in PACKAGES]
    found = json.loads(line.removeprefix(_MARK))
    return [
        Reading(
            name=name,
            value=found.get(name),
            source=str(python),
            why="" if found.get(name) else f"not installed for {python}",
        )
        for name in PACKAGES
    ]
