"""Bytes at an address, which numpy's arrays do not reach: one, several as a number, or many copied at once."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def copy_bytes(_context: Any, _to: Any = None, _from: Any = None, _n: Any = None) -> Any:
    """Copy so many bytes from one address to another; a loop over bytes takes ten times as long."""

    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte = target.get_value_type(types.uint8).as_pointer()
        to, source = (builder.inttoptr(address, byte) for address in arguments[:2])
        cgutils.raw_memcpy(builder, to, source, arguments[2], 1)  # type: ignore[no-untyped-call]
        return target.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp), generate


@intrinsic
def byte_at(_context: Any, _address: Any = None) -> Any:
    """The byte at an address."""
    return types.uint8(types.intp), _loaded(types.uint8)


@intrinsic
def word_at(_context: Any, _address: Any = None) -> Any:
    """The four bytes from an address on."""
    return types.uint32(types.intp), _loaded(types.uint32)


@intrinsic
def long_at(_context: Any, _address: Any = None) -> Any:
    """The eight bytes from an address on."""
    return types.uint64(types.intp), _loaded(types.uint64)


@intrinsic
def float_at(_context: Any, _address: Any = None) -> Any:
    """The number that the eight bytes from an address on are."""
    return types.float64(types.intp), _loaded(types.float64)


@intrinsic
def put_byte(_context: Any, _address: Any = None, _byte: Any = None) -> Any:
    """Put a byte to an address."""
    return types.void(types.intp, types.uint8), _stored(types.uint8)


@intrinsic
def put_long(_context: Any, _address: Any = None, _bytes: Any = None) -> Any:
    """Put eight bytes to an address and those after it."""
    return types.void(types.intp, types.uint64), _stored(types.uint64)


def _loaded(kind: Any) -> Any:
    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], target.get_value_type(kind).as_pointer()), align=1)

    return generate


def _stored(kind: Any) -> Any:
    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address, value = arguments
        builder.store(value, builder.inttoptr(address, target.get_value_type(kind).as_pointer()), align=1)
        return target.get_dummy_value()

    return generate
