"""The counterexamples of a page: as many as it may hold, most of them compressed until they are shown."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from markupsafe import Markup

    from isoscope.verdict import Anomaly, Finding

__all__ = ["PLAIN", "EmbeddedCounterexamples", "Example", "embed", "pack"]

#: Most characters of all counterexamples together, and of one that is not compressed.
_BUDGET, _PLAIN_LONGEST = 1_400_000, 60_000
#: Most counterexamples of a page.
_MAX_EXAMPLES = 1000
#: Most counterexamples of a part, which is unpacked at once, and most characters before it is packed.
_PART, _PART_LONGEST = 32, 400_000
#: Stands for a part where a counterexample is not compressed.
PLAIN = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One counterexample, `number` among those of its name."""

    finding: Finding
    number: int
    anomaly: Anomaly

    @property
    def id(self) -> str:
        """Its fragment: the same whatever else the page holds."""
        return f"{self.anomaly.name}-{self.number}"


@dataclass(slots=True, kw_only=True)
class EmbeddedCounterexamples:
    """The counterexamples of a page: `plain` holds HTML by id, `parts` the others, compressed.

    `parts_of` has the part of each id, and `size` counts the characters.
    """

    examples: list[Example] = field(default_factory=list)
    plain: dict[str, Markup] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)
    parts_of: dict[str, int] = field(default_factory=dict)
    size: int = 0

    def add_plain(self, example: Example, html: Markup) -> None:
        """Adds a counterexample that is there without a script."""
        self.plain[example.id], self.parts_of[example.id] = html, PLAIN
        self.size += len(html)

    def add_part(self, htmls: dict[str, str]) -> None:
        """Adds counterexamples by id that are unpacked together."""
        self.parts.append(pack(htmls))
        self.size += len(self.parts[-1])


def embed(findings: Sequence[Finding], render: Callable[[Example], Markup]) -> EmbeddedCounterexamples:
    """Renders as many as a page may hold: the first of every name, then the second of every name, ..."""
    held, waiting = EmbeddedCounterexamples(), dict[str, str]()
    for example in islice(_in_turns(findings), _MAX_EXAMPLES):
        if held.size > _BUDGET:
            break
        html = render(example)
        held.examples.append(example)
        if example.number == 1 and len(html) <= _PLAIN_LONGEST:
            held.add_plain(example, html)
            continue
        waiting[example.id], held.parts_of[example.id] = html, len(held.parts)
        if len(waiting) == _PART or sum(map(len, waiting.values())) > _PART_LONGEST:
            held.add_part(waiting)
            waiting = {}
    if waiting:
        held.add_part(waiting)
    order = {finding.name: place for place, finding in enumerate(findings)}
    held.examples.sort(key=lambda example: (order[example.anomaly.name], example.number))
    return held


def pack(data: object) -> str:
    """`data` as compressed JSON that may stand anywhere in a page."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "backslashreplace"))).decode("ascii")


def _in_turns(findings: Iterable[Finding]) -> Iterator[Example]:
    columns = (
        [Example(finding=one, number=n, anomaly=anomaly) for n, anomaly in enumerate(one.anomalies, start=1)]
        for one in findings
    )
    return (example for example in chain.from_iterable(zip_longest(*columns)) if example is not None)
