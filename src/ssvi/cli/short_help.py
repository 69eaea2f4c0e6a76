"""A help that fits a screen: the options that nearly everybody uses, and all of them by `--help-all`."""

from __future__ import annotations

import inspect
import shutil
import textwrap
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

FIRST = {
    "fit": ("model", "source", "output", "numbers", "passes", "held_out", "early_stopping", "seed", "formula", "column",
            "group_column", "format", "stop_words", "min_df", "max_df", "phrases", "no_numbers", "drop_copies",
            "drop_repeated", "quiet", "as_json"),
    "choose": ("model", "source", "topics", "seeds", "passes", "held_out", "folder", "output", "column", "format",
               "stop_words", "min_df", "max_df", "phrases", "no_numbers", "drop_copies", "drop_repeated", "quiet",
               "as_json"),
}  # fmt: skip
"""What the help of a command shows first, by the names of its parameters, in this order."""

_LEFT = 18  # columns for names
_MOST, _LEAST = 100, 60  # columns of a line


class ShortHelp(TyperCommand):
    """A command whose help shows the parameters in `FIRST`, and in full if all are asked for."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        if ctx.meta.get("all"):
            super().format_help(ctx, formatter)
            return
        width = min(max(shutil.get_terminal_size().columns, _LEAST), _MOST)
        formatter.write("\n".join(self._lines(ctx, width)) + "\n")

    def _lines(self, ctx: Any, width: int) -> list[str]:
        shown = {own.name: own for own in self.params}
        about, *rest = inspect.cleandoc(self.help or "").split("\n\n")
        needed = "".join(f" {own.opts[-1]} FILE" for own in self.params if own.required and own.opts[-1][0] == "-")
        usage = f"Usage: {ctx.command_path} MODEL SOURCE...{needed} [OPTIONS]"
        lines = [usage, "", *textwrap.wrap(about, width), ""]
        for name in FIRST[self.name or ""]:
            lines += _described(_names(shown[name]), _told(shown[name]), width)
        others = len(self.params) - len(FIRST[self.name or ""]) - 1  # it is one of them itself
        lines += _described("--help-all", f"All options: {others} more, with their types.", width)
        return [*lines, "", *textwrap.wrap(rest[-1], width, break_on_hyphens=False)]


def _names(parameter: Any) -> str:
    """Return how a parameter is typed: an argument in capitals, of an option a letter and its first name."""
    if parameter.param_type_name == "argument":
        return str(parameter.name).upper() + ("..." if parameter.nargs != 1 else "")
    letters = [name for name in parameter.opts if not name.startswith("--")]
    return ", ".join([*letters, next(name for name in parameter.opts if name.startswith("--"))])


def _told(parameter: Any) -> str:
    """Return what is said of a parameter, and its default if that is worth a word."""
    usual = parameter.show_default if isinstance(parameter.show_default, str) else parameter.default
    told = "" if usual is None or isinstance(usual, bool) or callable(usual) else f" [{usual}]"
    return f"{parameter.help}{'' if parameter.param_type_name == 'argument' else told}"


def _described(names: str, told: str, width: int) -> list[str]:
    wrapped = textwrap.wrap(told, width - _LEFT - 2, break_on_hyphens=False)
    lines = [f"  {own:{_LEFT}}{line}" for own, line in zip([names] + [""] * len(wrapped), wrapped, strict=False)]
    return lines if len(names) < _LEFT else [f"  {names}", *(f"  {'':{_LEFT}}{line}" for line in wrapped)]


def _show_all(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        ctx.meta["all"] = True
        typer.echo(ctx.get_help(), nl=False)
        raise typer.Exit


HelpAll = Annotated[
    bool, typer.Option("--help-all", callback=_show_all, is_eager=True, help="Show all options, as here, and exit.")
]
