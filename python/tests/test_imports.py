"""from_array(): what is taken, what is refused, who keeps whom alive."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import cudacommon as cc
from conftest import DTYPES, as_storage, storage, values
from cudacommon import _owners
from tensors import Producer


def array_of(shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    given = values(shape, dtype)
    if dtype != "bfloat16":
        return given
    ml_dtypes = pytest.importorskip("ml_dtypes")
    return given.view(ml_dtypes.bfloat16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("components", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("size", [(7,), (5, 3), (4, 3, 2), (3, 2, 2, 2)])
def test_every_type_and_shape_is_shared(dtype: str, components: int, size: tuple[int, ...]) -> None:
    array = array_of(size[::-1] + ((components,) if components > 1 else ()), dtype)
    image = cc.from_array(array, len(size))
    assert (image.size, image.components, image.dtype_name) == (size, components, dtype)
    with image.host(write=True) as pixels:
        np.testing.assert_array_equal(as_storage(pixels), as_storage(array))
        assert pixels.ctypes.data == array.ctypes.data
        as_storage(pixels)[...] = 1
    assert (as_storage(array) == 1).all()
    assert image.counters.host_allocations == 0


@pytest.mark.parametrize("components", [1, 3])
def test_k_order(components: int) -> None:
    array = values((2, 3, 4, components) if components > 1 else (2, 3, 4), "int16")
    image = cc.from_array(array.T, 3, order="K")
    assert (image.size, image.components) == ((4, 3, 2), components)
    with image.host() as pixels:
        np.testing.assert_array_equal(pixels, array)
    # The same array taken in the other order is another image: axes exchanged, not reshaped.
    if components == 1:
        other = cc.from_array(array.T, 3)
        assert other.size == (2, 3, 4)
        assert other.by_numpy_index[3, 2, 1] == array[1, 2, 3]


def test_the_dimension_is_never_guessed() -> None:
    array = values((5, 6, 3), "uint8")
    assert (cc.from_array(array, 2).size, cc.from_array(array, 2).components) == ((6, 5), 3)
    assert (cc.from_array(array, 3).size, cc.from_array(array, 3).components) == ((3, 6, 5), 1)
    with pytest.raises(TypeError):
        cc.from_array(array)  # type: ignore[call-arg]
    for dimension in (1, 4, 0, 5, -1):
        with pytest.raises(ValueError):
            cc.from_array(array, dimension)
    assert cc.from_array(array[..., :1], 2).components == 1


def test_strided_arrays() -> None:
    array = values((8, 6), "int32")
    for view in (array[::2], array[:, ::3], array[2:5, 1:4], array.T, array[::2, ::2].T):
        image = cc.from_array(view, 2)
        with image.host() as pixels:
            np.testing.assert_array_equal(pixels, view)
            assert pixels.strides == view.strides
    for view in (array[::2], array[:, 1:], array.T):
        with pytest.raises(cc.LayoutError):
            cc.from_array(view, 2, strided=False)
    assert cc.from_array(array[2:], 2, strided=False).size == (6, 6)


def misaligned() -> np.ndarray[Any, Any]:
    return np.zeros(17, np.uint8)[1:].view(np.float32).reshape(2, 2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: values((4, 5), "float32")[::-1],
        lambda: values((4, 5), "float32")[:, ::-1],
        lambda: np.broadcast_to(values((5,), "float32"), (4, 5)),
        lambda: np.lib.stride_tricks.sliding_window_view(values((8,), "float32"), 5),
        lambda: values((4, 5), "float32").astype(">f4"),
        misaligned,
        lambda: values((2, 2, 3), "float32").transpose(2, 0, 1),
    ],
    ids=["negative", "negative columns", "broadcast", "windows", "big-endian", "misaligned", "planar components"],
)
def test_what_cannot_be_shared_can_be_copied(make: Any) -> None:
    array = make()
    dimension = 2
    with pytest.raises(BufferError):
        cc.from_array(array, dimension)
    assert _owners.kept() == 0
    image = cc.from_array(array, dimension, copy=True)
    np.testing.assert_array_equal(cc.asnumpy(image, copy=True), array)
    transposed = cc.from_array(array.T, dimension, order="K", copy=True)
    np.testing.assert_array_equal(cc.asnumpy(transposed, copy=True), array)


@pytest.mark.parametrize("dtype", ["U4", "S3", "datetime64[s]", "O", "complex256", "float128", "V3"])
def test_other_types_are_refused(dtype: str) -> None:
    try:
        array = np.zeros((2, 2), dtype)
    except TypeError:
        pytest.skip("not on this machine")
    with pytest.raises(cc.PixelTypeError):
        cc.from_array(array, 2)


def test_masked_arrays_are_refused() -> None:
    class Masked:
        __array_interface__ = {**values((3,), "int16").__array_interface__, "mask": object()}

    with pytest.raises(BufferError, match="mask"):
        cc.from_array(Masked(), 1)


def test_other_objects_are_refused() -> None:
    for other in ([1, 2], None, 5, "text"):
        with pytest.raises(TypeError, match="none of __dlpack__"):
            cc.from_array(other, 1)


def test_empty_arrays() -> None:
    for shape in ((0,), (0, 3), (3, 0)):
        image = cc.from_array(np.zeros(shape, np.int16), len(shape))
        assert image.size == shape[::-1]
        assert cc.asnumpy(image, copy=True).shape == shape


def test_geometry_is_given() -> None:
    image = cc.from_array(
        values((3, 4), "int16"), 2, spacing=(2, 3), origin=(4, 5), direction=((0, 1), (1, 0)), index=(-7, 8)
    )
    assert (image.spacing, image.origin, image.index) == ((2, 3), (4, 5), (-7, 8))
    assert image.direction == ((0, 1), (1, 0))
    with pytest.raises(ValueError):
        cc.from_array(values((3, 4), "int16"), 2, spacing=(1,))
    assert cc.from_array(values((3, 4), "int16"), 2).spacing == (1, 1)


def test_writable_is_asked_for() -> None:
    array = values((3, 4), "int16")
    array.flags.writeable = False
    assert cc.from_array(array, 2).read_only
    with pytest.raises(cc.ReadOnlyError):
        cc.from_array(array, 2, writable=True)
    assert not cc.from_array(array, 2, copy=True).read_only


def test_an_image_comes_back_as_a_view() -> None:
    image = cc.Image((4, 3), "int16", spacing=(2, 3), index=(1, 1), device="cpu").fill(1)
    for back in (cc.from_array(image, 2), cc.from_array(np.asarray(image), 2), cc.from_array(cc.asnumpy(image), 2)):
        assert (back.spacing, back.index) == ((2, 3), (1, 1))
        back.fill(2)
        assert image.by_itk_index[1, 1] == 2
        image.fill(1)
    part = cc.from_array(cc.asnumpy(image)[1:, 2:], 2)
    assert (part.index, part.size) == ((3, 2), (2, 2))
    assert part.spacing == (2, 3)
    copied = cc.from_array(image, 2, copy=True)
    copied.fill(9)
    assert image.by_itk_index[1, 1] == 1
    assert copied.spacing == (2, 3)
    moved = cc.from_array(image, 2, spacing=(7, 8), index=(0, 0))
    assert (moved.spacing, moved.index, moved.origin) == ((7, 8), (0, 0), image.origin)
    assert image.spacing == (2, 3)
    with pytest.raises(ValueError, match="dimension = 3"):
        cc.from_array(image, 3)


class Owner:
    """Something with an array interface that can be watched."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array
        self.__array_interface__ = array.__array_interface__


