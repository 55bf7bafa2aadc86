"""Numbers as texts and texts as numbers: each text is read as the nearest number, each written as the shortest text.

Products of 128 bits with a power of ten decide both, so nothing is rounded twice. Digits are read and written eight at
a time, which needs a little-endian machine. What is rare in tables (longer texts, what is no number at all) is left to
whoever calls.

References
----------
.. [Lem21] Lemire. "Number parsing at a gigabyte per second." Software: Practice and Experience 2021.
.. [Giu20] Giulietti. "The Schubfach way to render doubles." 2020.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import LARGEST, SMALLEST, Bytes, Codes, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.io.bytemasks import high_product, zeros_above, zeros_below
from tarnkappe.kernels.io.memory import byte_at, long_at, put_byte, put_long

#: Bytes of the longest text that `write_floats` makes, and a few more that it may write beyond.
ROOM = 40

#: What is said of texts and numbers that are left to others.
ODD = -1

#: Digits that surely fit into 64 bits, and those of a float.
_MOST, _DIGITS = 19, 17

#: Whole numbers up to here are all different as floats.
_WHOLE = np.uint64(1 << 53)

#: Powers of ten that are known, from the least to the greatest.
_LEAST, _GREATEST = -300, 330

_MINUS, _POINT, _NOUGHT, _E, _PLUS = (np.uint8(ord(sign)) for sign in "-.0e+")
_ZERO, _ONE, _TEN = np.uint64(0), np.uint64(1), np.uint64(10)
_EIGHT_DIGITS = np.uint64(10**8)
_NOUGHTS = np.uint64(0x3030303030303030)
_TENS = np.array([10**i for i in range(20)], np.uint64)


def _powers() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The first 128 bits of the powers of ten, in two words each: one cut off or up as reading needs it, one up."""
    read, write = (np.empty((_GREATEST - _LEAST + 1, 2), np.uint64) for _ in range(2))
    for i, power in enumerate(range(_LEAST, _GREATEST + 1)):
        over, under = 10 ** max(power, 0), 10 ** max(-power, 0)
        shift = 127 + under.bit_length() if power < 0 else 128 - over.bit_length()
        bits, rest = divmod(over << max(shift, 0), under << max(-shift, 0))
        for table, up in ((read, power < 0), (write, rest > 0)):
            table[i] = (bits + up) >> 64, (bits + up) & 0xFFFFFFFFFFFFFFFF
    return read, write


_READ, _WRITE = _powers()


@helper
def _nearest(digits: Any, power: int) -> Any:
    """The bits of the float that is nearest to ``digits * 10**power``, which is neither zero nor extreme."""
    zeros: Any = zeros_above(digits)
    w = digits << zeros
    row = power - _LEAST
    high, low = high_product(w, _READ[row, 0]), w * _READ[row, 0]
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        more = high_product(w, _READ[row, 1])
        low += more
        if more > low:
            high += _ONE
    upper = high >> np.uint64(63)
    shift = upper + np.uint64(9)
    mantissa = high >> shift
    exponent = ((217706 * power) >> 16) + 63 + np.int64(upper) - np.int64(zeros) + 1023
    if low <= _ONE and -4 <= power <= 23 and mantissa & np.uint64(3) == _ONE and mantissa << shift == high:
        mantissa &= ~_ONE  # a tie, which goes to the even one
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    if mantissa >= np.uint64(1 << 53):
        mantissa = np.uint64(1 << 52)
        exponent += 1
    return (mantissa & np.uint64((1 << 52) - 1)) | (np.uint64(exponent) << np.uint64(52))


@helper
def _eight_read(signs: Any) -> Any:
    """The number that eight digits in a row are."""
    signs -= _NOUGHTS
    signs = signs * _TEN + (signs >> np.uint64(8))
    low = np.uint64(0x000000FF000000FF)
    one = (signs & low) * np.uint64(0x000F424000000064)
    other = ((signs >> np.uint64(16)) & low) * np.uint64(0x0000271000000001)
    return (one + other) >> np.uint64(32)


@helper
def _no_digits(signs: Any) -> Any:
    """The highest bit of the first byte that is no digit is set, and perhaps some of bytes after it."""
    off = signs ^ _NOUGHTS
    return ((off + np.uint64(0x7676767676767676)) | off) & np.uint64(0x8080808080808080)


@helper
def _right(signs: Any, n: Any) -> Any:
    """The first `n` bytes of eight, moved to their end, and noughts before them; there is one at least."""
    shift = np.uint64(64 - 8 * n)
    return (signs << shift) | (_NOUGHTS & ((_ONE << shift) - _ONE))


