"""A process and its descendants, and which of some families a local connection belongs to; from `/proc`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

__all__ = ["connected_socket", "family", "has_socket"]


def family(pid: int) -> list[int]:
    """A process and all its descendants, the process first."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            # The name of a program, in parentheses, may have spaces.
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(folder.name))
    found = [pid]
    for one in found:
        found += children.get(one, [])
    return found


def connected_socket(port: int, to: int) -> str:
    """The number of the socket whose connection goes from a port of this machine to another; '' if none."""
    ends = f":{port:04X}", f":{to:04X}"
    # Java uses sockets of IPv6, also for addresses of IPv4.
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                # The relay's own end has the ports the other way round, and one that is closed has no number.
                if fields[1].endswith(ends[0]) and fields[2].endswith(ends[1]) and fields[9] != "0":
                    return fields[9]
    return ""


def has_socket(pid: int, socket: str) -> bool:
    """Whether a process holds the socket with this number."""
    folder = Path(f"/proc/{pid}/fd")
    with suppress(OSError):
        return any(_target(one) == f"socket:[{socket}]" for one in folder.iterdir())
    return False


def _target(link: Path) -> str:
    """What a link of `/proc` leads to; nothing if it is gone meanwhile."""
    with suppress(OSError):
        return str(link.readlink())
    return ""
