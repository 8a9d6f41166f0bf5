"""DLPack tensors as tests look at them and make them, by the ABI as dlpack.h has it and by nothing of the package.

Source: dmlc/dlpack, dlpack.h 1.x; on a 64-bit machine DLTensor is 48 bytes, DLManagedTensor 64, DLManagedTensorVersioned
80, with flags at 24 and dl_tensor at 32.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any, NamedTuple

LEGACY = "dltensor"
VERSIONED = "dltensor_versioned"


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


Deleter = ctypes.CFUNCTYPE(None, c_void_p)


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", c_void_p), ("deleter", Deleter)]


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("manager_ctx", c_void_p),
        ("deleter", Deleter),
        ("flags", c_uint64),
        ("dl_tensor", DLTensor),
    ]


assert ctypes.sizeof(DLTensor) == 48
assert ctypes.sizeof(DLManagedTensor) == 64
assert ctypes.sizeof(DLManagedTensorVersioned) == 80
assert DLManagedTensorVersioned.flags.offset == 24
assert DLManagedTensorVersioned.dl_tensor.offset == 32

_api = ctypes.pythonapi
_get_name = ctypes.PYFUNCTYPE(c_char_p, ctypes.py_object)(("PyCapsule_GetName", _api))
_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, c_char_p)(("PyCapsule_SetName", _api))
_get_pointer = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, c_char_p)(("PyCapsule_GetPointer", _api))
_new = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", _api))


class Tensor(NamedTuple):
    version: tuple[int, int] | None
    flags: int | None
    data: int
    device: tuple[int, int]
    dtype: tuple[int, int, int]
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    byte_offset: int


def capsule_name(capsule: Any) -> str:
    return str(_get_name(capsule).decode())


def _managed(capsule: Any) -> Any:
    name = capsule_name(capsule)
    kind = {LEGACY: DLManagedTensor, VERSIONED: DLManagedTensorVersioned}[name]
    return kind.from_address(_get_pointer(capsule, name.encode()))


def look(capsule: Any) -> Tensor:
    """What is in it. It stays as it is."""
    managed = _managed(capsule)
    tensor = managed.dl_tensor
    versioned = isinstance(managed, DLManagedTensorVersioned)
    return Tensor(
        (managed.major, managed.minor) if versioned else None,
        managed.flags if versioned else None,
        tensor.data or 0,
        (tensor.device_type, tensor.device_id),
        (tensor.code, tensor.bits, tensor.lanes),
        tuple(tensor.shape[: tensor.ndim]),
        tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None,
        tensor.byte_offset,
    )


# A capsule keeps the address of its name alone.
_NAME = {LEGACY: b"dltensor", VERSIONED: b"dltensor_versioned"}
_USED = {LEGACY: b"used_dltensor", VERSIONED: b"used_dltensor_versioned"}


class Consumed:
    """A tensor that a consumer has taken, with the deleter that it calls when it is done."""

    def __init__(self, capsule: Any) -> None:
        self.tensor = look(capsule)
        managed = _managed(capsule)
        self._address = ctypes.addressof(managed)
        self._deleter = managed.deleter
        self._is_deleted = False
        _set_name(capsule, _USED[capsule_name(capsule)])

    def delete(self) -> None:
        assert not self._is_deleted
        self._is_deleted = True
        self._deleter(self._address)


def consume(capsule: Any) -> Consumed:
    return Consumed(capsule)


class Producer:
    """An array of somebody else's, with a tensor as a test wants it. Counts calls of its deleter."""

    def __init__(
        self,
        data: int,
        shape: Sequence[int] | None,
        strides: Sequence[int] | None,
        dtype: tuple[int, int, int],
        device: tuple[int, int],
        *,
        version: tuple[int, int] | None = (1, 0),
        flags: int = 0,
        byte_offset: int = 0,
        ndim: int | None = None,
        keep: Any = None,
    ) -> None:
        self.deleted = 0
        self.device = device
        self._keep = keep
        self._managed: Any = DLManagedTensor() if version is None else DLManagedTensorVersioned()
        self._name = LEGACY if version is None else VERSIONED
        if version is not None:
            self._managed.major, self._managed.minor = version
            self._managed.flags = flags
        tensor = self._managed.dl_tensor
        tensor.data = data or None
        tensor.device_type, tensor.device_id = device
        tensor.code, tensor.bits, tensor.lanes = dtype
        tensor.ndim = len(shape or ()) if ndim is None else ndim
        self._arrays = [(c_int64 * len(entries))(*entries) if entries is not None else None for entries in (shape, strides)]
        for name, entries in zip(("shape", "strides"), self._arrays, strict=True):
            if entries is not None:
                setattr(tensor, name, ctypes.cast(entries, POINTER(c_int64)))
        tensor.byte_offset = byte_offset
        self._deleter = Deleter(self._delete)
        self._managed.deleter = self._deleter

    def _delete(self, address: int) -> None:
        assert address == ctypes.addressof(self._managed)
        self.deleted += 1

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None) -> Any:
        self.stream = stream
        return _new(ctypes.addressof(self._managed), _NAME[self._name], None)
