"""The image itself: what it is, where it is in space, its pixels one by one, views, grafts."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import cudacommon as cc
from conftest import DTYPES, as_storage, image_of, storage, values


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("components", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("size", [(7,), (5, 3), (4, 3, 2), (3, 2, 2, 2)])
def test_what_it_is(dtype: str, components: int, size: tuple[int, ...]) -> None:
    image = cc.Image(size, dtype, components)
    axis = (components,) if components > 1 else ()
    assert image.size == size
    assert image.shape == size[::-1] + axis
    assert image.dimension == len(size)
    assert image.components == components
    assert image.dtype_name == dtype
    assert image.nbytes == int(np.prod(size)) * components * storage(dtype).itemsize
    assert not image.read_only
    given = values(image.shape, dtype)
    with image.host(write=True, read=False) as pixels:
        assert pixels.shape == image.shape
        assert pixels.flags.c_contiguous
        as_storage(pixels)[...] = given
    with image.host() as pixels:
        assert not pixels.flags.writeable
        np.testing.assert_array_equal(as_storage(pixels), given)
    with image.host(order="K") as pixels:
        assert pixels.shape == axis + size
        assert pixels.flags.f_contiguous
        np.testing.assert_array_equal(as_storage(pixels), given.T)


def test_dtypes_of_many_kinds() -> None:
    assert cc.Image((2,), np.float64).dtype == np.float64
    assert cc.Image((2,), float).dtype_name == "float64"
    assert cc.Image((2,), bool).dtype_name == "bool"
    assert cc.Image((2,), "f4").dtype_name == "float32"
    assert cc.Image((2,), "<i8").dtype_name == "int64"
    assert cc.Image((2,), np.dtype("=u2")).dtype_name == "uint16"
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for given in (ml_dtypes.bfloat16, np.dtype(ml_dtypes.bfloat16), "bfloat16"):
        image = cc.Image((2,), given)
        assert image.dtype_name == "bfloat16"
        assert image.dtype == ml_dtypes.bfloat16


class TorchLike:
    def __str__(self) -> str:
        return "torch.float16"


def test_dtypes_of_other_libraries_by_name() -> None:
    assert cc.Image((2,), TorchLike()).dtype_name == "float16"


@pytest.mark.parametrize("dtype", [">f4", np.dtype(">u2"), "U4", object, "datetime64[s]", "nonsense", None, "float8", 7])
def test_other_dtypes_are_refused(dtype: Any) -> None:
    with pytest.raises(cc.PixelTypeError):
        cc.Image((2,), dtype)


def test_one_byte_has_no_byte_order() -> None:
    assert cc.Image((2,), ">u1").dtype_name == "uint8"


@pytest.mark.parametrize("size", [(), (1, 1, 1, 1, 1)])
def test_other_dimensions_are_refused(size: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected 1 to 4"):
        cc.Image(size)


@pytest.mark.parametrize("components", [0, -1, 65])
def test_other_components_are_refused(components: int) -> None:
    with pytest.raises(ValueError, match="components"):
        cc.Image((2, 2), components=components)


def test_sizes_are_integers() -> None:
    with pytest.raises(AttributeError):
        cc.Image((2.0, 2))  # type: ignore[arg-type]
    assert cc.Image(np.array([3, 2])).size == (3, 2)  # type: ignore[arg-type]


def test_place_in_space() -> None:
    direction = ((0.0, 1.0), (-1.0, 0.0))
    image = cc.Image((4, 3), spacing=(0.5, 2), origin=(10, 20), direction=direction, index=(-2, 5))
    assert image.spacing == (0.5, 2.0)
    assert image.origin == (10.0, 20.0)
    assert image.direction == direction
    assert image.index == (-2, 5)
    # origin + direction * (spacing .* index): (10 + 2 * 3, 20 - 0.5 * 2)
    assert image.point_of_itk_index((2, 3)) == (16.0, 19.0)
    image.spacing = (1, 1)
    image.origin = np.array([1.0, 2.0])
    image.direction = np.eye(2)
    image.index = (0, -1)
    assert (image.spacing, image.origin, image.index) == ((1, 1), (1, 2), (0, -1))
    assert image.direction == ((1, 0), (0, 1))


@pytest.mark.parametrize(
    "geometry",
    [
        {"spacing": (1,)},
        {"spacing": (1, 0)},
        {"spacing": (1, -1)},
        {"spacing": (1, float("nan"))},
        {"origin": (1, 2, 3)},
        {"origin": (1, float("inf"))},
        {"direction": ((1, 0), (1, 0))},
        {"direction": ((1, 0),)},
        {"direction": ((1, 0, 0), (0, 1, 0))},
        {"index": (1,)},
    ],
)
def test_other_geometry_is_refused(geometry: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        cc.Image((4, 4), **geometry)
    image = cc.Image((4, 4))
    for name, value in geometry.items():
        with pytest.raises(ValueError):
            setattr(image, name, value)
    assert (image.spacing, image.origin, image.index) == ((1, 1), (0, 0), (0, 0))


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        ("uint8", 255, 255),
        ("int8", -128, -128),
        ("uint64", 2**64 - 1, 2**64 - 1),
        ("int64", -(2**63), -(2**63)),
        ("bool", 2, True),
        ("float16", 65504, 65504.0),
        ("float32", 42.3, float(np.float32(42.3))),
        ("complex64", 1 + 2j, 1 + 2j),
        ("complex128", 3, 3 + 0j),
        ("int32", 7.0, 7),
        ("float32", np.float64(0.5), 0.5),
    ],
)
def test_fill(dtype: str, value: Any, expected: Any) -> None:
    image = cc.Image((3, 2), dtype)
    assert image.fill(value) is image
    assert image.by_itk_index[2, 1] == expected


# 1 + 1/256 and 1 + 3/256 lie half way between two; the even one of them is 1 and 1 + 4/256.
@pytest.mark.parametrize(("value", "bits"), [(1.0, 0x3F80), (1 + 1 / 256, 0x3F80), (1 + 3 / 256, 0x3F82), (-2, 0xC000)])
def test_fill_bfloat16(value: float, bits: int) -> None:
    image = cc.Image((3,), "bfloat16").fill(value)
    with image.host() as pixels:
        assert as_storage(pixels).tolist() == [bits] * 3


def test_fill_with_nan_and_infinity() -> None:
    for dtype in ("float16", "bfloat16", "float32"):
        image = cc.Image((1,), dtype).fill(float("inf"))
        with image.host() as pixels:
            assert np.isinf(pixels.astype(np.float32)).all()
        image.fill(float("nan"))
        with image.host() as pixels:
            assert np.isnan(pixels.astype(np.float32)).all()


@pytest.mark.parametrize(
    ("dtype", "value", "error"),
    [
        ("uint8", 256, OverflowError),
        ("uint8", -1, OverflowError),
        ("uint8", 0.5, ValueError),
        ("int16", float("nan"), ValueError),
        ("int16", float("inf"), OverflowError),
        ("float32", 1j, ValueError),
        ("float32", "1", ValueError),
        ("float32", (1, 2), ValueError),
        ("float32", None, ValueError),
    ],
)
def test_fill_loses_nothing_silently(dtype: str, value: Any, error: type[Exception]) -> None:
    image = cc.Image((2,), dtype)
    with pytest.raises(error):
        image.fill(value)
    assert image.by_itk_index[0] == 0


def test_fill_components_and_regions() -> None:
    image = cc.Image((4, 3), "int16", 3, index=(10, 20)).fill((1, 2, 3))
    image.fill(9, index=(12, 21), size=(2, 1))
    expected = np.tile(np.array([1, 2, 3], np.int16), (3, 4, 1))
    expected[1, 2:4] = 9
    with image.host() as pixels:
        np.testing.assert_array_equal(pixels, expected)
    assert image.by_itk_index[13, 21] == (9, 9, 9)
    assert image.by_numpy_index[0, 0] == (1, 2, 3)
    with pytest.raises(cc.RegionError):
        image.fill(0, index=(0, 0), size=(1, 1))


def test_a_fill_needs_no_memory() -> None:
    image = cc.Image((1000, 1000, 1000, 50), "float64").fill(1)
    assert image.state().memory_bytes == 0
    assert image.state().constant_pixels == 50 * 10**9


def test_indices_in_both_orders() -> None:
    array = values((2, 3, 4), "int32")
    image = image_of(array, "int32", index=(-1, 5, 100))
    for k, j, i in np.ndindex(2, 3, 4):
        assert image.by_numpy_index[k, j, i] == array[k, j, i]
        assert image.by_itk_index[i - 1, j + 5, k + 100] == array[k, j, i]
    assert image.by_numpy_index[-1, -1, -1] == array[-1, -1, -1]
    assert isinstance(image.by_numpy_index[0, 0, 0], int)


def test_slices_are_views() -> None:
    array = values((2, 3, 4), "int32")
    image = image_of(array, "int32", index=(-1, 5, 100))
    view = image.by_numpy_index[1, 1:, 1:3]
    assert view.size == (2, 2, 1)
    assert view.index == (0, 6, 101)
    np.testing.assert_array_equal(cc.asnumpy(view, copy=True), array[1:2, 1:, 1:3])
    assert image.by_itk_index[0:2, 6:8, 101].index == (0, 6, 101)
    assert image.by_itk_index[..., 100].size == (4, 3, 1)
    assert image.by_numpy_index[:, :, 5:].size == (0, 3, 2)
    view.fill(-7)
    assert image.by_numpy_index[1, 2, 1] == -7


@pytest.mark.parametrize("key", [(0, 0), (2, 0, 0), (0, 3, 0), (0, 0, -5), (slice(0, 2, 2), 0, 0), (0, 0, 0, 0)])
def test_indices_outside_are_refused(key: Any) -> None:
    image = cc.Image((4, 3, 2))
    with pytest.raises(IndexError):
        image.by_numpy_index[key]


@pytest.mark.parametrize("key", [(-1, 0), (4, 0), (0, 1), slice(0, 5)])
def test_itk_indices_are_absolute(key: Any) -> None:
    image = cc.Image((4, 3), index=(0, 2))
    with pytest.raises(IndexError):
        image.by_itk_index[key]


def test_assignment_in_both_orders() -> None:
    image = cc.Image((4, 3, 2), "int32", 2)
    expected = np.zeros((2, 3, 4, 2), np.int32)
    block = values((3, 2, 2), "int32")
    image.by_numpy_index[1, :, 1:3] = block
    expected[1, :, 1:3] = block
    image.by_itk_index[3, :, 0] = np.array([[1, 2], [3, 4], [5, 6]])
    expected[0, :, 3] = [[1, 2], [3, 4], [5, 6]]
    image.by_itk_index[0, 0, 0] = (8, 9)
    expected[0, 0, 0] = (8, 9)
    image.by_itk_index[:, 2, :] = 4
    expected[:, 2, :] = 4
    plane = values((4, 2, 2), "int32")
    image.by_itk_index[:, 1, :] = plane
    expected[:, 1, :] = plane.transpose(1, 0, 2)
    np.testing.assert_array_equal(cc.asnumpy(image, copy=True), expected)


def test_views_share_and_keep_pixels() -> None:
    image = cc.Image((6, 5, 4), "int16", origin=(1, 2, 3))
    view = image.view(index=(1, 1, 1), size=(2, 2, 2))
    assert view.index == (1, 1, 1)
    assert view.origin == image.origin
    view.fill(5)
    assert image.by_itk_index[1, 1, 1] == 5
    assert image.by_itk_index[0, 0, 0] == 0
    gone = weakref.ref(image)
    del image
    gc.collect()
    assert gone() is None
    assert view.by_itk_index[2, 2, 2] == 5
    assert view.view().size == (2, 2, 2)
    assert view.view(index=(2, 1, 1)).size == (1, 2, 2)
    with pytest.raises(cc.RegionError):
        view.view(index=(0, 1, 1), size=(1, 1, 1))


def test_graft_shares_pixels_and_geometry() -> None:
    source = cc.Image((4, 3), "int16", 2, spacing=(2, 3), index=(7, 8)).fill((1, 2))
    image = cc.Image((9,), "float64")
    image.graft(source)
    assert (image.size, image.dtype_name, image.components, image.dimension) == ((4, 3), "int16", 2, 2)
    assert (image.spacing, image.index) == ((2, 3), (7, 8))
    image.fill((3, 4))
    assert source.by_itk_index[7, 8] == (3, 4)


def test_resize_gives_new_pixels() -> None:
    image = cc.Image((4, 3), "int16").fill(5)
    view = image.view()
    image.resize((2, 2), index=(1, 1))
    assert (image.size, image.index) == ((2, 2), (1, 1))
    assert image.by_itk_index[1, 1] == 0
    assert view.by_itk_index[3, 2] == 5


def test_copy_is_independent() -> None:
    array = values((3, 4, 3), "int16")
    image = image_of(array, "int16", 3, spacing=(2, 3), index=(1, -1), origin=(5, 6), direction=((0, 1), (1, 0)))
    other = image.copy()
    assert (other.spacing, other.index, other.origin, other.direction) == (
        image.spacing,
        image.index,
        image.origin,
        image.direction,
    )
    image.fill(0)
    np.testing.assert_array_equal(cc.asnumpy(other, copy=True), array)
    view = other.view(index=(2, 0), size=(2, 2))
    np.testing.assert_array_equal(cc.asnumpy(view.copy(), copy=True), array[1:3, 1:3])


def test_generation_changes_with_the_pixels() -> None:
    image = cc.Image((4, 3))
    before = image.generation
    assert image.generation == before
    image.fill(1)
    assert image.generation != before


@pytest.mark.parametrize("size", [(0,), (4, 0), (0, 0, 0)])
@pytest.mark.parametrize("components", [1, 3])
def test_empty(size: tuple[int, ...], components: int) -> None:
    image = cc.Image(size, "float32", components)
    assert image.nbytes == 0
    image.fill(1)
    with image.host(write=True) as pixels:
        assert pixels.shape == image.shape
        assert pixels.size == 0
    assert cc.asnumpy(image).shape == image.shape
    assert "empty" in repr(image)
    assert image._repr_png_() is None


def test_names() -> None:
    image = cc.Image((2, 2), label="liver")
    assert image.label == "liver"
    image.label = "ä" * 31
    assert image.label == "ä" * 31
    with pytest.raises(ValueError, match="label"):
        image.label = "x" * 64
    image.priority = -3
    assert image.priority == -3


def test_it_prints_itself() -> None:
    image = cc.Image((4, 3), "int16", 3, spacing=(0.5, 2), origin=(0, 1), index=(0, -1), label="liver")
    assert repr(image) == (
        "<cudacommon.Image 'liver', 4 x 3 int16, 3 components, index (0, -1), spacing (0.5, 2), origin (0, 1); "
        "one value, no memory needed yet>"
    )
    image.fill(1, index=(0, -1), size=(4, 1))
    with image.host():
        pass
    assert "valid on cpu" in repr(image)
    assert repr(cc.Image((2,), initialize=False)).endswith("undefined>")


def test_it_is_not_pickled() -> None:
    import pickle

    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(cc.Image((2,)))


def test_layout_needs_no_memory() -> None:
    image = cc.Image((10**6, 10**6), "uint16", 3)
    layout = image.layout(order="K")
    assert layout.shape == (3, 10**6, 10**6)
    assert layout.strides == (2, 6, 6 * 10**6)
    assert (layout.typestr, layout.itemsize) == ("<u2", 2)
    assert (layout.c_contiguous, layout.f_contiguous) == (False, True)
    assert image.state().memory_bytes == 0


def test_places_by_name() -> None:
    image = cc.Image((2,))
    for place in ("cpu", "host", 0, "cuda:3"):
        assert image.state(place).mappings == 0
    for bad in ("gpu:x", "disk", -1, 1.0, True, None):
        with pytest.raises(ValueError, match="place"):
            image.state(bad)  # type: ignore[arg-type]


def test_another_image_like_it() -> None:
    turned = ((0, 1), (1, 0))
    image = cc.Image((3, 2), "int16", 2, spacing=(1, 2.5), origin=(7, 8), direction=turned, index=(-4, 9)).fill((3, 4))
    other = image.like()
    assert (other.size, other.index, other.spacing, other.origin) == ((3, 2), (-4, 9), (1, 2.5), (7, 8))
    assert (other.direction, other.dtype_name, other.components) == (turned, "int16", 2)
    np.testing.assert_array_equal(cc.asnumpy(other, copy=True), 0)
    third = image.like("float32", 1)
    assert (third.dtype_name, third.components, third.origin) == ("float32", 1, (7, 8))
    assert image.like(components=3).shape == (2, 3, 3)
    assert image.by_itk_index[-4, 9] == (3, 4)
