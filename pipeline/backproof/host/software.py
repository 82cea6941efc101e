"""Versions and file hashes of the NPU packages, asked from the target interpreter: it is never imported here."""

from __future__ import annotations

import secrets
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import Field, ValidationError

from backproof.adapters import proc
from backproof.adapters.environment import build_environment
from backproof.core.model import Record, Sha256

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGES: Final = {
    "torch": "torch",
    "torch_npu": "torch-npu",
    "triton": "triton-ascend",
    "fla_npu": "fla-npu",
    "vllm": "vllm",
    "vllm_ascend": "vllm-ascend",
}
"""Modules and the distributions that bring them on an NPU host."""
_PATIENCE: Final = 120.0


class Package(Record):
    """One package as the target would load it."""

    version: str | None = None
    file: str = ""
    sha256: Sha256 | None = None
    libraries: int = 0
    libraries_sha256: Sha256 | None = Field(default=None, description="one hash over all shared objects of the package")
    why: str = Field(default="", description="why something could not be read")


class Software(Record):
    """The answer of list_versions.py."""

    python: str = ""
    packages: dict[str, Package] = {}
    why: str = ""


def read_software(python: Path, env: Mapping[str, str] | None = None) -> Software:
    """Read the packages of the target; an interpreter that does not answer is a reason, not a failure."""
    nonce = secrets.token_hex(8)
    script = Path(str(resources.files("backproof"))) / "target" / "list_versions.py"
    argv = [str(python), str(script), nonce, *(f"{module}={name}" for module, name in PACKAGES.items())]
    done = proc.run_process(argv, env=build_environment(env), timeout=_PATIENCE)
    answer = next((line for line in reversed(done.text.splitlines()) if line.startswith(f"{nonce} ")), None)
    if answer is None:
        output = (done.error_text or done.text).strip()[-300:]
        return Software(why=f"`{done.command}` ended with code {done.code}: {output}")
    try:
        return Software.model_validate_json(answer.partition(" ")[2])
    except ValidationError as error:
        return Software(why=f"the answer of `{done.command}` cannot be read: {error}"[:500])
