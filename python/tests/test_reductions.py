"""Sums, extremes and histograms of images, against NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import cudacommon as cc
from conftest import DTYPES, as_storage, image_of, values

REAL_TYPES = [name for name in DTYPES if not name.startswith("complex")]


def pixels_of(image: cc.Image) -> np.ndarray[Any, Any]:
    return cc.asnumpy(image, copy=True)


@pytest.mark.parametrize("dtype", REAL_TYPES)
@pytest.mark.parametrize("components", [1, 3])
def test_every_type(dtype: str, components: int) -> None:
    array = values((5, 7) if components == 1 else (5, 7, components), dtype)
    image = image_of(array, dtype, components)
    with image.host() as pixels:
        exact = pixels.astype(np.float64)
    assert image.sum() == exact.sum()
    assert image.mean() == pytest.approx(exact.mean(), rel=1e-15)
    assert (image.min(), image.max()) == (exact.min(), exact.max())
    assert image.var() == pytest.approx(exact.var(), rel=1e-14)
    assert image.std() == pytest.approx(exact.std(), rel=1e-14)
    assert image.norm() == pytest.approx(np.linalg.norm(exact), rel=1e-15)
    assert image.dot(image) == (exact * exact).sum()
    flat = exact.reshape(-1, components)
    assert image.sum(per_component=True) == tuple(flat.sum(axis=0))
    assert image.max(per_component=True) == tuple(flat.max(axis=0))
    assert image.std(per_component=True) == pytest.approx(tuple(flat.std(axis=0)), rel=1e-14)
    assert as_storage(pixels_of(image)).shape == array.shape


def test_results_that_stay() -> None:
    array = values((5, 7, 2), "float32")
    image = image_of(array, "float32", 2)
    total = image.sum(as_image=True)
    assert (total.size, total.components, total.dtype_name) == ((1,), 1, "float64")
    share = image / total
    np.testing.assert_array_equal(pixels_of(share), array / array.sum(dtype=np.float64))
    centred = image - image.mean(as_image=True, per_component=True)
    np.testing.assert_allclose(pixels_of(centred), array - array.mean(axis=(0, 1), dtype=np.float64), atol=1e-13)
    out = cc.Image((1, 1), "float64")
    assert image.norm(out=out) is out
    assert out.by_itk_index[0, 0] == pytest.approx(np.linalg.norm(array.astype(np.float64)), rel=1e-15)
    assert image.std(as_image=True).by_itk_index[0] == pytest.approx(array.std(dtype=np.float64), rel=1e-14)
    with pytest.raises(cc.PixelTypeError):
        image.sum(out=cc.Image((1,), "float32"))


def test_complex_pixels() -> None:
    array = (values((5, 7), "complex64") * (1 - 2j)).astype(np.complex64)
    image = image_of(array, "complex64")
    assert image.sum() == array.sum(dtype=np.complex128)
    assert image.mean() == pytest.approx(array.mean(dtype=np.complex128), rel=1e-14)
    assert image.mean(per_component=True) == (image.mean(),)
    assert image.norm() == pytest.approx(np.linalg.norm(array.astype(np.complex128)), rel=1e-14)
    for name in ("min", "max", "var"):
        with pytest.raises(cc.PixelTypeError):
            getattr(image, name)()
    with pytest.raises(cc.PixelTypeError):
        image.dot(image)


def test_nan_infinity_and_nothing() -> None:
    image = image_of(np.array([1, np.nan, np.inf], np.float32), "float32")
    assert all(math.isnan(found) for found in (image.sum(), image.min(), image.max()))
    assert image.view(index=(2,), size=(1,)).max() == math.inf
    with pytest.raises(cc.SizeError):
        cc.Image((0,)).sum()
    with pytest.raises(cc.SizeError):
        image.dot(cc.Image((2,)))


def test_views() -> None:
    array = values((5, 7), "int16")
    image = image_of(array, "int16")
    assert image.view(index=(2, 1), size=(3, 2)).sum() == array[1:3, 2:5].sum()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "bfloat16", "int64"])
def test_histogram(dtype: str) -> None:
    image = image_of(values((9, 17), dtype), dtype)
    with image.host() as pixels:
        exact = pixels.astype(np.float64).ravel()
    for bins, range in ((4, (0, 64)), (16, (-8, 120)), (8, None)):
        counts, edges = image.histogram(bins, range)
        expected, expected_edges = np.histogram(exact, bins, range)
        np.testing.assert_array_equal(counts, expected)
        np.testing.assert_allclose(edges, expected_edges)
    kept = image.histogram(4, (0, 64), as_image=True)
    assert kept.dtype == np.uint64
    assert kept.sum() == ((exact >= 0) & (exact <= 64)).sum()
    assert cc.Image((3,)).fill(2).histogram(2)[1].tolist() == [1.5, 2.0, 2.5]
    for range in ((1, 1), (2, 1), (0, math.inf)):
        with pytest.raises(ValueError, match="lower"):
            image.histogram(4, range)
    with pytest.raises(cc.SizeError):
        image.histogram(0, (0, 1))


def test_on_a_device(needs_device: None) -> None:
    image = cc.Image((64, 8), "float32", device=cc.device_count() - 1).fill(2)
    with image.device(write=True):
        pass
    total = image.sum(as_image=True, stream=2)
    assert total.state(cc.device_count() - 1).valid_pixels == 1
    assert (image.sum(), image.sum(stream=2), total.by_itk_index[0]) == (1024, 1024, 1024)
    counts, _ = image.histogram(2, (0, 4), stream=2)
    assert counts.tolist() == [0, 512]
