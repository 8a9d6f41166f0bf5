"""DLPack: capsules of images. Capsule destructor and deleters are C functions of the library."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_uint32, c_void_p
from typing import TYPE_CHECKING, Any

from . import _structures as structures
from ._lending import export_params
from ._library import address_argument, address_of, check, fail, library, unchecked

if TYPE_CHECKING:
    from ._image import Image

CPU = 1
CUDA = 2
CUDA_HOST = 3
CUDA_MANAGED = 13

# Names that outlive every capsule, also those that die while the interpreter does.
_name = library.cc_dlpack_capsule_name
LEGACY_NAME, VERSIONED_NAME = _name(0, 0), _name(1, 0)
_USED_LEGACY_NAME, _USED_VERSIONED_NAME = _name(0, 1), _name(1, 1)

_python = ctypes.pythonapi
_object = ctypes.py_object
_new_capsule = ctypes.PYFUNCTYPE(_object)(("PyCapsule_New", _python))
_capsule_pointer = ctypes.PYFUNCTYPE(c_void_p, _object, c_void_p)(("PyCapsule_GetPointer", _python))
_capsule_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, _object, c_void_p)(("PyCapsule_IsValid", _python))
_capsule_rename = ctypes.PYFUNCTYPE(ctypes.c_int, _object, c_void_p)(("PyCapsule_SetName", _python))

library.cc_dlpack_set_capsule_functions(
    address_of(_python.PyCapsule_IsValid), address_of(_python.PyCapsule_GetPointer)
)
_destructor = address_argument(address_of(library.cc_dlpack_destroy_capsule))

_export_legacy, _export_versioned = unchecked("cc_image_export_dlpack_legacy"), unchecked("cc_image_export_dlpack")
_legacy_name, _versioned_name = address_argument(LEGACY_NAME), address_argument(VERSIONED_NAME)
_no_flags = c_uint32.from_param(0)


class _Tensor:
    """Where an export puts the tensor."""

    __slots__ = ("address", "reference")

    def __init__(self) -> None:
        self.address = c_void_p()
        self.reference = byref(self.address)


#: made when needed, used by one thread at a time
_spare_tensors: list[_Tensor] = []


def make_capsule(image: Image, params: Any, versioned: bool, flags: Any = _no_flags) -> Any:
    """A capsule that owns a loan of the image, or a copy of it."""
    try:
        tensor = _spare_tensors.pop()
    except IndexError:
        tensor = _Tensor()
    if versioned:
        status = _export_versioned(image._argument, params, flags, tensor.reference)
        name = _versioned_name
    else:
        status = _export_legacy(image._argument, params, flags, tensor.reference)
        name = _legacy_name
    if status:
        fail(status)
    capsule = _new_capsule(tensor.address, name, _destructor)
    _spare_tensors.append(tensor)
    return capsule


def _stream(stream: Any, on_host: bool) -> int:
    """What __dlpack__ was given, as a cudaStream_t. -1 asks for no ordering, and gets that of the legacy stream."""
    if stream is None:
        return 0
    if not isinstance(stream, int):
        raise ValueError(f"__dlpack__: stream = {stream!r}, expected a number or None")
    if stream == -1:
        return 0
    if on_host:
        raise ValueError(f"__dlpack__: stream = {stream}, expected None or -1 for memory of the host")
    if stream <= 0:
        raise ValueError(f"__dlpack__: stream = {stream}, expected -1, 1, 2 or a stream's handle; 0 is ambiguous")
    return 0 if stream == 1 else stream


#: by kind of device and stream: what most calls ask for
_usual: dict[tuple[int, Any], Any] = {
    (CPU, None): export_params(structures.PLACE_HOST),
    (CPU, -1): export_params(structures.PLACE_HOST),
    (CUDA, None): export_params(structures.DEVICE_CURRENT),
    (CUDA, -1): export_params(structures.DEVICE_CURRENT),
    (CUDA, 1): export_params(structures.DEVICE_CURRENT),
    (CUDA, 2): export_params(structures.DEVICE_CURRENT, stream=2),
}


def __dlpack__(
    image: Image,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule: a loan that ends when the consumer's tensor does."""
    # Nothing here may raise TypeError: consumers would retry with fewer arguments.
    own = image._device_pair or image.__dlpack_device__()
    versioned = max_version is not None and max_version[0] >= 1
    if dl_device is None and not copy and (stream is None or isinstance(stream, int)):
        params = _usual.get((own[0], stream))
        if params is not None:
            return make_capsule(image, params, versioned)
    flags = structures.DLPACK_COPY if copy else 0
    if dl_device is not None and tuple(dl_device) != own:
        kind, number = dl_device
        if kind != CPU or number != 0 or copy is False:
            raise BufferError(
                f"__dlpack__: dl_device = {(int(kind), int(number))}, the pixels are on {own}"
                + (" and copy = False" if kind == CPU else "; set_device() moves an image")
            )
        if stream is not None and stream != -1:
            raise ValueError(f"__dlpack__: stream = {stream}, expected None for a copy on the host")
        own = (CPU, 0)
        flags = structures.DLPACK_COPY
    on_host = own[0] == CPU
    handle = _stream(stream, on_host)
    access = structures.READ if flags else structures.READ_WRITE
    params = export_params(structures.PLACE_HOST if on_host else structures.DEVICE_CURRENT, access, 0, handle)
    return make_capsule(image, params, versioned, c_uint32.from_param(flags))


def import_capsule(capsule: Any, params: structures.ImportParams, stream: int) -> c_void_p:
    """An image over a capsule's tensor, which goes over to it; a handle. When this raises, the capsule is as before."""
    image = c_void_p()
    if _capsule_is_valid(capsule, VERSIONED_NAME):
        tensor = _capsule_pointer(capsule, VERSIONED_NAME)
        # Of an unknown major version the library calls the deleter: the one failure that uses the tensor up.
        if ctypes.c_uint32.from_address(tensor).value != 1:
            _capsule_rename(capsule, _USED_VERSIONED_NAME)
        check(library.cc_image_import_dlpack(tensor, params, stream, image))
        _capsule_rename(capsule, _USED_VERSIONED_NAME)
    elif _capsule_is_valid(capsule, LEGACY_NAME):
        tensor = _capsule_pointer(capsule, LEGACY_NAME)
        check(library.cc_image_import_dlpack_legacy(tensor, params, stream, image))
        _capsule_rename(capsule, _USED_LEGACY_NAME)
    else:
        raise BufferError(f"{capsule!r} is no DLPack capsule, or was used before")
    return image
