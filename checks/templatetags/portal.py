"""How values look: icons with their words, times, digests, and addresses that hold whatever name an object has."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from django import template
from django.template import Context
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from .. import vocabulary
from ..contract.clock import parse_time
from ..contract.reasons import State
from ..models import Check
from ..proof import Holds
from ..queries.keeping import horizon
from ..queries.sources import Sources, sources
from ..vocabulary import Word

register = template.Library()
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z)", re.ASCII)
_MARK = '<span class="state" data-state="{}"><svg class="icon" aria-hidden="true"><use href="#i-{}"/></svg>{}</span>'
_WORDS: Mapping[str, Mapping[Any, Word]] = {
    "state": vocabulary.STATES,
    "holds": vocabulary.HOLDS,
    "evidence": vocabulary.EVIDENCE,
    "outcome": vocabulary.OUTCOMES,
    "cleanup": vocabulary.CLEANUP,
}


@register.simple_tag
def mark(kind: str, value: Any) -> SafeString:
    """Icon and word of a value of a vocabulary ("state", "holds", "evidence", "outcome", "cleanup")."""
    word = _WORDS[kind].get(value) or vocabulary.STATES[State.UNKNOWN]
    return format_html(_MARK, word.tone, word.icon, word.text)


@register.simple_tag
def icon(name: str) -> SafeString:
    """An icon alone, for where the word stands elsewhere."""
    return format_html('<svg class="icon" aria-hidden="true"><use href="#i-{}"/></svg>', name)


@register.filter
def state_icon(state: State) -> str:
    return vocabulary.STATES[state].icon


@register.filter
def holds_icon(holds: Holds) -> str:
    return vocabulary.HOLDS[holds].icon


@register.filter
def holds_tone(holds: Holds) -> str:
    return vocabulary.HOLDS[holds].tone


@register.filter
def holds_words(holds: Holds) -> str:
    return vocabulary.HOLDS[holds].text


@register.filter
def by_state(counts: Mapping[State, int]) -> list[tuple[State, int]]:
    """Every state with its count, in the order of summaries."""
    return [(state, counts.get(state, 0)) for state in vocabulary.STATES]


@register.filter
def lower_first(text: str) -> str:
    """For the middle of a sentence."""
    return text[:1].lower() + text[1:]


@register.simple_tag(takes_context=True)
def known_sources(context: Context) -> Sources:
    """The viewer's clusters, for pages that no view of ours gives them to."""
    return sources(context["request"].scope, timezone.now())


@register.filter
def condition(name: str) -> str:
    """The words of a node's condition."""
    return vocabulary.CONDITIONS.get(name, "Unknown")


@register.filter
def instant(at: datetime | None) -> SafeString | str:
    """A moment in full; a dash where there is none."""
    if at is None:
        return "—"
    return format_html('<time datetime="{}">{}</time>', at.isoformat(), vocabulary.moment(at))


@register.filter
def times(text: str) -> SafeString:
    """A sentence in which the times of the contract are written as people read them."""
    pieces = _TIME.split(text)
    return format_html_join("", "{}", ((instant(parse_time(p)) if parse_time(p) else p,) for p in pieces))


@register.filter
def options_whole(command: str) -> SafeString:
    """A command whose lines break between its options, never inside of one that fits."""
    parts = re.split(" (?=--)", command)
    return format_html_join(" ", '<span class="option">{}</span>', ((part,) for part in parts))


@register.filter
def plain_instant(at: datetime | None) -> str:
    """A moment in full, for titles."""
    return vocabulary.moment(at) if at else "no time"


@register.filter
def clock(at: datetime | None) -> str:
    """The time of day with seconds, for steps of one run."""
    return f"{at:%H:%M:%S}" if at else "—"


@register.filter
def day(at: datetime | None) -> str:
    return f"{at.day} {at:%b}" if at else "—"


@register.simple_tag
def ago(at: datetime | None, as_of: datetime) -> SafeString | str:
    """How long ago, with the moment itself behind it; a dash where there is none."""
    if at is None:
        return "—"
    _note_age(at, as_of)
    words = vocabulary.ago(at, as_of)
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), vocabulary.moment(at), words)


@register.simple_tag
def between(start: datetime, end: datetime) -> str:
    """The distance of two moments in words."""
    _note_age(start, end)
    return vocabulary.distance(end - start)


def _note_age(at: datetime, as_of: datetime) -> None:
    """An answer that is kept ends with the words of its ages; against a dump's clock they stay."""
    made = horizon()
    if made is not None and as_of == made.now:
        made.ends_at(vocabulary.steady_until(at, as_of))


@register.filter
def duration(length: timedelta | None) -> str:
    return vocabulary.duration(length) if length is not None else "—"


@register.filter
def known(value: object) -> object:
    """A number, or the word that it is not known; never 0 for what is missing."""
    return "Unknown" if value is None else value


@register.filter
def size(count: int | None) -> str:
    return vocabulary.size(count) if count is not None else "—"


@register.filter
def short(text: str | None) -> str:
    """The beginning of a digest or a UID."""
    text = text or "—"
    algorithm, colon, rest = text.rpartition(":")
    return text if len(rest) <= 13 else f"{algorithm}{colon}{rest[:8]}…{rest[-4:]}"


@register.filter
def short_image(image: str) -> str:
    """An image's name and the beginning of its digest."""
    name, at, digest = image.partition("@")
    return f"{name.rpartition('/')[2]}{at}{short(digest)}" if at else image[:80]


@register.filter
def share(part: int | None, whole: int | None) -> str:
    """A part of a whole as an SVG length: "37.5%"."""
    return f"{100 * min(part, whole) / whole:.2f}%" if part and whole else "0%"


@register.simple_tag
def check_url(check: Check, panel: str = "") -> str:
    """The address of a check, or of one of its panels."""
    parts = (check.cluster_id, check.namespace, check.name, *([panel] if panel else []))
    return reverse("checks:checks") + "".join(quote(part, safe="") + "/" for part in parts)


@register.simple_tag
def nodes_url(**asked: str) -> str:
    """The address of the list of nodes of a place."""
    return f"{reverse('checks:nodes')}?{urlencode(asked)}"


@register.simple_tag(takes_context=True)
def sort_header(context: Context, key: str, label: str, sort: str, css: str = "") -> SafeString:
    """A column's header that sorts by it, and the other way round where it already does."""
    is_now = sort.removeprefix("-") == key
    query = context["request"].GET.copy()
    query.pop("cursor", None)
    query["sort"] = f"-{key}" if sort == key else key
    mark = icon("up" if sort.startswith("-") else "down") if is_now else ""
    aria = format_html(' aria-sort="{}"', "descending" if sort.startswith("-") else "ascending") if is_now else ""
    return format_html(
        '<th role="columnheader" scope="col" class="sortable {}"{}><a href="?{}">{}{}</a></th>',
        css,
        aria,
        query.urlencode(),
        label,
        mark,
    )


@register.simple_tag
def run_url(uid: str, panel: str = "") -> str:
    """The address of a run, or of one of its panels."""
    return reverse("checks:fleet") + f"runs/{quote(uid, safe='')}/" + (f"{panel}/" if panel else "")
