"""R-style formulas: `y ~ x + (1 + x | g)`.

What stands in brackets with a bar is read here; everything else is formulaic's. On the left there may be `y |
trials(n)` for n trials a row, and `y | se(s)` for a known deviation s of a row's noise, as brms has them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvi.estimators.hierarchical.tables import INTERCEPT
from ssvi.typing import Array

_FUNCTIONS = ("C", "I", "exp", "log", "log10", "log2", "trials", "se")
_PIECE = re.compile(r"\s+|`[^`]+`|[A-Za-z_]\w*|\d+(?:\.\d+)?|[-+:*/^()|~]")
_LEFT = re.compile(r"^\s*([^|~]+?)\s*(?:\|\s*(trials|se)\s*\(\s*(.+?)\s*\))?\s*$")


@dataclass(frozen=True)
class Formula:
    """A formula in parts: y, what is said of its rows (with "trials" or "se"), fixed terms, varying terms, group."""

    output: str
    rows: str | None
    fixed: str
    varying: str | None
    group: str | None


def parse(formula: str) -> Formula:
    """Take a formula apart.

    >>> parse("y ~ x + (1 + x | g)")
    Formula(output='y', rows=None, fixed='x', varying='1 + x', group='g')
    """
    _check_pieces(formula)
    left, tilde, right = formula.partition("~")
    match = _LEFT.match(left)
    if not tilde or match is None or "~" in right:
        raise ValueError(f"the formula {formula!r} must be of the form y ~ x + (1 + x | g).")
    fixed, bars = _cut(formula, right)
    if len(bars) > 1:
        raise ValueError(
            f"the formula {formula!r} has {len(bars)} terms with a bar, and there can be one: give all varying columns "
            "of one grouping in one term, such as (1 + x | g)."
        )
    varying, group = bars[0] if bars else (None, None)
    return Formula(match[1], match[3], fixed or "1", varying, group)


def _check_pieces(formula: str) -> None:
    """Raise unless a formula is made of columns, numbers, signs and a few functions.

    formulaic would run any Python that it is given, and formulas are in model files too, which run nothing.
    """
    place, before = 0, ""
    while place < len(formula):
        piece = _PIECE.match(formula, place)
        if piece is None or "__" in piece[0]:
            raise ValueError(
                f"the formula {formula!r} has something at {formula[place : place + 12]!r} that cannot be read."
            )
        if piece[0] == "(" and before.isidentifier() and before not in _FUNCTIONS:
            raise ValueError(f"the formula {formula!r} calls {before!r}: there are {', '.join(_FUNCTIONS)}.")
        before = piece[0].strip() or before
        place = piece.end()


def _cut(formula: str, right: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the right side without its terms in brackets with a bar, and these."""
    kept, bars, depth, start = [], [], 0, 0
    for place, letter in enumerate(right):
        if letter == "(":
            start = place if depth == 0 else start
            depth += 1
        elif letter == ")":
            depth -= 1
            inside = right[start + 1 : place]
            if depth == 0 and "|" in inside:
                varying, _, group = inside.partition("|")
                if "|" in group or not group.strip() or not varying.strip():
                    raise ValueError(f"the term ({inside}) of the formula {formula!r} must be like (1 + x | g).")
                bars.append((varying.strip(), group.strip()))
            elif depth == 0:
                kept.append(right[start : place + 1])
        elif depth == 0:
            kept.append(letter)
        if depth < 0:
            break
    if depth != 0:
        raise ValueError(f"the brackets of the formula {formula!r} do not match.")
    rest = re.sub(r"\s+", " ", "".join(kept))
    rest = re.sub(r"\+\s*(?=\+|$)|^\s*\+", "", rest).strip()  # what stood before and after such terms
    return rest.strip("+ ").strip(), bars


