"""Pictures of middle slices, read back by an independent reading of the PNG format."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import pytest

import cudacommon as cc
from conftest import image_of
from cudacommon._picture import png


def read_png(data: bytes) -> np.ndarray[Any, Any]:
    """Unfiltered 8-bit grey or RGB, every checksum checked. Source: PNG (Third Edition), 5 and 11."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, []
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + content)
        chunks.append((kind, content))
        at += 12 + length
    assert [kind for kind, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, colour, compression, filters, interlace = struct.unpack(">IIBBBBB", chunks[0][1])
    assert (depth, compression, filters, interlace) == (8, 0, 0, 0)
    channels = {0: 1, 2: 3}[colour]
    rows = np.frombuffer(zlib.decompress(chunks[1][1]), np.uint8).reshape(height, 1 + width * channels)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape((height, width) if channels == 1 else (height, width, 3))


def picture(image: cc.Image) -> np.ndarray[Any, Any]:
    data = image._repr_png_()
    assert data is not None
    return read_png(data)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (3, 5, 3)])
def test_png(shape: tuple[int, ...]) -> None:
    pixels = (np.arange(np.prod(shape)) * 7 % 256).astype(np.uint8).reshape(shape)
    np.testing.assert_array_equal(read_png(png(pixels)), pixels)


def test_two_dimensions_are_windowed() -> None:
    array = np.array([[-10.0, 0.0], [10.0, 30.0]], np.float32)
    assert picture(image_of(array, "float32")).tolist() == [[0, 64], [128, 255]]


def test_colours() -> None:
    array = np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3)
    np.testing.assert_array_equal(picture(image_of(array, "uint8", 3)), array)


def test_three_middle_slices() -> None:
    array = np.zeros((6, 5, 4), np.int16)
    array[3] = 10
    array[:, 2] = 20
    array[:, :, 2] = 30
    sheet = picture(image_of(array, "int16"))

    def window(plane: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """What is shown lies between 10 and 30."""
        return np.floor((plane - 10) / 20 * 255 + 0.5).astype(np.uint8)

    np.testing.assert_array_equal(sheet[:5, 0:4], window(array[3]))
    np.testing.assert_array_equal(sheet[:6, 8:12], window(array[:, 2]))
    np.testing.assert_array_equal(sheet[:6, 16:21], window(array[:, :, 2]))
    assert sheet.shape == (6, 21)
    assert (sheet[5, :4] == 255).all()


@pytest.mark.parametrize("size", [(7,), (3, 2, 1), (1, 1, 1), (4, 4, 4, 4), (2000, 3), (1, 5)])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "bfloat16", "complex64"])
def test_every_shape_has_one(size: tuple[int, ...], dtype: str) -> None:
    sheet = picture(cc.Image(size, dtype).fill(1))
    assert sheet.ndim == 2
    assert max(sheet.shape) <= 3 * 384 + 8


def test_numbers_that_are_none() -> None:
    array = np.array([[0, 1], [np.nan, np.inf]], np.float64)
    assert picture(image_of(array, "float64")).tolist() == [[0, 255], [0, 255]]
    assert picture(cc.Image((2, 2)).fill(float("nan"))).shape == (2, 2)


def test_looking_moves_only_the_slices() -> None:
    image = cc.Image((64, 64, 64), "float32")
    with image.trace() as events:
        picture(image)
    assert {event.kind for event in events} <= {"allocate", "fill"}
    assert sum(event.bytes for event in events if event.kind == "fill") <= 3 * 64 * 64 * 4


def test_nothing_while_busy() -> None:
    image = cc.Image((4, 4))
    with image.host(write=True):
        assert image._repr_png_() is None
    assert cc.Image((4, 4), initialize=False)._repr_png_() is None
