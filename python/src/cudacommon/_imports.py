"""Arrays of other libraries as images, without a copy."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from ctypes import c_int, c_void_p
from functools import lru_cache
from typing import Any

import numpy as np

from . import _dlpack, _owners
from . import _structures as structures
from ._access import order_number
from ._errors import LayoutError, StreamError
from ._geometry import make_geometry
from ._image import Image
from ._library import check, library
from ._pixel import is_bfloat16, number_of
from ._streams import stream_handle

_BEYOND_64_BITS = 2**63
_DESCRIPTOR_BYTES = ctypes.sizeof(structures.Descriptor)
_ON_HOST = (_dlpack.CPU, _dlpack.CUDA_HOST)


def from_array(
    array: Any,
    dimension: int,
    *,
    order: str = "C",
    spacing: Sequence[float] | None = None,
    origin: Sequence[float] | None = None,
    direction: Any = None,
    index: Sequence[int] | None = None,
    strided: bool = True,
    writable: bool = False,
    copy: bool = False,
    stream: Any = None,
    device: int | str | None = None,
) -> Image:
    """Makes an image over an array: anything with ``__dlpack__``, ``__cuda_array_interface__`` or
    ``__array_interface__``. The image and the array share memory.

    ``dimension`` is the image's: an array of as many axes is an image of one component, one axis more is the component
    axis (the last with ``order`` "C", the first with "K"). It is never guessed. ``order`` says how the array lists its
    axes: "C" (l, k, j, i), "K" (i, j, k, l).

    Memory that an image has lent comes back as a view of that image, with its geometry, unless spacing, origin,
    direction or index are given. ``strided=False`` refuses what is not dense; ``writable=True`` refuses what is
    read-only. What cannot be shared (negative, zero or overlapping strides, another byte order, misaligned memory) is a
    BufferError; ``copy=True`` copies it, on the host or on its device, into an image of its own.

    ``stream`` is where the array's pending work is on a device, when the array does not say; the legacy default stream
    otherwise.
    """
    if isinstance(array, Image):
        return _of_image(array, dimension, (spacing, origin, direction, index), copy, device)
    if copy:
        return _copy_of(array, dimension, order, (spacing, origin, direction, index), stream, device)
    has_geometry = any(entry is not None for entry in (spacing, origin, direction, index))
    params = structures.ImportParams(ctypes.sizeof(structures.ImportParams))
    params.dimension = dimension
    params.order = order_number(order)
    params.flags = (structures.IMPORT_STRIDED if strided else 0) | (structures.IMPORT_WRITABLE if writable else 0)
    if has_geometry:
        geometry = make_geometry(_checked_dimension(dimension), spacing, origin, direction, index)
        params.geometry = ctypes.pointer(geometry)
    image = _import(array, params, stream)
    if device is not None:
        image.set_device(device)
    return image


def _checked_dimension(dimension: int) -> int:
    if not 1 <= dimension <= structures.MAX_DIMENSION:
        raise ValueError(f"dimension = {dimension}, expected 1 to {structures.MAX_DIMENSION}")
    return dimension


def _import(array: Any, params: structures.ImportParams, stream: Any) -> Image:
    """By the protocol that keeps the owner most exactly and says most about the memory."""
    if isinstance(array, np.ndarray):
        return _import_interface(array, _interface_of_ndarray(array), params, structures.PLACE_HOST, 0)
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        return _import_dlpack(array, params, stream)
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        pending = stream_handle(stream) if stream is not None else _stream_of(interface)
        return _import_interface(array, interface, params, structures.DEVICE_CURRENT, pending)
    interface = getattr(array, "__array_interface__", None)
    if interface is not None:
        return _import_interface(array, interface, params, structures.PLACE_HOST, 0)
    raise TypeError(
        f"{type(array).__name__} has none of __dlpack__, __cuda_array_interface__ and __array_interface__; "
        "numpy.asarray() may make an array of it"
    )


def _interface_of_ndarray(array: np.ndarray[Any, Any]) -> Mapping[str, Any]:
    if is_bfloat16(array.dtype):
        return {**array.view(np.uint16).__array_interface__, "pixel_type": number_of("bfloat16")}
    return array.__array_interface__


def _stream_of(interface: Mapping[str, Any]) -> int:
    stream = interface.get("stream")
    if stream is None:
        return 0
    if not isinstance(stream, int) or stream <= 0:
        raise StreamError(f"__cuda_array_interface__: stream = {stream!r}, expected None, 1, 2 or a stream's handle")
    return stream_handle(stream)


def describe(interface: Mapping[str, Any], place: int, stream: int) -> tuple[structures.Descriptor, int]:
    """What an array interface says, as a descriptor, and the import flags that go with it."""
    if interface.get("mask") is not None:
        raise BufferError("the array has a mask, which an image cannot have")
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    if len(shape) > structures.MAX_DIMENSION + 1:
        raise LayoutError(f"the array has {len(shape)} axes, expected at most {structures.MAX_DIMENSION + 1}")
    if strides is not None and len(strides) != len(shape):
        raise ValueError(f"the array has {len(shape)} axes and {len(strides)} strides")
    for name, entries in (("shape", shape), ("strides", strides or ())):
        if entries and not -_BEYOND_64_BITS <= min(entries) <= max(entries) < _BEYOND_64_BITS:
            raise OverflowError(f"{name} = {tuple(entries)}, expected 64 bits")
    pointer, read_only = interface["data"]
    pixel_type = interface.get("pixel_type")
    typestr = b"" if pixel_type is not None else interface["typestr"].encode()
    if pixel_type is None:
        pixel_type = _type_of(typestr)
    descriptor = structures.Descriptor(
        _DESCRIPTOR_BYTES,
        3,
        len(shape),
        place,
        pointer or None,
        stream or None,
        shape,
        tuple(strides or ()),
        typestr,
        pixel_type,
        0,
        bool(read_only),
    )
    return descriptor, 0 if strides is not None else structures.IMPORT_CONTIGUOUS


@lru_cache(maxsize=64)
def _type_of(typestr: bytes) -> int:
    pixel_type = c_int()
    check(library.cc_typestr_parse(typestr, pixel_type))
    return pixel_type.value


def _import_interface(
    owner: Any, interface: Mapping[str, Any], params: structures.ImportParams, place: int, stream: int
) -> Image:
    descriptor, flags = describe(interface, place, stream)
    params.flags |= flags
    params.release = _owners.RELEASE
    ticket = _owners.keep(owner)
    params.user_data = ticket
    image = c_void_p()
    status = library.cc_image_import(descriptor, params, image)
    if status:
        try:
            check(status)
        finally:
            _owners.drop(ticket)
    _owners.collect()
    return Image._from_handle(image, on_host=place == structures.PLACE_HOST)


def _import_dlpack(array: Any, params: structures.ImportParams, stream: Any) -> Image:
    kind, _ = array.__dlpack_device__()
    on_host = kind in _ON_HOST
    # The producer orders its work before what comes next in this stream.
    handle = 0 if on_host else stream_handle(stream)
    arguments: dict[str, Any] = {} if on_host else {"stream": handle or 1}
    try:
        capsule = array.__dlpack__(max_version=(1, 0), **arguments)
    except TypeError:
        capsule = array.__dlpack__(**arguments)
    image = _dlpack.import_capsule(capsule, params, handle)
    return Image._from_handle(image, on_host=on_host)


def _of_image(image: Image, dimension: int, geometry: tuple[Any, Any, Any, Any], copy: bool, device: Any) -> Image:
    if dimension != image.dimension:
        raise ValueError(f"dimension = {dimension}, the image has {image.dimension}")
    other = image.copy() if copy else image.view()
    for name, value in zip(("spacing", "origin", "direction", "index"), geometry, strict=True):
        if value is not None:
            setattr(other, name, value)
    if device is not None:
        other.set_device(device)
    return other


def _copy_of(
    array: Any, dimension: int, order: str, geometry: tuple[Any, Any, Any, Any], stream: Any, device: Any
) -> Image:
    """An image of its own with the array's values, whatever the array's layout."""
    spacing, origin, direction, index = geometry
    if hasattr(array, "__cuda_array_interface__") or (
        hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] not in _ON_HOST
    ):
        if not _is_dense(array):
            array = _dense_on_device(array)
        shared = from_array(
            array, dimension, order=order, spacing=spacing, origin=origin, direction=direction, index=index, stream=stream
        )
        return shared.copy()
    values = np.asarray(array)
    if order_number(order) == structures.ORDER_K:
        values = values.T
    extra = values.ndim - _checked_dimension(dimension)
    if extra not in (0, 1):
        raise ValueError(f"the array has {values.ndim} axes, expected {dimension} or {dimension + 1}")
    image = Image(
        values.shape[dimension - 1 :: -1] if dimension <= values.ndim else (),
        "bfloat16" if is_bfloat16(values.dtype) else values.dtype.newbyteorder("="),
        values.shape[-1] if extra else 1,
        spacing=spacing,
        origin=origin,
        direction=direction,
        index=index,
        initialize=False,
        device="cpu" if device is None else device,
    )
    with image.host(write=True, read=False) as pixels:
        pixels[...] = values.reshape(pixels.shape)
    return image


def _is_dense(array: Any) -> bool:
    interface = getattr(array, "__cuda_array_interface__", None)
    return interface is not None and interface.get("strides") is None


def _dense_on_device(array: Any) -> Any:
    """A C-contiguous copy by the array's own library."""
    if hasattr(array, "contiguous"):
        return array.contiguous()
    import cupy

    return cupy.ascontiguousarray(cupy.asarray(array))
