#!/usr/bin/env python3
"""What it costs to hand an image to each array library that is here, and an array back: microseconds on the host.

    PYTHONPATH=python/src CUDACOMMON_LIBRARY=build/release/src/libcudacommon.so bench/python_cost.py [--json FILE]

Each figure is the least of several repetitions, on an idle machine. Ratios are to numpy.asarray() of a numpy.ndarray,
which does nothing, measured in the same run; "their own" is what the library takes for an object that has its interface
ready, so that the difference is ours.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import timeit
from collections.abc import Callable
from typing import Any, NamedTuple

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np

import cudacommon as cc

REPETITIONS = 15


class Row(NamedTuple):
    library: str
    what: str
    microseconds: float


def least(work: Callable[[], Any], number: int) -> float:
    for _ in range(number // 10):
        work()
    return min(timeit.repeat(work, number=number, repeat=REPETITIONS)) / number * 1e6


class Bench:
    def __init__(self, number: int) -> None:
        self.number = number
        self.rows: list[Row] = []

    def add(self, library: str, what: str, work: Callable[[], Any]) -> None:
        try:
            self.rows.append(Row(library, what, least(work, self.number)))
        except Exception as error:  # noqa: BLE001 - a library that cannot is a row that is not there
            print(f"{library}, {what}: {type(error).__name__}: {error}", file=sys.stderr)


class Ready:
    """An object whose interface is there already."""


def numpy_rows(bench: Bench) -> None:
    array = np.zeros((64, 64), np.float32)
    image = cc.Image((64, 64), "float32", device="cpu").fill(1)
    ready = Ready()
    ready.__array_interface__ = array.__array_interface__  # type: ignore[attr-defined]
    bench.add("numpy", "asarray(ndarray)", lambda: np.asarray(array))
    bench.add("numpy", "asarray(object), their own", lambda: np.asarray(ready))
    bench.add("numpy", "asarray(image)", lambda: np.asarray(image))
    bench.add("numpy", "from_dlpack(ndarray), their own", lambda: np.from_dlpack(array))
    bench.add("numpy", "from_dlpack(image)", lambda: np.from_dlpack(image))  # type: ignore[arg-type]
    bench.add("numpy", "cc.asnumpy(image)", lambda: cc.asnumpy(image, copy=False))
    bench.add("numpy", "cc.from_array(ndarray)", lambda: cc.from_array(array, 2))

    def host() -> None:
        with image.host():
            pass

    bench.add("numpy", "with image.host()", host)


def device_image() -> cc.Image:
    image = cc.Image((64, 64), "float32").fill(1)
    image.prefetch("cuda")
    cc.synchronize()
    return image


def device_rows(bench: Bench) -> None:
    image = device_image()
    bench.add("image", "__cuda_array_interface__", lambda: image.__cuda_array_interface__)
    bench.add("image", "__dlpack__, versioned", lambda: image.__dlpack__(stream=1, max_version=(1, 0)))
    bench.add("image", "__dlpack__, legacy", lambda: image.__dlpack__(stream=1))

    def device() -> None:
        with image.device():
            pass

    bench.add("image", "with image.device()", device)


def operation_rows(bench: Bench) -> None:
    """What an operation costs before any pixel counts: 64 of them."""
    on_host = cc.device_count() == 0
    images = [cc.Image((8, 8), "float32").fill(value) for value in (1, 2, 3)]
    for image in images:
        image.prefetch("cpu" if on_host else "cuda")
    a, b, c = images
    made = (a.lazy - b).square() * 0.5 + 1
    bench.add("image", "a + b", lambda: a + b)
    bench.add("image", "a.add(b, out=c)", lambda: a.add(b, out=c))
    bench.add("image", "a += b", lambda: a.__iadd__(b))
    bench.add("image", "expression of 4 steps, out=c", lambda: made.evaluate(c))
    bench.add("image", "a.sum(as_image=True)", lambda: a.sum(as_image=True))
    bench.add("image", "a.sum()", lambda: a.sum())


def cupy_rows(bench: Bench) -> None:
    import cupy as cp

    array = cp.zeros((64, 64), cp.float32)
    image = device_image()
    ready = Ready()
    ready.__cuda_array_interface__ = {**array.__cuda_array_interface__, "stream": None}  # type: ignore[attr-defined]
    bench.add("cupy", "asarray(object), their own", lambda: cp.asarray(ready))
    bench.add("cupy", "asarray(image)", lambda: cp.asarray(image))
    image.end_loans()
    bench.add("cupy", "cc.ascupy(image)", lambda: cc.ascupy(image))
    bench.add("cupy", "from_dlpack(ndarray), their own", lambda: cp.from_dlpack(array))
    bench.add("cupy", "from_dlpack(image)", lambda: cp.from_dlpack(image))
    bench.add("cupy", "cc.from_array(ndarray)", lambda: cc.from_array(array, 2))


def torch_rows(bench: Bench) -> None:
    import torch

    tensor = torch.zeros((64, 64), device="cuda")
    image = device_image()
    ready = Ready()
    ready.__cuda_array_interface__ = tensor.__cuda_array_interface__  # type: ignore[attr-defined]
    bench.add("torch", "from_dlpack(tensor), their own", lambda: torch.from_dlpack(tensor))
    bench.add("torch", "from_dlpack(image)", lambda: torch.from_dlpack(image))
    bench.add("torch", "as_tensor(object), their own", lambda: torch.as_tensor(ready, device="cuda"))
    bench.add("torch", "as_tensor(image)", lambda: torch.as_tensor(image, device="cuda"))
    image.end_loans()
    bench.add("torch", "cc.from_array(tensor)", lambda: cc.from_array(tensor, 2))


def numba_rows(bench: Bench) -> None:
    from numba import cuda

    array = cuda.device_array((64, 64), np.float32)
    image = device_image()
    ready = Ready()
    ready.__cuda_array_interface__ = {**array.__cuda_array_interface__, "stream": None}  # type: ignore[attr-defined]
    bench.add("numba", "as_cuda_array(object), their own", lambda: cuda.as_cuda_array(ready))
    bench.add("numba", "as_cuda_array(image)", lambda: cuda.as_cuda_array(image))
    image.end_loans()
    bench.add("numba", "cc.asnumba(image)", lambda: cc.asnumba(image))
    bench.add("numba", "cc.from_array(array)", lambda: cc.from_array(array, 2))


def jax_rows(bench: Bench) -> None:
    import jax

    array = jax.numpy.zeros((64, 64), jax.numpy.float32).block_until_ready()
    image = device_image() if cc.device_backend() == "cuda" else cc.Image((64, 64), "float32", device="cpu").fill(1)
    bench.add("jax", "from_dlpack(array), their own", lambda: jax.dlpack.from_dlpack(array))
    bench.add("jax", "from_dlpack(image)", lambda: jax.dlpack.from_dlpack(image))
    bench.add("jax", "cc.asjax(image)", lambda: cc.asjax(image))
    bench.add("jax", "cc.from_array(array)", lambda: cc.from_array(array, 2))


def versions() -> dict[str, str]:
    found = {"cudacommon": cc.__version__, "python": platform.python_version(), "numpy": np.__version__}
    for name in ("cupy", "torch", "numba", "jax"):
        if name in sys.modules:
            found[name] = sys.modules[name].__version__
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="What handing an image to other libraries costs.")
    parser.add_argument("--json", help="a file for the figures")
    parser.add_argument("--number", type=int, default=2000, help="calls for each repetition")
    arguments = parser.parse_args()
    bench = Bench(arguments.number)
    numpy_rows(bench)
    # The emulated device's memory is nobody else's.
    parts = [operation_rows, jax_rows]
    if cc.device_backend() == "cuda":
        parts = [device_rows, operation_rows, cupy_rows, torch_rows, numba_rows, jax_rows]
    elif cc.device_count():
        parts = [device_rows, operation_rows]
    for part in parts:
        try:
            part(bench)
        except ImportError as error:
            print(f"left out: {error}", file=sys.stderr)
    base = bench.rows[0].microseconds
    print(f"device: {cc.device_backend()}, {platform.machine()}, " + ", ".join(f"{k} {v}" for k, v in versions().items()))
    print(f"{'library':8} {'what':36} {'us':>8} {'ratio':>8}")
    for row in bench.rows:
        print(f"{row.library:8} {row.what:36} {row.microseconds:8.2f} {row.microseconds / base:8.0f}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(
                {
                    "device": cc.device_backend(),
                    "versions": versions(),
                    "base_microseconds": base,
                    "rows": [{**row._asdict(), "ratio": row.microseconds / base} for row in bench.rows],
                },
                file,
                indent=1,
            )


if __name__ == "__main__":
    main()
