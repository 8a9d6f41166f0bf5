"""Pixel types: NumPy's dtypes and the library's numbers, and what one pixel's value is in bytes."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np

from ._errors import PixelTypeError

BFLOAT16: Final = 10

#: By cc_pixel_type; bfloat16 has none of NumPy's own.
_NAMES: Final = (
    "bool",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "uint32",
    "int32",
    "uint64",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
_BY_NAME: Final = {name: number for number, name in enumerate(_NAMES)}
_DTYPES: Final = tuple(np.dtype(np.uint16 if name == "bfloat16" else name) for name in _NAMES)
_BY_DTYPE: Final = {dtype: number for number, dtype in enumerate(_DTYPES) if number != BFLOAT16}


def number_of(dtype: Any) -> int:
    """The cc_pixel_type of a NumPy dtype, a scalar type or a name, or of another library's dtype by its name."""
    name = dtype if isinstance(dtype, str) else str(dtype)
    if dtype is None:
        raise PixelTypeError("dtype = None, expected a type")
    if name == "bfloat16" or name.endswith((".bfloat16", ".bfloat16'>")):
        return BFLOAT16
    try:
        found = np.dtype(dtype)
    except TypeError:
        name = name.rpartition(".")[2]
        if name in _BY_NAME:
            return _BY_NAME[name]
        raise PixelTypeError(f"dtype = {dtype!r}, expected one of {', '.join(_NAMES)}") from None
    if found not in _BY_DTYPE:
        raise PixelTypeError(f"dtype = {found.str}, expected one of {', '.join(_NAMES)}, in native byte order")
    return _BY_DTYPE[found]


def name_of(number: int) -> str:
    return _NAMES[number]


@cache
def bfloat16_dtype() -> np.dtype[Any] | None:
    """ml_dtypes' type, when that package is here."""
    try:
        import ml_dtypes
    except ImportError:
        return None
    dtype: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return dtype


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    known = bfloat16_dtype()
    return known is not None and dtype == known


def dtype_of(number: int) -> np.dtype[Any]:
    """NumPy's dtype; for bfloat16 that of ml_dtypes, or uint16 with its bits."""
    if number == BFLOAT16:
        return bfloat16_dtype() or _DTYPES[number]
    return _DTYPES[number]


def storage_dtype_of(number: int) -> np.dtype[Any]:
    """The same, but with NumPy's own types alone: bfloat16 is uint16."""
    return _DTYPES[number]


def _bfloat16_bits(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Rounded half to even, from float32."""
    bits = value.astype(np.float32).view(np.uint32)
    rounded = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(value), np.uint16(0x7FC0), rounded).astype(np.uint16)


def pixel_bytes(value: Any, number: int, components: int) -> bytes:
    """One pixel's value as the library takes it. One number stands for all components; nothing is cut off silently."""
    given = np.asarray(value)
    if given.shape not in ((), (components,)):
        raise ValueError(f"value has shape {given.shape}, expected a number or {components} of them")
    if is_bfloat16(given.dtype):
        given = given.astype(np.float32)
    if given.dtype.kind not in "biufc":
        raise ValueError(f"value = {value!r}, expected a number")
    dtype = _DTYPES[number]
    if given.dtype.kind == "c" and dtype.kind != "c":
        raise ValueError(f"value = {value!r} is complex, the pixels are {_NAMES[number]}")
    if number == BFLOAT16:
        pixel = _bfloat16_bits(given)
    elif dtype.kind in "iu":
        limits = np.iinfo(dtype)
        for entry in given.flat:
            if entry != entry or entry not in (np.inf, -np.inf) and int(entry) != entry:
                raise ValueError(f"value = {value!r} is no integer, the pixels are {_NAMES[number]}")
            if not limits.min <= entry <= limits.max:
                raise OverflowError(f"value = {value!r} is out of the range of {_NAMES[number]}")
        pixel = np.array([int(entry) for entry in given.flat], dtype).reshape(given.shape)
    else:
        with np.errstate(all="ignore"):
            pixel = given.astype(dtype)
    return np.broadcast_to(pixel, (components,)).tobytes()


def value_of(pixel: np.ndarray[Any, Any]) -> Any:
    """A pixel as Python has it: a number, or a tuple of its components."""
    return pixel.item() if pixel.ndim == 0 else tuple(pixel.tolist())
