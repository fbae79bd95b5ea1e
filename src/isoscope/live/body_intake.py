"""The bodies of requests, within limits of size, of time and of all bytes under way."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.requests import ClientDisconnect

from isoscope.live.batches import Refused

if TYPE_CHECKING:
    from starlette.requests import Request

    from isoscope.live.access import Access

__all__ = ["BodyIntake", "late", "whole_number"]

#: Seconds after which some bytes may be under way no longer.
_WAIT = 0.1
#: Digits of the longest number.
_DIGITS = 20


class BodyIntake:
    """Reads bodies. Bytes are under way from their arrival until `release`.

    A body that does not fit any more replaces the unfinished one that began first: slow clients cannot fill
    the space that fast ones need.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._under_way = 0
        #: Unfinished bodies and their bytes, the oldest first.
        self._arriving: dict[asyncio.Timeout, int] = {}

    async def read(self, request: Request) -> bytes:
        """The body. Raises Refused if it is too large, too slow, cut off or one too many."""
        _refuse_length(request, self._access.body)
        body = bytearray()
        try:
            async with asyncio.timeout_at(request.state.began + self._access.patience) as clock:
                self._arriving[clock] = 0
                try:
                    async for piece in request.stream():
                        body += piece
                        self._add(clock, len(piece))
                        self._refuse_size(len(body))
                    self._finish(clock)
                finally:
                    self._under_way -= self._arriving.pop(clock, 0)
        except TimeoutError:
            raise Refused(408, late(self._access.patience)) from None
        except ClientDisconnect:
            raise Refused(400, "the batch was cut off") from None
        return bytes(body)

    def release(self, body: bytes) -> None:
        """The body is under way no longer."""
        self._under_way -= len(body)

    def _finish(self, clock: asyncio.Timeout) -> None:
        if self._arriving.pop(clock, None) is None:
            raise TimeoutError

    def _add(self, clock: asyncio.Timeout, size: int) -> None:
        if clock not in self._arriving:
            # It was replaced, and its timeout comes with the next turn of the loop.
            raise TimeoutError
        self._arriving[clock] += size
        self._under_way += size
        while self._under_way > self._access.under_way:
            oldest = next(iter(self._arriving))
            if oldest is clock:
                raise Refused(429, "too many batches are under way: try again later", wait=_WAIT)
            self._under_way -= self._arriving.pop(oldest)
            if not oldest.expired():
                oldest.reschedule(0)

    def _refuse_size(self, size: int) -> None:
        if size > self._access.body:
            raise Refused(413, f"expected at most {self._access.body:,} bytes: send smaller batches")


def late(patience: float) -> str:
    """Why a body that took longer is refused."""
    return f"the batch did not come in time: at most {patience:g} seconds, less while many are under way"


def whole_number(text: str) -> int | None:
    """A number from 0 on, of at most 63 bits; None if the text is something else."""
    if not (text.isascii() and text.isdigit()) or len(text) > _DIGITS:
        return None
    return number if (number := int(text)) < 2**63 else None


def _refuse_length(request: Request, limit: int) -> None:
    """Refuses a body by its announced length, before it is read."""
    announced = request.headers.get("content-length", "0")
    length = whole_number(announced)
    if length is None or length > limit:
        found = announced[:_DIGITS] if length is None else f"{length:,}"
        raise Refused(413, f"expected at most {limit:,} bytes, found {found}: send smaller batches")
