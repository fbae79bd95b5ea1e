"""What a report shows of itself: text, one line, a page, a document, a notebook.

The room of reports renders all of it. It is imported when a text is asked for, because it imports this room.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import os

    from isoscope.verdict.report import Report, Search

__all__ = ["Presentation"]


class Presentation:
    """The texts of a `Report` or a `Search`."""

    __slots__ = ()

    @property
    def _subject(self) -> Report | Search:
        return cast("Report | Search", self)

    def __str__(self) -> str:
        from isoscope.reports import render_text  # noqa: PLC0415 - see above

        return render_text(self._subject).rstrip("\n")

    def __repr__(self) -> str:
        from isoscope.reports.notebook import one_line  # noqa: PLC0415

        return one_line(self._subject)

    def _repr_html_(self) -> str:
        from isoscope.reports.notebook import render_notebook  # noqa: PLC0415

        return render_notebook(self._subject)

    def to_json(self, *, timings: bool = False) -> str:
        """The document that `isoscope check --json` prints; with `timings`, also the seconds of the check."""
        from isoscope.reports import render_json  # noqa: PLC0415

        return render_json(self._subject, timings=timings)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Writes the page of `isoscope check --report`: one file that needs nothing else."""
        from isoscope.reports.html import render_html  # noqa: PLC0415

        # A history in memory has no file to link to.
        has_file = Path(str(self._subject.history["path"])).exists()
        page = render_html(self._subject, folder=str(Path(path).parent) if has_file else None)
        Path(path).write_text(page, encoding="utf-8")
