"""Many bytes at a time: which of sixty-four are a given one, as bits of one number; sixteen copied; long products.

LLVM makes one or a few instructions of each, whatever the processor. Bits and bytes have the same order on
little-endian machines only.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

#: Bytes that are looked at together; so many must be readable from an address on.
WIDTH = 64

#: Bytes that are copied together; so many must be readable, and writable, from an address on.
STRIDE = 16


@intrinsic
def where_byte(_context: Any, _address: Any = None, _byte: Any = None) -> Any:
    """Bit i says whether the i-th byte from an address on is this one."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address, byte = arguments
        several = ir.VectorType(ir.IntType(8), WIDTH)
        nothing = ir.Constant(several, ir.Undefined)
        found = builder.load(builder.inttoptr(address, several.as_pointer()), align=1)
        first = builder.insert_element(nothing, byte, ir.Constant(ir.IntType(32), 0))
        all_first = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
        wanted = builder.shuffle_vector(first, nothing, all_first)
        return builder.bitcast(builder.icmp_unsigned("==", found, wanted), ir.IntType(WIDTH))

    return types.uint64(types.intp, types.uint8), generate


@intrinsic
def how_many(_context: Any, _bits: Any = None) -> Any:
    """How many bits of a uint64 are set."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def zeros_below(_context: Any, _bits: Any = None) -> Any:
    """Zeros below the lowest set bit of a uint64."""

    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], target.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


@intrinsic
def zeros_above(_context: Any, _bits: Any = None) -> Any:
    """Zeros above the highest set bit of a uint64."""

    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], target.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


@intrinsic
def high_product(_context: Any, _one: Any = None, _other: Any = None) -> Any:
    """The upper 64 of the 128 bits of a product."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        one, other = (builder.zext(number, wide) for number in arguments)
        upper = builder.lshr(builder.mul(one, other), ir.Constant(wide, 64))
        return builder.trunc(upper, ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def copy_stride(_context: Any, _origin: Any = None, _target: Any = None) -> Any:
    """Copy the bytes from one address on to another."""

    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        several = ir.VectorType(ir.IntType(8), STRIDE).as_pointer()
        origin, to = (builder.inttoptr(address, several) for address in arguments)
        builder.store(builder.load(origin, align=1), to, align=1)
        return target.get_dummy_value()

    return types.void(types.intp, types.intp), generate
