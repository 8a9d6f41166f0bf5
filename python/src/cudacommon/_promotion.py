"""Which pixel type a result has when nobody says: NumPy's rules, with bfloat16, and with numbers that are of no type."""

from __future__ import annotations

from functools import cache

import numpy as np

from ._pixel import _BY_DTYPE, _DTYPES, BFLOAT16, _NAMES

_BY_NAME = {name: number for number, name in enumerate(_NAMES)}
BOOL = _BY_NAME["bool"]
INT64 = _BY_NAME["int64"]
UINT64 = _BY_NAME["uint64"]
FLOAT32 = _BY_NAME["float32"]
FLOAT64 = _BY_NAME["float64"]
COMPLEX64 = _BY_NAME["complex64"]
COMPLEX128 = _BY_NAME["complex128"]

#: Numbers of Python: they make a bool an integer, and an integer a float, and change no type otherwise.
ANY_INTEGER = -1
ANY_FLOAT = -2


def is_whole(number: int) -> bool:
    return number != BFLOAT16 and _DTYPES[number].kind in "bui"


def is_complex(number: int) -> bool:
    return number in (COMPLEX64, COMPLEX128)


def _with_bfloat16(other: int) -> int:
    """What holds a bfloat16 and the other type."""
    if other == BFLOAT16:
        return BFLOAT16
    if is_whole(other):
        # As for float16: it has 8 bits for whole numbers, and float32 has 24.
        bytes_of_other = _DTYPES[other].itemsize
        return {1: BFLOAT16, 2: FLOAT32}.get(bytes_of_other, FLOAT64)
    return other if is_complex(other) or other == FLOAT64 else FLOAT32


def _with_number(number: int, pixel_type: int) -> int:
    if pixel_type < 0:
        return min(number, pixel_type)
    if number == ANY_FLOAT and is_whole(pixel_type):
        return FLOAT64
    return INT64 if pixel_type == BOOL else pixel_type


@cache
def promote(first: int, second: int) -> int:
    """The type of a sum of the two."""
    if first < 0:
        return _with_number(first, second)
    if second < 0:
        return _with_number(second, first)
    if BFLOAT16 in (first, second):
        return _with_bfloat16(second if first == BFLOAT16 else first)
    return _BY_DTYPE[np.promote_types(_DTYPES[first], _DTYPES[second])]


def float_of(number: int) -> int:
    """What a quotient or a root is of: floats as they are, whole numbers as float64."""
    return FLOAT64 if number < 0 or is_whole(number) else number


def of_numbers(number: int) -> int:
    """The type of a result that is of numbers alone, as where(condition, 1, 0); else the type itself."""
    return {ANY_INTEGER: INT64, ANY_FLOAT: FLOAT64}.get(number, number)


def real_of(number: int) -> int:
    """The type of the parts of a complex type; else the type itself."""
    return {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}.get(number, number)
