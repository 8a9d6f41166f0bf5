"""Images tile by tile, with functions of Python."""

from __future__ import annotations

import gc
import weakref
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import cudacommon as cc
from conftest import DTYPES, as_storage, image_of, values

SIZE = (8, 6, 40)
SLICE = 8 * 6


def volume(dtype: str = "float32", components: int = 1) -> tuple[cc.Image, np.ndarray[Any, Any]]:
    shape = SIZE[::-1] + ((components,) if components > 1 else ())
    array = values(shape, dtype)
    return image_of(array, dtype, components, spacing=(1, 1, 2), index=(0, -3, 5)), array


def host_of(pixels: cc.TilePixels, tile: cc.Tile) -> np.ndarray[Any, Any]:
    """What is in a tile, wherever it is."""
    return cc.asnumpy(pixels.image, copy=True) if tile.place >= 0 else pixels.array


@pytest.mark.parametrize("place", ["cpu", None])
def test_a_function_of_the_librarys_operations(place: str | None) -> None:
    image, array = volume()
    output = cc.Image(SIZE, "int16")
    done: list[tuple[int, int]] = []
    numbers = []

    def work(tile: cc.Tile) -> None:
        numbers.append(tile.number)
        source = tile.inputs[0].image
        assert (source.index, source.size) == (tile.inputs[0].index, tile.inputs[0].size)
        assert source.read_only
        assert source.spacing == image.spacing
        assert tile.output.image is tile.output.image
        cc.evaluate(source.lazy * 2 + 1, tile.output.image, stream=tile.stream)

    cc.tiles(work, output, [image], place=place, limit=SLICE * 6 * 4 * 3, progress=lambda *at: done.append(at))
    np.testing.assert_array_equal(cc.asnumpy(output, copy=True), array * 2 + 1)
    count = len(numbers)
    assert count > 1
    assert numbers == list(range(count))
    assert done == [(number + 1, count) for number in range(count)]
    assert output.state("cpu").valid_pixels == SLICE * 40


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("components", [1, 3])
def test_arrays_of_tiles_on_the_host(dtype: str, components: int) -> None:
    image, array = volume(dtype, components)
    output = cc.Image(SIZE, dtype, components)

    def work(tile: cc.Tile) -> None:
        assert tile.place == -1
        assert not tile.inputs[0].array.flags.writeable
        assert tile.output.array.dtype == output.dtype == tile.output.dtype
        assert not hasattr(tile.output, "__cuda_array_interface__")
        as_storage(tile.output.array)[...] = as_storage(tile.inputs[0].array)[..., ::-1]

    cc.tiles(work, output, [image], place="cpu", limit=1 << 16)
    np.testing.assert_array_equal(as_storage(cc.asnumpy(output, copy=True)), array[..., ::-1])


def test_halo_scale_and_offset() -> None:
    image, array = volume()
    smooth = cc.Image(SIZE)

    def sum_of_three(tile: cc.Tile) -> None:
        found = host_of(tile.inputs[0], tile)
        before = tile.output.index[2] - (tile.inputs[0].index[2] - 5)
        after = tile.inputs[0].size[2] - tile.output.size[2] - before
        padded = np.pad(found, ((1 - before, 1 - after), (0, 0), (0, 0)), mode="edge")
        with tile.output.image.host(write=True, read=False) as pixels:
            pixels[...] = padded[:-2] + padded[1:-1] + padded[2:]

    cc.tiles(sum_of_three, smooth, [cc.TileInput(image, halo=(0, 0, 1))], limit=SLICE * 12 * 4 * 3)
    padded = np.pad(array, ((1, 1), (0, 0), (0, 0)), mode="edge")
    np.testing.assert_array_equal(cc.asnumpy(smooth, copy=True), padded[:-2] + padded[1:-1] + padded[2:])

    half = cc.Image((8, 6, 18))
    sizes = set()

    def every_other(tile: cc.Tile) -> None:
        sizes.add((tile.output.size[2], tile.inputs[0].size[2]))
        with tile.output.image.host(write=True, read=False) as pixels:
            pixels[...] = host_of(tile.inputs[0], tile)[::2]

    for scale in (2, 2.0, (1, 1, 2), (1, 1, Fraction(2))):
        half.fill(0)
        given = (1, 1, scale) if not isinstance(scale, tuple) else scale
        cc.tiles(every_other, half, [cc.TileInput(image, scale=given, offset=(0, 0, 4))], limit=SLICE * 12 * 4 * 3)
        np.testing.assert_array_equal(cc.asnumpy(half, copy=True), array[4:40:2])
    assert all(source == 2 * result for result, source in sizes)


