"""Histories for pages: many anomalies, and hostile texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isoscope import Recorder

if TYPE_CHECKING:
    from isoscope import History

#: Each tries to leave the place where it is shown, and to set `harmed` if it does.
HOSTILE = (
    "<script>window.harmed = 1</script>",
    "</script><script>window.harmed = 2</script>",
    '"><img src=x onerror="window.harmed = 3">',
    "'><svg onload='window.harmed = 4'>",
    "</title><script>window.harmed = 5</script>",
    "javascript:window.harmed = 6",
    "&lt;script&gt;window.harmed = 7&lt;/script&gt;",
    "--><script>window.harmed = 8</script><!--",
    "\u202egnirts desrever\u202c \u2066isolate\u2069 \u200f",
    "${harmed} {{harmed}} `harmed` \\u003cscript\\u003e",
    "]]><script>window.harmed = 9</script>",
    "\x00\x1b[31mred\x07\r\n",
    "\u05e9\u05dc\u05d5\u05dd \u6f22\u5b57",
)


def many(count: int) -> History:
    """A history with `count` fractured reads, each of its own two transactions."""
    recorder = Recorder(initial=0)
    for number in range(count):
        with recorder.transaction(session=f"writer {number}") as writer:
            writer.write(f"x{number}", 1)
            writer.write(f"y{number}", 1)
        with recorder.transaction(session=f"reader {number}") as reader:
            reader.read(f"x{number}", 0)
            reader.read(f"y{number}", 1)
    return recorder.history()
