"""Regressions on tables: `ssvi fit MODEL table.csv --formula ...`, and `ssvi predict`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssvi.cli import inputs
from ssvi.cli.mistakes import refuse_swapped

if TYPE_CHECKING:
    from ssvi.cli.training import Training

FormulaText = Annotated[
    str | None,
    typer.Option("--formula", help="For regressions of a table: y ~ x + (1 + x | group), as in R; y | trials(n) ~ ..."),
]
_NEEDS = "tables are read by pandas, which is not installed: pip install 'ssvi[formulas]'."
_READERS = {".csv": "read_csv", ".tsv": "read_table", ".txt": "read_table", ".parquet": "read_parquet"}


def check_formula(estimator: Any, formula: str | None) -> None:
    """Give a regression its formula; raise if it has none, or if something else is given one."""
    takes_one = hasattr(estimator, "formula")
    if takes_one and formula is None:
        raise ValueError(f"{estimator.name} is fitted to a table by a formula: give --formula 'y ~ x + (1 | group)'.")
    if formula is not None and not takes_one:
        raise ValueError(f"--formula is for regressions, and {estimator.name} is none: leave it out.")
    if formula is not None:
        from ssvi.estimators.hierarchical.formulas import parse

        parse(formula)
        estimator.set_params(formula=formula)


def read_table(paths: Sequence[Path]) -> Any:
    """Read one table; numbers, and text as it is."""
    try:
        import pandas
    except ImportError:
        raise ValueError(_NEEDS) from None
    if len(paths) != 1:
        raise ValueError(f"a regression is fitted to one table, not {len(paths)}: put the rows into one file.")
    path = paths[0]
    name = path.name.lower().removesuffix(".gz")
    kind = next((reader for ending, reader in _READERS.items() if name.endswith(ending)), None)
    if kind is None:
        raise ValueError(f"{path} is no table that is known here: give a file with one of {', '.join(_READERS)}.")
    if not path.is_file():
        raise ValueError(f"there is no file {path}.")
    try:
        return getattr(pandas, kind)(path)
    except (ValueError, OSError, ImportError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{path} cannot be read as a table: {reason.rstrip('.')}.") from None


def fit_table(estimator: Any, paths: Sequence[Path], training: Training) -> None:
    """Fit a regression to a table, write it to a file, and print what was found."""
    table = read_table(paths)
    display = training.watch(estimator, lambda: estimator.fit(table), len(table))
    output = training.save(estimator, display)
    summary = estimator.summary()
    facts = {
        "output": str(output), "model": estimator.name, "rows": len(table), "groups": len(estimator.groups_),
        "steps": estimator.n_batch_iter_, "seconds": round(display.seconds, 3),
        "summary": summary.to_dict(orient="index"),
    }  # fmt: skip
    training.tell(display, facts, lambda: _in_lines(facts, summary))


def _in_lines(facts: dict[str, Any], summary: Any) -> list[str]:
    """Return what was fitted as lines: the posterior of every global parameter."""
    groups = f" in {facts['groups']:,} groups" if facts["groups"] else ""
    return [
        f"{facts['output']}: {facts['model']} of {facts['rows']:,} rows{groups}, {facts['seconds']:.1f} s",
        summary.to_string(float_format=lambda value: f"{value:.4g}"),
        f"next: ssvi predict {facts['output']} FURTHER.csv -o predictions.csv",
    ]


def predict(
    model: inputs.ModelFile,
    table: Annotated[Path, typer.Argument(help="A table with the columns that the formula asks for.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The csv file to write; it is needed.")] = None,
    average: Annotated[
        bool, typer.Option("--average-group", help="Take every row for one of the average group.")
    ] = False,
    quiet: inputs.Quiet = False,
) -> None:
    """Write what a regression predicts for the rows of a table.

    A group that the fit has not seen is a draw from the population of groups. Columns: the mean and the deviation of y,
    or the probability of each class.

    Example: ssvi predict sleep.ssvi people.csv -o predictions.csv
    """
    from ssvi.files.models import load

    refuse_swapped("predict", model, [table])
    estimator = load(model)
    if getattr(estimator, "formula", None) is None:
        raise ValueError(
            f"{model} is no regression by a formula, so that there is nothing to predict from a table; "
            "`ssvi transform` applies other models."
        )
    if output is None:
        raise ValueError("--output (-o) is missing. See ssvi predict --help.")
    inputs.check_output(output, table, model)
    rows = read_table([table])
    if average:
        from ssvi.estimators.hierarchical.formulas import parse

        rows = rows.drop(columns=[parse(estimator.formula).group], errors="ignore")
    import pandas

    if hasattr(estimator, "predict_proba"):
        names = [f"p({label})" for label in estimator.classes_.tolist()]
        found = pandas.DataFrame(estimator.predict_proba(rows), columns=names)
    else:
        mean, deviation = estimator.predict(rows, return_std=True)
        found = pandas.DataFrame({"mean": mean, "sd": deviation})
    found.to_csv(output, index=False)
    if not quiet:
        typer.echo(f"{output}: predictions for {len(found):,} rows")
