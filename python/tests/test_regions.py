"""Parts of images, and frames, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudacommon as cc
from conftest import DTYPES, as_storage, image_of, values

#: k, j, i
SHAPE = (4, 5, 6)
GEOMETRY: dict[str, Any] = {
    "spacing": (1, 2, 3),
    "origin": (5, 6, 7),
    "direction": ((0, 1, 0), (1, 0, 0), (0, 0, -1)),
    "index": (-2, 3, 10),
}


def pixels_of(image: cc.Image) -> np.ndarray[Any, Any]:
    return as_storage(cc.asnumpy(image, copy=True))


def made(dtype: str = "float32", components: int = 1) -> tuple[cc.Image, np.ndarray[Any, Any]]:
    array = values(SHAPE + ((components,) if components > 1 else ()), dtype)
    return image_of(array, dtype, components, **GEOMETRY), array


def same_places(image: cc.Image, result: cc.Image, pairs: Any) -> None:
    """Pixels at these indices are at one point."""
    for before, after in pairs:
        np.testing.assert_allclose(image.point_of_itk_index(before), result.point_of_itk_index(after), atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("components", [1, 3])
def test_every_type(dtype: str, components: int) -> None:
    image, array = made(dtype, components)
    np.testing.assert_array_equal(
        pixels_of(image.crop(index=(-1, 4, 11), size=(4, 3, 2))), array[1:3, 1:4, 1:5]
    )
    widths = [(1, 0), (2, 2), (0, 1)]
    padding = [*widths[::-1], (0, 0)][: array.ndim]
    np.testing.assert_array_equal(pixels_of(image.pad(widths, "edge")), np.pad(array, padding, mode="edge"))
    np.testing.assert_array_equal(pixels_of(image.flip((0, 2))), array[::-1, :, ::-1])
    axes = (1, 0, 2) + ((3,) if components > 1 else ())
    np.testing.assert_array_equal(pixels_of(image.permute((0, 2, 1))), array.transpose(axes))


def test_places_in_space() -> None:
    image, _ = made()
    cropped = image.crop(index=(-1, 4, 11), size=(4, 3, 2))
    assert cropped.index == (-1, 4, 11)
    same_places(image, cropped, [((0, 5, 12), (0, 5, 12))])
    padded = image.pad(2)
    assert (padded.index, padded.size) == ((-4, 1, 8), (10, 9, 8))
    same_places(image, padded, [((0, 5, 12), (0, 5, 12))])
    same_places(image, image.flip(0), [((-2, 3, 10), (3, 3, 10)), ((3, 5, 12), (-2, 5, 12))])
    permuted = image.permute((2, 0, 1))
    assert (permuted.size, permuted.spacing, permuted.index) == ((4, 6, 5), (3, 1, 2), (10, -2, 3))
    same_places(image, permuted, [((0, 5, 12), (12, 0, 5))])
    rest = image.crop(index=(0, 3, 10))
    assert (rest.index, rest.size) == ((0, 3, 10), (4, 5, 4))


@pytest.mark.parametrize("border", ["constant", "edge", "replicate", "reflect", "symmetric", "wrap", "periodic"])
def test_borders(border: str) -> None:
    image, array = made("int16")
    mode = {"replicate": "edge", "periodic": "wrap"}.get(border, border)
    options: dict[str, Any] = {"constant_values": -7} if border == "constant" else {}
    expected = np.pad(array, [(9, 1), (0, 3), (2, 2)], mode=mode, **options)  # type: ignore[call-overload]
    np.testing.assert_array_equal(pixels_of(image.pad([2, (0, 3), (9, 1)], border, -7)), expected)
    out = cc.Image(expected.shape[::-1], "float32")
    assert image.pad([2, (0, 3), (9, 1)], border, -7, out=out) is out
    np.testing.assert_array_equal(pixels_of(out), expected)


def test_borders_of_each_axis_and_values_of_vectors() -> None:
    image = image_of(values((2, 3, 2), "uint8"), "uint8", 2)
    padded = image.pad((1, 1), ("edge", "constant"), (8, 9))
    assert pixels_of(padded)[0].tolist() == [[8, 9]] * 5
    assert pixels_of(padded)[1, 0].tolist() == pixels_of(image)[0, 0].tolist()
    with pytest.raises(OverflowError):
        image.pad(1, "constant", 256)


def test_into_images_that_are_there() -> None:
    image, array = made("int16")
    out = cc.Image((6, 5, 4), "float64")
    assert image.flip((0, 1, 2), out=out) is out
    np.testing.assert_array_equal(pixels_of(out), array[::-1, ::-1, ::-1])
    assert image.crop(index=(-2, 3, 10), size=(6, 5, 4), out=out) is out
    np.testing.assert_array_equal(pixels_of(out), array)
    turned = cc.Image((4, 5, 6), "int16")
    image.permute((2, 1, 0), out=turned, stream=None)
    np.testing.assert_array_equal(pixels_of(turned), array.transpose(2, 1, 0))
    with pytest.raises(cc.SizeError):
        image.permute((2, 1, 0), out=out)


def test_paste_and_copy_region() -> None:
    image, array = made("int16")
    small = image_of(np.full((2, 2, 2), 99, np.int16), "int16", index=(1, 4, 11))
    expected = array.copy()
    expected[1:3, 1:3, 3:5] = 99
    assert image.paste(small) is image
    np.testing.assert_array_equal(pixels_of(image), expected)
    image.paste(small, (-2, 3, 10))
    expected[:2, :2, :2] = 99
    np.testing.assert_array_equal(pixels_of(image), expected)
    plane = cc.Image((6, 5), "int16")
    plane.copy_region(image, source_index=(-2, 3, 12), source_size=(6, 5, 1))
    np.testing.assert_array_equal(pixels_of(plane), expected[2])
    image.copy_region(image, index=(-2, 3, 10), size=(2, 5, 4), source_index=(2, 3, 10), source_size=(2, 5, 4))
    expected[:, :, :2] = expected[:, :, 4:]
    np.testing.assert_array_equal(pixels_of(image), expected)
    with pytest.raises(cc.RegionError):
        image.paste(small, (4, 3, 10))


def test_arguments() -> None:
    image, _ = made()
    for call, message in (
        (lambda: image.pad(1, "mirror"), "border"),
        (lambda: image.pad((1, 2)), "width"),
        (lambda: image.pad(-1), "lower"),
        (lambda: image.flip(3), "axes"),
        (lambda: image.permute((0, 1)), "order"),
        (lambda: image.permute((0, 1, 3)), "order"),
        (lambda: image.permute((0, 1, 1)), "order"),
        (lambda: image.paste(image, (1, 2)), "index"),
        (lambda: image.interpolate_frames(1, "reflect"), "border"),
        (lambda: cc.Image((3,)).average_frames(), "one axis"),
    ):
        with pytest.raises(ValueError, match=message):
            call()  # type: ignore[no-untyped-call]
    with pytest.raises(OverflowError):
        image.pad(2**63)
    with pytest.raises(cc.RegionError):
        image.crop(index=(0, 0, 0), size=(1, 1, 1))


def test_frames() -> None:
    array = values((5, 3, 4), "int16").astype(np.float32)
    frames = image_of(array, "float32", spacing=(1, 2, 9), origin=(3, 4, 5), index=(7, 8, 20))
    volume = frames.interpolate_frames(22.25)
    assert (volume.size, volume.spacing, volume.origin, volume.index) == ((4, 3), (1, 2), (3, 4), (7, 8))
    np.testing.assert_array_equal(pixels_of(volume), 0.75 * array[2] + 0.25 * array[3])
    np.testing.assert_array_equal(pixels_of(frames.interpolate_frames(30)), array[4])
    np.testing.assert_array_equal(
        pixels_of(frames.interpolate_frames(24.5, "periodic", dtype="float64")), (array[4] + array[0]) / 2
    )
    assert frames.splat_frames(volume, 20.5) is frames
    array[:2] += pixels_of(volume) / 2
    np.testing.assert_array_equal(pixels_of(frames), array)
    np.testing.assert_allclose(pixels_of(frames.average_frames()), array.mean(axis=0), rtol=1e-6)
    assert image_of(values((5, 3), "uint8"), "uint8").average_frames().dtype == np.float64
    out = cc.Image((4, 3), "float64")
    assert frames.average_frames(out=out) is out
    with pytest.raises(ValueError, match="one of them"):
        frames.average_frames(out=out, dtype="int8")
    turned = cc.Image((2, 2, 2), direction=((0, 0, 1), (0, 1, 0), (1, 0, 0)))
    assert turned.average_frames().direction == ((1, 0), (0, 1))


def test_on_a_device(needs_device: None) -> None:
    last = cc.device_count() - 1
    image = cc.Image((8, 6), "float32", device=last).fill(2)
    with image.device(write=True):
        pass
    for result in (image.crop(size=(4, 4)), image.pad(1), image.flip(0, stream=2), image.permute((1, 0))):
        assert result.__dlpack_device__() == (2, last)
        assert result.state("cpu").valid_pixels == 0
        assert pixels_of(result)[2, 2] == 2