@helper
def _usual(at: Any, end: Any) -> Any:
    """Digits and power of ten of a text of up to seven digits, a point, and up to sixteen more; else they are none."""
    signs: Any = long_at(at)
    n = np.int64(zeros_below(_no_digits(signs))) >> 3
    m = end - at - n - 1
    if not 0 < n < 8 or not 0 < m <= 16 or n + m > _MOST or byte_at(at + n) != _POINT:
        return _ZERO, ODD
    digits = _eight_read(_right(signs, n))
    at += n + 1
    if m >= 8:
        signs = long_at(at)
        if _no_digits(signs) != _ZERO:
            return _ZERO, ODD
        digits = digits * _EIGHT_DIGITS + _eight_read(signs)
        at += 8
    left = end - at
    if left > 0:
        signs = _right(long_at(at), left)
        if _no_digits(signs) != _ZERO:
            return _ZERO, ODD
        digits = digits * _TENS[left] + _eight_read(signs)
    return digits, -m


@helper
def _number(address: Any, end: Any) -> Any:
    """Bits of the number whose text stands between two addresses, whether it has no point, and whether it is odd."""
    minus: Any = byte_at(address) == _MINUS
    at = address + minus
    digits, power = _usual(at, end)
    if digits != _ZERO:
        return _nearest(digits, power) | (np.uint64(minus) << np.uint64(63)), False, False
    first = at
    while at < end and np.uint64(byte_at(at)) - np.uint64(48) < _TEN:
        digits = digits * _TEN + (np.uint64(byte_at(at)) - np.uint64(48))
        at += 1
    n = at - first
    whole = at == end
    odd = n == 0
    power = 0
    if at < end and byte_at(at) == _POINT:
        at += 1
        begin = at
        while at < end and np.uint64(byte_at(at)) - np.uint64(48) < _TEN:
            digits = digits * _TEN + (np.uint64(byte_at(at)) - np.uint64(48))
            at += 1
        power = begin - at
        odd |= power == 0
        n += at - begin
    if n > _MOST:  # noughts before the first digit do not count
        while first < end and (byte_at(first) == _NOUGHT or byte_at(first) == _POINT):
            n -= byte_at(first) == _NOUGHT
            first += 1
        odd |= n > _MOST
    if at < end and byte_at(at) == _E and not odd:
        at += 1
        down = at < end and byte_at(at) == _MINUS
        at += at < end and (down or byte_at(at) == _PLUS)
        odd |= at == end or end - at > 3
        exponent = 0
        while at < end and np.uint64(byte_at(at)) - np.uint64(48) < _TEN:
            exponent = 10 * exponent + np.int64(byte_at(at)) - 48
            at += 1
        power += -exponent if down else exponent
    odd |= at < end or power < _LEAST or power > _GREATEST or (whole and digits > _WHOLE)
    bits = _ZERO
    if digits != _ZERO and not odd:
        bits = _nearest(digits, power)
    return bits | (np.uint64(minus) << np.uint64(63)), whole, odd


@kernel
def read_floats(text: Bytes, begin: int, ends: Codes, fields: int, field: int, out: Floats) -> int:
    """The numbers in a field of records; a field without a byte is not a number (NaN).

    Returns 1 if all are whole, 0 if not, and `ODD` if one of them is written in an odd way, or too large or too small
    to be computed with. `ends` says where the fields of all records end, the first of which begins at `begin`.
    """
    address = np.int64(text.ctypes.data)
    bits = out.view(np.uint64)
    all_whole = True
    for r in range(out.size):
        k = r * fields + field - 1
        at = np.int64(ends[k]) + 1 if k >= 0 else begin
        end = np.int64(ends[k + 1])
        if at == end:
            out[r] = np.nan
            continue
        found, whole, odd = _number(address + at, address + end)
        bits[r] = found
        size = abs(out[r])
        if odd or size > LARGEST or 0 < size < SMALLEST:
            return ODD
        all_whole &= whole
    return 1 if all_whole else 0


@helper
def _rounded_to_odd(row: Any, x: Any) -> Any:
    low: Any = high_product(x, _WRITE[row, 1])
    middle = x * _WRITE[row, 0]
    high = high_product(x, _WRITE[row, 0])
    middle += low
    high += np.uint64(middle < low)
    return high | np.uint64(middle > _ONE)


