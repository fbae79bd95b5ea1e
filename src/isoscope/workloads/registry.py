"""Workloads that run on a database, by name, with their published defaults."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from isoscope import plugins
from isoscope.errors import UsageError
from isoscope.workloads.active_keys import ActiveKeys
from isoscope.workloads.blindw import BlindW
from isoscope.workloads.key_value import KeyValue
from isoscope.workloads.parameters import option
from isoscope.workloads.smallbank import SmallBank

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isoscope.workloads.clients import ClientWorkload

__all__ = ["CLIENTS", "Clients", "client_workload"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """A workload with its published defaults, and the parameters that may be changed.

    `defaults` is a frozen dataclass with the methods of `ClientWorkload`. A package brings a workload as an
    entry point of the group `isoscope.workloads` that names a `Clients`.
    """

    meaning: str
    defaults: Any
    parameters: tuple[str, ...]


_LENGTHS = ("min_txn_length", "max_txn_length")
_KEY_VALUE = ("sessions", *_LENGTHS, "read_ratio", "keys", "distribution", "seed")
_ACTIVE_KEYS = (
    "sessions", *_LENGTHS, "read_ratio", "active_keys", "max_writes_per_key", "distribution", "seed",
)  # fmt: skip
# The share of reads distinguishes the variants.
_BLINDW = ("sessions", *_LENGTHS, "keys", "distribution", "seed")

CLIENTS: Mapping[str, Clients] = MappingProxyType(
    {
        "key-value": Clients(
            meaning="reads and blind writes of a table of registers",
            defaults=KeyValue(),
            parameters=_KEY_VALUE,
        ),
        "list-append": Clients(
            meaning="reads of lists and appends to them, on few active keys",
            defaults=ActiveKeys(content="list", sessions=10, max_writes_per_key=8),
            parameters=_ACTIVE_KEYS,
        ),
        "rw-register": Clients(
            meaning="reads and writes of registers, on few active keys",
            defaults=ActiveKeys(content="register", sessions=20, max_writes_per_key=3),
            parameters=_ACTIVE_KEYS,
        ),
        "blindw-w": Clients(
            meaning="transactions that write, and read nothing",
            defaults=BlindW(read_ratio=0.0),
            parameters=_BLINDW,
        ),
        "blindw-rw": Clients(
            meaning="transactions that only read, and as many that only write",
            defaults=BlindW(read_ratio=0.5),
            parameters=_BLINDW,
        ),
        "blindw-rw+": Clients(
            meaning="the same, and half of the reads are ranges of ten keys",
            defaults=BlindW(read_ratio=0.5, range_ratio=0.5),
            parameters=_BLINDW,
        ),
        "blindw-rm": Clients(
            meaning="transactions that only read, and one in ten that only writes",
            defaults=BlindW(read_ratio=0.9),
            parameters=_BLINDW,
        ),
        "smallbank": Clients(
            meaning="payments between accounts of a bank: reads decide what is written",
            defaults=SmallBank(),
            parameters=("sessions", "keys", "distribution", "seed"),
        ),
    }
)


def client_workload(name: str, given: Mapping[str, Any]) -> ClientWorkload:
    """The workload called `name` with its defaults, except for the `given` parameters.

    Raises `UsageError` if there is none, if it does not know a parameter, or if a value is impossible.
    """
    clients = CLIENTS[name] if name in CLIENTS else _plugged_in(name)
    unknown = [option(parameter) for parameter in given if parameter not in clients.parameters]
    if unknown:
        known = ", ".join(map(option, clients.parameters))
        raise UsageError(f"{name} knows nothing of {', '.join(unknown)}\n\nhint: it knows {known}")
    with plugins.guarded(f"the workload {name} refuses its parameters"):
        workload: ClientWorkload = replace(clients.defaults, **_both_lengths(clients.defaults, given))
    return workload


def _plugged_in(name: str) -> Clients:
    if not plugins.is_path(name) and name not in plugins.names("workload"):
        known = ", ".join([*CLIENTS, *plugins.names("workload")])
        raise UsageError(f"unknown workload `{name}`\n\nhint: it is one of {known}")
    found = plugins.load("workload", name)
    if not isinstance(found, Clients):
        raise UsageError(f"{name} is no workload: expected a `Clients`, found {type(found).__name__}")
    needed = ("content", "sessions", "rows", "clients", *found.parameters)
    plugins.refuse_incomplete("workload", name, found.defaults, needed)
    return found


def _both_lengths(defaults: object, given: Mapping[str, Any]) -> dict[str, Any]:
    """If one length is given, the default of the other is moved past it if necessary."""
    changes = dict(given)
    if not hasattr(defaults, "min_txn_length") or not hasattr(defaults, "max_txn_length"):
        return changes
    if "min_txn_length" not in given and "max_txn_length" in given:
        changes["min_txn_length"] = min(defaults.min_txn_length, given["max_txn_length"])
    if "max_txn_length" not in given and "min_txn_length" in given:
        changes["max_txn_length"] = max(defaults.max_txn_length, given["min_txn_length"])
    return changes
