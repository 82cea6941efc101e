"""Turn a run into the comment and the page; the words are in the templates of `reports/`.

Each template value is escaped for the place where it lands, by default: only `code` and `fence` give Markdown of their
own. A line that claims something calls `refs`, which fails where there is no evidence to name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from backproof import __version__
from backproof.core import escape
from backproof.core.plain_text import cut_text, cut_words, escape_line, strip_controls
from backproof.core.plural import format_count
from backproof.core.redaction import find_secrets, redact, redact_for_public
from backproof.report.catalogue import find_templates, load_catalogue
from backproof.report.comment import CommentView
from backproof.report.drift import describe_doctor_host, list_drift
from backproof.report.hypotheses import list_suspicions
from backproof.report.load_charts import draw_charts
from backproof.report.timeline import Timeline
from backproof.verdict.sentences import HEADLINES, TRIAGE_HEADLINES
from backproof.verdict.strength import describe_strength

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backproof.kit.plan import Plan
    from backproof.records.merged import Merged
    from backproof.report.catalogue import Catalogue, Language
    from backproof.rundir.loaded_run import LoadedRun
    from backproof.triage import TriageResult

Mask = Callable[[Any], str]

COMMENT_LIMIT = 60_000
"""GitHub refuses a comment of more than 65,536 characters; the rest is for what a publisher adds."""
CUT_FIRST = ("mutants", "cases", "limits", "evidence")
"""The sections of the comment that may go, the least needed first."""
_FOLDED_ROWS = 40
_SHORT = 100
_LONGEST = 20_000
"""No single value shows more than this; all have smaller bounds where they are printed."""
_SECTION = re.compile("\x1e([a-z]+)\x1f\n?")
"""Marks a section in a template's output. What comes from outside cannot hold it: controls are taken out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Links:
    """Where a reader of the comment finds more; "" where that is not known."""

    page: str = ""
    bundle: str = ""
    sha256: str = ""
    signer: str | None = None
    """The workflow that attested the bundle, "" for an unsigned run; None where it does not matter."""


def render_comment(
    loaded: LoadedRun, plan: Plan, *, language: Language = "en", hide: Mask | None = None, links: Links | None = None
) -> str:
    """Draft the comment for the upstream pull request, in Markdown; `hide` where it is not our machine's to mask."""
    environment = make_markdown_environment(hide or _make_mask(loaded), language)
    text = environment.get_template("comment.md.j2").render(
        **_describe_run(loaded, plan, language), links=links or Links()
    )
    return fit_sections(_split_sections(text), COMMENT_LIMIT, language)


def render_screen(loaded: LoadedRun, plan: Plan, *, language: Language = "en") -> str:
    """Render what a terminal shows when a run ends, on 80 columns and 24 lines: text, with its lines not yet broken."""
    environment = make_text_environment(language)
    text = environment.get_template("screen.txt.j2").render(**_describe_run(loaded, plan, language))
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def _describe_run(loaded: LoadedRun, plan: Plan, language: Language) -> dict[str, Any]:
    run, headline = loaded.run, load_catalogue(language).translate("headline", loaded.run.outcome)
    return {
        "view": CommentView.of(loaded, plan, most=_FOLDED_ROWS),
        "headline": HEADLINES[run.outcome] if headline == run.outcome else headline,
        "cause": run.sentence.removeprefix(f"{HEADLINES[run.outcome]}. "),
    }


def render_page(loaded: LoadedRun, plan: Plan) -> str:
    """Render the report as one HTML file that needs nothing else."""
    environment = make_html_environment(_make_mask(loaded))
    return environment.get_template("report.html.j2").render(
        view=CommentView.of(loaded, plan), headline=HEADLINES[loaded.run.outcome]
    )


