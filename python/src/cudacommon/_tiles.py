"""Images larger than the device: a function that works on them tile by tile."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import byref, c_void_p, pointer
from fractions import Fraction
from typing import Any, NamedTuple, Union

import numpy as np

from . import _structures as structures
from ._geometry import integers
from ._image import Image
from ._lending import NOWHERE
from ._library import check, library
from ._pixel import BFLOAT16, dtype_of, storage_dtype_of
from ._places import place_number
from ._streams import protocol_stream, stream_handle

MAX_INPUTS = 8
OUTPUT = -1

_CANCELLED = 20

#: index and size along i, j, k, l
Box = tuple[Sequence[int], Sequence[int]]
Halo = Union[int, Sequence[Union[int, tuple[int, int]]]]


class TileInput(NamedTuple):
    """What the tiles need of an image, when it is not just the same pixels.

    Without ``region``: along each axis, counted from the first pixel of each image, the output's pixels a to b - 1 need
    the input's from ``floor(a * scale) + offset - before`` to ``ceil(b * scale) + offset + after``, without that last
    one. ``halo``: how many before and after; one number for all axes, or one for each of i, j, k, l, or pairs. ``scale``:
    pixels of the input for one of the output, a number or a Fraction, or one for each axis. ``region`` maps index and
    size of a box of the output to those of a box of the input. What is outside the image is cut off.
    """

    image: Image
    halo: Halo = 0
    scale: Any = 1
    offset: int | Sequence[int] = 0
    region: Callable[[tuple[int, ...], tuple[int, ...]], Box] | None = None


class TilePixels:
    """Pixels of one image, for one tile, until the function returns.

    ``array`` is them on the host. On a device CuPy, PyTorch and Numba take them by ``__cuda_array_interface__``, and a
    kernel takes ``pointer`` and ``strides``. ``image`` is them for the library's own operations.
    """

    def __init__(self, tile: Tile, of: Image, number: int, pixels: structures.TilePixels, read_only: bool) -> None:
        dimension = of.dimension
        self._tile = tile
        self._of = of
        self._number = number
        self._array: np.ndarray[Any, Any] | None = None
        self._image: Image | None = None
        self.read_only = read_only
        #: of the first pixel, in the image's own indices; there is less than was asked for at the border of the image
        self.index: tuple[int, ...] = tuple(pixels.region.index[:dimension])
        #: pixels along i, j, k, l
        self.size: tuple[int, ...] = tuple(pixels.region.size[:dimension])
        #: address of the first pixel, 0 when there is none
        self.pointer: int = pixels.pixels or 0
        by_component = of.components > 1
        self.shape: tuple[int, ...] = self.size[::-1] + ((of.components,) if by_component else ())
        itemsize = storage_dtype_of(of._pixel_type).itemsize
        #: bytes to the next element along each axis of shape
        self.strides: tuple[int, ...] = tuple(pixels.strides_bytes[:dimension])[::-1] + (
            (itemsize,) if by_component else ()
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._of.dtype

    def _interface(self) -> dict[str, Any]:
        self._tile._check()
        return {
            "shape": self.shape,
            "typestr": storage_dtype_of(self._of._pixel_type).str,
            "data": (self.pointer, self.read_only),
            "strides": self.strides,
            "version": 3,
        }

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """The pixels on the host as a NumPy array; TypeError when the tile is on a device."""
        if self._tile.place != structures.PLACE_HOST:
            raise TypeError(f"the tile is on device {self._tile.place}; use __cuda_array_interface__, or image")
        if self._array is None:
            interface = self._interface()
            interface["data"] = (self.pointer or NOWHERE, self.read_only)
            array = np.asarray(_Interface(interface))
            dtype = dtype_of(BFLOAT16)
            self._array = array.view(dtype) if self._of._pixel_type == BFLOAT16 and dtype != array.dtype else array
        return self._array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._tile.place == structures.PLACE_HOST:
            raise AttributeError("__cuda_array_interface__: the tile is on the host")
        if self._of._pixel_type == BFLOAT16:
            raise AttributeError("__cuda_array_interface__: bfloat16 has no type string")
        return {**self._interface(), "stream": protocol_stream(self._tile.stream)}

    @property
    def image(self) -> Image:
        """The pixels as an image with the tile's region and the place in space of the image that they are of."""
        if self._image is None:
            self._image = self._tile._wrap(self._number)
        return self._image

    def _end(self) -> None:
        if self._array is not None:
            self._array.flags.writeable = False
        if self._image is not None:
            self._image._let_go()


