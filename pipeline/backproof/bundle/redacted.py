"""A file as a bundle has it: without a secret, a person or a machine, and still the same kind of file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof.bundle.manifest import MEANING
from backproof.core.redaction import redact, redact_for_public
from backproof.report import render

if TYPE_CHECKING:
    from backproof.bundle.manifest import Manifest
    from backproof.rundir.loaded_run import LoadedRun

_PATCHES = (".mbox", ".patch", ".diff")


@dataclass(frozen=True, kw_only=True, slots=True)
class RunMask:
    """Takes out what names the machine of one run: each of its places becomes a word, its names are masked."""

    places: tuple[tuple[str, str], ...]
    names: tuple[str, ...]

    @classmethod
    def of_run(cls, run: LoadedRun) -> RunMask:
        settings = run.run.settings
        more = [(settings.kit, "KIT"), (str(Path(settings.python).parent.parent), "TARGET")]
        places = {*render.list_local_paths(run), *((path, word) for path, word in more if path.count("/") > 1)}
        # With its slash: the home of root is one short word, which may begin others.
        places |= {(f"{home}/", "~/")} if (home := str(Path.home())) != "/" else set()
        # The longest first: a folder must not be taken out of a path below it.
        ordered = sorted(places, key=lambda place: (-len(place[0]), place))
        return cls(places=tuple(ordered), names=render.list_host_names(run))

    def mask_file(self, name: str, data: bytes) -> bytes:
        """Return the content as others may have it. Bytes that are no text come through as they are."""
        text = data.decode("utf-8", "surrogateescape")
        if name.endswith(_PATCHES):
            # A patch is public with the commit that it makes, author included, and must still apply.
            masked = redact(text)
        elif name.endswith(".jsonl"):
            masked = "".join(f"{self._mask_line(line)}\n" for line in text.splitlines())
        elif name.endswith(".json") and (value := _parse_json(text)) is not None:
            return encode_json(self.mask_value(value))
        else:
            masked = self.mask_text(text)
        return masked.encode("utf-8", "surrogateescape")

    def mask_text(self, text: str) -> str:
        for path, word in self.places:
            text = text.replace(path, word)
        return redact_for_public(text, names=self.names)

    def mask_value(self, value: Any) -> Any:
        """Return a JSON value, masked text by text: no mask can swallow what separates two of them."""
        if isinstance(value, str):
            return self.mask_text(value)
        if isinstance(value, list):
            return [self.mask_value(item) for item in value]
        if isinstance(value, dict):
            return {self.mask_text(name): self.mask_value(item) for name, item in value.items()}
        return value

    def _mask_line(self, line: str) -> str:
        value = _parse_json(line)
        return self.mask_text(line) if value is None else json.dumps(self.mask_value(value), ensure_ascii=False)


def encode_json(value: Any) -> bytes:
    """Return JSON as a bundle has it."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape")


def encode_manifest(manifest: Manifest) -> bytes:
    """Return manifest.json; the meaning of its fields belongs to the version of its schema."""
    return encode_json(manifest.model_copy(update={"meaning": MEANING}).model_dump(mode="json"))


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
