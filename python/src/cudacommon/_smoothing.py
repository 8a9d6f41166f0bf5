"""Smoothing, and convolution by Fourier transforms."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _structures as structures
from ._filters import float_for, one_of
from ._library import check, library
from ._pixel import number_of
from ._regions import border_number, each_axis, integer
from ._streams import stream_handle

if TYPE_CHECKING:
    from ._image import Image

_DOMAINS = {"space": 0, "frequency": 1}
_UNITS = {"mm": 0, "pixels": 1}


class Smoothing:
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

        def _for(self, out: Image | None, dtype: Any, pixel_type: int, components: int) -> Image: ...

    def gaussian(
        self,
        sigma: float | Sequence[float],
        unit: str = "mm",
        *,
        truncate: float = 4.0,
        border: str = "replicate",
        value: float = 0.0,
        out: Image | None = None,
        dtype: Any = None,
        stream: Any = None,
    ) -> Image:
        """Smoothed along each axis; ``sigma`` is one number or one for each of i, j, k, l, in "mm" or "pixels".

        The filter reaches ``truncate`` sigmas to either side. ``border`` is one of those of ``pad()``, ``value`` for
        "constant". The result is of the same type, or of ``dtype``. ``out`` may be the image.
        """
        params = structures.GaussianParams(ctypes.sizeof(structures.GaussianParams), one_of("unit", _UNITS, unit))
        for axis, given in enumerate(each_axis("sigma", sigma, self.dimension)):
            params.sigma[axis] = given
        params.truncate = truncate
        params.border = border_number(border)
        params.border_value = value
        out = self._for(out, dtype, self._pixel_type, self.components)
        check(library.cc_image_smooth_gaussian(self._handle, params, out._handle, stream_handle(stream)))
        return out

    def convolve_axis(
        self,
        filter: Any,
        axis: int = 0,
        *,
        domain: str = "space",
        centre: int | None = None,
        length: int = 0,
        out: Image | None = None,
        dtype: Any = None,
        stream: Any = None,
    ) -> Image:
        """Every line along an axis (0 is i), with zeros around it, convolved with a filter, by Fourier transforms.

        ``filter``: an image of one line of one component, or numbers: weights of neighbouring pixels ("space"; the one
        at ``centre``, in the middle when None, weighs the pixel itself), or what each frequency from 0 on is multiplied by
        ("frequency"). ``length``: pixels of the transforms, 0 for what fits. ``out`` may be the image.
        """
        params = structures.ConvolveParams(
            ctypes.sizeof(structures.ConvolveParams),
            integer("axis", axis),
            one_of("domain", _DOMAINS, domain),
            0,
            -1 if centre is None else integer("centre", centre),
            integer("length", length),
        )
        weights = filter if isinstance(filter, Smoothing) else self._line_of(filter)
        out = self._for(out, dtype, float_for(self._pixel_type), self.components)
        check(
            library.cc_image_convolve_axis(self._handle, weights._handle, params, out._handle, stream_handle(stream))
        )
        return out

    def _line_of(self, numbers: Any) -> Image:
        given = np.asarray(numbers)
        if given.ndim != 1 or given.dtype.kind not in "biufc":
            raise ValueError(f"filter has shape {given.shape} of {given.dtype}, expected a line of numbers, or an image")
        kind = "complex128" if given.dtype.kind == "c" else "float64"
        line = self._new_like(number_of(kind), 1, [given.size])
        with line.host(write=True, read=False) as pixels:
            pixels[...] = given
        return line
