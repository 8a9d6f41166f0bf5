"""JAX on the CPU: by DLPack, both ways."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import cudacommon as cc
from conftest import as_storage, image_of, values

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

DTYPES = (
    "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64 complex64 complex128"
).split()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (2, 2, 2, 3)])
def test_both_ways(dtype: str, shape: tuple[int, ...]) -> None:
    given = values(shape, dtype)
    image = image_of(given, dtype, device="cpu", spacing=range(1, len(shape) + 1))
    array = cc.asjax(image)
    assert array.dtype.name == dtype
    np.testing.assert_array_equal(as_storage(np.asarray(array)), given)
    back = cc.from_array(array, len(shape))
    assert back.dtype_name == dtype
    np.testing.assert_array_equal(as_storage(cc.asnumpy(back, copy=True)), given)


def test_no_copy_and_geometry_comes_back() -> None:
    image = cc.Image((64, 64), "float32", device="cpu", spacing=(2, 3), index=(5, 6)).fill(1)
    array = cc.asjax(image)
    assert image.state().loans == 1
    assert array.unsafe_buffer_pointer() == image.__array_interface__["data"][0]
    image.end_loans()
    back = cc.from_array(array, 2)
    assert (back.spacing, back.index) == ((2, 3), (5, 6))


def test_jax_asks_for_legacy_capsules_itself() -> None:
    image = cc.Image((64, 64), "float32", device="cpu").fill(4)
    assert float(jax.dlpack.from_dlpack(image)[3, 3]) == 4


def test_read_only_images_are_no_loss() -> None:
    array = values((64, 64), "float32")
    array.flags.writeable = False
    image = cc.from_array(array, 2)
    with pytest.raises(BufferError):
        image.__dlpack__()
    np.testing.assert_array_equal(np.asarray(cc.asjax(image)), array)


def test_the_array_outlives_the_image() -> None:
    image = image_of(values((64, 64), "float32"), "float32", device="cpu")
    array = cc.asjax(image)
    del image
    gc.collect()
    np.testing.assert_array_equal(np.asarray(array), values((64, 64), "float32"))
    array = jax.device_put(np.ones((4, 4), np.float32), jax.devices("cpu")[0])
    image = cc.from_array(array, 2)
    del array
    gc.collect()
    assert image.by_itk_index[3, 3] == 1
