"""Bytes at an address, which numpy's arrays do not reach: several of them as one number, or many copied at once."""

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


def _loaded(kind: Any) -> Any:
    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], target.get_value_type(kind).as_pointer()), align=1)

    return generate
