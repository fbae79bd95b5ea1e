"""The verdicts as text for a terminal: plain words, no colour needed."""

from __future__ import annotations

import os
import re
import textwrap
from typing import TYPE_CHECKING

from isoscope.explain import hint, message, one_line
from isoscope.levels import LADDER, PLAIN_LADDER, Level
from isoscope.verdict import Outcome, Presence, Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from isoscope.verdict import Anomaly, Ordered, Search

__all__ = ["paragraph", "render_text"]

_MARGIN = 12
#: More levels with one reason are counted, not listed.
_FEW = 4
#: What most people ask for; these stand for a longer list.
WELL_KNOWN = (
    Level.READ_COMMITTED,
    Level.READ_ATOMIC,
    Level.CAUSAL,
    Level.SNAPSHOT_ISOLATION,
    Level.SERIALIZABLE,
)
#: Levels without sessions and the same with them.
_WITH_SESSIONS = {
    Level.PL_1: Level.STRONG_SESSION_PL_1,
    Level.PL_2: Level.STRONG_SESSION_PL_2,
    Level.PARALLEL_SNAPSHOT_ISOLATION: Level.STRONG_SESSION_PARALLEL_SNAPSHOT_ISOLATION,
    Level.SNAPSHOT_ISOLATION: Level.STRONG_SESSION_SNAPSHOT_ISOLATION,
    Level.SERIALIZABLE: Level.STRONG_SESSION_SERIALIZABLE,
}
#: Who orders versions; others are claims.
_WHO = {
    "list read": "list reads order",
    "log": "the log orders",
    "declared": "a declaration orders",
    "timestamps": "timestamps order",
    "initial": "the first state orders",
}
#: Where a link of a chain begins, and where a sentence about the chain does.
_LINK = re.compile(r"(?<=[:;(]) ?(?=\S+ before \S+, because )")
_SENTENCE = re.compile(r"(?<=\.) (?=So \S|But \S|If \S|\S+ comes after )")
#: Stands for a space where no line may end. It is in no message: `shown` escapes what is not printable.
_GLUE = "\N{NO-BREAK SPACE}"


