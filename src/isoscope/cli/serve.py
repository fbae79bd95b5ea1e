"""`isoscope serve`: check a running database, over HTTP."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from isoscope.cli.online import check_settings, online_status, short_answer
from isoscope.cli.options import initial_option, profile_options
from isoscope.errors import UsageError
from isoscope.formats.source import output
from isoscope.live.journal import Fsync
from isoscope.live.service import Service, Settings
from isoscope.reports import render_json

if TYPE_CHECKING:
    from typing import BinaryIO

    from isoscope.history import Initial
    from isoscope.live.ledger import Recovered
    from isoscope.verdict import Report

__all__ = ["command", "size"]

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size(_context: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """Bytes, as the callback of an option: 700M, 2G, 1048576."""
    if text is None:
        return None
    number = text.upper().removesuffix("B").rstrip("KMG")
    unit = text.upper().removesuffix("B").removeprefix(number)
    if not (number.isascii() and number.isdigit()) or unit not in _UNITS or not int(number):
        raise click.BadParameter(f"expected a size such as 700M, found {text!r}")
    return int(number) * _UNITS[unit]


@click.command("serve")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; others need --token."
)
@click.option("--port", default=8642, show_default=True, type=click.IntRange(0, 65535),
              help="Port to listen on; 0 takes a free one.")  # fmt: skip
@click.option("--token", envvar="ISOSCOPE_TOKEN", help="What clients must know; better in $ISOSCOPE_TOKEN.")
@click.option("--level", "names", multiple=True, metavar="LEVEL",
              help="Level to check; may be repeated. By default both levels of the clock.")  # fmt: skip
@profile_options
@click.option("--timeout", default=5.0, show_default=True, type=click.FloatRange(0, 86400),
              help="Seconds for which a read may wait for the write that it shows, and a silent session "
              "for others.")  # fmt: skip
@initial_option()
@click.option("--data", metavar="DIR", help="Folder of the journal: a restart goes on with it.")
@click.option("--fsync", default="always", show_default=True, type=click.Choice([*map(str, Fsync)]),
              help="When the journal is forced to the disk.")  # fmt: skip
@click.option("--memory-limit", callback=size, metavar="SIZE",
              help="Batches wait while the checkers hold more than this, such as 700M.")  # fmt: skip
@click.option("--keep", default=0.0, show_default=True, type=click.FloatRange(0, 86400),
              help="Seconds for which what is final stays in memory, for late arrivals.")  # fmt: skip
@click.option("--spill", metavar="DIR", help="Move what is final here, and read it again for late arrivals.")
@click.option("--max-body", default="16M", show_default=True, callback=size, metavar="SIZE",
              help="Largest batch that is taken.")  # fmt: skip
@click.option("--max-rate", type=click.FloatRange(0, min_open=True), metavar="N",
              help="Batches a second that one client may send.")  # fmt: skip
@click.option("--max-anomalies", default=10, show_default=True, type=click.IntRange(1, 2**31),
              help="Counterexamples of each anomaly in the report; all are counted.")  # fmt: skip
@click.option("--drain", default=10.0, show_default=True, type=click.FloatRange(0, 86400),
              help="Seconds to wait for batches under way when told to end.")  # fmt: skip
@click.option("--out", metavar="FILE", help="Write the final report as JSON.")
@click.option("--report", metavar="FILE", help="Write the final report as a page for a browser (HTML).")
def command(
    *,
    host: str,
    port: int,
    token: str | None,
    names: tuple[str, ...],
    profile_name: str | None,
    clock_error: int,
    timeout: float,
    initial: Initial | None,
    data: str | None,
    fsync: str,
    memory_limit: int | None,
    keep: float,
    spill: str | None,
    max_body: int,
    max_rate: float | None,
    max_anomalies: int,
    drain: float,
    out: str | None,
    report: str | None,
) -> int:
    """Check a running database online, over HTTP.

    Collectors send transactions with the database's own start and commit timestamps to POST /v1/batches, as
    JSON lines in the AION shape or as Arrow. A batch is answered when it is in the journal. Open the address
    that is printed for a live page; /v1/events streams violations, /metrics is for Prometheus.

    Few databases tell timestamps. With --profile, collectors send when each operation was sent and answered
    instead, as Leopard's JSON lines or as Arrow, and the mechanisms of the database are checked.

    SIGTERM or Ctrl-C ends it: batches under way are taken, every verdict becomes final, the report is
    written. After a crash, the same --data goes on where it was.

    \b
    Exits 0 if all levels hold, 1 if one is violated, 3 if one is unknown, 2 on bad usage. With --profile: 1
    if a mechanism is violated, else 0.

    \b
    Examples:
        isoscope serve
        isoscope serve --data /var/lib/isoscope --level clock-snapshot-isolation --timeout 10
        isoscope serve --profile postgresql/serializable
        isoscope serve --host 0.0.0.0 --memory-limit 700M --out report.json
    """
    check = check_settings(
        names=names,
        profile=profile_name,
        clock_error=clock_error,
        timeout=timeout,
        keep=keep,
        max_anomalies=max_anomalies,
        initial=initial,
        spill=None if spill is None else Path(spill),
    )
    settings = Settings(check=check, memory=memory_limit, fsync=Fsync(fsync))
    with ExitStack() as stack:
        if data is None:
            click.echo("note: without --data, a restart begins anew", err=True)
            data = stack.enter_context(tempfile.TemporaryDirectory(prefix="isoscope-"))
        # A file that cannot be written is refused now, not at the end.
        document, page = (stack.enter_context(output(file)) if file else None for file in (out, report))
        server = _Server(host=host, port=port, token=token, body=max_body, rate=max_rate, drain=drain)
        final = server.run(Path(data), settings)
        _write(final, document, page)
    click.echo(short_answer(final))
    return online_status(final)


class _Server:
    """The server, from the options of the network."""

    def __init__(
        self, *, host: str, port: int, token: str | None, body: int, rate: float | None, drain: float
    ) -> None:
        # The server is an extra, and only this command needs it.
        try:
            from isoscope.live.access import Access, is_loopback  # noqa: PLC0415
            from isoscope.live.http_server import HttpServer, listen  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise UsageError(
                f"`isoscope serve` needs {error.name}\n\nhint: pip install 'isoscope[serve]'"
            ) from None
        if token is not None and not (
            token.isascii() and token.isprintable() and token == token.strip() != ""
        ):
            # An empty token would admit every client, and a header cannot carry the others.
            raise UsageError("expected a token in ASCII, not empty and without spaces around it")
        if token is None and not is_loopback(host):
            raise UsageError(
                f"any client could write to {host}, so a token is needed\n\n"
                "hint: put one into $ISOSCOPE_TOKEN, or listen on 127.0.0.1"
            )
        self._access = Access(token=token, body=body, per_second=rate)
        self._listener = listen(host, port)
        self._http_server, self._drain = HttpServer, drain

    def run(self, data: Path, settings: Settings) -> Report:
        """Serves until a signal comes; returns the final report."""
        with self._listener:
            service = Service(data, settings, replay=False)
            http_server = self._http_server(service, self._access, self._listener, drain=self._drain)
            try:
                http_server.run(
                    _announce, replayed=lambda: _tell_recovered(service.recovered), problem=_tell_problem
                )
                return service.report()
            finally:
                service.close()


def _announce(url: str) -> None:
    click.echo(f"listening on {url}")
    sys.stdout.flush()


def _tell_recovered(recovered: Recovered) -> None:
    if text := recovered.text():
        click.echo(f"note: {text}", err=True)


def _tell_problem(problem: str) -> None:
    click.echo(f"problem: {problem}" if problem else "note: the problem is over", err=True)


def _write(final: Report, document: BinaryIO | None, page: BinaryIO | None) -> None:
    if document is not None:
        document.write(render_json(final).encode() + b"\n")
    if page is not None:
        from isoscope.reports.html import render_html  # noqa: PLC0415 - few runs need it

        page.write(render_html(final).encode())
