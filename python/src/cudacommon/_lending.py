"""Memory on loan: the C library's loans, and the objects that array libraries keep as the owner of borrowed memory."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _structures as structures
from ._library import address_argument, fail, library, unchecked
from ._pixel import BFLOAT16, dtype_of, storage_dtype_of

if TYPE_CHECKING:
    from ._image import Image

_export = unchecked("cc_image_export")
_release = library.cc_loan_release

#: ``renew(loan, image)``, both as address_argument() makes them: 0 when a new loan is needed
renew = unchecked("cc_loan_renew")
renew_without_asking = unchecked("cc_loan_renew_without_asking")
LOAN_PENDING = 2

_DESCRIPTOR_BYTES = ctypes.sizeof(structures.Descriptor)
_PARAMS_BYTES = ctypes.sizeof(structures.ExportParams)

#: What an empty array's address is where NULL is not taken (NumPy before 2.4).
_nowhere = ctypes.create_string_buffer(64)
NOWHERE = (ctypes.addressof(_nowhere) + 63) & ~63

_params: dict[tuple[int, int, int, int, int], Any] = {}


def export_params(
    place: int,
    access: int = structures.READ_WRITE,
    order: int = structures.ORDER_C,
    stream: int = 0,
    flags: int = 0,
) -> Any:
    """A reference to parameters for a whole image. Kept, since most exports are alike."""
    key = (place, access, order, stream, flags)
    params = _params.get(key)
    if params is None:
        if len(_params) >= 256:
            _params.clear()
        params = byref(structures.ExportParams(_PARAMS_BYTES, flags, None, order, access, place, 0, stream))
        _params[key] = params
    return params


class Lent:
    """Where an export puts what it returns."""

    __slots__ = ("descriptor", "loan", "refer_to_descriptor", "refer_to_loan")

    def __init__(self) -> None:
        self.descriptor = structures.Descriptor(_DESCRIPTOR_BYTES)
        self.loan = c_void_p()
        self.refer_to_descriptor = byref(self.descriptor)
        self.refer_to_loan = byref(self.loan)


def lend_into(lent: Lent, image: Image, params: Any) -> int:
    """A loan, described in lent. Whoever gets it ends it with end_loan."""
    status = _export(image._argument, params, lent.refer_to_descriptor, lent.refer_to_loan)
    if status:
        fail(status)
    return lent.loan.value or 0


def lend(image: Image, params: Any) -> tuple[structures.Descriptor, int]:
    """The same, with a description of its own."""
    lent = Lent()
    return lent.descriptor, lend_into(lent, image, params)


def end_loan(loan: int) -> None:
    _release(loan)


class Standing:
    """A loan that is told of again and again, and the interface that tells of it, for the attributes of an image."""

    __slots__ = ("asks", "interface", "loan")

    def __init__(self, loan: int, interface: dict[str, Any]) -> None:
        #: whether the next to be told shall know if the device is idle
        self.asks = True
        self.loan = address_argument(loan)
        self.interface = interface

    def end(self, _release: Any = _release) -> None:
        _release(self.loan)


def layout_of(descriptor: structures.Descriptor) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Shape, and strides in bytes as the array interfaces have them: None when C-contiguous."""
    ndim = descriptor.ndim
    strides = None if descriptor.c_contiguous else tuple(descriptor.strides_bytes[:ndim])
    return tuple(descriptor.shape[:ndim]), strides


def array_interface(descriptor: structures.Descriptor) -> dict[str, Any]:
    """Version 3 of NumPy's array interface; bfloat16, which it has no word for, as uint16."""
    shape, strides = layout_of(descriptor)
    return {
        "shape": shape,
        "typestr": descriptor.typestr.decode() or "<u2",
        "data": (descriptor.data or NOWHERE, bool(descriptor.read_only)),
        "strides": strides,
        "version": 3,
    }


def cuda_array_interface(descriptor: structures.Descriptor, stream: int | None) -> dict[str, Any]:
    """Version 3 of the CUDA array interface."""
    shape, strides = layout_of(descriptor)
    return {
        "shape": shape,
        "typestr": descriptor.typestr.decode(),
        "data": (descriptor.data or 0, bool(descriptor.read_only)),
        "strides": strides,
        "version": 3,
        "stream": stream,
    }


class HostOwner:
    """Keeps host memory alive for the NumPy array that is made of it.

    ``keeper`` is what else must live as long as the array.
    """

    __slots__ = ("__array_interface__", "_keeper", "_loan")

    def __init__(self, descriptor: structures.Descriptor, loan: int = 0, keeper: Any = None) -> None:
        self.__array_interface__ = array_interface(descriptor)
        self._loan = loan
        self._keeper = keeper

    def __del__(self, _release: Any = _release) -> None:
        if self._loan:
            _release(self._loan)


class DeviceOwner:
    """Keeps device memory alive for the arrays that are made of it; they hold this object."""

    __slots__ = ("__cuda_array_interface__", "_loan")

    def __init__(self, descriptor: structures.Descriptor, stream: int | None, loan: int) -> None:
        self.__cuda_array_interface__ = cuda_array_interface(descriptor, stream)
        self._loan = loan

    def __del__(self, _release: Any = _release) -> None:
        if self._loan:
            _release(self._loan)


def numpy_array(descriptor: structures.Descriptor, loan: int = 0, keeper: Any = None) -> np.ndarray[Any, Any]:
    """The described host memory as a NumPy array, which ends the loan when it, and all views of it, are gone."""
    array = np.asarray(HostOwner(descriptor, loan, keeper))
    if descriptor.pixel_type == BFLOAT16 and dtype_of(BFLOAT16) != storage_dtype_of(BFLOAT16):
        array = array.view(dtype_of(BFLOAT16))
    return array