def render_matrix(matrix: Merged) -> str:
    """Render several runs beside each other, in Markdown."""
    environment = make_markdown_environment(mask_with(redact_for_public))
    text = environment.get_template("merged.md.j2").render(merged=matrix, headline=HEADLINES[matrix.outcome])
    return fit_sections(_split_sections(text), COMMENT_LIMIT)


def render_triage_page(result: TriageResult) -> str:
    """Render the result of a triage as one HTML file: the first fault, the timeline, the lines."""
    environment = make_html_environment(mask_with(redact))
    headline, tone = TRIAGE_HEADLINES[result.outcome]
    return environment.get_template("triage.html.j2").render(
        result=result, chart=Timeline.of(result), headline=headline, tone=tone, version=__version__
    )


def make_markdown_environment(hide: Mask, language: Language = "en") -> Environment:
    """Escape for Markdown by default; `hide` takes out of each value what must not be shown."""
    environment = _make_saying_environment(lambda text: escape.escape_prose(hide(text)), load_catalogue(language))
    environment.filters.update(
        strong=lambda text: Markup(f"**{text}**"),  # noqa: S704
        prose=lambda text, limit=600: escape.escape_prose(hide(text), limit),
        brief=lambda text, count: escape.escape_prose(cut_words(hide(text), count)),
        brief_code=lambda text, count: escape.format_code_span(cut_words(hide(text), count)),
        address=lambda text: escape.escape_address(hide(text)),
        code=lambda text, limit=200: escape.format_code_span(hide(text), limit),
        fence=lambda text, language="": escape.format_code_block(hide(text), language),
    )
    environment.globals.update(section=lambda name: Markup(f"\x1e{name}\x1f"))  # noqa: S704
    return environment


def make_text_environment(language: Language) -> Environment:
    """As `make_markdown_environment`, for a terminal."""
    mask = mask_with(redact)

    def show(text: Any, _limit: int = 0) -> Markup:
        return Markup(escape_line(mask(text)))  # noqa: S704 - no markup: nothing is escaped any more

    environment = _make_saying_environment(show, load_catalogue(language), strip="**")
    environment.filters.update(
        strong=show,
        brief=lambda text, count: show(cut_words(str(text), count)),
        brief_code=lambda text, count: show(cut_words(str(text), count)),
        code=show,
        fence=lambda text, _: Markup("\n").join(show(f"    {line}") for line in text.splitlines()),
    )
    return environment


def _make_saying_environment(show: Callable[[Any], Markup], catalogue: Catalogue, strip: str = "") -> Environment:
    """Return an environment whose templates have the sentences of a language, with values as the place shows them."""

    def inert(value: Any) -> str:
        return _escape_value(value, show)

    def say(key: str, **values: Any) -> Markup:
        safe = {name: value if isinstance(value, int) else inert(value) for name, value in values.items()}
        sentence = catalogue.fill(key, **safe)
        return Markup(sentence.replace(strip, "") if strip else sentence)  # noqa: S704 - ours, with values as shown

    environment = _make_environment(finalize=inert)
    environment.globals.update(say=say, word=catalogue.translate)
    return environment


def make_html_environment(hide: Mask) -> Environment:
    """As `markdown_environment`, for HTML."""
    hide = _remember_short(hide)
    environment = _make_environment(
        finalize=lambda value: value if isinstance(value, _Hidden) else _escape_value(value, hide)
    )
    environment.filters.update(bounded=lambda text, limit: _Hidden(cut_text(hide(text), limit)))
    environment.globals.update(
        refs=_link_references,
        chart_logs=Timeline.of,
        draw_charts=draw_charts,
        describe_doctor_host=describe_doctor_host,
        describe_strength=describe_strength,
        list_drift=list_drift,
        list_suspicions=list_suspicions,
    )
    return environment


class _Hidden(str):
    """Text that went through the mask: a page of 10,000 findings would wait as long again for a second time."""

    __slots__ = ()


