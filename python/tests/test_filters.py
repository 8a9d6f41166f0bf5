"""Derivatives and other grids, against NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cudacommon as cc
from conftest import image_of

SPACING = (0.5, 2, 3)


def pixels_of(image: cc.Image) -> np.ndarray[Any, Any]:
    return cc.asnumpy(image, copy=True)


def made(shape: tuple[int, ...] = (4, 5, 6), dtype: str = "float64") -> np.ndarray[Any, Any]:
    return np.random.default_rng(3).integers(0, 100, shape).astype(dtype)


def test_gradient_divergence_laplacian() -> None:
    array = made()
    image = image_of(array, "float64", spacing=SPACING)
    gradient = image.gradient("central one-sided")
    assert (gradient.components, gradient.dtype, gradient.spacing) == (3, np.float64, SPACING)
    expected = np.stack(np.gradient(array, *SPACING[::-1])[::-1], axis=-1)
    np.testing.assert_allclose(pixels_of(gradient), expected, rtol=1e-13, atol=1e-12)
    np.testing.assert_allclose(
        pixels_of(image.gradient("central one-sided", use_spacing=False)),
        np.stack(np.gradient(array)[::-1], axis=-1),
        rtol=1e-13,
        atol=1e-12,
    )
    forward = image.gradient("forward")
    vectors = image_of(made((4, 5, 6, 3)), "float64", 3, spacing=SPACING)
    assert forward.dot(vectors) == pytest.approx(-image.dot(vectors.divergence("backward")), rel=1e-12)
    ndimage = pytest.importorskip("scipy.ndimage")
    np.testing.assert_allclose(
        pixels_of(image.laplacian(use_spacing=False)), ndimage.laplace(array, mode="nearest"), rtol=1e-13, atol=1e-12
    )


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("uint8", "float32"), ("int16", "float32"), ("int32", "float64"), ("float16", "float16"), ("bfloat16", "bfloat16")],
)
def test_types_of_derivatives(dtype: str, expected: str) -> None:
    image = cc.Image((4, 3), dtype)
    assert image.gradient().dtype_name == expected
    assert image.laplacian().dtype_name == expected
    assert image.gradient(dtype="float64").dtype_name == "float64"
    out = cc.Image((4, 3), "int8", 2)
    assert image.gradient(out=out) is out


def test_directions() -> None:
    image = image_of(made((3, 4)), "float64", direction=((0, 1), (1, 0)))
    along = pixels_of(image.gradient())
    np.testing.assert_array_equal(pixels_of(image.gradient(use_direction=True)), along[..., ::-1])
    vectors = image.gradient(use_direction=True)
    np.testing.assert_allclose(pixels_of(vectors.divergence(use_direction=True)), pixels_of(image.gradient().divergence()))


def test_resample() -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    array = made((6, 7))
    image = image_of(array, "float64", spacing=(2, 4), origin=(10, 20), index=(3, 5))
    assert (pixels_of(image.resample()) == array).all()
    grid = cc.Image((9, 8), spacing=(1.25, 2.5), origin=(18, 44))
    k, i = np.meshgrid(np.arange(8) * 2.5 + 44, np.arange(9) * 1.25 + 18, indexing="ij")
    at = np.stack([(k - 20) / 4 - 5, (i - 10) / 2 - 3])
    for interpolation, order in (("nearest", 0), ("linear", 1), ("cubic", 3)):
        result = image.resample(grid, interpolation=interpolation, outside=-1)
        assert (result.size, result.spacing, result.origin, result.dtype) == ((9, 8), (1.25, 2.5), (18, 44), np.float64)
        expected = ndimage.map_coordinates(array, at, order=order, mode="mirror")
        inside = (at[0] >= 0) & (at[0] <= 5) & (at[1] >= 0) & (at[1] <= 6)
        assert inside.any()
        if order != 0:
            np.testing.assert_allclose(pixels_of(result)[inside], expected[inside], rtol=1e-9)
        outside = (at[0] < -0.5) | (at[0] >= 5.5) | (at[1] < -0.5) | (at[1] >= 6.5)
        assert (pixels_of(result)[outside] == -1).all()
    moved = image.resample(grid, matrix=((1, 0), (0, 1)), offset=(2, 0), outside=-1)
    same = image.resample(size=(9, 8), spacing=(1.25, 2.5), origin=(20, 44), index=(0, 0), outside=-1)
    np.testing.assert_array_equal(pixels_of(moved), pixels_of(same))
    out = cc.Image((9, 8), "float32", spacing=(1.25, 2.5), origin=(18, 44))
    assert image.resample(out=out, outside=-1) is out
    np.testing.assert_array_equal(pixels_of(out), pixels_of(image.resample(grid, outside=-1)).astype(np.float32))


def faces(image: cc.Image) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Where the image's outer faces are."""
    step = np.array(image.direction) * image.spacing
    first = np.array(image.point_of_itk_index(image.index)) - step.sum(axis=1) / 2
    return first, first + step @ np.array(image.size)


