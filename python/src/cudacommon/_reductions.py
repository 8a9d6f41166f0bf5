"""Numbers that all pixels have a part in: sums, extremes, histograms."""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ._expressions import evaluate
from ._library import check, library
from ._pixel import value_of
from ._promotion import COMPLEX128, FLOAT64, UINT64, is_complex
from ._streams import stream_handle

if TYPE_CHECKING:
    from typing_extensions import TypedDict, Unpack

    from ._image import Image

    class How(TypedDict, total=False):
        """What a reduction gives; see Reductions."""

        per_component: bool
        as_image: bool
        out: Image | None
        stream: Any

SUM = 0
MEAN = 1
MINIMUM = 2
MAXIMUM = 3
VARIANCE = 4
NORM = 5
DOT = 6


class Reductions:
    """For images. Computed where the pixels are, in float64, with the same bits every time and on every machine.

    The result is a number, which the call waits for; with ``per_component`` a tuple of numbers, one for each component.
    With ``as_image``, or an ``out`` of one pixel, it is an image of one pixel, which stays where the pixels are, in the
    order of ``stream``, and counts for every pixel of what it is combined with.
    """

    __slots__ = ()

    _handle: Any
    _pixel_type: int
    components: int

    def _new_like(self, pixel_type: int, components: int, size: Any) -> Image:
        raise NotImplementedError

    def _reduce(
        self,
        reduction: int,
        second: Image | None = None,
        *,
        per_component: bool = False,
        as_image: bool = False,
        out: Image | None = None,
        stream: Any = None,
    ) -> Any:
        handle = stream_handle(stream)
        other = None if second is None else second._handle
        is_sum = reduction in (SUM, MEAN) and is_complex(self._pixel_type)
        if not (per_component or as_image or is_sum) and out is None:
            number = ctypes.c_double()
            check(library.cc_image_measure(reduction, self._handle, other, handle, number))
            return number.value
        result = out
        if result is None:
            components = self.components if per_component else 1
            result = self._new_like(COMPLEX128 if is_sum else FLOAT64, components, [1])
        check(library.cc_image_reduce(reduction, self._handle, other, result._handle, handle))
        if as_image or out is not None:
            return result
        found = _first_pixel(result)
        return found if isinstance(found, tuple) or not per_component else (found,)

    def sum(self, **how: Unpack[How]) -> Any:
        return self._reduce(SUM, **how)

    def mean(self, **how: Unpack[How]) -> Any:
        return self._reduce(MEAN, **how)

    def min(self, **how: Unpack[How]) -> Any:
        """NaN when there is one."""
        return self._reduce(MINIMUM, **how)

    def max(self, **how: Unpack[How]) -> Any:
        """NaN when there is one."""
        return self._reduce(MAXIMUM, **how)

    def var(self, **how: Unpack[How]) -> Any:
        """The mean of the squares of the distances from the mean."""
        return self._reduce(VARIANCE, **how)

    def std(self, **how: Unpack[How]) -> Any:
        """The square root of the variance."""
        found = self._reduce(VARIANCE, **how)
        if isinstance(found, float):
            return math.sqrt(found)
        if isinstance(found, tuple):
            return tuple(math.sqrt(each) for each in found)
        return evaluate(found.lazy.sqrt(), found, stream=how.get("stream"))

    def norm(self, **how: Unpack[How]) -> Any:
        """The square root of the sum of the squares."""
        return self._reduce(NORM, **how)

    def dot(self, other: Image, **how: Unpack[How]) -> Any:
        """The sum of the products with the components of another image of the same size."""
        return self._reduce(DOT, other, **how)

    def histogram(
        self,
        bins: int = 256,
        range: tuple[float, float] | None = None,
        *,
        as_image: bool = False,
        stream: Any = None,
    ) -> Any:
        """How many components are in each of ``bins`` equal parts of ``range``, and the edges, as numpy.histogram().

        Without a range it is from the least value to the greatest, which waits for them. With ``as_image`` the counts
        alone, as an image of uint64 that stays where the pixels are.
        """
        if range is None:
            lower, upper = self.min(stream=stream), self.max(stream=stream)
            if lower == upper:
                lower, upper = lower - 0.5, upper + 0.5
        else:
            lower, upper = map(float, range)
        result = self._new_like(UINT64, 1, [bins.__index__()])
        check(library.cc_image_histogram(self._handle, lower, upper, result._handle, stream_handle(stream)))
        if as_image:
            return result
        with result.host() as counts:
            return counts.copy(), np.linspace(lower, upper, bins + 1)


def _first_pixel(image: Image) -> Any:
    with image.host() as pixels:
        return value_of(pixels[0])
