"""Delays what nodes in network namespaces send each other: a device whose cable ends in this process.

Nodes whose link is slow send to the hardware address of this device instead of that of the other node. Each
frame waits here, and then goes on to the node whose address it has, as through a slow router.
"""

from __future__ import annotations

import os
import struct
from collections import deque
from contextlib import suppress
from pathlib import Path
from select import select
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

from isoscope.databases.links import DELAY

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SlowLinks", "can_delay"]

_DEVICE = Path("/dev/net/tun")
#: Requests and flags of Linux (linux/if_tun.h): a device of frames, without a header of its own.
_TUNSETIFF, _IFF_TAP, _IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
#: Where a frame has its hardware addresses, its type and the IPv4 address that it goes to.
_TARGET, _SOURCE, _TYPE, _ADDRESS = slice(0, 6), slice(6, 12), slice(12, 14), slice(30, 34)
_IPV4 = b"\x08\x00"
_FRAME = 1 << 16


def can_delay() -> bool:
    """Whether this user can make such a device."""
    return os.access(_DEVICE, os.R_OK | os.W_OK)


class SlowLinks:
    """A device called `name` that takes frames to `hardware`.

    `nodes` has the hardware address of each IPv4 address.
    """

    def __init__(self, name: str, hardware: bytes, nodes: Mapping[bytes, bytes]) -> None:
        self._hardware, self._nodes = hardware, nodes
        self._device = os.open(_DEVICE, os.O_RDWR | os.O_NONBLOCK)
        self._stop, self._told = os.pipe()
        #: Frames with the instant at which they go on, the first first.
        self._waiting: deque[tuple[float, bytes]] = deque()
        self._thread = Thread(target=self._work, name="isoscope-slow-links", daemon=True)
        _name_device(self._device, name)

    def start(self) -> None:
        """Begins to pass frames on."""
        self._thread.start()

    def close(self) -> None:
        """Ends; the device vanishes."""
        os.close(self._told)
        if self._thread.ident is not None:
            self._thread.join()
        os.close(self._stop)
        os.close(self._device)

    def _work(self) -> None:
        while True:
            patience = max(0.0, self._waiting[0][0] - monotonic()) if self._waiting else None
            ready, _, _ = select([self._device, self._stop], [], [], patience)
            if self._stop in ready:
                return
            if self._device in ready:
                self._take()
            self._send()

    def _take(self) -> None:
        with suppress(BlockingIOError):
            while True:
                frame = os.read(self._device, _FRAME)
                target = self._nodes.get(frame[_ADDRESS])
                if frame[_TARGET] == self._hardware and frame[_TYPE] == _IPV4 and target is not None:
                    # With its own address as the source, the bridge learns where this device is.
                    passed = target + self._hardware + frame[_SOURCE.stop :]
                    self._waiting.append((monotonic() + DELAY, passed))

    def _send(self) -> None:
        while self._waiting and self._waiting[0][0] <= monotonic():
            # A frame that does not fit is lost, as in a network.
            with suppress(OSError):
                os.write(self._device, self._waiting[0][1])
            self._waiting.popleft()


def _name_device(device: int, name: str) -> None:
    from fcntl import ioctl  # noqa: PLC0415 - does not exist on Windows

    ioctl(device, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TAP | _IFF_NO_PI))
