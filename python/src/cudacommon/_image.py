"""The image: pixels that are right on the CPU and the GPU, with their place in space."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from ctypes import c_int32, c_void_p
from typing import Any, NamedTuple

import numpy as np

from . import _dlpack, _observe, _picture
from . import _structures as structures
from ._access import DevicePixels, HostPixels, order_number
from ._arithmetic import Arithmetic
from ._filters import Filters
from ._lending import LOAN_PENDING, NOWHERE, Lent, Standing, export_params, layout_of, lend_into, renew, renew_without_asking
from ._library import address_argument, check, library
from ._pixel import BFLOAT16, dtype_of, name_of, number_of, pixel_bytes, value_of
from ._reductions import Reductions
from ._regions import Regions
from ._smoothing import Smoothing
from ._streams import protocol_stream, stream_handle
from ._textures import Texture, params_of

#: for reading attributes: made when needed, used by one thread at a time
_spare_lents: list[Lent] = []

_TO_HOST = export_params(structures.PLACE_HOST)
_TO_DEVICE = export_params(structures.DEVICE_CURRENT)

#: what the interfaces of all pixels have
_OF_HOST: dict[str, Any] = {"version": 3}
_OF_DEVICE: dict[str, Any] = {"version": 3, "stream": None}

_UNINITIALIZED = 1
_PARAMS_BYTES = ctypes.sizeof(structures.ImageParams)
_NAMED_DEVICES = ("cuda", "gpu")


def place_number(place: Any) -> int:
    """A place as the library numbers them: "cpu" (or "host"), a device's number, "cuda" or "cuda:1"."""
    if isinstance(place, bool) or not isinstance(place, (int, str)):
        raise ValueError(f"place = {place!r}, expected 'cpu', 'cuda', 'cuda:N' or a device's number")
    if isinstance(place, int):
        if place < 0:
            raise ValueError(f"place = {place}, expected 'cpu', 'cuda', 'cuda:N' or a device's number")
        return place
    if place in ("cpu", "host"):
        return structures.PLACE_HOST
    name, colon, number = place.partition(":")
    if name in _NAMED_DEVICES and (not colon or number.isdecimal()):
        return int(number) if colon else structures.DEVICE_CURRENT
    raise ValueError(f"place = {place!r}, expected 'cpu', 'cuda', 'cuda:N' or a device's number")


def _numbers(name: str, values: Any, count: int) -> list[float]:
    given = [float(value) for value in values]
    if len(given) != count:
        raise ValueError(f"{name} has {len(given)} entries, expected {count}")
    return given


def _integers(name: str, values: Any, count: int) -> list[int]:
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
        geometry.index[:dimension] = _integers("index", index, dimension)
    if spacing is not None:
        geometry.spacing[:dimension] = _numbers("spacing", spacing, dimension)
    if origin is not None:
        geometry.origin[:dimension] = _numbers("origin", origin, dimension)
    if direction is not None:
        _set_direction(geometry, direction)
    return geometry


def _set_direction(geometry: structures.Geometry, direction: Any) -> None:
    rows = list(direction)
    if len(rows) != geometry.dimension:
        raise ValueError(f"direction has {len(rows)} rows, expected {geometry.dimension}")
    for row, entries in enumerate(rows):
        first = row * structures.MAX_DIMENSION
        geometry.direction[first : first + geometry.dimension] = _numbers("direction", entries, geometry.dimension)


class Layout(NamedTuple):
    """How pixels lie in memory, as arrays of other libraries would list them."""

    shape: tuple[int, ...]
    #: bytes to the next element along each axis
    strides: tuple[int, ...]
    #: as NumPy's array interface has it; "" for bfloat16
    typestr: str
    itemsize: int
    read_only: bool
    c_contiguous: bool
    f_contiguous: bool


