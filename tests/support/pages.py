"""The page of a run, as a reader of HTML takes it."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from backproof.report import render
from run_kinds import load_judged
from stories import plan

VOID = {"meta", "br"}
TAG_NAMES = """html head meta title style body header div main section aside article footer h1 h2 h3 p ol ul li dl dt dd b
span a code pre br table thead tbody tr th td details summary svg path rect circle line text desc polyline
figure figcaption"""


ATTRIBUTE_NAMES = """data-arm lang charset name content http-equiv class id href scope tabindex role aria-label aria-labelledby
aria-hidden viewbox x y x1 x2 y1 y2 cx cy r d width height text-anchor points colspan"""


TAGS, ATTRIBUTES = set(TAG_NAMES.split()), set(ATTRIBUTE_NAMES.split())


class Reader(HTMLParser):
    """Tags in order, balance, and the visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def page(folder: Any) -> str:
    return render.render_page(load_judged(folder), plan())