@helper
def _shortest(bits: Any) -> Any:
    """Digits and a power of ten: the shortest decimal number that is nearest to a float, which is positive."""
    fraction = bits & np.uint64((1 << 52) - 1)
    c = fraction | np.uint64(1 << 52)
    q = np.int64(bits >> np.uint64(52)) - 1075
    closer = fraction == _ZERO  # the float below is nearer than that above
    odd = c & _ONE
    k = (q * 1262611 - (524031 if closer else 0)) >> 22
    h = np.uint64(q + ((-k * 1741647) >> 19) + 1)
    row = -k - _LEAST
    four = np.uint64(4) * c
    lower = _rounded_to_odd(row, (four - np.uint64(2) + np.uint64(closer)) << h) + odd
    v = _rounded_to_odd(row, four << h)
    upper = _rounded_to_odd(row, (four + np.uint64(2)) << h) - odd
    s = v >> np.uint64(2)
    if s >= _TEN:
        tenth = s // _TEN
        below = lower <= np.uint64(40) * tenth
        above = np.uint64(40) * tenth + np.uint64(40) <= upper
        if below != above:
            return tenth + np.uint64(above), k + 1
    below = lower <= np.uint64(4) * s
    above = np.uint64(4) * s + np.uint64(4) <= upper
    if below != above:
        return s + np.uint64(above), k
    middle = np.uint64(4) * s + np.uint64(2)
    return s + np.uint64(v > middle or (v == middle and s & _ONE == _ONE)), k


@helper
def _eight_written(x: Any) -> Any:
    """Eight digits as bytes from 0 to 9, of a number below 100 000 000."""
    upper = x // np.uint64(10000)
    both = upper | ((x - upper * np.uint64(10000)) << np.uint64(32))
    top = ((both * np.uint64(10486)) >> np.uint64(20)) & np.uint64(0x0000007F0000007F)
    pairs = ((both - np.uint64(100) * top) << np.uint64(16)) + top
    tens = ((pairs * np.uint64(103)) >> np.uint64(10)) & np.uint64(0x000F000F000F000F)
    return tens + ((pairs - _TEN * tens) << np.uint64(8))


@helper
def _written(to: Any, bits: Any, plain: bool) -> Any:
    """Write a positive number to an address, `plain` or with an exponent; where its text ends."""
    digits, power = _shortest(bits)
    n = (64 - np.int64(zeros_above(digits))) * 1233 >> 12
    n += digits >= _TENS[n]
    point = n + power  # digits before the point
    digits *= _TENS[_DIGITS - n]
    upper = digits // _EIGHT_DIGITS
    lead = upper // _EIGHT_DIGITS
    one, other = _eight_written(upper - lead * _EIGHT_DIGITS), _eight_written(digits - upper * _EIGHT_DIGITS)
    n = 1
    if other != _ZERO:
        n = 17 - (np.int64(zeros_above(other)) >> 3)
    elif one != _ZERO:
        n = 9 - (np.int64(zeros_above(one)) >> 3)
    one, other, lead = one | _NOUGHTS, other | _NOUGHTS, lead + np.uint64(48)
    if plain and point <= 0:
        put_long(to, np.uint64(0x3030303030302E30))  # 0.000000
        to += 2 - point
        put_byte(to, np.uint8(lead))
        put_long(to + 1, one)
        put_long(to + 9, other)
        return to + n
    before = point if plain else 1
    put_byte(to, np.uint8(lead))
    put_long(to + 1, one)
    put_long(to + 9, other)
    one, other = long_at(to + before), long_at(to + before + 8)
    put_long(to + before + 1, one)
    put_long(to + before + 9, other)
    put_byte(to + before, _POINT)
    if plain:
        return to + 1 + max(n, before + 1)
    to += n + 1 if n > 1 else 1
    power = point - 1
    put_byte(to, _E)
    put_byte(to + 1, _MINUS if power < 0 else _PLUS)
    power, to = abs(power), to + 2
    if power >= 100:
        put_byte(to, np.uint8(48 + power // 100))
        to += 1
    if power >= 10:
        put_byte(to, np.uint8(48 + power // 10 % 10))
        to += 1
    put_byte(to, np.uint8(48 + power % 10))
    return to + 1


@kernel
def write_floats(values: Floats, out: Bytes, sizes: NDArray[np.uint32]) -> bool:
    """Write each number into `ROOM` bytes of its own, as Polars does; no number (NaN) has no byte.

    The answer is no if one of them is extreme.
    """
    bits, to = values.view(np.uint64), np.int64(out.ctypes.data)
    for i in range(values.size):
        value = abs(values[i])
        if np.isnan(value):
            sizes[i] = 0
            continue
        if value > LARGEST or 0 < value < SMALLEST:
            return False
        begin = to + ROOM * i
        at = begin
        if bits[i] >> np.uint64(63):
            put_byte(at, _MINUS)
            at += 1
        if value == 0:
            put_byte(at, _NOUGHT)
            put_byte(at + 1, _POINT)
            put_byte(at + 2, _NOUGHT)
            at += 3
        else:
            at = _written(at, bits[i] & np.uint64((1 << 63) - 1), 1e-5 <= value < 1e16)
        sizes[i] = at - begin
    return True
