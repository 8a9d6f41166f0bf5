"""What the library's statuses are in Python: one exception each, with the library's own message."""

from __future__ import annotations

from typing import Final


class Error(Exception):
    """The base of every error of the library. ``str()`` of it is the library's message.

    ``status`` is the cc_status, ``native_error`` the driver's own code, 0 when it was not the driver.
    """

    status: int = 0
    native_error: int = 0


class InvalidArgumentError(Error, ValueError):
    """A value out of its range."""


class SizeOverflowError(Error, OverflowError):
    """A product or sum of sizes, strides or indices leaves 63 bits."""


class RegionError(Error, IndexError):
    """The region is not inside the image's region."""


class PixelTypeError(Error, BufferError, ValueError):
    """The pixel type is unknown, or not supported by this call."""


class SizeError(Error, ValueError):
    """A byte length or an image size does not match."""


class LayoutError(Error, BufferError, ValueError):
    """Strides overlap, are too short, or are misaligned for the pixel type."""


class BusyError(Error, BufferError):
    """Somebody holds a mapping or a loan that excludes this one."""


class ReadOnlyError(Error, BufferError, ValueError):
    """The pixels may only be read."""


class UninitializedError(Error, BufferError, ValueError):
    """Pixels that nobody has written would be read."""


class NoDeviceError(Error, BufferError, RuntimeError):
    """There is no GPU, no driver, or no CUDA in this build."""


class InvalidDeviceError(Error, BufferError, ValueError):
    """The device number is not one of this machine's."""


class PointerError(Error, BufferError, ValueError):
    """The pointer is not memory of the kind the call needs."""


class StreamError(Error, ValueError):
    """The stream is not valid on the image's device."""


class CaptureError(Error, BufferError, RuntimeError):
    """The stream is being captured into a graph, which cannot hold this work."""


class OutOfMemoryError(Error, MemoryError):
    """Memory is exhausted, on the host or on a device."""


class OutOfHostMemoryError(OutOfMemoryError):
    """Host memory is exhausted."""


class OutOfDeviceMemoryError(OutOfMemoryError):
    """Device memory is exhausted and nothing can be evicted."""


class DeviceError(Error, RuntimeError):
    """The driver reported an error."""


class ForkedError(Error, RuntimeError):
    """The process was forked after a device was first used."""


class UnsupportedError(Error, BufferError, NotImplementedError):
    """This build or this memory cannot do it."""


class CancelledError(Error, RuntimeError):
    """A progress callback asked to stop."""


#: By cc_status.
BY_STATUS: Final[dict[int, type[Error]]] = {
    1: InvalidArgumentError,
    2: SizeOverflowError,
    3: RegionError,
    4: PixelTypeError,
    5: SizeError,
    6: LayoutError,
    7: BusyError,
    8: ReadOnlyError,
    9: UninitializedError,
    10: NoDeviceError,
    11: InvalidDeviceError,
    12: PointerError,
    13: StreamError,
    14: CaptureError,
    15: OutOfHostMemoryError,
    16: OutOfDeviceMemoryError,
    17: DeviceError,
    18: ForkedError,
    19: UnsupportedError,
    20: CancelledError,
}
