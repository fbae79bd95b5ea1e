"""The exit status after an exception: a mistake of the user is 2, a fault of Isoscope itself is 70.

A fault is no verdict. Its report for the issue tracker goes to a file, without passwords.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import select
import sys
import tempfile
import traceback
from contextlib import suppress
from pathlib import Path

import click

from isoscope import __version__
from isoscope.cli import BAD_INPUT, INTERRUPTED
from isoscope.errors import IsoscopeError

__all__ = ["INTERNAL_FAULT", "report"]

#: EX_SOFTWARE of sysexits.h.
INTERNAL_FAULT = 70
#: Errors of a disk that is full.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
#: Passwords in URLs, and tokens.
_SECRETS = (
    (re.compile(r"(://[^\s:/@'\"]*):[^\s'\"]*@"), r"\1:***@"),
    (re.compile(r"(--token[= ',\"]+)[^\s'\",\]]+"), r"\1***"),
    (re.compile(r"(?i)((?:password|token)=)[^\s&'\"]+"), r"\1***"),
)


def report(error: BaseException) -> int:
    """Says on standard error what happened; the exit status."""
    if _is_interrupt(error):
        _say("interrupted")
        return INTERRUPTED
    if isinstance(error, SystemExit):
        return _system_exit(error)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        _say(error.format_message())
        return BAD_INPUT
    message = _mistake(error)
    if message is not None:
        _say(f"error: {message}")
        return BAD_INPUT
    return _fault(error)


def _is_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C is the reason: an import that it stops may end in another exception."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        if isinstance(cause, KeyboardInterrupt | click.Abort):
            return True
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__
    return False


def _mistake(error: BaseException) -> str | None:
    """The message of an exception that is not a fault of Isoscope."""
    if isinstance(error, IsoscopeError):
        return str(error)
    if isinstance(error, click.UsageError):
        usage = error.ctx.command_path if error.ctx else "isoscope"
        return f"{_plain(error.format_message())}\n\nhint: `{usage} --help` lists what is possible"
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError) and (_is_output_full() or error.errno in _NO_ROOM):
        return f"cannot write the output: {error.strerror or error}"
    return None


def _plain(message: str) -> str:
    """A message of click without the names of its types, on one line."""
    message = re.sub(r"is not a valid float(?: range)?\b", "is not a number", message)
    message = re.sub(r"is not a valid integer(?: range)?\b", "is not a whole number", message)
    return " ".join(message.split())


def _is_output_full() -> bool:
    """Whether the rest of the output cannot be written: Python must not try again when it exits."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        return True
    return False


def _system_exit(error: SystemExit) -> int:
    # click raises this for every broken pipe. If the reader of our output has closed it, as `head` does, that
    # is no error; if it was another pipe, the work is not done.
    return 0 if _is_output_closed() else _fault(error)


def _is_output_closed() -> bool:
    poll = select.poll()
    for handle in (1, 2):
        poll.register(handle, 0)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def _fault(error: BaseException) -> int:
    text = _text(error)
    path = _written(text)
    last = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    _say(f"error: isoscope itself failed, and this is no verdict: {_without_secrets(last)}")
    if path:
        _say(f"\nhint: please report it with the file {path}")
    else:
        _say(f"\nhint: please report it with this text\n\n{text}")
    return INTERNAL_FAULT


def _text(error: BaseException) -> str:
    lines = [
        f"isoscope {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"command: {' '.join(sys.argv[1:])}",
        "",
        *traceback.format_exception(error),
    ]
    return _without_secrets("\n".join(lines))


def _without_secrets(text: str) -> str:
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


def _written(text: str) -> str:
    """The path of a new file with this text; empty if there is no room for it."""
    try:
        handle, path = tempfile.mkstemp(prefix="isoscope-failure-", suffix=".txt")
    except OSError:
        return ""
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as sink:
            sink.write(text)
    except OSError:
        Path(path).unlink(missing_ok=True)
        return ""
    return path


def _say(message: str) -> None:
    # Standard error may be closed or full, and then there is nothing left to say.
    with suppress(OSError, ValueError):
        click.echo(message, err=True)
