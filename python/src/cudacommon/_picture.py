"""What an image looks like: its middle slices as a PNG, in grey or colour."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import Error

if TYPE_CHECKING:
    from ._image import Image

_MOST_PIXELS = 384
_GAP = 4


def png(pixels: np.ndarray[Any, Any]) -> bytes:
    """A PNG of 8-bit grey (rows, columns) or RGB (rows, columns, 3)."""
    rows, columns = pixels.shape[:2]
    colour_type = 2 if pixels.ndim == 3 else 0
    flat = np.ascontiguousarray(pixels, np.uint8).reshape(rows, -1)
    filtered = np.hstack([np.zeros((rows, 1), np.uint8), flat])

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", columns, rows, 8, colour_type, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(filtered.tobytes(), 6))
        + chunk(b"IEND", b"")
    )


def _slice(image: Image, across: int | None) -> np.ndarray[Any, Any]:
    """The middle slice perpendicular to an axis, as (rows, columns[, components]), thinned out to what is shown."""
    first, count = list(image.index), list(image.size)
    for axis in range(image.dimension):
        if axis == across or axis > 2:
            first[axis] += count[axis] // 2
            count[axis] = 1
    with image.host(index=first, size=count) as pixels:
        shape = [extent for axis, extent in enumerate(pixels.shape[: image.dimension]) if count[-1 - axis] != 1]
        shape = [1] * (2 - len(shape)) + shape[-2:] if len(shape) < 2 else shape
        plane = pixels.reshape(*shape, *pixels.shape[image.dimension :])
        step = [-(-extent // _MOST_PIXELS) for extent in plane.shape[:2]]
        thinned: np.ndarray[Any, Any] = plane[:: step[0], :: step[1]].copy()
        return thinned


def _grey(plane: np.ndarray[Any, Any], low: float, high: float) -> np.ndarray[Any, Any]:
    if high <= low:
        return np.full(plane.shape, 0 if high == 0 else 128, np.uint8)
    scaled = (np.nan_to_num(plane, nan=low, posinf=high, neginf=low) - low) / (high - low)
    grey: np.ndarray[Any, Any] = (np.clip(scaled, 0, 1) * 255 + 0.5).astype(np.uint8)
    return grey


def _values(plane: np.ndarray[Any, Any], components: int) -> np.ndarray[Any, Any]:
    """One number, or a colour, for each pixel."""
    if components in (3, 4) and plane.dtype == np.uint8:
        return plane[..., :3]
    magnitude = np.abs(plane) if plane.dtype.kind == "c" else plane
    values = magnitude.astype(np.float64)
    return values if components == 1 else np.sqrt((values * values).sum(axis=-1))


def picture(image: Image) -> bytes | None:
    """Middle slices side by side; None when there is nothing to show, or it may not be looked at now."""
    if 0 in image.size:
        return None
    across = [2, 1, 0] if image.dimension >= 3 and min(image.size[:3]) > 1 else [2 if image.dimension >= 3 else None]
    try:
        planes = [_values(_slice(image, axis), image.components) for axis in across]
    except Error:
        return None
    if planes[0].ndim == 2:
        known = np.concatenate([plane[np.isfinite(plane)] for plane in planes])
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
        planes = [_grey(plane, low, high) for plane in planes]
    height = max(plane.shape[0] for plane in planes)
    width = sum(plane.shape[1] for plane in planes) + _GAP * (len(planes) - 1)
    sheet = np.full((height, width, *planes[0].shape[2:]), 255, np.uint8)
    left = 0
    for plane in planes:
        sheet[: plane.shape[0], left : left + plane.shape[1]] = plane
        left += plane.shape[1] + _GAP
    return png(sheet)
