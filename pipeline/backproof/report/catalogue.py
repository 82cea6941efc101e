"""The sentences of the comment in its languages: data of `reports/`, each under a key such as `landed.branch`."""

from __future__ import annotations

import string
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from backproof.core.plural import format_count
from backproof.devices import DEVICES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.resources.abc import Traversable

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
OF_RECORDS: Language = "en"
"""Stages, judges and checks write in this language."""
CATALOGUES = ("sentences.toml", "hardware.toml")


class _Formatter(string.Formatter):
    """`str.format` that counts nouns, and refuses a value that the sentence does not hold."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return format_count(int(value), format_spec) if format_spec else str(value)

    def check_unused_args(self, used_args: set[int | str], args: Any, kwargs: Any) -> None:  # noqa: ARG002 - an override
        if unused := set(kwargs) - used_args:
            raise ValueError(f"the sentence has no place for {', '.join(sorted(map(str, unused)))}")


_FORMATTER = _Formatter()


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """All sentences in one language."""

    language: Language
    sentences: Mapping[str, str]

    def fill(self, key: str, **values: Any) -> str:
        """Return the sentence with its values.

        Raises:
            KeyError: there is no such sentence, or it needs a value that is not given.
            ValueError: a value is given that it does not hold.
        """
        return _FORMATTER.vformat(self.sentences[key], (), values)

    def translate(self, kind: str, word: str) -> str:
        """Return a word of the records, or of a device, in this language; or as it is."""
        devices = {device.WORDS.level[OF_RECORDS]: device.WORDS.level[self.language] for device in DEVICES.values()}
        return self.sentences.get(f"translated.{kind}.{word}", devices.get(word, word))


def find_templates() -> Traversable:
    """`reports/` of a checkout, or its copy in the wheel."""
    packaged = files("backproof") / "_reports"
    return packaged if packaged.is_dir() else Path(__file__).resolve().parents[3] / "reports"


@cache
def load_catalogue(language: Language) -> Catalogue:
    """Read the sentences of one language."""
    texts = ((find_templates() / name).read_text(encoding="utf-8") for name in CATALOGUES)
    entries = [entry for text in texts for entry in list_entries(tomllib.loads(text))]
    sentences = {key: sentence[language] for key, sentence in entries if language in sentence}
    return Catalogue(language=language, sentences=MappingProxyType(sentences))


def list_entries(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, str]]]:
    """List the keys of a catalogue, each with its sentence by language."""
    for name, value in table.items():
        if all(isinstance(inner, str) for inner in value.values()):
            yield f"{prefix}{name}", value
        else:
            yield from list_entries(value, f"{prefix}{name}.")
