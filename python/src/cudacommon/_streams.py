"""Streams as other libraries have them, as a number that the C library takes."""

from __future__ import annotations

import ctypes
from typing import Any

from ._errors import StreamError


def stream_handle(stream: Any) -> int:
    """The cudaStream_t of a stream object, or of its number: 0 and 1 legacy, 2 per-thread, else the handle itself.

    Takes None (the legacy default stream), a number, what has ``__cuda_stream__``, and streams of CuPy, PyTorch and
    Numba.
    """
    if stream is None:
        return 0
    if isinstance(stream, int):
        handle = stream
    elif hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        handle = (protocol() if callable(protocol) else protocol)[1]
    else:
        for attribute in ("ptr", "cuda_stream", "handle"):
            if hasattr(stream, attribute):
                handle = getattr(stream, attribute)
                break
        else:
            raise StreamError(f"stream = {stream!r}, expected a stream, its number, or None")
    if isinstance(handle, ctypes.c_void_p):
        handle = handle.value or 0
    handle = int(handle)
    if handle < 0:
        raise StreamError(f"stream = {handle}, expected >= 0")
    return 0 if handle == 1 else handle


def protocol_stream(handle: int) -> int:
    """The same as the CUDA array interface and DLPack write it: the legacy stream is 1, never 0."""
    return handle or 1
