"""What a file looks like in a bundle: nothing of a secret, a person or a machine, and still the same kind of file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof.core.redaction import publishable, redact
from backproof.report import render

if TYPE_CHECKING:
    from backproof.rundir.loaded_run import LoadedRun

_AS_LANDED = (".mbox", ".patch", ".diff")


@dataclass(frozen=True, kw_only=True, slots=True)
class Mask:
    """What one run knows of its machine: places with the word that stands for each, and names."""

    places: tuple[tuple[str, str], ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, story: LoadedRun) -> Mask:
        settings = story.run.settings
        more = [(settings.kit, "KIT"), (str(Path(settings.python).parent.parent), "TARGET")]
        found = {*render.places(story), *((path, word) for path, word in more if path.count("/") > 1)}
        # With its slash: the home of root is one short word, which may begin others.
        found |= {(f"{home}/", "~/")} if (home := str(Path.home())) != "/" else set()
        # The longest first: a folder must not be taken out of a path below it.
        ordered = sorted(found, key=lambda each: (-len(each[0]), each))
        return cls(places=tuple(ordered), names=render.names(story))

    def file(self, name: str, data: bytes) -> bytes:
        """The content as others may have it. Bytes that are no text come through as they are."""
        text = data.decode("utf-8", "surrogateescape")
        if name.endswith(_AS_LANDED):
            # A patch is public with the commit that it makes, author included, and must still apply.
            return redact(text).encode("utf-8", "surrogateescape")
        if name.endswith(".jsonl"):
            return "".join(f"{self._line(each)}\n" for each in text.splitlines()).encode("utf-8", "surrogateescape")
        if name.endswith(".json") and (value := _parsed(text)) is not None:
            return written(self.value(value))
        return self.text(text).encode("utf-8", "surrogateescape")

    def text(self, text: str) -> str:
        for path, word in self.places:
            text = text.replace(path, word)
        return publishable(text, names=self.names)

    def value(self, value: Any) -> Any:
        """Text by text, so that no mask can swallow what separates two of them."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if isinstance(value, dict):
            return {self.text(name): self.value(each) for name, each in value.items()}
        return value

    def _line(self, line: str) -> str:
        value = _parsed(line)
        return self.text(line) if value is None else json.dumps(self.value(value), ensure_ascii=False)


def written(value: Any) -> bytes:
    """JSON as the bundle has it."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
