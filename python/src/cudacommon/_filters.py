"""Derivatives of images, and images on another grid."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _structures as structures
from ._library import check, library
from ._pixel import BFLOAT16, _DTYPES, number_of
from ._promotion import FLOAT32, FLOAT64, is_whole
from ._streams import stream_handle

if TYPE_CHECKING:
    from ._image import Image

_DIFFERENCES = {"central": 0, "central one-sided": 1, "forward": 2, "backward": 3}
USE_DIRECTION = 1
IGNORE_SPACING = 2

_INTERPOLATIONS = {"nearest": 0, "linear": 1, "cubic": 2}


def one_of(name: str, numbers: dict[str, int], given: str) -> int:
    if given not in numbers:
        raise ValueError(f"{name} = {given!r}, expected one of {', '.join(map(repr, numbers))}")
    return numbers[given]


def float_for(pixel_type: int) -> int:
    """The float that the library computes such pixels in; floats as they are."""
    if not is_whole(pixel_type) or pixel_type == BFLOAT16:
        return pixel_type
    return FLOAT32 if _DTYPES[pixel_type].itemsize <= 2 else FLOAT64


class Filters:
    """For images. Each makes a new image, made where the pixels are, or writes into ``out``, in the order of
    ``stream``."""

    __slots__ = ()

    _handle: Any
    _pixel_type: int
    dimension: int
    components: int

    # What Image has of these is theirs.
    if TYPE_CHECKING:

        def _new_like(self, pixel_type: int, components: int, size: Any) -> Image: ...

        def _new_on(self, pixel_type: int, components: int, size: Any, geometry: structures.Geometry) -> Image: ...

        def _grid(
            self, like: Any, size: Any, spacing: Any, origin: Any, direction: Any, index: Any
        ) -> tuple[Sequence[int], structures.Geometry]: ...

        @property
        def size(self) -> tuple[int, ...]: ...

    def _for(self, out: Image | None, dtype: Any, pixel_type: int, components: int) -> Image:
        if out is not None and dtype is not None:
            raise ValueError("out and dtype are given, expected one of them: the result has the type of out")
        if out is not None:
            return out
        return self._new_like(pixel_type if dtype is None else number_of(dtype), components, self.size)

    def _axes(self) -> int:
        return min(self.dimension, 3)

    def gradient(
        self,
        difference: str = "central",
        *,
        use_direction: bool = False,
        use_spacing: bool = True,
        out: Image | None = None,
        dtype: Any = None,
        stream: Any = None,
    ) -> Image:
        """The derivatives along i, j, k as components, for millimetres; a fourth axis is a series of volumes.

        ``difference``: "central", "central one-sided" (numpy.gradient()), "forward" or "backward". With
        ``use_direction`` vectors are in physical space.
        """
        number = one_of("difference", _DIFFERENCES, difference)
        out = self._for(out, dtype, float_for(self._pixel_type), self._axes())
        flags = _flags(use_direction, use_spacing)
        check(library.cc_image_gradient(self._handle, number, flags, out._handle, stream_handle(stream)))
        return out

    def divergence(
        self,
        difference: str = "central",
        *,
        use_direction: bool = False,
        use_spacing: bool = True,
        out: Image | None = None,
        dtype: Any = None,
        stream: Any = None,
    ) -> Image:
        """Of vectors, the sum of each component's derivative along its axis. "backward" is the negative adjoint of the
        "forward" gradient, and the other way round."""
        number = one_of("difference", _DIFFERENCES, difference)
        out = self._for(out, dtype, float_for(self._pixel_type), 1)
        flags = _flags(use_direction, use_spacing)
        check(library.cc_image_divergence(self._handle, number, flags, out._handle, stream_handle(stream)))
        return out

    def laplacian(
        self, *, use_spacing: bool = True, out: Image | None = None, dtype: Any = None, stream: Any = None
    ) -> Image:
        """The sum of the second derivatives, component by component."""
        out = self._for(out, dtype, float_for(self._pixel_type), self.components)
        check(
            library.cc_image_laplacian(self._handle, _flags(False, use_spacing), out._handle, stream_handle(stream))
        )
        return out

    def resample(
        self,
        like: Image | None = None,
        *,
        size: Sequence[int] | None = None,
        spacing: Sequence[float] | None = None,
        origin: Sequence[float] | None = None,
        direction: Any = None,
        index: Sequence[int] | None = None,
        interpolation: str = "linear",
        outside: float = 0.0,
        matrix: Any = None,
        offset: Sequence[float] | None = None,
        out: Image | None = None,
        dtype: Any = None,
        stream: Any = None,
    ) -> Image:
        """On another grid: that of ``like``, or of this image, with what else is given of it instead.

        Of ``spacing`` without ``size``, or ``size`` without ``spacing``, the other follows, and without ``origin`` the
        first origin, so that the outer faces of the image stay where they are. ``interpolation``: "nearest", "linear" or
        "cubic" (a B-spline through the pixels). Pixels that are not inside this image become ``outside``. ``matrix`` and
        ``offset`` map a point of the new image to one of this: ``matrix @ point + offset``, in millimetres.
        """
        out = self._on_grid(out, dtype, like, size, spacing, origin, direction, index)
        params = _resample_params(self._axes(), interpolation, outside, matrix, offset)
        check(library.cc_image_resample(self._handle, params, out._handle, stream_handle(stream)))
        return out

    def warp(
        self,
        displacement: Image,
        like: Image | None = None,
        *,
        size: Sequence[int] | None = None,
        spacing: Sequence[float] | None = None,
        origin: Sequence[float] | None = None,
        direction: Any = None,
        index: Sequence[int] | None = None,
        interpolation: str = "linear",
        outside: float = 0.0,
        matrix: Any = None,
        offset: Sequence[float] | None = None,
        out: Image | None = None,
        dtype: Any = None,
        stream: Any = None,
    ) -> Image:
        """As ``resample()``, where each point first moves by a displacement: an image of vectors in millimetres."""
        out = self._on_grid(out, dtype, like, size, spacing, origin, direction, index)
        params = _resample_params(self._axes(), interpolation, outside, matrix, offset)
        check(
            library.cc_image_warp(self._handle, displacement._handle, params, out._handle, stream_handle(stream))
        )
        return out

    def _on_grid(self, out: Image | None, dtype: Any, like: Image | None, *grid: Any) -> Image:
        given = [like, *grid]
        if out is not None:
            if dtype is not None or any(each is not None for each in given):
                raise ValueError("out is given, expected no grid and no dtype: the result has those of out")
            return out
        size, geometry = self._grid(like, *grid)
        pixel_type = self._pixel_type if dtype is None else number_of(dtype)
        return self._new_on(pixel_type, self.components, size, geometry)


def _flags(use_direction: bool, use_spacing: bool) -> int:
    return (USE_DIRECTION if use_direction else 0) | (0 if use_spacing else IGNORE_SPACING)


def _resample_params(
    axes: int, interpolation: str, outside: float, matrix: Any, offset: Any
) -> structures.ResampleParams:
    params = structures.ResampleParams(
        ctypes.sizeof(structures.ResampleParams), one_of("interpolation", _INTERPOLATIONS, interpolation), outside
    )
    rows = np.eye(3) if matrix is None else np.asarray(matrix, np.float64)
    moves = np.zeros(axes) if offset is None else np.asarray(offset, np.float64)
    if matrix is not None and rows.shape != (axes, axes):
        raise ValueError(f"matrix has shape {rows.shape}, expected {(axes, axes)}")
    if moves.shape != (axes,):
        raise ValueError(f"offset has shape {moves.shape}, expected {(axes,)}")
    for row in range(3):
        params.matrix[row][row] = 1.0
    for row in range(axes):
        params.offset[row] = moves[row]
        for column in range(axes):
            params.matrix[row][column] = rows[row, column]
    return params
