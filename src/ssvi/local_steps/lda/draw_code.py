"""Vector instructions that both Gibbs kernels need: how a draw finds its place among sums kept vector by vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from ssvi.numerics.simd import LINE, WIDTH, VectorCode, buffer, constant, loop, variable

_INT64 = ir.IntType(64)


class DrawCode(VectorCode):
    """Writes one draw for each of several documents.

    A document's probabilities are added up vector after vector, and all partial sums are kept. The total's sixteen
    columns then tell in which column the draw falls, and the column's partial sums in which vector.

    Parameters
    ----------
    context, builder, number
        numba's and LLVM's own, and the type of numbers.
    running
        The address of room for partial sums: vectors x documents x `WIDTH` numbers.
    together
        How many documents there are.

    """

    def __init__(self, context: Any, builder: Any, number: Any, running: Any, together: int) -> None:
        super().__init__(context, builder, number)
        self._running, self._together = running, together

    def add_up(self, blocks: Any, factors: Callable[[Any], list[tuple[Any, Any]]]) -> list[Any]:
        """Add up products vector by vector, keep all partial sums, return the last.

        `factors(start)` writes what loads the two factors of each document's vector at `start`.
        """
        builder = self._builder
        totals = [variable(builder, self.zero) for _ in range(self._together)]
        with loop(builder, blocks) as block:
            sums = self.at(self._running, builder.mul(block, constant(self._together * WIDTH)))
            pairs = factors(builder.mul(block, constant(WIDTH)))
            for d, ((first, second), total) in enumerate(zip(pairs, totals, strict=True)):
                value = self.multiply_add(first, second, builder.load(total))
                self.store(value, self.at(sums, d * WIDTH))
                builder.store(value, total)
        return [builder.load(total) for total in totals]

    def find_column(self, prefix: Any, level: Any) -> tuple[Any, Any]:
        """Return the column that a level falls into, and how far; `prefix` are the running sums of the columns."""
        builder = self._builder
        column = self.count_up_to(prefix, level)
        # What the columns before hold: 0 or one of the running sums, by way of memory.
        memory = buffer(builder, ir.ArrayType(self.number, 2 * WIDTH), LINE)
        lower = builder.bitcast(memory, self.number.as_pointer())
        builder.store(ir.Constant(self.number, 0.0), self.at(lower, WIDTH - 1))
        self.store(prefix, self.at(lower, WIDTH))
        rest = builder.fsub(level, self.load_one(self.at(lower, WIDTH - 1), column))
        return self.smaller(column, constant(WIDTH - 1)), rest

    def find_rows(self, turns: Any, rows: int, columns: list[Any], rests: list[Any]) -> list[Any]:
        """Count the partial sums of each draw's column that it lies beyond, `rows` of them a turn."""
        builder = self._builder
        hits = [variable(builder, constant(0)) for _ in columns]
        with loop(builder, turns) as turn:
            sums = self.at(self._running, builder.mul(turn, constant(rows * self._together * WIDTH)))
            for d, (column, rest, hit) in enumerate(zip(columns, rests, hits, strict=True)):
                first = self.at(sums, builder.add(column, constant(d * WIDTH)))
                for row in range(rows):
                    below = builder.fcmp_ordered("<=", self.load_one(first, row * self._together * WIDTH), rest)
                    builder.store(builder.add(builder.load(hit), builder.zext(below, _INT64)), hit)
        return [builder.load(hit) for hit in hits]
