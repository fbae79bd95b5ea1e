"""The faults of a history on a time axis: a row for each node, a bar for each fault, as SVG and in words.

The axis goes from the start of the first fault to the end of the last one.
"""

from __future__ import annotations

from collections import Counter
from html import escape
from typing import TYPE_CHECKING, Any

from isoscope.explain.value_text import duration
from isoscope.reports.plain_text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["fault_facts", "render_fault_times"]

_LEFT, _WIDTH, _ROW, _BAR = 90, 760, 22, 12
#: Kinds differ by colour, and the title of each bar names it; colours differ for colour-blind readers.
_COLOURS = ("#c34a00", "#0072b2", "#7a3b8f", "#008060", "#555555", "#a88000")


def fault_facts(history: Mapping[str, Any]) -> dict[str, str]:
    """How many sessions each node has, and how often each fault was injected."""
    deployment = history.get("deployment")
    if not deployment:
        return {}
    nodes = Counter(node for _, node in deployment["nodes"])
    faults = Counter(fault["kind"] for fault in deployment["faults"])
    found = {
        "nodes": ", ".join(f"{node}: {counted(count, 'session')}" for node, count in sorted(nodes.items()))
    }
    found["faults"] = ", ".join(f"{kind} {count:,}" for kind, count in sorted(faults.items()))
    return {name: text for name, text in found.items() if text}


def render_fault_times(history: Mapping[str, Any]) -> str:
    """The picture; empty if there were no faults."""
    deployment: Mapping[str, Any] = history.get("deployment") or {"nodes": (), "faults": ()}
    faults: Sequence[Mapping[str, Any]] = deployment["faults"]
    if not faults:
        return ""
    first, last = _span(faults)
    nodes = sorted({fault["node"] for fault in faults} | {node for _, node in deployment["nodes"]})
    kinds = sorted({fault["kind"] for fault in faults})
    height = _ROW * (len(nodes) + 2)
    parts = [
        f'<svg class="faults" viewBox="0 0 {_LEFT + _WIDTH + 40} {height}" role="img" '
        'aria-label="faults over time">'
    ]
    for row, node in enumerate(nodes):
        y = row * _ROW + 15
        parts.append(f'<text x="4" y="{y}" fill="currentColor" font-size="12">{escape(node)}</text>')
        parts.append(
            f'<path d="M{_LEFT} {y - 4}h{_WIDTH}" stroke="currentColor" stroke-opacity="0.25" fill="none"/>'
        )
    parts += [_bar(fault, nodes, kinds, first, last) for fault in faults]
    parts += _legend(kinds, len(nodes) * _ROW + 14, duration(last - first))
    return "\n".join([*parts, "</svg>"])


def _span(faults: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    first = min(fault["start"] for fault in faults)
    return first, max(first + 1, *(fault["stop"] or fault["start"] for fault in faults))


def _bar(fault: Mapping[str, Any], nodes: Sequence[str], kinds: Sequence[str], first: int, last: int) -> str:
    scale = _WIDTH / (last - first)
    x = _LEFT + (fault["start"] - first) * scale
    width = max(3.0, ((fault["stop"] or last) - fault["start"]) * scale)
    y = nodes.index(fault["node"]) * _ROW + 5
    colour = _COLOURS[kinds.index(fault["kind"]) % len(_COLOURS)]
    lasted = "" if fault["stop"] is None else f" for {duration(fault['stop'] - fault['start'])}"
    said = f"{fault['kind']} of {fault['node']}, {duration(fault['start'] - first)} after the first{lasted}"
    remark = f": {fault['remark']}" if fault["remark"] else ""
    return (
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{_BAR}" fill="{colour}">'
        f"<title>{escape(said + remark)}</title></rect>"
    )


def _legend(kinds: Sequence[str], y: int, length: str) -> list[str]:
    parts, x = [], _LEFT
    for number, kind in enumerate(kinds):
        colour = _COLOURS[number % len(_COLOURS)]
        parts.append(f'<rect x="{x}" y="{y}" width="10" height="10" fill="{colour}"/>')
        parts.append(
            f'<text x="{x + 14}" y="{y + 9}" fill="currentColor" font-size="12">{escape(kind)}</text>'
        )
        x += 34 + 8 * len(kind)
    told = f"{length} from the first fault to the end of the last"
    parts.append(
        f'<text x="{_LEFT + _WIDTH}" y="{y + 9}" text-anchor="end" fill="currentColor" font-size="12">'
        f"{escape(told)}</text>"
    )
    return parts
