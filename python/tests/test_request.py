"""The script of the original request: a 2x2x2 image of 42.3, one pixel changed through another library's array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudacommon as cc

EXPECTED = np.full(8, 42.3, np.float32)
EXPECTED[0] = 42.314


def image_on_device() -> cc.Image:
    image = cc.Image((2, 2, 2), "float32").fill(42.3)
    if cc.device_count():
        image.prefetch("cuda")
    return image


def check(image: cc.Image, result: Any) -> None:
    np.testing.assert_array_equal(np.asarray(result).ravel(), EXPECTED)
    # The host sees it without being told.
    with image.host() as pixels:
        np.testing.assert_array_equal(pixels.ravel(), EXPECTED)
    assert image.by_itk_index[0, 0, 0] == np.float32(42.314)
    assert image.by_itk_index[1, 1, 1] == np.float32(42.3)


def test_with_numpy() -> None:
    if cc.device_count():
        image = cc.Image((2, 2, 2), "float32", device="cpu").fill(42.3)
    else:
        image = image_on_device()
    array = np.array(image, dtype=np.float32, copy=False)
    np.put(array, [0, 0, 0], 42.314)
    check(image, array)


def test_with_jax_on_the_cpu() -> None:
    jax = pytest.importorskip("jax")
    image = cc.Image((2, 2, 2), "float32", device="cpu").fill(42.3)
    array = cc.asjax(image)
    assert array.device.platform == "cpu"
    assert isinstance(array, jax.Array)
    changed = array.at[0, 0, 0].set(42.314)
    back = cc.from_array(changed, 3)
    np.testing.assert_array_equal(cc.asnumpy(back, copy=True).ravel(), EXPECTED)
    # JAX's arrays are values: what it was made of is as before.
    assert image.by_itk_index[0, 0, 0] == np.float32(42.3)


@pytest.mark.gpu
def test_with_cupy() -> None:
    cp = pytest.importorskip("cupy")
    image = image_on_device()
    array = cp.array(image, dtype=cp.float32, copy=False)
    cp.put(array, [0, 0, 0], 42.314)
    check(image, cp.asnumpy(array))


@pytest.mark.gpu
def test_with_torch() -> None:
    torch = pytest.importorskip("torch")
    image = image_on_device()
    array = torch.from_dlpack(image)
    assert array.is_cuda
    array[0, 0, 0] = 42.314
    check(image, array.cpu())


@pytest.mark.gpu
def test_with_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    from numba import cuda

    # numba-cuda (0.30) asks for it when it first compiles, and NumPy 2.5 has it no more. Nothing here calls it.
    if not hasattr(np, "row_stack"):
        monkeypatch.setattr(np, "row_stack", lambda arrays: np.vstack(arrays), raising=False)

    @cuda.jit  # type: ignore[misc]
    def put(pixels: Any, value: Any) -> None:
        pixels[0, 0, 0] = value

    image = image_on_device()
    array = cuda.as_cuda_array(image)
    put[1, 1](array, np.float32(42.314))
    check(image, array.copy_to_host())


@pytest.mark.gpu
def test_with_jax() -> None:
    jax = pytest.importorskip("jax")
    image = image_on_device()
    array = jax.dlpack.from_dlpack(image)
    assert array.device.platform == "gpu"
    changed = array.at[0, 0, 0].set(42.314)
    image.graft(cc.from_array(changed, 3))
    check(image, changed)
