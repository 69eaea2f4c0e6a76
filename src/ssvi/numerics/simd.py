"""Vector instructions for kernels, for the one loop where the compiler's own vectoriser will not do.

numba has no vector type, but an `intrinsic` may write LLVM instructions, and those have vectors of any length: on a
processor with narrower registers LLVM splits them. The order of every sum is fixed by what is written here. All of it
is plain arithmetic, which every processor has (half precision, for one, is not).

Weights between 0 and 1 can be packed into 16 bits (`pack`): six for the exponent, ten for the fraction and none for a
sign. That is as exact as half precision and reaches down to 2^-63, about 1e-19, where half precision ends at 6e-8.

Two habits of processors shape this. A vector that is loaded soon after one of its elements was stored alone waits until
that store has reached the cache, and so all updates of one element go by whole vectors (`add_at`). And of two vectors
that straddle cache lines each costs double, so that arrays begin with a line (`aligned_zeros`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils

from ssvi.numerics.compile import do_nothing, intrinsic

WIDTH = 16  # numbers in a vector
LINE = 64  # bytes of a cache line
SMALLEST_PACKED = 2.0**-63

_INT16, _INT32, _INT64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_DROPPED = 13  # bits of a single-precision number's fraction that packing rounds away
_OFFSET = 64 << 23  # what the bits of SMALLEST_PACKED are in single precision
_LONGER_FRACTION = 52 - 23  # bits that a double's fraction has more
_OFFSET_OF_DOUBLES = (1023 - 63) << 52  # what the bits of SMALLEST_PACKED are in double precision


def aligned_zeros(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array of zeros that begins with a cache line."""
    kind = np.dtype(dtype)
    size = int(np.prod(shape)) * kind.itemsize
    memory = np.zeros(size + LINE, dtype=np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + size].view(kind).reshape(shape)


def constant(value: int) -> ir.Constant:
    """Return a 64-bit integer."""
    return ir.Constant(_INT64, value)


def variable(builder: Any, value: Any) -> Any:
    """Return the address of a variable on the stack that begins with `value`."""
    return cgutils.alloca_once_value(builder, value)  # type: ignore[no-untyped-call]


def buffer(builder: Any, kind: Any, alignment: int) -> Any:
    """Return the address of a variable on the stack that holds nothing yet."""
    memory = cgutils.alloca_once(builder, kind)  # type: ignore[no-untyped-call]
    memory.align = alignment
    return memory