def render_text(report: Report | Search, *, width: int = 100) -> str:
    """The report; lines are no longer than `width` where words allow it."""
    rows = _outcomes(report, width) if isinstance(report, Report) else _sightings(report, width)
    blocks = [
        _heading(report),
        "\n".join(rows),
        *_anomalies(report, width),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _heading(report: Report | Search) -> str:
    history = report.history
    sizes = ", ".join(_count(history, name) for name in ("sessions", "transactions", "operations", "keys"))
    ends = "".join(f", {history[name]:,} {name}" for name in ("aborted", "indeterminate") if history[name])
    evidence = ", ".join(map(str, history["evidence"]))  # type: ignore[call-overload]
    lines = [f"{history['path']} ({history['format']}): {sizes}{ends}", f"evidence: {evidence}"]
    if isinstance(report, Report) and report.version_order:
        lines.append(f"version order: {'; '.join(filter(None, map(_ordered, report.version_order)))}")
    return "\n".join([*lines, *map(_assumed, report.assumptions)])


def _ordered(row: Ordered) -> str:
    """Who orders how many keys; of those that nobody orders, the ones with several versions."""
    if not row.source:
        left = row.keys - row.whole
        return f"{_keys(left)} {'is' if left == 1 else 'are'} not ordered" if left else ""
    claim = row.source.removeprefix("assume ")
    who = _WHO.get(row.source) or f"the claim {claim} orders"
    if row.whole == row.keys:
        return f"{who} {_keys(row.keys)} to the last version"
    if row.keys == 1:
        return f"{who} 1 key, not to the last version"
    some = f"{row.whole:,}" if row.whole else "none"
    return f"{who} {_keys(row.keys)}, {some} of them to the last version"


def _keys(count: int) -> str:
    return f"{count:,} key" if count == 1 else f"{count:,} keys"


def _assumed(assumption: str) -> str:
    """A claim is the user's assumption, not ours."""
    return assumption if assumption.startswith("claimed: ") else f"assumed: {assumption}"


def _count(history: Mapping[str, object], name: str) -> str:
    number = history[name]
    return f"{number:,} {name.removesuffix('s') if number == 1 else name}"


def _outcomes(report: Report, width: int) -> Iterator[str]:
    """The answer in short, then one line an outcome; a level that others follow from stands for them."""
    holds, violated, open_ = map(report.levels, Outcome)
    for head, short in zip(("in short", ""), _in_short(report), strict=False):
        yield _row(head, short, width)
    if violated:
        yield _row("violated", _with_rest(report.weakest_violated, violated, "stronger"), width)
    if holds:
        yield _row("holds", _with_rest(report.strongest_holding, holds, "weaker"), width)
    possible = [level for level in report.strongest_possible if level in open_]
    if set(possible) != set(open_):
        yield _row("possible", _with_rest(possible, open_, "weaker"), width)
    unknown = ((verdict.reason, verdict.level) for verdict in report.verdicts if verdict.reason)
    yield from _unknown(unknown, "levels", width)


def _in_short(report: Report) -> Iterator[str]:
    """The answer for the levels with session order, if several were asked, and where sessions matter."""
    outcomes = {verdict.level: verdict.outcome for verdict in report.verdicts}
    if len(outcomes.keys() & set(LADDER)) < 2 or not (short := _border(outcomes, LADDER)):
        return
    yield short
    if _sessions_matter(outcomes):
        yield f"without sessions: {_border(outcomes, PLAIN_LADDER)}"


def _border(outcomes: Mapping[Level, Outcome], ladder: Sequence[Level]) -> str:
    """The strongest level of a ladder that holds, the strongest that may, the weakest that is broken."""
    holds, violated, open_ = (
        [level for level in ladder if outcomes.get(level) is outcome] for outcome in Outcome
    )
    if not holds and not violated:
        return ""
    said = [f"{level} holds" for level in holds[-1:]]
    said += [f"{level} may hold" for level in open_[-1:]]
    return ", ".join([*said, *(f"{level} is violated" for level in violated[:1])])


def _sessions_matter(outcomes: Mapping[Level, Outcome]) -> bool:
    """Whether a level holds that is violated with session order."""
    return any(
        (outcomes.get(plain), outcomes.get(strong)) == (Outcome.HOLDS, Outcome.VIOLATED)
        for plain, strong in _WITH_SESSIONS.items()
    )


def _sightings(search: Search, width: int) -> Iterator[str]:
    """Which of the anomalies that were looked for are there."""
    found = [f"{s.name} ({s.count:,})" for s in search.sightings if s.presence is Presence.FOUND]
    absent = [s.name for s in search.sightings if s.presence is Presence.ABSENT]
    if found:
        yield _row("found", ", ".join(found), width)
    if absent:
        yield _row("absent", ", ".join(absent), width)
    unknown = ((sighting.reason, sighting.name) for sighting in search.sightings if sighting.reason)
    yield from _unknown(unknown, "anomalies", width)


def _unknown(reasons: Iterable[tuple[str, str]], what: str, width: int) -> Iterator[str]:
    """One line a reason."""
    unknown: dict[str, list[str]] = {}
    for reason, name in reasons:
        unknown.setdefault(reason, []).append(name)
    for reason, names in unknown.items():
        listed = ", ".join(names) if len(names) <= _FEW else f"{len(names)} {what}"
        yield _row("unknown", f"{listed}: {reason}", width)


def _with_rest(first: Sequence[Level], every: Sequence[Level], side: str) -> str:
    """The levels that decide, and those that follow from them: all of a few, the best known of many."""
    rest = [level for level in every if level not in first]
    chosen = ", ".join(first)
    if not rest:
        return chosen
    if len(rest) <= _FEW:
        return f"{chosen}, and so {', '.join(rest)}"
    known = [level for level in WELL_KNOWN if level in rest] or rest[:1]
    return f"{chosen}, and so {len(rest)} {side} levels ({', '.join(known)}, ...)"


def paragraph(text: str, *, width: int = 100, head: str = "", margin: int = 0) -> str:
    """`text` in lines of `width`, indented by `margin`, with `head` in the margin of the first one.

    Names and places are never broken.
    """
    return textwrap.fill(
        text,
        width,
        initial_indent=f"{head:<{margin}}",
        subsequent_indent=" " * margin,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _row(head: str, text: str, width: int) -> str:
    return paragraph(text, width=width, head=f"  {head}", margin=_MARGIN)


def _anomalies(report: Report | Search, width: int) -> Iterator[str]:
    """Each name once, with its count and the first of its counterexamples."""
    path = str(report.history["path"])
    for name, count, examples in _examples(report):
        shown = [_shown(anomaly, path, width) for anomaly in examples]
        more = count - len(shown)
        if more > 0:
            shown.append(f"  ... and {more:,} more")
        if advice := hint(name):
            shown.append(paragraph(advice, width=width, head="  hint: ", margin=8))
        yield "\n".join([f"{name}: {count:,} found", *shown])


def _examples(report: Report | Search) -> Iterator[tuple[str, int, Sequence[Anomaly]]]:
    if not isinstance(report, Report):
        yield from ((s.name, s.count, s.anomalies) for s in report.sightings if s.anomalies)
        return
    seen: set[str] = set()
    for verdict in sorted(report.verdicts, key=lambda verdict: -len(verdict.anomaly_counts)):
        for name, count in verdict.anomaly_counts.items():
            if name not in seen:
                yield name, count, [anomaly for anomaly in verdict.anomalies if anomaly.name == name]
        seen |= verdict.anomaly_counts.keys()


def _shown(anomaly: Anomaly, path: str, width: int) -> str:
    """One counterexample; above the sentences about a circle stands the circle on one line."""
    sentences = _example(message(anomaly), path, width)
    if not (circle := one_line(anomaly)):
        return sentences
    return "\n".join(
        [paragraph(circle, width=width, head="  - ", margin=4), sentences.replace("  - ", "    ", 1)]
    )


def _example(text: str, path: str, width: int) -> str:
    """Sentences; the heading says where the input is, so places need only its name, and that once.

    A long one, with several links of a chain, has a line for each.
    """
    folder, name = os.path.split(path)
    short = _places(text.replace(f"({folder}{os.sep}", "(") if folder else text, name)
    if len(_LINK.findall(short)) < 2:
        return _paragraph(short, width, head="  - ", margin=4)
    lines: list[str] = []
    for sentence in _SENTENCE.split(short):
        opening, *links = _LINK.split(sentence)
        start = re.sub(r" ?\($", ":", opening)
        lines.append(_paragraph(start, width, head="    " if lines else "  - ", margin=4))
        lines += (
            _paragraph(link, width, head=f"{'- ':>{deep}}", margin=deep) for deep, link in _nested(links)
        )
    return "\n".join(lines)


def _nested(links: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Each link with its margin: those in brackets say why the one before them holds."""
    deep = 6
    for link in links:
        closes = link.count(")") > link.count("(")
        text = link.removesuffix("(").rstrip() + (":" if link.endswith("(") else "")
        yield deep, re.sub(r"\)(?=[.;]?$)", "", text) if closes else text
        deep = 8 if link.endswith("(") else 6 if closes else deep


def _places(text: str, name: str) -> str:
    """The places in one file: after the first, the line or byte is enough."""
    start, place, rest = text.partition(f"({name}:")
    return start + place + rest.replace(f"({name}: byte ", "(byte ").replace(f"({name}:", "(line ")


def _paragraph(text: str, width: int, *, head: str, margin: int) -> str:
    glued = re.sub(r" = | key |\[[^][]*\]|\((byte|line) \d+", _glue, text)
    return paragraph(glued, width=width, head=head, margin=margin).replace(_GLUE, " ")


def _glue(part: re.Match[str]) -> str:
    """A key stays with its value, a list on its line; a line may end before the word `key`."""
    if part[0] == " key ":
        return f" key{_GLUE}"
    return part[0].replace(" ", _GLUE)
