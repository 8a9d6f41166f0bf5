"""Images whose pixels live on the CPU and on GPUs at once, and are right on both.

    >>> import cudacommon as cc
    >>> image = cc.Image((512, 512, 512), dtype="float32", spacing=(1, 1, 2.5))
    >>> image.fill(42.3)                      # nothing allocated, nothing moved
    >>> a = cupy.asarray(image)               # no copy, ordered after what the image has pending
    >>> a *= 2
    >>> with image.host() as h:               # a NumPy array; sees what CuPy wrote
    ...     print(h[256].mean())

docs/python.md is the guide. The C library's headers say of every function what it copies, waits for and returns.
"""

from ._arithmetic import where
from ._convert import asjax, asnumba, asnumpy, ascupy, astorch
from ._errors import (
    BusyError,
    CancelledError,
    CaptureError,
    DeviceError,
    Error,
    ForkedError,
    InvalidArgumentError,
    InvalidDeviceError,
    LayoutError,
    NoDeviceError,
    OutOfDeviceMemoryError,
    OutOfHostMemoryError,
    OutOfMemoryError,
    PixelTypeError,
    PointerError,
    ReadOnlyError,
    RegionError,
    SizeError,
    SizeOverflowError,
    StreamError,
    UninitializedError,
    UnsupportedError,
)
from ._expressions import Expression, evaluate
from ._image import Image, Layout
from ._imports import from_array
from ._itk import from_itk, from_sitk, to_itk, to_sitk
from ._library import version as __version__
from ._memory import DeviceLimit, HostMemory, device_limit, host_memory, set_device_limit, set_host_limits, trim
from ._observe import (
    Counters,
    LiveImage,
    MemoryInfo,
    PathCounters,
    PlaceState,
    TraceEvent,
    device_backend,
    device_count,
    device_memory,
    live_images,
    reset_total_counters,
    synchronize,
    total_counters,
    trace,
)
from ._owners import collect
from ._tiles import Tile, TileInput, TilePixels, rescale_tiles, run_filter, tiles

__all__ = [
    "BusyError",
    "CancelledError",
    "CaptureError",
    "Counters",
    "DeviceError",
    "DeviceLimit",
    "Error",
    "Expression",
    "ForkedError",
    "HostMemory",
    "Image",
    "InvalidArgumentError",
    "InvalidDeviceError",
    "Layout",
    "LayoutError",
    "LiveImage",
    "MemoryInfo",
    "NoDeviceError",
    "OutOfDeviceMemoryError",
    "OutOfHostMemoryError",
    "OutOfMemoryError",
    "PathCounters",
    "PixelTypeError",
    "PlaceState",
    "PointerError",
    "ReadOnlyError",
    "RegionError",
    "SizeError",
    "SizeOverflowError",
    "StreamError",
    "Tile",
    "TileInput",
    "TilePixels",
    "TraceEvent",
    "UninitializedError",
    "UnsupportedError",
    "__version__",
    "ascupy",
    "asjax",
    "asnumba",
    "asnumpy",
    "astorch",
    "collect",
    "device_backend",
    "device_count",
    "device_limit",
    "device_memory",
    "evaluate",
    "from_array",
    "from_itk",
    "from_sitk",
    "host_memory",
    "live_images",
    "rescale_tiles",
    "reset_total_counters",
    "run_filter",
    "set_device_limit",
    "set_host_limits",
    "synchronize",
    "tiles",
    "to_itk",
    "to_sitk",
    "total_counters",
    "trace",
    "trim",
    "where",
]