class _Interface:
    """What NumPy makes an array of."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface


class Tile:
    """One tile: what to write, and of which pixels. Nothing of it is to be used after the function has returned."""

    def __init__(self, tile: structures.Tile, output: Image, inputs: Sequence[Image]) -> None:
        self._address = ctypes.addressof(tile)
        self._has_ended = False
        #: -1 on the host, else the device
        self.place: int = tile.place
        #: for all work on a device; its number, as all ``stream`` arguments take it
        self.stream: int = tile.stream or 0
        #: 0 to ``count`` - 1, in the order in which they are worked on
        self.number: int = tile.number
        self.count: int = tile.count
        #: to be written, every pixel
        self.output = TilePixels(self, output, OUTPUT, tile.output, False)
        self.inputs: tuple[TilePixels, ...] = tuple(
            TilePixels(self, image, number, tile.inputs[number], tile.inputs[number].pixels != tile.output.pixels)
            for number, image in enumerate(inputs)
        )

    def _check(self) -> None:
        if self._has_ended:
            raise RuntimeError("the tile has ended; its pixels are used inside the function only")

    def _wrap(self, number: int) -> Image:
        self._check()
        handle = c_void_p()
        check(library.cc_tile_wrap(self._address, number, handle))
        return Image._from_handle(c_void_p(library.cc_image_retain(handle)), self.place == structures.PLACE_HOST)

    def _end(self) -> None:
        self._has_ended = True
        for pixels in (self.output, *self.inputs):
            pixels._end()


def _each_axis(name: str, value: Any, dimension: int) -> list[Any]:
    if isinstance(value, (int, float, Fraction)):
        return [value] * dimension
    given = list(value)
    if len(given) != dimension:
        raise ValueError(f"{name} has {len(given)} entries, expected {dimension}")
    return given


class _Callbacks:
    """The caller's functions as C calls them. The first exception of any ends the run."""

    def __init__(self, progress: Any, output: Image, inputs: Sequence[TileInput]) -> None:
        self.error: BaseException | None = None
        self._output = output
        self._inputs = [each.image for each in inputs]

        def region_of(of: TileInput) -> Any:
            def region(of_output: Any, of_input: Any, _: Any) -> None:
                assert of.region is not None
                given = of_output.contents
                dimension = output.dimension
                index, size = of.region(tuple(given.index[:dimension]), tuple(given.size[:dimension]))
                dimension = of.image.dimension
                found = of_input.contents
                found.index[:dimension] = integers("region's index", index, dimension)
                found.size[:dimension] = integers("region's size", size, dimension)
                for axis in range(dimension, structures.MAX_DIMENSION):
                    found.index[axis], found.size[axis] = 0, 1

            return structures.TilesRegionFunction(self._guarded(region))

        self.regions = [None if each.region is None else region_of(each) for each in inputs]
        self.progress = (
            None
            if progress is None
            else structures.TilesProgressFunction(self._guarded(lambda done, count, _: bool(progress(done, count))))
        )

    def function(self, function: Callable[[Tile], Any]) -> Any:
        def work(tile: Any, _: Any) -> None:
            made = Tile(tile.contents, self._output, self._inputs)
            try:
                function(made)
            finally:
                made._end()

        return structures.TileFunction(self._guarded(work))

    def _guarded(self, call: Callable[..., Any]) -> Callable[..., int]:
        def guarded(*arguments: Any) -> int:
            try:
                return int(call(*arguments) or 0)
            except BaseException as error:
                self.error = self.error or error
                return _CANCELLED

        return guarded

    def check(self, status: int) -> None:
        error, self.error = self.error, None
        if error is None:
            check(status)
            return
        try:
            raise error
        finally:
            # Or this frame and the error would keep each other.
            del error


def _input(of: TileInput, region: Any) -> structures.TilesInput:
    made = structures.TilesInput(ctypes.sizeof(structures.TilesInput), 0, of.image._handle)
    dimension = of.image.dimension
    for axis, halo in enumerate(_each_axis("halo", of.halo, dimension)):
        before, after = (halo, halo) if isinstance(halo, int) else halo
        made.halo_before[axis], made.halo_after[axis] = integers("halo", (before, after), 2)
    for axis, scale in enumerate(_each_axis("scale", of.scale, dimension)):
        exact = Fraction(scale)
        if not 0 < exact.numerator < 2**31 or exact.denominator >= 2**31:
            raise ValueError(f"scale = {scale}, expected a ratio > 0 of numbers of 31 bits")
        made.scale_numerator[axis], made.scale_denominator[axis] = exact.numerator, exact.denominator
    made.offset[:dimension] = integers("offset", _each_axis("offset", of.offset, dimension), dimension)
    if region is not None:
        made.region = region
    return made


