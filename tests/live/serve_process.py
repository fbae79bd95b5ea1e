"""`isoscope serve` in a process of its own, to be killed."""

from __future__ import annotations

import signal
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.cli.running import COMMAND

if TYPE_CHECKING:
    from collections.abc import Iterator


class Apart:
    """A process that listens at `url`."""

    def __init__(self, *arguments: object) -> None:
        self._command = [*COMMAND, "serve", "--port", "0", *map(str, arguments)]
        self._start()

    def _start(self) -> None:
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("listening on http://"), line + self.process.communicate()[1]
        self.url = line.split()[-1]

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def restart(self) -> None:
        """Kills it and starts it again, at another address."""
        self.kill()
        self._start()

    def end(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """Exit status, output and messages after a signal."""
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@contextmanager
def apart(*arguments: object) -> Iterator[Apart]:
    found = Apart(*arguments)
    try:
        yield found
    finally:
        if found.process.poll() is None:
            found.kill()
