"""Help for commands with many options: section by section, by what they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Sections"]


class Sections(click.Command):
    """Lists options in `sections`; those that none of them names come first, under `first`."""

    def __init__(
        self, *arguments: Any, first: str, sections: Mapping[str, tuple[str, ...]], **more: Any
    ) -> None:
        super().__init__(*arguments, **more)
        self._first = first
        self._sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the sections."""
        every = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        options = {option.opts[-1] if option.is_eager else option.name or "": option for option in every}
        elsewhere = {name for names in self._sections.values() for name in names}
        rest = tuple(name for name in options if name not in elsewhere)
        for section, names in {self._first: rest, **self._sections}.items():
            with formatter.section(section):
                records = (options[name].get_help_record(ctx) for name in names)
                formatter.write_dl([record for record in records if record])