def test_the_owner_lives_as_long_as_the_pixels() -> None:
    array = values((3, 4), "float32")
    owner = Owner(array)
    seen = weakref.ref(owner)
    image = cc.from_array(owner, 2)
    view = image.view(index=(1, 1))
    del owner
    gc.collect()
    assert seen() is not None
    del image
    cc.collect()
    assert seen() is not None
    lent = cc.asnumpy(view, copy=False)
    del view
    gc.collect()
    cc.collect()
    assert seen() is not None
    np.testing.assert_array_equal(lent, array[1:, 1:])
    del lent
    cc.collect()
    assert seen() is None
    assert _owners.kept() == 0


def test_owners_go_at_collections_too() -> None:
    owner = Owner(values((3, 4), "float32"))
    seen = weakref.ref(owner)
    capsule = cc.from_array(owner, 2).__dlpack__()
    del owner
    thread = threading.Thread(target=capsules.clear) if (capsules := [capsule]) else None
    del capsule
    assert thread is not None
    thread.start()
    thread.join()
    gc.collect()
    assert seen() is None


def test_a_refused_owner_is_let_go() -> None:
    owner = Owner(values((3, 4), "float32")[::-1])
    seen = weakref.ref(owner)
    try:
        cc.from_array(owner, 2)
    except cc.LayoutError:
        pass
    else:
        pytest.fail("it was taken")
    del owner
    assert seen() is None


def test_dlpack_deleters_run_once() -> None:
    array = values((3, 4), "float32")
    for version in (None, (1, 0), (1, 9)):
        producer = Producer(array.ctypes.data, (3, 4), (4, 1), (2, 32, 1), (1, 0), version=version, keep=array)
        image = cc.from_array(producer, 2)
        view = image.view()
        del image
        gc.collect()
        assert producer.deleted == 0
        assert view.by_numpy_index[2, 3] == array[2, 3]
        del view
        assert producer.deleted == 1


def test_dlpack_capsules_that_are_refused_stay_the_producers() -> None:
    array = values((3, 4), "float32")
    producer = Producer(array.ctypes.data, (3, 4), (0, 1), (2, 32, 1), (1, 0), keep=array)
    with pytest.raises(cc.LayoutError):
        cc.from_array(producer, 2)
    assert producer.deleted == 0


def test_producers_that_know_no_max_version() -> None:
    array = values((3, 4), "float32")

    class Old(Producer):
        def __dlpack__(self) -> Any:  # type: ignore[override]
            return super().__dlpack__()

    producer = Old(array.ctypes.data, (3, 4), (4, 1), (2, 32, 1), (1, 0), version=None, keep=array)
    assert cc.from_array(producer, 2).by_numpy_index[1, 1] == array[1, 1]


def test_errors_of_the_producer_pass() -> None:
    class Broken:
        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

        def __dlpack__(self, **arguments: Any) -> Any:
            raise BufferError("not now")

    with pytest.raises(BufferError, match="not now"):
        cc.from_array(Broken(), 1)


def test_imports_from_many_threads() -> None:
    array = values((64, 64), "float32")

    def work() -> None:
        for _ in range(50):
            image = cc.from_array(array, 2)
            assert image.by_numpy_index[5, 5] == array[5, 5]

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cc.collect()
    assert _owners.kept() == 0


def test_which_side_an_import_speaks_of(needs_device: None) -> None:
    array = values((3, 4), "float32")
    image = cc.from_array(array, 2)
    assert image.__dlpack_device__() == (1, 0)
    image = cc.from_array(array, 2, device="cuda")
    assert image.__dlpack_device__() == (2, 0)
    image.prefetch("cuda")
    assert image.state("cuda").valid_pixels == 12


def test_storage_is_what_it_says() -> None:
    assert storage("bfloat16").itemsize == 2
