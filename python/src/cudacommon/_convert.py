"""An image's pixels as arrays of other libraries, without a copy. Each array holds its own loan, which ends with it."""

from __future__ import annotations

from ctypes import c_uint32
from typing import Any

import numpy as np

from . import _dlpack
from . import _structures as structures
from ._access import order_number
from ._image import Image
from ._lending import DeviceOwner, export_params, lend, numpy_array
from ._pixel import BFLOAT16


def asnumpy(
    image: Image,
    *,
    order: str = "C",
    component_axis: bool = False,
    copy: bool | None = None,
    write: bool = True,
) -> np.ndarray[Any, Any]:
    """The pixels as a NumPy array.

    Of an image whose protocols speak of host memory, the array is that memory on loan; of one that lives on a device
    it is a copy. ``copy`` True always copies, False never does: the host memory of a device's image is lent, and while
    the array lives the device may read the pixels, but not write them (BusyError). ``order`` "C" lists axes as
    (l, k, j, i, component), "K" as (component, i, j, k, l). ``write=False`` lends for reading.
    """
    if copy or (copy is None and not image._is_on_host()):
        with image.host(order=order, component_axis=component_axis) as pixels:
            return pixels.copy(order="K")
    access = structures.READ_WRITE if write else structures.READ
    flags = structures.EXPORT_COMPONENT_AXIS if component_axis else 0
    params = export_params(structures.PLACE_HOST, access, order_number(order), flags=flags)
    descriptor, loan = lend(image, params)
    return numpy_array(descriptor, loan)


def _device_owner(image: Image, stream: int, write: bool) -> DeviceOwner:
    """Device memory on loan, ordered into the stream that it is for, so that its user need not wait on the host."""
    if image._pixel_type == BFLOAT16:
        raise BufferError("bfloat16 has no type string; only DLPack can hand it over")
    access = structures.READ_WRITE if write else structures.READ
    descriptor, loan = lend(image, export_params(structures.DEVICE_CURRENT, access, stream=stream))
    return DeviceOwner(descriptor, None, loan)


def ascupy(image: Image, *, write: bool = True) -> Any:
    """The pixels on the device as a cupy.ndarray, for CuPy's current stream."""
    import cupy

    stream = cupy.cuda.get_current_stream().ptr
    if image._pixel_type == BFLOAT16:
        return cupy.from_dlpack(image)
    return cupy.asarray(_device_owner(image, 0 if stream == 1 else stream, write))


def astorch(image: Image) -> Any:
    """The pixels as a torch.Tensor: on the device, or on the CPU when the image's protocols speak of host memory."""
    import torch

    return torch.from_dlpack(image)


class _ForJax:
    """JAX asks for legacy capsules, which cannot say read-only; its arrays are never written, so that is no loss."""

    def __init__(self, image: Image) -> None:
        self._image = image

    def __dlpack__(self, *, stream: Any = None, **kwargs: Any) -> Any:
        on_host = self._image._is_on_host()
        place = structures.PLACE_HOST if on_host else structures.DEVICE_CURRENT
        handle = stream if isinstance(stream, int) and stream > 1 and not on_host else 0
        params = export_params(place, structures.READ, stream=handle)
        return _dlpack.make_capsule(self._image, params, versioned=False, flags=c_uint32.from_param(structures.DLPACK_FORCE))

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._image.__dlpack_device__()


def asjax(image: Image) -> Any:
    """The pixels as a jax.Array, lent for reading, since JAX never writes into an array."""
    import jax

    return jax.dlpack.from_dlpack(_ForJax(image))


def asnumba(image: Image, *, write: bool = True, stream: Any = None) -> Any:
    """The pixels on the device as a Numba device array, for kernels in ``stream`` (the default one)."""
    from numba import cuda

    from ._streams import stream_handle

    return cuda.as_cuda_array(_device_owner(image, stream_handle(stream), write))
