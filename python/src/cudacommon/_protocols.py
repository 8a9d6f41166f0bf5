"""What an image tells array libraries of itself: the array interfaces and DLPack."""

from __future__ import annotations

from ctypes import c_int32
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _dlpack
from . import _structures as structures
from ._lending import LOAN_PENDING, NOWHERE, Lent, Standing, export_params, layout_of, lend_into, renew, renew_without_asking
from ._library import check, library
from ._pixel import BFLOAT16
from ._places import place_number
from ._streams import protocol_stream, stream_handle

#: for reading attributes: made when needed, used by one thread at a time
_spare_lents: list[Lent] = []

_TO_HOST = export_params(structures.PLACE_HOST)
_TO_DEVICE = export_params(structures.DEVICE_CURRENT)

#: what the interfaces of all pixels have
_OF_HOST: dict[str, Any] = {"version": 3}
_OF_DEVICE: dict[str, Any] = {"version": 3, "stream": None}


class Protocols:
    """What an image has of this."""

    __slots__ = ("_argument", "_current_loans", "_device_pair", "_export_stream", "_old_loans", "_on_host")

    _argument: Any
    _current_loans: list[Standing]
    _device_pair: tuple[int, int] | None
    _export_stream: int
    _handle: Any
    _old_loans: list[Standing]
    _on_host: bool | None
    _pixel_type: int

    # What Image has of these is its own.
    if TYPE_CHECKING:

        def _device_number(self) -> int: ...

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

    def _forget_loans(self) -> None:
        """What was lent is not what the attributes speak of from now on, and stays lent."""
        self._old_loans += self._current_loans
        self._current_loans = []

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
        loan = lend_into(lent, self, params)  # type: ignore[arg-type]
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

        array = asnumpy(self, copy=bool(copy))  # type: ignore[arg-type]
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
