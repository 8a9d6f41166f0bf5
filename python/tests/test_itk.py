"""ITK and SimpleITK: every pixel at the same place in space, the same memory where they can."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import cudacommon as cc
from conftest import image_of, values

# SWIG's modules warn while they are imported, and crash when that becomes an error.
pytestmark = pytest.mark.filterwarnings("ignore")

GEOMETRY: dict[int, dict[str, Any]] = {
    2: {"spacing": (0.5, 2), "origin": (-1, 7), "direction": ((0, -1), (1, 0)), "index": (3, -2)},
    3: {
        "spacing": (0.5, 2, 3),
        "origin": (-1, 7, 9),
        "direction": ((0, -1, 0), (1, 0, 0), (0, 0, 1)),
        "index": (3, -2, 100),
    },
}


def geometry_of(image: cc.Image) -> tuple[Any, ...]:
    return image.size, image.spacing, image.origin, image.direction, image.index


@pytest.fixture(scope="module")
def itk() -> Any:
    return pytest.importorskip("itk")


@pytest.fixture(scope="module")
def sitk() -> Any:
    return pytest.importorskip("SimpleITK")


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize(("dtype", "components"), [("float32", 1), ("uint8", 1), ("int16", 1), ("uint8", 3), ("float32", 2), ("float32", 9)])
def test_itk_both_ways(itk: Any, dimension: int, dtype: str, components: int) -> None:
    shape = (4, 5, 6)[-dimension:] + ((components,) if components > 1 else ())
    given = values(shape, dtype)
    image = image_of(given, dtype, components, device="cpu", **GEOMETRY[dimension])
    other = cc.to_itk(image)
    assert image.state().loans == 1
    assert tuple(other.GetSpacing()) == image.spacing
    assert tuple(other.GetOrigin()) == image.origin
    assert tuple(map(tuple, itk.array_from_matrix(other.GetDirection()))) == image.direction
    assert tuple(other.GetBufferedRegion().GetIndex()) == image.index
    assert other.GetLargestPossibleRegion() == other.GetBufferedRegion()
    assert tuple(other.GetBufferedRegion().GetSize()) == image.size
    at = [first + 1 for first in image.index]
    np.testing.assert_allclose(tuple(other.TransformIndexToPhysicalPoint(at)), image.point_of_itk_index(at))
    pixel = other.GetPixel(at)
    expected = image.by_itk_index[tuple(at)]
    assert (pixel if components == 1 else tuple(pixel[c] for c in range(components))) == expected
    np.testing.assert_array_equal(itk.GetArrayFromImage(other), given)
    # The same memory.
    itk.GetArrayViewFromImage(other)[...] = 7
    assert (cc.asnumpy(image, copy=True) == 7).all()
    back = cc.from_itk(other)
    assert geometry_of(back) == geometry_of(image)
    assert back.components == components
    back.fill(9)
    assert (cc.asnumpy(image, copy=True) == 9).all()


def test_an_itk_image_outlives_the_image(itk: Any) -> None:
    given = values((4, 5), "float32")
    image = image_of(given, "float32", device="cpu")
    other = cc.to_itk(image)
    del image
    gc.collect()
    np.testing.assert_array_equal(itk.GetArrayFromImage(other), given)


def test_an_itk_image_is_kept(itk: Any) -> None:
    other = itk.Image[itk.F, 2].New()
    other.SetRegions(itk.ImageRegion[2]([2, 3], [4, 5]))
    other.Allocate()
    other.FillBuffer(6)
    other.SetOrigin([1, 2])
    image = cc.from_itk(other)
    assert (image.index, image.size, image.origin) == ((2, 3), (4, 5), (1, 2))
    image.by_itk_index[3, 3] = 8
    assert other.GetPixel([3, 3]) == 8
    del other
    gc.collect()
    assert image.by_itk_index[2, 3] == 6
    view = image.view(index=(3, 3))
    del image
    gc.collect()
    assert view.by_itk_index[3, 3] == 8


def test_what_itk_cannot_share_is_copied(itk: Any) -> None:
    image = image_of(values((4, 6), "float32"), "float32", device="cpu")
    view = image.view(index=(1, 1), size=(3, 2))
    other = cc.to_itk(view)
    assert tuple(other.GetBufferedRegion().GetIndex()) == (1, 1)
    np.testing.assert_array_equal(itk.GetArrayFromImage(other), values((4, 6), "float32")[1:3, 1:4])
    itk.GetArrayViewFromImage(other)[...] = 0
    assert image.by_itk_index[1, 1] != 0
    array = values((4, 6), "float32")
    array.flags.writeable = False
    assert itk.GetArrayFromImage(cc.to_itk(cc.from_array(array, 2))).shape == (4, 6)


@pytest.mark.parametrize(("size", "dtype"), [((4, 4), "bool"), ((4, 4), "float16"), ((4, 4), "bfloat16"), ((4,), "float32")])
def test_what_itk_has_not(itk: Any, size: tuple[int, ...], dtype: str) -> None:
    with pytest.raises(cc.PixelTypeError, match="this ITK"):
        cc.to_itk(cc.Image(size, dtype, device="cpu"))


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "float32", "float64", "int64"])
@pytest.mark.parametrize("components", [1, 2, 3, 4, 9])
def test_sitk_both_ways(sitk: Any, dimension: int, dtype: str, components: int) -> None:
    shape = (4, 5, 6)[-dimension:] + ((components,) if components > 1 else ())
    given = values(shape, dtype)
    image = image_of(given, dtype, components, device="cpu", **GEOMETRY[dimension])
    other = cc.to_sitk(image)
    assert other.GetSize() == image.size
    assert other.GetNumberOfComponentsPerPixel() == components
    assert other.GetSpacing() == image.spacing
    # SimpleITK counts from 0: the same pixel is at the same place.
    at = tuple(first + 1 for first in image.index)
    np.testing.assert_allclose(other.TransformIndexToPhysicalPoint((1,) * dimension), image.point_of_itk_index(at))
    np.testing.assert_array_equal(sitk.GetArrayFromImage(other), given)
    back = cc.from_sitk(other)
    assert back.read_only
    assert back.components == components
    assert back.index == (0,) * dimension
    assert (back.size, back.spacing, back.direction) == (image.size, image.spacing, image.direction)
    np.testing.assert_allclose(back.point_of_itk_index((1,) * dimension), image.point_of_itk_index(at))
    np.testing.assert_array_equal(cc.asnumpy(back), given)


def test_sitk_copies_when_the_other_is_written(sitk: Any) -> None:
    other = sitk.Image([4, 5], sitk.sitkFloat32) + 3.0
    image = cc.from_sitk(other)
    assert image.counters.host_allocations == 0
    other[0, 0] = 9.0
    assert image.by_itk_index[0, 0] == 3
    del other
    gc.collect()
    assert image.by_itk_index[3, 4] == 3


def test_what_sitk_has_not(sitk: Any) -> None:
    for dtype in ("bool", "float16", "bfloat16"):
        with pytest.raises(cc.PixelTypeError):
            cc.to_sitk(cc.Image((4, 4), dtype, device="cpu"))
    complex_image = cc.Image((4, 4), "complex64", device="cpu").fill(1 + 2j)
    assert cc.from_sitk(cc.to_sitk(complex_image)).by_itk_index[1, 1] == 1 + 2j
