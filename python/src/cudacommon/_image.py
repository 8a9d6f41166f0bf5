"""The image: pixels that are right on the CPU and the GPU, with their place in space."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_void_p
from typing import Any, NamedTuple

import numpy as np

from . import _observe, _picture
from . import _structures as structures
from ._access import DevicePixels, HostPixels, order_number
from ._arithmetic import Arithmetic
from ._filters import Filters
from ._geometry import Space, integers, make_geometry, make_region
from ._indexing import Indexer
from ._lending import Standing
from ._library import address_argument, check, library
from ._pixel import dtype_of, name_of, number_of, pixel_bytes
from ._places import Places, place_number
from ._protocols import Protocols
from ._reductions import Reductions
from ._regions import Regions
from ._smoothing import Smoothing
from ._streams import stream_handle
from ._textures import Texture, params_of

_UNINITIALIZED = 1
_PARAMS_BYTES = ctypes.sizeof(structures.ImageParams)


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


class Image(Arithmetic, Reductions, Regions, Filters, Smoothing, Space, Places, Protocols):
    """Pixels on the CPU and the GPU at once, with spacing, origin, direction and the index of the first pixel.

    ``size``, ``index``, ``spacing``, ``origin`` and the columns of ``direction`` list axes as ITK does: i, the fastest,
    first. ``shape`` and the arrays that are made of an image list them as NumPy does: i last, then the components.

    ``device`` says which memory the array protocols of the image speak of: a device's (``None`` or "cuda": the current
    one, "cuda:1" or 1: that one) where there is a device, else the host's; "cpu": the host's. Either way the pixels can
    be had on both sides, by ``host()`` and ``device()``.
    """

    __slots__ = (
        "__weakref__",
        "_handle",
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
            make_region(geometry.index[:dimension], integers("size", given_size, dimension)),
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
        first = own.index[: self.dimension] if index is None else integers("index", index, self.dimension)
        if size is None:
            count = [own.index[axis] + own.size[axis] - first[axis] for axis in range(self.dimension)]
        else:
            count = integers("size", size, self.dimension)
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
    def by_itk_index(self) -> Indexer:
        """``image.by_itk_index[i, j, k]``: a pixel; with slices a view. Counted as the image's own index, absolute."""
        return Indexer(self, is_itk=True)

    @property
    def by_numpy_index(self) -> Indexer:
        """``image.by_numpy_index[k, j, i]``: a pixel; with slices a view. Counted from 0, negative from the end."""
        return Indexer(self, is_itk=False)

    def graft(self, source: Image) -> None:
        """Takes over the pixels of ``source``, to share them from now on, and its region, type and geometry."""
        check(library.cc_image_graft(self._handle, source._handle))
        self._on_host = source._on_host
        self._take_over()

    def resize(self, size: Sequence[int], index: Sequence[int] | None = None) -> None:
        """New pixels, all zero, for another region. Views and arrays keep the old ones."""
        first = self.index if index is None else integers("index", index, self.dimension)
        check(library.cc_image_resize(self._handle, make_region(first, integers("size", size, self.dimension))))
        self._take_over()

    def copy(self) -> Image:
        """An independent image with the same pixels and geometry, made where the pixels are."""
        other = self._new_like(self._pixel_type, self.components, self.size)
        check(library.cc_image_rescale(self._handle, 1.0, 0.0, other._handle, 0))
        return other

    def like(self, dtype: Any = None, components: int | None = None) -> Image:
        """A new image of the same size, on the same device, in the same place in space, all zero; of another type, or
        with so many components, if that is given."""
        pixel_type = self._pixel_type if dtype is None else number_of(dtype)
        count = self.components if components is None else components
        return self._new_on(pixel_type, count, self.size, self._geometry, flags=0)

    def _new_like(self, pixel_type: int, components: int, size: Sequence[int]) -> Image:
        """For the result of an operation: with undefined pixels, where this one is on devices and, if it has as many
        axes, in space."""
        geometry = self._geometry if len(size) == self.dimension else make_geometry(len(size))
        return self._new_on(pixel_type, components, size, geometry)

    def _new_on(
        self,
        pixel_type: int,
        components: int,
        size: Sequence[int],
        geometry: structures.Geometry,
        flags: int = _UNINITIALIZED,
    ) -> Image:
        params = structures.ImageParams(
            _PARAMS_BYTES,
            len(size),
            pixel_type,
            components,
            library.cc_image_get_device(self._handle),
            flags,
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

    def discard(self, *, index: Sequence[int] | None = None, size: Sequence[int] | None = None) -> None:
        """Says that what the pixels hold is not needed any more."""
        check(library.cc_image_discard(self._handle, self._region_of(index, size)))

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
