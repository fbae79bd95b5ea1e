"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from isoscope import formats, plugins, profiles
from isoscope.checkers import TIME_LIMIT
from isoscope.errors import UsageError
from isoscope.history import UNKNOWN, Initial
from isoscope.verdict import Method

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from isoscope.history import Scalar, Unknown
    from isoscope.levels import Level
    from isoscope.profiles import Profile

__all__ = [
    "FormatName",
    "SectionedCommand",
    "chosen_profile",
    "format_option",
    "initial_option",
    "parse_initial",
    "parse_level",
    "parse_levels",
    "profile_options",
    "refuse_given",
    "time_limit_option",
]

_FIND_ONE = "`isoscope profiles` lists them, such as --profile postgresql/serializable"


def format_option(what: str) -> Callable[..., Any]:
    """`--format`, which overrides the format that the content or the name suggests."""
    return click.option("--format", "format_", type=FormatName(), help=f"Format of {what}.")


class FormatName(click.Choice[str]):
    """The name of a format; formats of other packages, and `module:NAME`, are understood but not listed."""

    def __init__(self) -> None:
        super().__init__([candidate.name for candidate in formats.FORMATS])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, if there is such a format."""
        if value in self.choices or not (plugins.is_path(value) or value in plugins.names("format")):
            return super().convert(value, param, ctx)
        formats.find(value)
        return str(value)


def initial_option() -> Callable[..., Any]:
    """`--initial`, which overrides the initial value of the format."""
    return click.option(
        "--initial",
        metavar="VALUE",
        callback=lambda _ctx, _option, text: None if text is None else parse_initial(text),
        help="Value of every key before its first write: an integer, a text, `nil` or `unknown`.",
    )


def time_limit_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--time-limit`, for the search for an order of versions."""
    option = click.option(
        "--time-limit",
        default=TIME_LIMIT,
        show_default=True,
        metavar="SECONDS",
        type=click.FloatRange(0, 2**31),
        help="Search for an order of versions at most so long for each level.",
    )
    return option(command)


def profile_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--profile` and `--clock-error`, for the method of intervals."""
    profile = click.option(
        "--profile",
        "profile_name",
        metavar="NAME",
        help="Ask whether the mechanisms of this profile were at work (--method intervals).",
    )
    clock_error = click.option(
        "--clock-error",
        default=0,
        type=click.IntRange(0, 2**62),
        metavar="NS",
        help="Nanoseconds by which clients' clocks may differ from one another (--profile).",
    )
    return profile(clock_error(command))


def chosen_profile(name: str | None, method: str | None, clock_error: int) -> Profile | None:
    """The profile of that name. Raises UsageError if the options contradict each other."""
    if name is None:
        if method == Method.INTERVALS:
            raise UsageError(f"--method intervals needs a --profile\n\nhint: {_FIND_ONE}")
        if clock_error:
            raise UsageError("--clock-error goes with a --profile")
        return None
    if method not in (None, Method.INTERVALS):
        raise UsageError(f"--profile goes with --method intervals, not with --method {method}")
    return profiles.load(name)


def parse_initial(text: str) -> Initial:
    """The initial value that `text` names; quote a text that looks like something else."""
    words: dict[str, Scalar | Unknown] = {"unknown": UNKNOWN, "nil": None, "null": None}
    if text.lower() in words:
        return Initial(value=words[text.lower()])
    try:
        return Initial(value=int(text))
    except ValueError:
        return Initial(value=text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text)


def parse_levels(names: Iterable[str]) -> tuple[Level, ...]:
    """The levels of these names, each once; a name may be that of a vendor, as in `oracle:serializable`."""
    try:
        return tuple(dict.fromkeys(level for name in names for level in profiles.parse_level(name)))
    except ValueError as error:
        raise UsageError(f"{error}\n\nhint: `isoscope levels` lists them") from None


def parse_level(_context: click.Context, _option: click.Parameter, name: str | None) -> Level | None:
    """The level of that name, as the callback of an option."""
    return None if name is None else parse_levels([name])[0]


def refuse_given(names: tuple[str, ...], message: str, hint: str) -> None:
    """Raises `UsageError` if one of these options was given: they have no meaning here."""
    context = click.get_current_context()
    default = click.core.ParameterSource.DEFAULT
    spelling = {option.name: option.opts[0] for option in context.command.params}
    given = [spelling[name] for name in names if context.get_parameter_source(name) is not default]
    if given:
        raise UsageError(f"{message.format(options=', '.join(given))}\n\nhint: {hint}")


class SectionedCommand(click.Command):
    """A command with help that lists options in `sections`; those of no section come first, under `first`."""

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