def _remember_short(hide: Mask) -> Mask:
    """Remember short texts: names of stages, outcomes and severities come again on every line."""
    hide_again = lru_cache(maxsize=4096)(hide)
    return lambda value: hide_again(text) if len(text := str(value)) <= _SHORT else hide(text)


def _escape_value(value: Any, text: Callable[[Any], str]) -> str:
    """Return what a template prints: its own markup as it is, all else through the escaping of the place."""
    return value if isinstance(value, Markup) else text(value)


def hide_controls_only(value: Any) -> str:
    """Hide nothing but invisible characters: for what was masked where it was made."""
    return strip_controls(str(value)[:_LONGEST])


def mask_with(redactor: Callable[..., str], **options: Any) -> Mask:
    """Take invisible characters out, then what is not for others: before escaping could hide any of it."""
    env = {f"TOKEN_{index}": value for index, value in enumerate(find_secrets())}
    return lambda value: redactor(hide_controls_only(value), env=env, **options)


def _make_mask(loaded: LoadedRun) -> Mask:
    """Mask the paths and names of this machine, too."""
    mask, paths = mask_with(redact_for_public, names=list_host_names(loaded)), list_local_paths(loaded)
    return lambda value: mask(_replace_paths(hide_controls_only(value), paths))


def _replace_paths(text: str, paths: Iterable[tuple[str, str]]) -> str:
    for path, word in paths:
        text = text.replace(path, word)
    return text


def list_host_names(loaded: LoadedRun) -> tuple[str, ...]:
    """List the names that a run knows of its host: the comment and the page are for others to read."""
    records = (loaded.validate, loaded.serve, loaded.upstream_tests)
    facts = [pair for record in records if record for pair in record.device_facts.items()]
    named = [value for name, value in facts if re.search(r"host|node|boot_id|serial", name)]
    hosts = (loaded.inventory, loaded.doctor, *loaded.experiments)
    return (*named, *(name for record in hosts if record for name in (record.host, record.boot_id)))


def list_local_paths(loaded: LoadedRun) -> list[tuple[str, str]]:
    """List paths that mean nothing on another machine, the longest first, with the words of the commands."""
    paths = {
        loaded.folder: "RUN",
        loaded.run.settings.python: "PYTHON",
        loaded.run.settings.repo: "REPO",
        str(Path(__file__).resolve().parents[2]): "BACKPROOF",
        str(Path.home()): "~",
    }
    return sorted(((path, word) for path, word in paths.items() if path.count("/") > 1), key=lambda pair: -len(pair[0]))


def _make_environment(*, finalize: Any) -> Environment:
    root = find_templates()
    environment = Environment(
        loader=FunctionLoader(lambda name: (root / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(counted=format_count)
    return environment


def _link_references(numbers: tuple[int, ...]) -> Markup:
    links = "".join(f'<a class="ref" href="#e{number}">e{number}</a>' for number in numbers)
    return Markup(links or '<span class="gone">evidence missing or altered</span>')  # noqa: S704


def _split_sections(text: str) -> list[tuple[str, str]]:
    _, *parts = _SECTION.split(text)
    named = zip(parts[::2], parts[1::2], strict=True)
    return [(name, body.strip("\n")) for name, body in named if body.strip()]


def fit_sections(sections: list[tuple[str, str]], limit: int, language: Language = "en") -> str:
    """Join the sections to one text within the limit; what had to go is said at its end."""
    shown = list(sections)
    gone: list[str] = []
    for name in CUT_FIRST:
        if len(_join_sections(shown, gone, language)) <= limit:
            break
        gone += [f"{section} ({len(body):,} characters)" for section, body in shown if section == name]
        shown = [section for section in shown if section[0] != name]
    return _join_sections(shown, gone, language)


def _join_sections(sections: list[tuple[str, str]], gone: list[str], language: Language) -> str:
    note = [load_catalogue(language).fill("about.cut", sections=", ".join(gone))] if gone else []
    return "\n\n".join([*(body for _, body in sections), *note]) + "\n"
