"""Where an image is: regions, spacing, origin and direction, as callers write them and as the library takes them."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _structures as structures
from ._library import check, library

if TYPE_CHECKING:
    from ._image import Image


def numbers(name: str, values: Any, count: int) -> list[float]:
    given = [float(value) for value in values]
    if len(given) != count:
        raise ValueError(f"{name} has {len(given)} entries, expected {count}")
    return given


def integers(name: str, values: Any, count: int) -> list[int]:
    given = [value.__index__() for value in values]
    if len(given) != count:
        raise ValueError(f"{name} has {len(given)} entries, expected {count}")
    for value in given:
        if not -(2**63) <= value < 2**63:
            raise OverflowError(f"{name} has {value}, expected 64 bits")
    return given


def make_region(index: Sequence[int], size: Sequence[int]) -> structures.Region:
    region = structures.Region()
    for axis, (first, count) in enumerate(zip(index, size, strict=True)):
        region.index[axis] = first
        region.size[axis] = count
    return region


def make_geometry(
    dimension: int, spacing: Any = None, origin: Any = None, direction: Any = None, index: Any = None
) -> structures.Geometry:
    """As the library takes it; what is None is index 0, spacing 1, origin 0, identity."""
    geometry = structures.Geometry(ctypes.sizeof(structures.Geometry), dimension)
    for axis in range(structures.MAX_DIMENSION):
        geometry.spacing[axis] = 1.0
        geometry.direction[axis * (structures.MAX_DIMENSION + 1)] = 1.0
    if index is not None:
        geometry.index[:dimension] = integers("index", index, dimension)
    if spacing is not None:
        geometry.spacing[:dimension] = numbers("spacing", spacing, dimension)
    if origin is not None:
        geometry.origin[:dimension] = numbers("origin", origin, dimension)
    if direction is not None:
        set_direction(geometry, direction)
    return geometry


def set_direction(geometry: structures.Geometry, direction: Any) -> None:
    rows = list(direction)
    if len(rows) != geometry.dimension:
        raise ValueError(f"direction has {len(rows)} rows, expected {geometry.dimension}")
    for row, entries in enumerate(rows):
        first = row * structures.MAX_DIMENSION
        geometry.direction[first : first + geometry.dimension] = numbers("direction", entries, geometry.dimension)


class Space:
    """What an image has of this."""

    __slots__ = ()

    _handle: Any
    dimension: int

    # What Image has of these is its own.
    if TYPE_CHECKING:

        @property
        def _region(self) -> structures.Region: ...

        @property
        def size(self) -> tuple[int, ...]: ...

    @property
    def _geometry(self) -> structures.Geometry:
        geometry = structures.Geometry(ctypes.sizeof(structures.Geometry))
        check(library.cc_image_get_geometry(self._handle, geometry))
        return geometry

    def _set_geometry(self, geometry: structures.Geometry) -> None:
        check(library.cc_image_set_geometry(self._handle, geometry))

    @property
    def index(self) -> tuple[int, ...]:
        """The index of the first pixel along i, j, k, l."""
        return tuple(self._region.index[: self.dimension])

    @index.setter
    def index(self, index: Sequence[int]) -> None:
        geometry = self._geometry
        geometry.index[: self.dimension] = integers("index", index, self.dimension)
        self._set_geometry(geometry)

    @property
    def spacing(self) -> tuple[float, ...]:
        """Millimetres between pixel centres along i, j, k, l."""
        return tuple(self._geometry.spacing[: self.dimension])

    @spacing.setter
    def spacing(self, spacing: Sequence[float]) -> None:
        geometry = self._geometry
        geometry.spacing[: self.dimension] = numbers("spacing", spacing, self.dimension)
        self._set_geometry(geometry)

    @property
    def origin(self) -> tuple[float, ...]:
        """Millimetres, where the pixel with index 0 is."""
        return tuple(self._geometry.origin[: self.dimension])

    @origin.setter
    def origin(self, origin: Sequence[float]) -> None:
        geometry = self._geometry
        geometry.origin[: self.dimension] = numbers("origin", origin, self.dimension)
        self._set_geometry(geometry)

    @property
    def direction(self) -> tuple[tuple[float, ...], ...]:
        """Rows are axes of space, columns the directions of the image's axes."""
        flat = self._geometry.direction
        width = structures.MAX_DIMENSION
        return tuple(tuple(flat[row * width : row * width + self.dimension]) for row in range(self.dimension))

    @direction.setter
    def direction(self, direction: Any) -> None:
        geometry = self._geometry
        set_direction(geometry, direction)
        self._set_geometry(geometry)

    def point_of_itk_index(self, index: Sequence[int]) -> tuple[float, ...]:
        """Where the pixel with this index (i, j, k, l; counted as the image's own index) is in space."""
        at = structures.Index(*integers("index", index, self.dimension))
        point = structures.Vector()
        check(library.cc_image_get_point(self._handle, at, point))
        return tuple(point[: self.dimension])

    def _grid(
        self, like: Image | None, size: Any, spacing: Any, origin: Any, direction: Any, index: Any
    ) -> tuple[Sequence[int], structures.Geometry]:
        """Size and geometry of a grid: that of an image, and what else is said of it."""
        base = self if like is None else like
        dimension = base.dimension
        old_size, old_spacing = base.size, base.spacing
        new_spacing = old_spacing if spacing is None else tuple(numbers("spacing", spacing, dimension))
        new_size: Sequence[int] = old_size if size is None else integers("size", size, dimension)
        if any(not step > 0 for step in new_spacing):
            raise ValueError(f"spacing = {new_spacing}, expected > 0")
        is_scaled = origin is None and index is None and (size is None) != (spacing is None)
        if size is None and spacing is not None:
            new_size = [
                max(1, math.floor(count * old / new + 0.5)) if count else 0
                for count, old, new in zip(old_size, old_spacing, new_spacing, strict=True)
            ]
        elif spacing is None and size is not None:
            new_spacing = tuple(
                old * before / count if before and count else old
                for before, old, count in zip(old_size, old_spacing, new_size, strict=True)
            )
        new_index = base.index if index is None else index
        new_origin: Any = base.origin if origin is None else origin
        rows = base.direction if direction is None else direction
        if is_scaled:
            # The outer face of the first pixel stays; it is half a pixel before the centre.
            first = [
                (at - 0.5) * old - (at - 0.5) * new
                for at, old, new in zip(base.index, old_spacing, new_spacing, strict=True)
            ]
            new_origin = [
                start + sum(entry * along for entry, along in zip(row, first, strict=True))
                for start, row in zip(base.origin, rows, strict=True)
            ]
        return new_size, make_geometry(dimension, new_spacing, new_origin, rows, new_index)
