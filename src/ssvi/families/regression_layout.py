"""How the numbers of a regression's coefficients and noise precision lie in a row; `precision` says what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ssvi.families.symmetric import pack, pack_dual, packed_size, unpack, unpack_dual
from ssvi.typing import Array


class Parts(NamedTuple):
    """Rows as matrices: of lambda `cross` is M K, `inputs` is K, `outputs` is S + M K M^T and `degrees` is nu."""

    cross: Array
    inputs: Array
    outputs: Array
    degrees: Array


@dataclass(frozen=True)
class RegressionLayout:
    """Rows of (outputs x inputs, inputs x inputs packed, outputs x outputs packed, one number)."""

    outputs: int
    inputs: int

    @property
    def size(self) -> int:
        """The length of a row."""
        return self.outputs * self.inputs + packed_size(self.inputs) + packed_size(self.outputs) + 1

    def split(self, rows: Array) -> Parts:
        """Cut rows of natural parameters, or of what multiplies statistics, into matrices."""
        cross, inputs, outputs, degrees = self._cut(rows)
        return Parts(cross, unpack(inputs, self.inputs), unpack(outputs, self.outputs), degrees)

    def split_dual(self, rows: Array) -> Parts:
        """Cut rows of statistics, or of gradients with respect to natural parameters, into matrices."""
        cross, inputs, outputs, degrees = self._cut(rows)
        return Parts(cross, unpack_dual(inputs, self.inputs), unpack_dual(outputs, self.outputs), degrees)

    def merge(self, parts: Parts) -> Array:
        """Undo `split`."""
        return self._join(parts, pack(parts.inputs), pack(parts.outputs))

    def merge_dual(self, parts: Parts) -> Array:
        """Undo `split_dual`."""
        return self._join(parts, pack_dual(parts.inputs), pack_dual(parts.outputs))

    def joint(self, rows: Array) -> Array:
        """Return the lower triangles of the joint matrix [inputs, cross^T; cross, outputs] of rows of lambda."""
        parts, q, size = self.split(rows), self.inputs, self.inputs + self.outputs
        joint = np.zeros((len(rows), size, size))
        joint[:, :q, :q], joint[:, q:, :q], joint[:, q:, q:] = parts.inputs, parts.cross, parts.outputs
        return joint

    def _cut(self, rows: Array) -> tuple[Array, Array, Array, Array]:
        first = self.outputs * self.inputs
        second = first + packed_size(self.inputs)
        cross = rows[..., :first].reshape(*rows.shape[:-1], self.outputs, self.inputs)
        return cross, rows[..., first:second], rows[..., second:-1], rows[..., -1]

    def _join(self, parts: Parts, inputs: Array, outputs: Array) -> Array:
        cross = parts.cross.reshape(*parts.degrees.shape, self.outputs * self.inputs)
        return np.concatenate([cross, inputs, outputs, parts.degrees[..., None]], axis=-1)