@pytest.mark.parametrize(
    "grid", [{"spacing": (1, 1, 1)}, {"size": (3, 7, 11)}, {"spacing": (6, 2, 0.5)}, {"size": (1, 1, 1)}]
)
def test_another_spacing_or_size_keeps_the_faces(grid: dict[str, Any]) -> None:
    image = cc.Image(
        (6, 4, 8), spacing=(2, 3, 1), origin=(5, 6, 7), direction=((0, 1, 0), (-1, 0, 0), (0, 0, 1)), index=(-3, 2, 9)
    ).fill(4)
    result = image.resample(**grid)
    assert result.direction == image.direction
    for expected, found in zip(faces(image), faces(result), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert (pixels_of(result) == 4).all()


def test_warp() -> None:
    array = made((6, 7))
    image = image_of(array, "float64", spacing=(2, 4))
    moves = np.zeros((6, 7, 2))
    moves[..., 0] = 2
    displacement = image_of(moves, "float64", 2, spacing=(2, 4))
    result = image.warp(displacement, outside=-1)
    np.testing.assert_array_equal(pixels_of(result)[:, :-1], array[:, 1:])
    assert (pixels_of(result)[:, -1] == -1).all()
    both = image.warp(displacement, matrix=((1, 0), (0, 1)), offset=(-2, 0), dtype="float32")
    np.testing.assert_array_equal(pixels_of(both), array)


def test_arguments() -> None:
    image = cc.Image((4, 3))
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: image.gradient("sideways"), "difference"),
        (lambda: image.gradient(out=image, dtype="int8"), "one of them"),
        (lambda: image.resample(interpolation="sinc"), "interpolation"),
        (lambda: image.resample(matrix=np.eye(3)), "matrix"),
        (lambda: image.resample(offset=(1, 2, 3)), "offset"),
        (lambda: image.resample(spacing=(0, 1)), "spacing"),
        (lambda: image.resample(spacing=(1,)), "spacing"),
        (lambda: image.resample(image, out=cc.Image((4, 3))), "no grid"),
    ]
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(cc.SizeError):
        image.warp(cc.Image((4, 3), "float32", 3))


def test_on_a_device(needs_device: None) -> None:
    last = cc.device_count() - 1
    image = cc.Image((8, 6), "float32", device=last).fill(2)
    with image.device(write=True):
        pass
    results = (image.gradient(), image.laplacian(stream=2), image.resample(size=(4, 3)))
    for result, expected in zip(results, (0, 0, 2), strict=True):
        assert result.__dlpack_device__() == (2, last)
        assert result.state("cpu").valid_pixels == 0
        np.testing.assert_allclose(pixels_of(result), expected, rtol=1e-6)


def test_nothing_to_resample() -> None:
    with pytest.raises(cc.SizeError, match="cc_image_resample: input has no pixels"):
        cc.Image((0, 3)).resample(size=(4, 4))