def array_address(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return the address of a numba array's data."""
    return context.make_array(kind)(context, builder, array).data


@intrinsic(in_python=do_nothing)
def prefetch(_typing: Any, array: Any, row: Any, column: Any) -> Any:
    """Ask for the cache line of array[row, column], which is needed soon."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        matrix = context.make_array(signature.args[0])(context, builder, arguments[0])
        width = builder.extract_value(matrix.shape, 1)
        number = builder.add(builder.mul(arguments[1], width), arguments[2])
        byte = ir.IntType(8).as_pointer()
        address = builder.bitcast(builder.gep(matrix.data, [number]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, _INT32, _INT32, _INT32])
        function = builder.module.declare_intrinsic("llvm.prefetch", (), kind)
        read, nearby, data = 0, 2, 1
        builder.call(function, [address, *(ir.Constant(_INT32, value) for value in (read, nearby, data))])
        return context.get_dummy_value()

    return types.void(array, row, column), codegen


@contextmanager
def loop(builder: Any, count: Any) -> Iterator[Any]:
    """Repeat what is written inside; yields the number of the turn, from 0."""
    with cgutils.for_range(builder, count, intp=_INT64) as turns:
        yield turns.index


class VectorCode:
    """Writes instructions on vectors of `WIDTH` numbers of one type, through an LLVM builder."""

    def __init__(self, context: Any, builder: Any, number: Any) -> None:
        self._context, self._builder = context, builder
        self.number = context.get_value_type(number)
        self.vector = ir.VectorType(self.number, WIDTH)
        self.zero = ir.Constant(self.vector, [ir.Constant(self.number, 0.0)] * WIDTH)
        self._alignment = 4 if isinstance(self.number, ir.FloatType) else 8

    def at(self, pointer: Any, index: Any) -> Any:
        """Return the address of an element."""
        return self._builder.gep(pointer, [index if isinstance(index, ir.Value) else constant(index)])

    def addresses(self, pointer: Any, starts: Any, count: int) -> list[Any]:
        """Return the addresses of elements number starts[0], starts[1], ..."""
        return [self.at(pointer, self.load_one(starts, i)) for i in range(count)]

    def load_one(self, pointer: Any, index: Any) -> Any:
        """Return an element."""
        return self._builder.load(self.at(pointer, index))

    def smaller(self, first: Any, second: Any) -> Any:
        """Return the smaller of two unsigned integers."""
        return self._builder.select(self._builder.icmp_unsigned("<", first, second), first, second)

    def load(self, pointer: Any) -> Any:
        """Return the vector that begins at an address."""
        value = self._builder.load(self._builder.bitcast(pointer, self.vector.as_pointer()))
        value.align = self._alignment
        return value

    def store(self, value: Any, pointer: Any) -> None:
        """Write a vector."""
        instruction = self._builder.store(value, self._builder.bitcast(pointer, self.vector.as_pointer()))
        instruction.align = self._alignment

    def load_packed(self, pointer: Any) -> Any:
        """Return the vector of packed numbers that begins at an address, widened."""
        kind = ir.VectorType(_INT16, WIDTH)
        bits = self._builder.load(self._builder.bitcast(pointer, kind.as_pointer()))
        bits.align = 2
        return self._widen(bits)

    def gather(self, pointer: Any, places: Any) -> Any:
        """Return the elements whose 32-bit numbers stand at the address `places`."""
        return self._gather(pointer, places, self.vector, self._alignment)

    def gather_packed(self, pointer: Any, places: Any) -> Any:
        """Return packed elements, widened. Reads two bytes more than each, for processors gather by fours."""
        words = self._gather(pointer, places, ir.VectorType(_INT32, WIDTH), 2)
        return self._widen(self._builder.trunc(words, ir.VectorType(_INT16, WIDTH)))

    def store_packed(self, value: Any, pointer: Any) -> Any:
        """Write a vector in packed form, rounded to nearest (ties to even), and return what has been written, widened.

        Bits of positive numbers are in the order of the numbers, so that all of this is arithmetic of integers.
        """
        builder, words = self._builder, ir.VectorType(_INT32, WIDTH)

        def all_equal(number: int) -> Any:
            return ir.Constant(words, [ir.Constant(_INT32, number)] * WIDTH)

        bits, lowest = builder.bitcast(value, words), all_equal(_OFFSET)
        bits = builder.select(builder.icmp_signed("<", bits, lowest), lowest, bits)
        odd = builder.and_(builder.lshr(bits, all_equal(_DROPPED)), all_equal(1))
        rounded = builder.add(builder.add(bits, odd), all_equal((1 << (_DROPPED - 1)) - 1))
        packed = builder.trunc(
            builder.lshr(builder.sub(rounded, lowest), all_equal(_DROPPED)), ir.VectorType(_INT16, WIDTH)
        )
        instruction = builder.store(packed, builder.bitcast(pointer, packed.type.as_pointer()))
        instruction.align = 2
        return self._widen(packed)

    def _widen(self, packed: Any) -> Any:
        builder, words = self._builder, ir.VectorType(_INT32, WIDTH)
        shift, offset = (ir.Constant(words, [ir.Constant(_INT32, number)] * WIDTH) for number in (_DROPPED, _OFFSET))
        return builder.bitcast(builder.add(builder.shl(builder.zext(packed, words), shift), offset), self.vector)

    def _gather(self, pointer: Any, places: Any, kind: Any, alignment: int) -> Any:
        numbers = ir.VectorType(_INT32, WIDTH)
        indices = self._builder.load(self._builder.bitcast(places, numbers.as_pointer()))
        indices.align = 4
        spread = _Spread(self._builder.block, pointer, indices)
        self._builder._insert(spread)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(1), WIDTH), [ir.Constant(ir.IntType(1), 1)] * WIDTH)
        signature = ir.FunctionType(kind, [spread.type, _INT32, everywhere.type, kind])
        function = self._builder.module.declare_intrinsic(f"llvm.masked.gather.{_name(kind)}.v{WIDTH}p0", (), signature)
        unused = ir.Constant(kind, ir.Undefined)
        return self._builder.call(function, [spread, ir.Constant(_INT32, alignment), everywhere, unused])

    def splat(self, value: Any, kind: Any = None) -> Any:
        """Return a vector of equal numbers."""
        kind = kind or self.vector
        unset = ir.Constant(kind, ir.Undefined)
        first = self._builder.insert_element(unset, value, ir.Constant(_INT32, 0))
        everywhere = ir.Constant(ir.VectorType(_INT32, WIDTH), [ir.Constant(_INT32, 0)] * WIDTH)
        return self._builder.shuffle_vector(first, unset, everywhere)

    def running_sums(self, value: Any) -> Any:
        """Return the sums of a vector's first 1, 2, ..., numbers, in four steps of shifting and adding."""
        shift = 1
        while shift < WIDTH:
            places = [place - shift if place >= shift else WIDTH + place for place in range(WIDTH)]
            mask = ir.Constant(ir.VectorType(_INT32, WIDTH), [ir.Constant(_INT32, place) for place in places])
            value = self._builder.fadd(value, self._builder.shuffle_vector(value, self.zero, mask))
            shift *= 2
        return value

    def multiply_add(self, first: Any, second: Any, third: Any) -> Any:
        """Return first second + third, in one instruction where there is one."""
        product = self._builder.fmul(first, second, flags=["contract"])
        return self._builder.fadd(product, third, flags=["contract"])

    def last(self, value: Any) -> Any:
        """Return a vector's last number."""
        return self._builder.extract_element(value, ir.Constant(_INT32, WIDTH - 1))

    def count_up_to(self, sums: Any, level: Any) -> Any:
        """Return how many numbers of a vector are at most `level`."""
        below = self._builder.fcmp_ordered("<=", sums, self.splat(level))
        bits = self._builder.bitcast(below, ir.IntType(WIDTH))
        return self._builder.zext(self._builder.ctpop(bits), _INT64)

    def add_at(self, pointer: Any, index: Any, amount: Any) -> None:
        """Add to one number of an array by rewriting the vector that holds it (the module says why)."""
        builder, kind = self._builder, ir.VectorType(_INT32, WIDTH)
        start = builder.gep(pointer, [builder.and_(index, constant(-WIDTH))])
        place = builder.trunc(builder.and_(index, constant(WIDTH - 1)), _INT32)
        places = ir.Constant(kind, [ir.Constant(_INT32, i) for i in range(WIDTH)])
        here = builder.icmp_unsigned("==", places, self.splat(place, kind))
        change = builder.select(here, self.splat(amount), self.zero)
        self.store(builder.fadd(self.load(start), change), start)


class _Spread(ir.instructions.Instruction):
    """The addresses of several elements: a `getelementptr` by a vector, which llvmlite has no method for."""

    def __init__(self, parent: Any, pointer: Any, indices: Any) -> None:
        kind = ir.VectorType(pointer.type, WIDTH)
        super().__init__(parent, kind, "getelementptr", [pointer, indices])

    def descr(self, buf: list[str]) -> None:
        pointer, indices = self.operands
        buf.append(
            f"getelementptr {pointer.type.pointee}, {pointer.type} {pointer.get_reference()}, "
            f"{indices.type} {indices.get_reference()}\n"
        )


def _name(kind: Any) -> str:
    """Return LLVM's short name of a vector type, as names of its intrinsics have it."""
    element = kind.element
    return f"v{WIDTH}" + ({"float": "f32", "double": "f64"}.get(str(element)) or str(element))


def number_at_in_python(values: npt.NDArray[Any], row: int, column: int) -> float:
    """Do what `number_at` does."""
    number = values[int(row), int(column) : int(column) + 1]
    return float(unpack(number)[0] if number.dtype == np.uint16 else number[0])


@intrinsic(in_python=number_at_in_python)
def number_at(_typing: Any, values: Any, row: Any, column: Any) -> Any:
    """Return an element of a matrix, which may be of packed numbers, in double precision."""
    double = ir.DoubleType()

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        matrix = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.add(builder.mul(arguments[1], builder.extract_value(matrix.shape, 1)), arguments[2])
        value = builder.load(builder.gep(matrix.data, [place]))
        if isinstance(values.dtype, types.Integer):
            bits = builder.shl(builder.zext(value, _INT64), constant(_DROPPED + _LONGER_FRACTION))
            return builder.bitcast(builder.add(bits, constant(_OFFSET_OF_DOUBLES)), double)
        return value if value.type == double else builder.fpext(value, double)

    return types.float64(values, types.uint64, types.uint64), codegen


def pack_in_python(values: npt.NDArray[np.float32], packed: npt.NDArray[np.uint16]) -> None:
    """Do what `pack` does."""
    bits = np.maximum(values.view(np.uint32), _OFFSET)
    bits += (bits >> _DROPPED & 1) + ((1 << (_DROPPED - 1)) - 1)
    packed[:] = (bits - _OFFSET) >> _DROPPED
    values[:] = unpack(packed)


def unpack(packed: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    """Return packed numbers in single precision."""
    return ((packed.astype(np.uint32) << _DROPPED) + np.uint32(_OFFSET)).view(np.float32)


@intrinsic(in_python=pack_in_python)
def pack(_typing: Any, values: Any, packed: Any) -> Any:
    """Fill `packed` (16-bit integers) with single-precision `values` from 0 to 1, and round `values` to that.

    Both are matrices of the same shape, stored row by row, with a whole number of vectors in all. The error is at most
    one part in 2,048 of a number; those below `SMALLEST_PACKED`, 0 with them, become that.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = VectorCode(context, builder, values.dtype)
        whole, short = (
            context.make_array(kind)(context, builder, array)
            for kind, array in zip(signature.args, arguments, strict=True)
        )
        size = builder.mul(builder.extract_value(whole.shape, 0), builder.extract_value(whole.shape, 1))
        with loop(builder, builder.udiv(size, constant(WIDTH))) as turn:
            start = builder.mul(turn, constant(WIDTH))
            address = code.at(whole.data, start)
            code.store(code.store_packed(code.load(address), code.at(short.data, start)), address)
        return context.get_dummy_value()

    return types.void(values, packed), codegen
