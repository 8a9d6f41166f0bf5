"""Parts of images: cut out, put in, continued at the border, turned round; and frames, what lies along the last axis."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_void_p
from typing import TYPE_CHECKING, Any, Union

from . import _structures as structures
from ._library import check, library
from ._pixel import number_of, pixel_bytes
from ._promotion import FLOAT64, is_whole
from ._streams import stream_handle

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._image import Image

CONSTANT = 0
REPLICATE = 1
REFLECT = 2
SYMMETRIC = 3
PERIODIC = 4

_BORDERS = {
    "constant": CONSTANT,
    "replicate": REPLICATE,
    "edge": REPLICATE,
    "reflect": REFLECT,
    "symmetric": SYMMETRIC,
    "periodic": PERIODIC,
    "wrap": PERIODIC,
}

#: one number for all axes, or for each of i, j, k, l one, or two: before and after
Widths = Union[int, Sequence[Union[int, Sequence[int]]]]


def border_number(border: str) -> int:
    if border not in _BORDERS:
        raise ValueError(f"border = {border!r}, expected one of {', '.join(map(repr, _BORDERS))}")
    return _BORDERS[border]


def integer(name: str, value: Any) -> int:
    """Of 64 bits, or ctypes would cut it off."""
    found: int = value.__index__()
    if not -(2**63) <= found < 2**63:
        raise OverflowError(f"{name} has {found}, expected 64 bits")
    return found


def each_axis(name: str, value: Any, dimension: int) -> list[Any]:
    """A number for all axes, or one for each."""
    if not hasattr(value, "__len__"):
        return [value] * dimension
    given = list(value)
    if len(given) != dimension:
        raise ValueError(f"{name} has {len(given)} entries, expected {dimension}")
    return given


class Regions:
    """For images. Each makes a new image of the same type, made where the pixels are, or writes into ``out``, in the
    order of ``stream``. Pixels keep their place in space."""

    __slots__ = ()

    _handle: Any
    _on_host: bool | None
    _pixel_type: int
    dimension: int
    components: int

    # What Image has of these is theirs.
    if TYPE_CHECKING:

        def _region_of(
            self, index: Sequence[int] | None, size: Sequence[int] | None
        ) -> structures.Region | None: ...

        def _created(self, handle: c_void_p) -> Image: ...

        def _frame(self, pixel_type: int) -> Image: ...

        @property
        def _region(self) -> structures.Region: ...

    def _make(self, name: str, created: str, what: Any, out: Image | None, stream: Any) -> Image:
        if out is not None:
            write = getattr(library, f"cc_image_{name}")
            check(write(self._handle, what, out._handle, stream_handle(stream)))
            return out
        handle = c_void_p()
        check(getattr(library, f"cc_image_create_{created}")(self._handle, what, stream_handle(stream), handle))
        return self._created(handle)

    def crop(
        self,
        *,
        index: Sequence[int] | None = None,
        size: Sequence[int] | None = None,
        out: Image | None = None,
        stream: Any = None,
    ) -> Image:
        """The pixels of a region as an image of its own; ``view()`` makes one that shares them."""
        return self._make("crop", "cropped", self._region_of(index, size) or self._region, out, stream)

    def pad(
        self,
        width: Widths,
        border: str | Sequence[str] = "constant",
        value: Any = 0,
        *,
        out: Image | None = None,
        stream: Any = None,
    ) -> Image:
        """With pixels around it: ``width`` of them, a number, or one for each of i, j, k, l, or pairs (before, after).

        ``border``, for all axes or for each: "constant" (``value``), "replicate" (or "edge"), "reflect", "symmetric" or
        "periodic" (or "wrap"), as numpy.pad() names them.
        """
        params = structures.PadParams(ctypes.sizeof(structures.PadParams))
        for axis, given in enumerate(each_axis("width", width, self.dimension)):
            before, after = (given, given) if not hasattr(given, "__len__") else given
            params.lower[axis], params.upper[axis] = integer("width", before), integer("width", after)
        borders = [border] * self.dimension if isinstance(border, str) else each_axis("border", border, self.dimension)
        for axis, name in enumerate(borders):
            params.border[axis] = border_number(name)
        to = self if out is None else out
        pixel = ctypes.create_string_buffer(pixel_bytes(value, to._pixel_type, to.components))
        params.value = ctypes.addressof(pixel)
        return self._make("pad", "padded", params, out, stream)

    def flip(self, axes: int | Sequence[int], *, out: Image | None = None, stream: Any = None) -> Image:
        """With the pixels turned round along axes, which are counted as ITK does: 0 is i."""
        bits = 0
        for axis in [axes] if isinstance(axes, int) else axes:
            if not 0 <= axis < self.dimension:
                raise ValueError(f"axes has {axis}, expected 0 to {self.dimension - 1}")
            bits |= 1 << axis
        return self._make("flip", "flipped", bits, out, stream)

    def permute(self, order: Sequence[int], *, out: Image | None = None, stream: Any = None) -> Image:
        """With the axes in another order: axis n of the result is axis ``order[n]``, counted as ITK does: 0 is i."""
        given = each_axis("order", list(order), self.dimension)
        if any(not 0 <= axis < self.dimension for axis in given):
            raise ValueError(f"order = {order}, expected each of 0 to {self.dimension - 1} once")
        return self._make("permute", "permuted", structures.AxisOrder(*given), out, stream)

    def paste(self, source: Image, index: Sequence[int] | None = None, *, stream: Any = None) -> Self:
        """Puts another image into this one, its first pixel at an index (as ITK; its own, when None). Returns itself."""
        at = None
        if index is not None:
            entries = each_axis("index", list(index), self.dimension)
            at = structures.Index(*(integer("index", entry) for entry in entries))
        check(library.cc_image_paste(source._handle, self._handle, at, stream_handle(stream)))
        return self

    def copy_region(
        self,
        source: Image,
        *,
        index: Sequence[int] | None = None,
        size: Sequence[int] | None = None,
        source_index: Sequence[int] | None = None,
        source_size: Sequence[int] | None = None,
        stream: Any = None,
    ) -> Self:
        """Copies a region of another image, or of this one, into a region of the same size of this one. Returns itself."""
        check(
            library.cc_image_copy_region(
                source._handle,
                source._region_of(source_index, source_size),
                self._handle,
                self._region_of(index, size),
                stream_handle(stream),
            )
        )
        return self

    # Frames

    def interpolate_frames(
        self, position: float, border: str = "replicate", *, out: Image | None = None, dtype: Any = None, stream: Any = None
    ) -> Image:
        """The volume at a position along the last axis, absolute as the index, also between two frames.

        Beyond the first and the last it is like these ("replicate"), or they come again ("periodic").
        """
        number = border_number(border)
        out = self._volume(self._pixel_type, out, dtype)
        check(
            library.cc_image_interpolate_frames(self._handle, position, number, out._handle, stream_handle(stream))
        )
        return out

    def splat_frames(self, volume: Image, position: float, border: str = "replicate", *, stream: Any = None) -> Self:
        """Adds a volume to the frames at a position, by the same weights: the adjoint. Returns itself."""
        number = border_number(border)
        check(library.cc_image_splat_frames(volume._handle, position, number, self._handle, stream_handle(stream)))
        return self

    def average_frames(self, *, out: Image | None = None, dtype: Any = None, stream: Any = None) -> Image:
        """The mean of all frames along the last axis; of whole numbers in float64."""
        own = self._pixel_type
        out = self._volume(FLOAT64 if is_whole(own) else own, out, dtype)
        check(library.cc_image_average_frames(self._handle, out._handle, stream_handle(stream)))
        return out

    def _volume(self, pixel_type: int, out: Image | None, dtype: Any) -> Image:
        if out is not None and dtype is not None:
            raise ValueError("out and dtype are given, expected one of them: the result has the type of out")
        return self._frame(pixel_type if dtype is None else number_of(dtype)) if out is None else out