def _params(
    callbacks: _Callbacks, place: int | str | None, limit: int, buffers: int
) -> structures.TilesParams:
    if not 0 <= limit < 2**63:
        raise ValueError(f"limit = {limit}, expected bytes >= 0")
    made = structures.TilesParams(ctypes.sizeof(structures.TilesParams))
    made.place = structures.DEVICE_CURRENT if place is None else place_number(place)
    made.limit_bytes = limit
    made.buffer_count = buffers
    if callbacks.progress is not None:
        made.progress = callbacks.progress
    return made


def tiles(
    function: Callable[[Tile], Any],
    output: Image,
    inputs: Sequence[Image | TileInput] = (),
    *,
    place: int | str | None = None,
    limit: int = 0,
    buffers: int = 0,
    progress: Callable[[int, int], Any] | None = None,
) -> None:
    """Computes all of ``output``, tile by tile, with ``function(tile)``, for images that need not fit on the device.

    While a tile is worked on, the next come up and the last goes down. On a device the function queues its work in
    ``tile.stream``; without one, or with ``place="cpu"``, it gets the images' own host pixels. ``limit``: the most bytes
    of device memory for all tiles at once (0: half of what the device may give). ``buffers``: tiles under way at once
    (0: three). ``progress(done, count)`` is called after each tile that has been written; anything true that it returns
    ends the run with CancelledError. What the functions raise ends it too, and is raised here.

    The output may be an input. Blocks until the last tile is written; then the output is up to date on the host.
    """
    of = [each if isinstance(each, TileInput) else TileInput(each) for each in inputs]
    callbacks = _Callbacks(progress, output, of)
    params = _params(callbacks, place, limit, buffers)
    made = (structures.TilesInput * len(of))(*map(_input, of, callbacks.regions))
    params.input_count = len(of)
    params.inputs = made
    params.output = output._handle
    params.function = callbacks.function(function)
    callbacks.check(library.cc_tiles_run(byref(params)))


def rescale_tiles(
    image: Image,
    output: Image,
    scale: float = 1.0,
    shift: float = 0.0,
    *,
    place: int | str | None = None,
    limit: int = 0,
    buffers: int = 0,
    progress: Callable[[int, int], Any] | None = None,
) -> None:
    """``output = image * scale + shift`` tile by tile, with the values of ``Image.rescale()``. See :func:`tiles`."""
    callbacks = _Callbacks(progress, output, ())
    params = _params(callbacks, place, limit, buffers)
    callbacks.check(library.cc_tiles_rescale(image._handle, scale, shift, output._handle, pointer(params)))


def run_filter(
    output: Image,
    inputs: Sequence[Image] = (),
    *,
    on_device: Callable[[Tile], Any] | None = None,
    on_host: Callable[[Tile], Any] | None = None,
    place: int | str | None = None,
    stream: Any = None,
) -> None:
    """Makes one image from others by a function for the GPU, one for the host, or both, called once with all of it.

    The functions are as for :func:`tiles`, and see each image as the only tile there is; the output may be an input. At
    ``place``; else on the output's device, when there are a device and a function for it, and on the host otherwise. On a
    device the function queues its work in ``tile.stream``, which is ``stream``, and nobody waits.
    """
    if len(inputs) > MAX_INPUTS:
        raise ValueError(f"there are {len(inputs)} inputs, expected at most {MAX_INPUTS}")
    callbacks = _Callbacks(None, output, [TileInput(each) for each in inputs])
    made = structures.Filter(ctypes.sizeof(structures.Filter), len(inputs))
    handles = (c_void_p * len(inputs))(*(each._handle for each in inputs))
    made.inputs = handles
    made.output = output._handle
    if on_device is not None:
        made.on_device = callbacks.function(on_device)
    if on_host is not None:
        made.on_host = callbacks.function(on_host)
    made.place = structures.DEVICE_CURRENT if place is None else place_number(place)
    made.stream = stream_handle(stream)
    callbacks.check(library.cc_filter_run(byref(made)))