def test_a_region_of_ones_own() -> None:
    image, array = volume()
    flipped = cc.Image(SIZE, index=(1, 2, 3))

    def region(index: tuple[int, ...], size: tuple[int, ...]) -> Any:
        first = 40 - (index[2] - 3) - size[2]
        return (0, -3, first + 5), size

    def work(tile: cc.Tile) -> None:
        with tile.output.image.host(write=True, read=False) as pixels:
            pixels[...] = host_of(tile.inputs[0], tile)[::-1]

    cc.tiles(work, flipped, [cc.TileInput(image, region=region)], limit=SLICE * 12 * 4 * 3)
    np.testing.assert_array_equal(cc.asnumpy(flipped, copy=True), array[::-1])
    with pytest.raises(ZeroDivisionError):
        cc.tiles(work, flipped, [cc.TileInput(image, region=lambda index, size: 1 // 0)])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="region's size"):
        cc.tiles(work, flipped, [cc.TileInput(image, region=lambda index, size: (index, (1,)))])


def test_in_place() -> None:
    image, array = volume()
    expected = array * 2

    def work(tile: cc.Tile) -> None:
        assert tile.inputs[0].pointer == tile.output.pointer
        tile.output.image.multiply(2, out=tile.output.image, stream=tile.stream)

    cc.tiles(work, image, [image], limit=1 << 14)
    np.testing.assert_array_equal(cc.asnumpy(image, copy=True), expected)


def test_what_functions_raise_ends_the_run() -> None:
    image, array = volume()
    output = cc.Image(SIZE).fill(7)
    calls = []

    def work(tile: cc.Tile) -> None:
        calls.append(tile.number)
        if tile.number == 2:
            raise KeyError("two")
        cc.evaluate(tile.inputs[0].image, tile.output.image, stream=tile.stream)

    with pytest.raises(KeyError, match="two"):
        cc.tiles(work, output, [image], limit=SLICE * 6 * 4 * 3)
    assert calls == [0, 1, 2]
    found = cc.asnumpy(output, copy=True)
    assert (found[:2] == array[:2]).all()
    assert (found[-1] == 7).all()

    def progress(done: int, count: int) -> bool:
        return done == 2

    def copy(tile: cc.Tile) -> None:
        cc.evaluate(tile.inputs[0].image, tile.output.image, stream=tile.stream)

    with pytest.raises(cc.CancelledError):
        cc.tiles(copy, output, [image], limit=SLICE * 6 * 4 * 3, progress=progress)

    def broken(done: int, count: int) -> None:
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        cc.tiles(copy, output, [image], progress=broken)
    # The library's own errors, too.
    with pytest.raises(cc.ReadOnlyError):
        cc.tiles(lambda tile: tile.inputs[0].image.fill(1), output, [image])
    cc.tiles(copy, output, [image])
    np.testing.assert_array_equal(cc.asnumpy(output, copy=True), array)


def test_nothing_of_a_tile_outlives_the_function() -> None:
    image, _ = volume()
    output = cc.Image(SIZE)
    kept: list[Any] = []
    tiles = []

    def work(tile: cc.Tile) -> None:
        tiles.append(weakref.ref(tile))
        kept.append((tile.output, tile.output.image, tile.inputs[0]))
        if tile.place < 0:
            kept.append(tile.output.array)
        cc.evaluate(tile.inputs[0].image, tile.output.image, stream=tile.stream)

    cc.tiles(work, output, [image], place="cpu")
    pixels, wrapped, source = kept[0]
    assert wrapped.size == (0, 0, 0)
    assert pixels.image is wrapped
    assert not kept[1].flags.writeable
    assert source.image.size == (0, 0, 0)
    with pytest.raises(RuntimeError, match="ended"):
        _ = source.array
    del pixels, wrapped, source
    kept.clear()
    gc.collect()
    assert not any(each() for each in tiles)


def test_arguments() -> None:
    image, _ = volume()
    output = cc.Image(SIZE)

    def work(tile: cc.Tile) -> None:
        raise AssertionError("not called")

    for wrong in (
        {"halo": (1, 2)},
        {"halo": -1},
        {"scale": 0},
        {"scale": -1},
        {"scale": (1, 1)},
        {"scale": Fraction(1, 2**40)},
        {"offset": (1,)},
    ):
        with pytest.raises(ValueError, match="halo|scale|offset"):
            cc.tiles(work, output, [cc.TileInput(image, **wrong)])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="buffer_count"):
        cc.tiles(work, output, [image], buffers=9)
    with pytest.raises(ValueError, match="limit"):
        cc.tiles(work, output, [image], limit=-1)
    with pytest.raises(ValueError, match="input_count"):
        cc.tiles(work, output, [image] * 9)
    with pytest.raises(ValueError, match="place"):
        cc.tiles(work, output, [image], place="gpux")
    with output.host(write=True), pytest.raises(cc.BusyError):
        cc.tiles(work, output, [image])


def test_on_a_device_arrays_are_not_numpys(needs_device: None) -> None:
    image, array = volume()
    output = cc.Image(SIZE)

    def work(tile: cc.Tile) -> None:
        with pytest.raises(TypeError, match="device"):
            _ = tile.output.array
        interface = tile.output.__cuda_array_interface__
        assert interface["data"] == (tile.output.pointer, False)
        assert interface["shape"] == tile.output.shape == tile.output.size[::-1]
        assert interface["stream"] == tile.stream != 0
        assert tile.inputs[0].__cuda_array_interface__["data"][1]
        cc.evaluate(tile.inputs[0].image, tile.output.image, stream=tile.stream)

    cc.tiles(work, output, [image], limit=1 << 14, place=cc.device_count() - 1)
    np.testing.assert_array_equal(cc.asnumpy(output, copy=True), array)


def test_rescale_tiles() -> None:
    image, array = volume("int16")
    output = cc.Image(SIZE, "uint8")
    done: list[int] = []
    cc.rescale_tiles(image, output, 3, -10, limit=1 << 13, progress=lambda at, count: done.append(at))
    np.testing.assert_array_equal(cc.asnumpy(output, copy=True), np.clip(array * 3 - 10, 0, 255))
    assert len(done) > 1
    with pytest.raises(cc.CancelledError):
        cc.rescale_tiles(image, output, limit=1 << 11, progress=lambda at, count: True)
    with pytest.raises(cc.SizeError):
        cc.rescale_tiles(image, cc.Image((3,)))


def test_a_filter_on_the_host() -> None:
    array = values((4, 5, 6), "float32")
    image, output = image_of(array, "float32"), cc.Image((6, 5, 4), "int16")
    places = []

    def on_host(tile: cc.Tile) -> None:
        places.append((tile.place, tile.number, tile.count))
        tile.output.array[...] = tile.inputs[0].array * 2

    cc.run_filter(output, [image], on_host=on_host, place="cpu")
    np.testing.assert_array_equal(cc.asnumpy(output, copy=True), array * 2)
    cc.run_filter(image, [image], on_host=lambda tile: np.negative(tile.inputs[0].array, out=tile.output.array))
    np.testing.assert_array_equal(cc.asnumpy(image, copy=True), -array)
    assert places == [(-1, 0, 1)]
    with pytest.raises(ZeroDivisionError):
        cc.run_filter(output, [image], on_host=lambda tile: 1 // 0)
    with pytest.raises(ValueError, match="on_device"):
        cc.run_filter(output, [image])
    with output.host(write=True), pytest.raises(cc.BusyError):
        cc.run_filter(output, [image], on_host=on_host)


def test_a_filter_on_a_device(needs_device: None) -> None:
    last = cc.device_count() - 1
    array = values((4, 5, 6), "float32")
    image, output = image_of(array, "float32"), cc.Image((6, 5, 4), "int16", device=last)

    def on_device(tile: cc.Tile) -> None:
        assert (tile.place, tile.number, tile.count) == (last, 0, 1)
        assert tile.output.__cuda_array_interface__["shape"] == (4, 5, 6)
        cc.evaluate(tile.inputs[0].image.lazy * 2, tile.output.image, stream=tile.stream)

    for stream in (None, 2):
        output.fill(0)
        cc.run_filter(output, [image], on_device=on_device, stream=stream)
        assert output.state("cpu").valid_pixels == 0
        np.testing.assert_array_equal(cc.asnumpy(output), array * 2)


@pytest.mark.gpu
def test_cupy_in_a_tiles_stream() -> None:
    cp = pytest.importorskip("cupy")
    image, array = volume()
    output = cc.Image(SIZE)

    def work(tile: cc.Tile) -> None:
        with cp.cuda.ExternalStream(tile.stream):
            cp.multiply(cp.asarray(tile.inputs[0]), 2, out=cp.asarray(tile.output))

    cc.tiles(work, output, [image], limit=1 << 14)
    np.testing.assert_array_equal(cc.asnumpy(output, copy=True), array * 2)
