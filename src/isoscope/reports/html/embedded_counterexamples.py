"""The counterexamples of a page: as many as it may hold, and compressed until somebody looks at them."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from isoscope.reports.findings import Finding
    from isoscope.verdict import Anomaly

__all__ = ["PLAIN", "Embedded", "Example", "embed", "pack"]

#: Characters that all counterexamples together may take, and one that is not compressed.
_BUDGET, _PLAIN_LONGEST = 1_400_000, 60_000
#: Counterexamples of a page.
_MOST = 1000
#: Counterexamples of a part, which is unpacked at once, and their characters before it is packed.
_PART, _PART_LONGEST = 32, 400_000
#: The part of those that are not compressed.
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
class Embedded:
    """What a page holds: its counterexamples, those in plain HTML, and the others in compressed parts.

    `parts_of` says for the id of each in which part it is.
    """

    examples: list[Example] = field(default_factory=list)
    plain: dict[str, str] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)
    parts_of: dict[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The characters that they take."""
        return sum(map(len, self.parts)) + sum(map(len, self.plain.values()))


def embed(findings: Sequence[Finding], render: Callable[[Example], str]) -> Embedded:
    """As many as a page may hold: the first of every name, then the second of every name, and so on."""
    held, waiting = Embedded(), dict[str, str]()
    for example in islice(_in_turns(findings), _MOST):
        if held.size > _BUDGET:
            break
        html = render(example)
        held.examples.append(example)
        if example.number == 1 and len(html) <= _PLAIN_LONGEST:
            held.plain[example.id], held.parts_of[example.id] = html, PLAIN
            continue
        waiting[example.id], held.parts_of[example.id] = html, len(held.parts)
        if len(waiting) == _PART or sum(map(len, waiting.values())) > _PART_LONGEST:
            held.parts.append(pack(waiting))
            waiting = {}
    if waiting:
        held.parts.append(pack(waiting))
    order = {finding.name: place for place, finding in enumerate(findings)}
    held.examples.sort(key=lambda example: (order[example.anomaly.name], example.number))
    return held


def pack(data: object) -> str:
    """`data` as compressed JSON that may stand anywhere in a page."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "backslashreplace"), 9)).decode("ascii")


def _in_turns(findings: Iterable[Finding]) -> Iterator[Example]:
    columns = (
        [Example(finding=one, number=n, anomaly=anomaly) for n, anomaly in enumerate(one.anomalies, start=1)]
        for one in findings
    )
    return (example for example in chain.from_iterable(zip_longest(*columns)) if example is not None)
