"""An exact oracle: can any choice of instants explain a small history, for a database of this profile?

The server is an executable model, written from the words of the profile alone: versions in one log, locks,
first updater wins, certifiers. The history tells the span of each of its steps and its answers; the search
tries every order of steps that the spans allow. The rules of `mechanisms` are compared with it.

Cost: exponential, on purpose: for a few transactions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope.reference.instants.server import Server, State
from isoscope.reference.instants.traces import is_supported, traces

if TYPE_CHECKING:
    from collections.abc import Iterable

    from isoscope.history import History
    from isoscope.profiles import Profile
    from isoscope.reference.instants.steps import Trace

__all__ = ["RULES", "is_explained", "is_supported"]

#: Rules that the server can be asked to break, to learn which one a history breaks.
RULES = ("session-order", "own", "consistent-read", "mutual-exclusion", "first-updater-wins", "certifier")


def is_explained(history: History, profile: Profile, without: Iterable[str] = ()) -> bool:
    """Whether some execution of the database gives these answers; `without` some of its rules."""
    rules = frozenset(without)
    told = traces(history, profile, sessions="session-order" not in rules)
    return any(_search(trace, Server(trace, profile, rules)) for trace in told)


def _search(trace: Trace, server: Server) -> bool:
    """Depth first, the step with the earliest end first; states without an explanation are remembered."""
    everything = (1 << len(trace.steps)) - 1
    order = sorted(range(len(trace.steps)), key=lambda bit: trace.steps[bit].span.complete)
    hopeless: set[State] = set()
    stack = [State()]
    while stack:
        state = stack.pop()
        if state.done == everything:
            return True
        if state in hopeless:
            continue
        hopeless.add(state)
        for bit in reversed(order):
            is_next = not state.done >> bit & 1 and not trace.before[bit] & ~state.done
            if is_next:
                stack.extend(server.after(state, bit))
    return False
