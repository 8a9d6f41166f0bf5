"""Textures as context managers: an image for a kernel to read between its pixels, for the length of a with statement."""

from __future__ import annotations

import ctypes
from types import TracebackType
from typing import TYPE_CHECKING

from . import _structures as structures
from ._library import check, library

if TYPE_CHECKING:
    from ._image import Image

SHAPES = {"volume": 0, "layers": 1, "plane": 2}
ADDRESSES = {"border": 0, "clamp": 1, "wrap": 2, "mirror": 3}
#: filter and read
POINT, LINEAR = 0, 1
ELEMENT, NORMALIZED = 0, 1
#: flags
PER_COMPONENT, NORMALIZED_COORDINATES = 1, 2


def _number(name: str, value: str, numbers: dict[str, int]) -> int:
    if value not in numbers:
        raise ValueError(f"{name} = {value!r}, expected one of {', '.join(repr(word) for word in numbers)}")
    return numbers[value]


def params_of(
    shape: str,
    linear: bool,
    address: str | tuple[str, str, str],
    normalized_read: bool,
    normalized_coordinates: bool,
    per_component: bool,
) -> structures.TextureParams:
    params = structures.TextureParams(ctypes.sizeof(structures.TextureParams))
    params.flags = PER_COMPONENT * per_component | NORMALIZED_COORDINATES * normalized_coordinates
    params.shape = _number("shape", shape, SHAPES)
    params.filter = LINEAR if linear else POINT
    params.read = NORMALIZED if normalized_read else ELEMENT
    for axis in range(3):
        params.address[axis] = _number("address", address if isinstance(address, str) else address[axis], ADDRESSES)
    return params


class MappedTexture:
    """A texture of an image, until the with statement that gave it ends."""

    def __init__(self, texture: structures.Texture, stream: int) -> None:
        #: a cudaTextureObject_t each: one, or one for each component; none for a region without pixels
        self.objects: tuple[int, ...] = tuple(texture.objects[: texture.object_count])
        #: values that one read of an object gives
        self.channels: int = texture.channels
        self.device: int = texture.device
        #: the stream that the texture is for, as a cudaStream_t
        self.stream: int = stream

    def __repr__(self) -> str:
        return f"<{len(self.objects)} textures of {self.channels} channels on device {self.device}>"


class Texture:
    """``with image.texture(linear=True) as t``."""

    def __init__(
        self, image: Image, region: structures.Region | None, params: structures.TextureParams, stream: int
    ) -> None:
        self._image = image
        self._region = region
        self._params = params
        self._stream = stream
        self._texture: structures.Texture | None = None

    def __enter__(self) -> MappedTexture:
        if self._texture is not None:
            raise RuntimeError("the texture is mapped already; make another context manager to map it twice")
        texture = structures.Texture(ctypes.sizeof(structures.Texture))
        check(
            library.cc_image_map_texture(self._image._handle, self._region, self._params, self._stream, texture)
        )
        self._texture = texture
        return MappedTexture(texture, self._stream)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        texture, self._texture = self._texture, None
        if texture is None:
            raise RuntimeError("the texture is not mapped")
        check(library.cc_image_unmap_texture(self._image._handle, texture, self._stream))