def read(formula: str, table: Any, known: Any) -> tuple[dict[str, Any], tuple[Array, Any, Any, Any]]:
    """Return a formula's design and its X, y, groups and trials (or deviations) from a table.

    `known` is the design of an earlier table, by which columns are made alike.
    """
    parsed = parse(formula)
    parts, inputs = _inputs(parsed, table, known)
    y = np.asarray(_column(table, parsed.output, formula))
    weights = None if parsed.rows is None else _number_or_column(table, parsed.rows, formula)
    groups = None if parsed.group is None else np.asarray(_column(table, parsed.group, formula))
    return parts, (inputs, y, groups, weights)


def read_inputs(formula: str, table: Any, known: Any) -> tuple[Array, Any]:
    """Return X of a table, and the groups if it has them."""
    parsed = parse(formula)
    _, inputs = _inputs(parsed, table, known)
    has_groups = parsed.group is not None and parsed.group in table
    return inputs, np.asarray(table[parsed.group]) if has_groups else None


def _inputs(parsed: Formula, table: Any, known: Any) -> tuple[dict[str, Any], Array]:
    frame, levels = _with_levels(table, known)
    fixed = _matrix(parsed.fixed, frame)
    varying = {} if parsed.varying is None else _matrix(parsed.varying, frame)
    columns = fixed | varying
    names = list(columns)
    if INTERCEPT in names:
        names.remove(INTERCEPT)
        names.insert(0, INTERCEPT)
    if known is not None and list(known["names"]) != names:
        raise ValueError(
            f"the formula gives the columns {', '.join(names)}, and in the fit {', '.join(known['names'])}."
        )
    parts = {
        "names": names,
        "fixed": [names.index(name) for name in sorted(fixed, key=names.index)],
        "varying": [names.index(name) for name in sorted(varying, key=names.index)],
        "levels": levels,
    }
    return parts, np.column_stack([columns[name] for name in names])


def _with_levels(table: Any, known: Any) -> tuple[Any, dict[str, list[str]]]:
    """Return a data frame whose columns of text have the categories that they had in the fit, and these."""
    import pandas

    frame = table if isinstance(table, pandas.DataFrame) else _to_frame(table)
    frame = frame.copy(deep=False)
    levels: dict[str, list[str]] = {}
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pandas.CategoricalDtype):
            found = [str(level) for level in column.cat.categories]
        elif not pandas.api.types.is_numeric_dtype(column) and not pandas.api.types.is_bool_dtype(column):
            found = sorted({str(value) for value in column.dropna()})
        else:
            continue
        own = known["levels"].get(str(name), found) if known is not None else found
        values = column.astype(object).where(column.isna(), column.astype(str))
        frame[name] = pandas.Categorical(values, categories=own)
        levels[str(name)] = own
    return frame, levels


def _to_frame(table: Any) -> Any:
    import pandas

    try:
        return table.to_pandas() if hasattr(table, "to_pandas") else pandas.DataFrame(table)
    except (TypeError, ValueError):
        raise ValueError(
            f"with a formula X must be a table with named columns, not a {type(table).__name__}."
        ) from None


def _matrix(terms: str, frame: Any) -> dict[str, Array]:
    """Let formulaic make columns of terms."""
    try:
        import formulaic
    except ImportError:
        raise ImportError("formulas need the package formulaic: pip install 'ssvi[formulas]'.") from None
    try:
        matrix = formulaic.model_matrix(terms, frame, na_action="raise", context={})
    except Exception as error:  # of many kinds, each with words of its own
        words = " ".join(str(error).split())
        raise ValueError(f"the terms {terms!r} cannot be made of this table: {words.rstrip('.')}.") from None
    if any(state for state in matrix.model_spec.transform_state.values()):
        raise ValueError(
            f"the terms {terms!r} have a transformation that looks at all rows, which further rows would change: put "
            "the transformed column into the table."
        )
    return {str(name): np.asarray(matrix[name], dtype=np.float64) for name in matrix.columns}


def _column(table: Any, name: str, formula: str) -> Any:
    try:
        return table[name]
    except (KeyError, IndexError, TypeError, ValueError):
        raise ValueError(f"the formula {formula!r} needs a column {name!r}, which the table has not.") from None


def _number_or_column(table: Any, name: str, formula: str) -> Any:
    try:
        return float(name)
    except ValueError:
        return np.asarray(_column(table, name, formula))
