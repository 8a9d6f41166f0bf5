"""Mappings as context managers: pixels on the host or on the device, for the length of a with statement."""

from __future__ import annotations

import ctypes
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _structures as structures
from ._lending import cuda_array_interface, layout_of, numpy_array
from ._library import check, library
from ._pixel import dtype_of
from ._streams import protocol_stream

if TYPE_CHECKING:
    from ._image import Image

_ORDERS = {"C": structures.ORDER_C, "K": structures.ORDER_K}


def order_number(order: str) -> int:
    if order not in _ORDERS:
        raise ValueError(f"order = {order!r}, expected 'C' (slowest axis first, as NumPy) or 'K' (i, j, k as ITK)")
    return _ORDERS[order]


def access_number(read: bool, write: bool) -> int:
    if write:
        return structures.READ_WRITE if read else structures.WRITE
    if not read:
        raise ValueError("read = False and write = False, expected one of them")
    return structures.READ


class _Mapping:
    """One mapping at a time: entered, used, left."""

    def __init__(
        self,
        image: Image,
        region: structures.Region | None,
        order: str,
        read: bool,
        write: bool,
        component_axis: bool,
    ) -> None:
        self._image = image
        self._region = region
        self._order = order_number(order)
        self._access = access_number(read, write)
        self._flags = structures.EXPORT_COMPONENT_AXIS if component_axis else 0
        self._descriptor: structures.Descriptor | None = None

    def _map(self, place: int, stream: int) -> structures.Descriptor:
        if self._descriptor is not None:
            raise RuntimeError("the pixels are mapped already; make another context manager to map them twice")
        descriptor = structures.Descriptor(ctypes.sizeof(structures.Descriptor))
        check(
            library.cc_image_map_descriptor(
                self._image._handle, self._region, self._order, self._flags, place, self._access, stream, descriptor
            )
        )
        self._descriptor = descriptor
        return descriptor

    def _take(self) -> structures.Descriptor:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            raise RuntimeError("the pixels are not mapped")
        return descriptor


class HostPixels(_Mapping):
    """Pixels on the host, as a NumPy array: ``with image.host() as a``."""

    _array: np.ndarray[Any, Any] | None = None

    def __enter__(self) -> np.ndarray[Any, Any]:
        descriptor = self._map(structures.PLACE_HOST, 0)
        self._array = numpy_array(descriptor, keeper=self._image)
        return self._array

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        descriptor = self._take()
        # Who kept the array shall not write what nobody would notice.
        if self._array is not None and self._array.flags.writeable:
            self._array.flags.writeable = False
        self._array = None
        check(library.cc_image_unmap_host(self._image._handle, descriptor.data))


class MappedDevicePixels:
    """Pixels in device memory, for work in one stream, until the with statement that gave them ends.

    CuPy, PyTorch and Numba take it by its ``__cuda_array_interface__``; a kernel takes ``pointer``.
    """

    def __init__(self, descriptor: structures.Descriptor, stream: int) -> None:
        #: address of the first pixel, 0 when there is none
        self.pointer: int = descriptor.data or 0
        self.shape, self._strides = layout_of(descriptor)
        #: bytes to the next element along each axis
        self.strides: tuple[int, ...] = tuple(descriptor.strides_bytes[: descriptor.ndim])
        self.dtype = dtype_of(descriptor.pixel_type)
        self.device: int = descriptor.place
        #: the stream that the pixels are for, as a cudaStream_t
        self.stream: int = stream
        self.read_only = bool(descriptor.read_only)
        if descriptor.typestr:
            self.__cuda_array_interface__ = cuda_array_interface(descriptor, protocol_stream(stream))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        raise TypeError("these pixels are in device memory; image.host() gives them to NumPy")

    def __repr__(self) -> str:
        return f"<device pixels {self.shape} {self.dtype} at {self.pointer:#x} on device {self.device}>"


class DevicePixels(_Mapping):
    """Pixels on the image's device: ``with image.device(stream=s) as d``."""

    def __init__(
        self,
        image: Image,
        region: structures.Region | None,
        order: str,
        read: bool,
        write: bool,
        component_axis: bool,
        stream: int,
    ) -> None:
        super().__init__(image, region, order, read, write, component_axis)
        self._stream = stream

    def __enter__(self) -> MappedDevicePixels:
        return MappedDevicePixels(self._map(structures.DEVICE_CURRENT, self._stream), self._stream)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        descriptor = self._take()
        check(library.cc_image_unmap_device(self._image._handle, descriptor.data, self._stream))
