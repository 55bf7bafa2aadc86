"""Bytes at an address, which numpy's arrays do not reach: several of them as one number, or many copied at once."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def copy_bytes(_context: Any, _to: Any = None, _from: Any = None, _n: Any = None) -> Any:
    """Copy so many bytes from one address to another; a loop over bytes takes ten times as long."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        to, source = (builder.inttoptr(address, byte) for address in arguments[:2])
        cgutils.raw_memcpy(builder, to, source, arguments[2], 1)  # type: ignore[no-untyped-call]
        return ir.Constant(ir.IntType(8).as_pointer(), None)

    return types.void(types.intp, types.intp, types.intp), generate


@intrinsic
def byte_at(_context: Any, _address: Any = None) -> Any:
    """The byte at an address."""
    return types.uint8(types.intp), _loaded(8)


@intrinsic
def word_at(_context: Any, _address: Any = None) -> Any:
    """The four bytes from an address on."""
    return types.uint32(types.intp), _loaded(32)


def _loaded(bits: int) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(bits).as_pointer()), align=1)

    return generate
