"""Pixels and views by square brackets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._pixel import value_of

if TYPE_CHECKING:
    from ._image import Image


class Indexer:
    """Square brackets in one order of axes."""

    __slots__ = ("_image", "_is_itk")

    def __init__(self, image: Image, *, is_itk: bool) -> None:
        self._image = image
        self._is_itk = is_itk

    def _region_at(self, key: Any) -> tuple[list[int], list[int], list[bool]]:
        """Index and size in ITK's order, and which of the axes were given one number."""
        image = self._image
        keys = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in keys:
            at = keys.index(Ellipsis)
            keys[at : at + 1] = [slice(None)] * (image.dimension + 1 - len(keys))
        if len(keys) != image.dimension:
            raise IndexError(f"{len(keys)} indices, expected {image.dimension}")
        if not self._is_itk:
            keys.reverse()
        first, count = [], []
        for entry, start, extent in zip(keys, image.index, image.size, strict=True):
            low, high = (start, start + extent) if self._is_itk else (0, extent)
            if isinstance(entry, slice):
                begin, end = self._bounds(entry, low, high)
            else:
                begin = entry.__index__()
                if not self._is_itk and begin < 0:
                    begin += extent
                end = begin + 1
            if not low <= begin <= end <= high:
                raise IndexError(f"{entry} is not in {low} to {high - 1}")
            first.append(begin - low + start)
            count.append(end - begin)
        return first, count, [not isinstance(entry, slice) for entry in keys]

    def _bounds(self, entry: slice, low: int, high: int) -> tuple[int, int]:
        if entry.step not in (None, 1):
            raise IndexError(f"step {entry.step}, expected 1: images have no gaps")
        if not self._is_itk:
            begin, end, _ = entry.indices(high)
            return begin, max(begin, end)
        begin = low if entry.start is None else entry.start.__index__()
        end = high if entry.stop is None else entry.stop.__index__()
        return begin, end

    def __getitem__(self, key: Any) -> Any:
        first, count, is_single = self._region_at(key)
        if not all(is_single):
            return self._image.view(index=first, size=count)
        with self._image.host(index=first, size=count) as pixels:
            return value_of(pixels.reshape(pixels.shape[self._image.dimension :]))

    def __setitem__(self, key: Any, value: Any) -> None:
        first, count, is_single = self._region_at(key)
        if all(is_single) or np.ndim(value) == 0 or np.shape(value) == (self._image.components,) != (1,):
            self._image.fill(value, index=first, size=count)
            return
        with self._image.host(index=first, size=count, write=True, read=False) as pixels:
            if self._is_itk:
                # Components stay last in both orders.
                dimension = len(count)
                pixels = pixels.transpose(*range(dimension)[::-1], *range(dimension, pixels.ndim))
            else:
                is_single.reverse()
            pixels[tuple(0 if single else slice(None) for single in is_single)] = value