class Image(Arithmetic, Reductions, Regions, Filters, Smoothing):
    """Pixels on the CPU and the GPU at once, with spacing, origin, direction and the index of the first pixel.

    ``size``, ``index``, ``spacing``, ``origin`` and the columns of ``direction`` list axes as ITK does: i, the fastest,
    first. ``shape`` and the arrays that are made of an image list them as NumPy does: i last, then the components.

    ``device`` says which memory the array protocols of the image speak of: a device's (``None`` or "cuda": the current
    one, "cuda:1" or 1: that one) where there is a device, else the host's; "cpu": the host's. Either way the pixels can
    be had on both sides, by ``host()`` and ``device()``.
    """

    __slots__ = (
        "__weakref__",
        "_argument",
        "_device_pair",
        "_export_stream",
        "_current_loans",
        "_handle",
        "_old_loans",
        "_on_host",
        "_pixel_type",
        "components",
        "dimension",
    )

    _handle: c_void_p
    #: number of axes, 1 to 4
    dimension: int
    #: values of one pixel
    components: int

    def __init__(
        self,
        size: Sequence[int],
        dtype: Any = "float32",
        components: int = 1,
        *,
        spacing: Sequence[float] | None = None,
        origin: Sequence[float] | None = None,
        direction: Any = None,
        index: Sequence[int] | None = None,
        device: int | str | None = None,
        initialize: bool = True,
        label: str | None = None,
    ) -> None:
        """Makes an image of ``size`` pixels along i, j, k, l, all zero (undefined with ``initialize=False``).

        No pixel memory is allocated until somebody needs it.
        """
        given_size = list(size)
        dimension = len(given_size)
        if not 1 <= dimension <= structures.MAX_DIMENSION:
            raise ValueError(f"size has {dimension} entries, expected 1 to {structures.MAX_DIMENSION}")
        place = structures.DEVICE_CURRENT if device is None else place_number(device)
        geometry = make_geometry(dimension, spacing, origin, direction, index)
        params = structures.ImageParams(
            ctypes.sizeof(structures.ImageParams),
            dimension,
            number_of(dtype),
            components,
            place if place >= 0 else structures.DEVICE_CURRENT,
            0 if initialize else _UNINITIALIZED,
            make_region(geometry.index[:dimension], _integers("size", given_size, dimension)),
            geometry.spacing,
            geometry.origin,
            geometry.direction,
        )
        handle = c_void_p()
        check(library.cc_image_create(params, handle))
        self._adopt(handle, on_host=True if place == structures.PLACE_HOST else None)
        if label is not None:
            self.label = label

    def _adopt(self, handle: c_void_p, on_host: bool | None) -> None:
        self._handle = handle
        self._on_host = on_host
        # Of the pixels that the image has, and of those that it had before.
        self._current_loans: list[Standing] = []
        self._old_loans: list[Standing] = []
        self._export_stream = 0
        self._take_over()

    def _take_over(self) -> None:
        """What is the handle's own and kept here because it is asked for often."""
        self._forget_loans()
        self._argument: Any = address_argument(self._handle.value)
        self._device_pair: tuple[int, int] | None = None
        self.dimension = library.cc_image_get_dimension(self._handle)
        self.components = library.cc_image_get_components(self._handle)
        self._pixel_type: int = library.cc_image_get_pixel_type(self._handle)

    def _forget_loans(self) -> None:
        """What was lent is not what the attributes speak of from now on, and stays lent."""
        self._old_loans += self._current_loans
        self._current_loans = []

    @classmethod
    def _from_handle(cls, handle: c_void_p, on_host: bool | None = None) -> Image:
        image = cls.__new__(cls)
        image._adopt(handle, on_host)
        return image

    def __del__(self, _release: Any = library.cc_image_release) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None:
            for loan in self._current_loans:
                loan.end()
            for loan in self._old_loans:
                loan.end()
            _release(handle)

    def _let_go(self) -> None:
        """Its pixels are somebody else's from now on; it becomes an image without any."""
        self.end_loans()
        empty = Image([0] * self.dimension, self.dtype_name, self.components)
        self._handle, empty._handle = empty._handle, self._handle
        self._take_over()
        empty._take_over()

    # What it is

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of one component; for bfloat16 that of ml_dtypes, or uint16 without that package."""
        return dtype_of(self._pixel_type)

    @property
    def dtype_name(self) -> str:
        """Its name: "float32", "bfloat16" and so on."""
        return name_of(self._pixel_type)

    @property
    def _region(self) -> structures.Region:
        return library.cc_image_get_region(self._handle)  # type: ignore[no-any-return]

    @property
    def size(self) -> tuple[int, ...]:
        """Pixels along i, j, k, l."""
        return tuple(self._region.size[: self.dimension])

    @property
    def shape(self) -> tuple[int, ...]:
        """The same as NumPy lists it: (l, k, j, i), and the components when there are several."""
        return self.size[::-1] + ((self.components,) if self.components > 1 else ())

    @property
    def nbytes(self) -> int:
        return int(library.cc_image_get_size_bytes(self._handle))

    @property
    def read_only(self) -> bool:
        """Whether the pixels may only be read, as memory that was imported read-only."""
        return bool(library.cc_image_get_read_only(self._handle))

    @property
    def generation(self) -> int:
        """A number that changes whenever the pixels may have changed."""
        return int(library.cc_image_get_generation(self._handle))

    @property
    def label(self) -> str:
        """A name for traces, logs and lists; up to 63 bytes."""
        label = ctypes.create_string_buffer(64)
        check(library.cc_image_get_label(self._handle, label))
        return label.value.decode("utf-8", "replace")

    @label.setter
    def label(self, label: str) -> None:
        check(library.cc_image_set_label(self._handle, label.encode()))

    # Where it is in space

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
        geometry.index[: self.dimension] = _integers("index", index, self.dimension)
        self._set_geometry(geometry)

    @property
    def spacing(self) -> tuple[float, ...]:
        """Millimetres between pixel centres along i, j, k, l."""
        return tuple(self._geometry.spacing[: self.dimension])

    @spacing.setter
    def spacing(self, spacing: Sequence[float]) -> None:
        geometry = self._geometry
        geometry.spacing[: self.dimension] = _numbers("spacing", spacing, self.dimension)
        self._set_geometry(geometry)

    @property
    def origin(self) -> tuple[float, ...]:
        """Millimetres, where the pixel with index 0 is."""
        return tuple(self._geometry.origin[: self.dimension])

    @origin.setter
    def origin(self, origin: Sequence[float]) -> None:
        geometry = self._geometry
        geometry.origin[: self.dimension] = _numbers("origin", origin, self.dimension)
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
        _set_direction(geometry, direction)
        self._set_geometry(geometry)

    def point_of_itk_index(self, index: Sequence[int]) -> tuple[float, ...]:
        """Where the pixel with this index (i, j, k, l; counted as the image's own index) is in space."""
        at = structures.Index(*_integers("index", index, self.dimension))
        point = structures.Vector()
        check(library.cc_image_get_point(self._handle, at, point))
        return tuple(point[: self.dimension])

    # Pixels

    def fill(
        self,
        value: Any,
        *,
        index: Sequence[int] | None = None,
        size: Sequence[int] | None = None,
        stream: Any = None,
    ) -> Image:
        """Sets all pixels, or those of the region, to one value: a number, or one for each component.

        A fill of the whole image keeps only the value; nothing is allocated or moved until somebody looks. Returns the
        image.
        """
        pixel = pixel_bytes(value, self._pixel_type, self.components)
        check(library.cc_image_fill(self._handle, self._region_of(index, size), pixel, stream_handle(stream)))
        return self

    def _region_of(self, index: Sequence[int] | None, size: Sequence[int] | None) -> structures.Region | None:
        """The region that starts at an ITK index; None for all of the image."""
        if index is None and size is None:
            return None
        own = self._region
        first = own.index[: self.dimension] if index is None else _integers("index", index, self.dimension)
        if size is None:
            count = [own.index[axis] + own.size[axis] - first[axis] for axis in range(self.dimension)]
        else:
            count = _integers("size", size, self.dimension)
        return make_region(first, count)

    def host(
        self,
        *,
        write: bool = False,
        read: bool = True,
        index: Sequence[int] | None = None,
        size: Sequence[int] | None = None,
        order: str = "C",
        component_axis: bool = False,
    ) -> HostPixels:
        """``with image.host(write=True) as a``: the pixels on the host as a NumPy array, for the with statement.

        Only what is stale is brought to the host. ``write`` says that they will be changed; with ``read=False`` too,
        that every one will be written, so that nothing needs to be brought. ``index`` and ``size`` (as ITK) choose a
        region. ``order`` "C" lists axes as (l, k, j, i, component), "K" as (component, i, j, k, l). The component axis
        is there when there are several components, or asked for.
        """
        return HostPixels(self, self._region_of(index, size), order, read, write, component_axis)

    def device(
        self,
        *,
        stream: Any = None,
        write: bool = False,
        read: bool = True,
        index: Sequence[int] | None = None,
        size: Sequence[int] | None = None,
        order: str = "C",
        component_axis: bool = False,
    ) -> DevicePixels:
        """``with image.device(stream=s, write=True) as d``: the pixels on the image's device, for work in a stream.

        ``d`` has ``pointer``, ``shape``, ``strides`` and ``__cuda_array_interface__``. What is queued in the stream at
        the end of the with statement is what others wait for. ``stream`` None is the legacy default stream.
        """
        return DevicePixels(
            self, self._region_of(index, size), order, read, write, component_axis, stream_handle(stream)
        )

    def texture(
        self,
        *,
        stream: Any = None,
        shape: str = "volume",
        linear: bool = False,
        address: str | tuple[str, str, str] = "border",
        normalized_read: bool = False,
        normalized_coordinates: bool = False,
        per_component: bool = False,
        index: Sequence[int] | None = None,
        size: Sequence[int] | None = None,
    ) -> Texture:
        """``with image.texture(linear=True, address="clamp") as t``: the pixels as CUDA textures, for reading in a stream.

        ``t.objects`` are numbers that a kernel takes as ``cudaTextureObject_t`` (``numpy.uint64``): one for pixels of 1,
        2 or 4 components, else one for each. ``shape`` "volume" is for ``tex3D``, "layers" for ``tex2DLayered``, "plane"
        for ``tex2D``; the first pixel's centre is at 0.5. ``address``, for all axes or (i, j, k), is "border" (zeros),
        "clamp", and with ``normalized_coordinates`` "wrap" or "mirror". ``normalized_read`` reads integers of 8 and 16
        bits as fractions, which can be interpolated. The textures are kept with the pixels, and made again when these
        have changed; until the end of the with statement nobody may write them.
        """
        params = params_of(shape, linear, address, normalized_read, normalized_coordinates, per_component)
        return Texture(self, self._region_of(index, size), params, stream_handle(stream))

    def layout(
        self,
        place: int | str = "cpu",
        *,
        index: Sequence[int] | None = None,
        size: Sequence[int] | None = None,
        order: str = "C",
        component_axis: bool = False,
    ) -> Layout:
        """How an array of the region would look at a place. Touches no pixels and allocates nothing."""
        descriptor = structures.Descriptor(ctypes.sizeof(structures.Descriptor))
        flags = structures.EXPORT_COMPONENT_AXIS if component_axis else 0
        number = place_number(place)
        region = self._region_of(index, size)
        check(library.cc_image_describe(self._handle, region, order_number(order), flags, number, descriptor))
        return Layout(
            tuple(descriptor.shape[: descriptor.ndim]),
            tuple(descriptor.strides_bytes[: descriptor.ndim]),
            descriptor.typestr.decode(),
            descriptor.itemsize_bytes,
            bool(descriptor.read_only),
            bool(descriptor.c_contiguous),
            bool(descriptor.f_contiguous),
        )

    def view(self, *, index: Sequence[int] | None = None, size: Sequence[int] | None = None) -> Image:
        """An image over a region (as ITK: index of its first pixel, pixels along i, j, k, l) of the same pixels."""
        region = self._region_of(index, size) or self._region
        handle = c_void_p()
        check(library.cc_image_create_view(self._handle, region, handle))
        view = Image._from_handle(handle, self._on_host)
        view._export_stream = self._export_stream
        return view

    @property
    def by_itk_index(self) -> _Indexer:
        """``image.by_itk_index[i, j, k]``: a pixel; with slices a view. Counted as the image's own index, absolute."""
        return _Indexer(self, is_itk=True)

    @property
    def by_numpy_index(self) -> _Indexer:
        """``image.by_numpy_index[k, j, i]``: a pixel; with slices a view. Counted from 0, negative from the end."""
        return _Indexer(self, is_itk=False)

    def graft(self, source: Image) -> None:
        """Takes over the pixels of ``source``, to share them from now on, and its region, type and geometry."""
        check(library.cc_image_graft(self._handle, source._handle))
        self._on_host = source._on_host
        self._take_over()

    def resize(self, size: Sequence[int], index: Sequence[int] | None = None) -> None:
        """New pixels, all zero, for another region. Views and arrays keep the old ones."""
        first = self.index if index is None else _integers("index", index, self.dimension)
        check(library.cc_image_resize(self._handle, make_region(first, _integers("size", size, self.dimension))))
        self._take_over()

    def copy(self) -> Image:
        """An independent image with the same pixels and geometry, made where the pixels are."""
        other = self._new_like(self._pixel_type, self.components, self.size)
        check(library.cc_image_rescale(self._handle, 1.0, 0.0, other._handle, 0))
        return other

    def _new_like(self, pixel_type: int, components: int, size: Sequence[int]) -> Image:
        """For the result of an operation: with undefined pixels, where this one is on devices and, if it has as many
        axes, in space."""
        geometry = self._geometry if len(size) == self.dimension else make_geometry(len(size))
        return self._new_on(pixel_type, components, size, geometry)

    def _new_on(
        self, pixel_type: int, components: int, size: Sequence[int], geometry: structures.Geometry
    ) -> Image:
        params = structures.ImageParams(
            _PARAMS_BYTES,
            len(size),
            pixel_type,
            components,
            library.cc_image_get_device(self._handle),
            _UNINITIALIZED,
            structures.Region(geometry.index, tuple(size)),
            geometry.spacing,
            geometry.origin,
            geometry.direction,
        )
        handle = c_void_p()
        check(library.cc_image_create(params, handle))
        return self._created(handle)

    def _created(self, handle: c_void_p) -> Image:
        """What an operation has made of this one."""
        return Image._from_handle(handle, self._on_host)

    def _frame(self, pixel_type: int) -> Image:
        """For what lies at one index of the last axis."""
        axes = self.dimension - 1
        if axes < 1:
            raise ValueError("the image has one axis, expected one more: the last one counts frames")
        direction: Any = [row[:axes] for row in self.direction[:axes]]
        if abs(np.linalg.det(direction)) < 1e-3:
            # The last axis is not one of space alone.
            direction = None
        geometry = make_geometry(axes, self.spacing[:axes], self.origin[:axes], direction, self.index[:axes])
        return self._new_on(pixel_type, self.components, self.size[:axes], geometry)

    def _grid(
        self, like: Image | None, size: Any, spacing: Any, origin: Any, direction: Any, index: Any
    ) -> tuple[Sequence[int], structures.Geometry]:
        """Size and geometry of a grid: that of an image, and what else is said of it."""
        base = self if like is None else like
        dimension = base.dimension
        old_size, old_spacing = base.size, base.spacing
        new_spacing = old_spacing if spacing is None else tuple(_numbers("spacing", spacing, dimension))
        new_size: Sequence[int] = old_size if size is None else _integers("size", size, dimension)
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
                old * before / count if count else old
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

    def discard(self, *, index: Sequence[int] | None = None, size: Sequence[int] | None = None) -> None:
        """Says that what the pixels hold is not needed any more."""
        check(library.cc_image_discard(self._handle, self._region_of(index, size)))

    # Where its pixels are

    def set_device(self, device: int | str) -> None:
        """Moves the image: protocols and ``device()`` speak of this device from now on; "cpu": protocols of the host."""
        place = place_number(device)
        if place == structures.DEVICE_CURRENT:
            current = c_int32()
            check(library.cc_device_get_current(current))
            place = current.value
        if place >= 0:
            check(library.cc_image_set_device(self._handle, place))
        self._on_host = place == structures.PLACE_HOST
        self._device_pair = None
        self._forget_loans()

    def prefetch(
        self, place: int | str, *, index: Sequence[int] | None = None, size: Sequence[int] | None = None
    ) -> None:
        """Brings the stale pixels of the region to a place ("cpu", "cuda", "cuda:1", 1) without lending them."""
        check(library.cc_image_prefetch(self._handle, self._region_of(index, size), self._place(place)))

    def evict(self, place: int | str) -> None:
        """Frees the memory that the pixels have at a place. No pixel is lost; BusyError while they are in use there."""
        check(library.cc_image_evict(self._handle, self._place(place)))

    def _place(self, place: int | str) -> int:
        number = place_number(place)
        return self._device_number() if number == structures.DEVICE_CURRENT else number

    def _device_number(self) -> int:
        """The image's device, which is the current one when it has none yet."""
        device = library.cc_image_get_device(self._handle)
        if device == structures.DEVICE_CURRENT:
            current = c_int32()
            check(library.cc_device_get_current(current))
            check(library.cc_image_set_device(self._handle, current.value))
            device = current.value
        return int(device)

    @property
    def priority(self) -> int:
        """Images with a higher number stay on a device longer when its memory is short."""
        priority = c_int32()
        check(library.cc_image_get_priority(self._handle, priority))
        return priority.value

    @priority.setter
    def priority(self, priority: int) -> None:
        check(library.cc_image_set_priority(self._handle, priority))

    def state(self, place: int | str = "cpu") -> _observe.PlaceState:
        """What there is of the pixels at a place. Looking changes nothing."""
        return _observe.place_state(self._handle, self._place(place))

    def valid_regions(self, place: int | str = "cpu") -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The boxes that are up to date at a place, each as (index, size) along i, j, k, l."""
        return _observe.valid_regions(self._handle, self._place(place), self.dimension)

    @property
    def counters(self) -> _observe.Counters:
        """What the pixels have cost: copies, bytes, allocations."""
        return _observe.image_counters(self._handle)

    def reset_counters(self) -> None:
        check(library.cc_image_reset_counters(self._handle))

    def trace(self) -> _observe.Trace:
        """``with image.trace() as events``: what happens to the image's pixels, and why."""
        return _observe.Trace(pixels_id=_observe.pixels_id(self._handle))

    # The array protocols

    @property
    def export_stream(self) -> int:
        """The stream into which reading ``__cuda_array_interface__`` orders pending work; 1 is the legacy stream."""
        return protocol_stream(self._export_stream)

    @export_stream.setter
    def export_stream(self, stream: Any) -> None:
        self._export_stream = stream_handle(stream)

    def _is_on_host(self) -> bool:
        """Whether the protocols speak of host memory."""
        if self._on_host is None:
            self._on_host = library.cc_device_count() == 0
        return self._on_host

    def _read_anew(
        self, params: Any, rest: dict[str, Any], nowhere: int, before: Standing | None, current: list[Standing]
    ) -> tuple[dict[str, Any], bool]:
        """An array interface of a new loan, which takes the place of the one before; and whether work is pending."""
        try:
            now, pending = self._lend(params, rest, nowhere)
        except BaseException:
            if before is not None:
                self._keep(before, current)
            raise
        self._keep(now, current)
        if before is not None:
            # One loan of the same pixels is as good as two.
            before.end()
        return now.interface.copy(), pending

    def _keep(self, loan: Standing, current: list[Standing]) -> None:
        (current if current is self._current_loans else self._old_loans).append(loan)

    def _lend(self, params: Any, rest: dict[str, Any], nowhere: int) -> tuple[Standing, bool]:
        try:
            lent = _spare_lents.pop()
        except IndexError:
            lent = Lent()
        loan = lend_into(lent, self, params)
        descriptor = lent.descriptor
        shape, strides = layout_of(descriptor)
        interface = {
            "shape": shape,
            "typestr": descriptor.typestr.decode(),
            "strides": strides,
            "data": (descriptor.data or nowhere, descriptor.read_only != 0),
            **rest,
        }
        pending = descriptor.pending != 0
        _spare_lents.append(lent)
        return Standing(loan, interface), pending

    def end_loans(self) -> None:
        """Takes back what was lent by reading ``__cuda_array_interface__`` or ``__array_interface__``.

        The caller promises that no array made that way is used any more, and that their work on the device was queued
        in the export stream. Loans by ``__dlpack__`` and by the as... functions end by themselves and are not touched.
        """
        self._forget_loans()
        loans, self._old_loans = self._old_loans, []
        for loan in loans:
            loan.end()

    # Libraries read these attributes twice. What was lent before is told of again when it is as good as a new loan; else
    # a new one takes its place. Whoever works with it has taken it out of the list meanwhile. Another thread that finds
    # none makes one more, and one that gave the image new pixels has left another list. All in one function, as a call
    # of one more costs as much as the question to the library.

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        on_host = self._on_host
        if on_host if on_host is not None else self._is_on_host():
            raise AttributeError("__cuda_array_interface__: the image's protocols speak of host memory")
        stream = self._export_stream
        current = self._current_loans
        try:
            loan = current.pop()
        except IndexError:
            before = None
        else:
            # To ask the device costs more than all the rest. Of two reads the first is for whether there is an attribute.
            asks = loan.asks
            loan.asks = not asks
            if stream:
                standing = 0
            elif asks:
                standing = renew(loan.loan, self._argument)
            else:
                standing = renew_without_asking(loan.loan, self._argument)
            if standing:
                (current if current is self._current_loans else self._old_loans).append(loan)
                interface = loan.interface.copy()
                if standing == LOAN_PENDING:
                    interface["stream"] = 1
                return interface
            before = loan
        if self._pixel_type == BFLOAT16:
            raise AttributeError("__cuda_array_interface__: bfloat16 has no type string; use DLPack")
        params = export_params(structures.DEVICE_CURRENT, stream=stream) if stream else _TO_DEVICE
        interface, pending = self._read_anew(params, _OF_DEVICE, 0, before, current)
        if pending:
            interface["stream"] = stream or 1
        return interface

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if not (self._on_host or self._is_on_host()):
            raise AttributeError("__array_interface__: the image's protocols speak of device memory")
        current = self._current_loans
        try:
            loan = current.pop()
        except IndexError:
            before = None
        else:
            if renew(loan.loan, self._argument):
                (current if current is self._current_loans else self._old_loans).append(loan)
                return loan.interface.copy()
            before = loan
        if self._pixel_type == BFLOAT16:
            raise AttributeError("__array_interface__: bfloat16 has no type string; use DLPack, or asnumpy()")
        return self._read_anew(_TO_HOST, _OF_HOST, NOWHERE, before, current)[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if not self._is_on_host():
            raise TypeError("the image's protocols speak of device memory; use asnumpy(), or host()")
        from ._convert import asnumpy

        array = asnumpy(self, copy=bool(copy))
        if dtype is not None and array.dtype != np.dtype(dtype):
            if copy is False:
                raise ValueError(f"pixels are {array.dtype}, another type needs a copy")
            return array.astype(dtype)
        return array

    __dlpack__ = _dlpack.__dlpack__

    def __dlpack_device__(self) -> tuple[int, int]:
        pair = self._device_pair
        if pair is None:
            pair = (_dlpack.CPU, 0) if self._is_on_host() else (_dlpack.CUDA, self._device_number())
            self._device_pair = pair
        return pair

    # Showing it

    def __repr__(self) -> str:
        parts = [" x ".join(map(str, self.size)) + f" {self.dtype_name}"]
        if self.components > 1:
            parts.append(f"{self.components} components")
        if self.label:
            parts.insert(0, repr(self.label))
        if any(self.index):
            parts.append(f"index {self.index}")
        parts.append(f"spacing {_plain(self.spacing)}")
        if any(self.origin):
            parts.append(f"origin {_plain(self.origin)}")
        if self.read_only:
            parts.append("read-only")
        return f"<cudacommon.Image {', '.join(parts)}; {_observe.describe_places(self._handle, self.size)}>"

    def _repr_png_(self) -> bytes | None:
        """The middle slices, for notebooks."""
        return _picture.picture(self)

    def __reduce__(self) -> Any:
        raise TypeError("an image is not pickled; save its pixels (asnumpy) and its geometry")


def _plain(values: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:g}" for value in values) + ")"


class _Indexer:
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
