#!/usr/bin/env python3
"""Gaussian smoothing of float32 volumes on a GPU, beside cupyx.scipy.ndimage.gaussian_filter in the same run.

    PYTHONPATH=python/src CUDACOMMON_LIBRARY=build/release/src/libcudacommon.so bench/gaussian_cost.py [--json FILE]

Milliseconds between two events, the median of the repetitions, both into an array that is there already. The results are
compared too.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
from collections.abc import Callable
from typing import Any

import cudacommon as cc
import cupy
from cudacommon._library import check, library
from cupyx.scipy import ndimage

REPETITIONS = 15
IN_PIXELS = 1
SYMMETRIC = 3  # ndimage's mode "reflect"


class Params(ctypes.Structure):
    """cc_gaussian_params."""

    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("unit", ctypes.c_int),
        ("sigma", ctypes.c_double * 4),
        ("truncate", ctypes.c_double),
        ("border", ctypes.c_int),
        ("reserved", ctypes.c_int32),
        ("border_value", ctypes.c_double),
    ]


def milliseconds(work: Callable[[], Any]) -> float:
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    taken = []
    for n in range(REPETITIONS + 3):
        begin.record()
        work()
        end.record()
        end.synchronize()
        if n >= 3:
            taken.append(cupy.cuda.get_elapsed_time(begin, end))
    return statistics.median(taken)


def compare(side: int, sigma: float) -> dict[str, Any]:
    smooth = library.cc_image_smooth_gaussian
    smooth.restype = ctypes.c_int
    smooth.argtypes = [ctypes.c_void_p, ctypes.POINTER(Params), ctypes.c_void_p, ctypes.c_void_p]
    source = cc.Image((side, side, side), dtype="float32", device=0)
    target = cc.Image((side, side, side), dtype="float32", device=0)
    with source.device(write=True, read=False) as pixels:
        array = cupy.asarray(pixels)
        array[...] = cupy.random.default_rng(1).random(array.shape, dtype="float32")
        kept = array.copy()
    params = Params(ctypes.sizeof(Params), IN_PIXELS, (sigma, sigma, sigma, 0), 4.0, SYMMETRIC, 0, 0.0)
    stream = cupy.cuda.get_current_stream().ptr
    ours = milliseconds(
        lambda: check(smooth(source._handle, ctypes.byref(params), target._handle, stream))  # noqa: SLF001
    )
    expected = cupy.empty_like(kept)
    theirs = milliseconds(lambda: ndimage.gaussian_filter(kept, sigma, output=expected, mode="reflect"))
    with target.device() as pixels:
        difference = float(cupy.abs(cupy.asarray(pixels) - expected).max())
    return {"side": side, "sigma": sigma, "ours_ms": ours, "cupyx_ms": theirs, "difference": difference}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    rows = [compare(side, sigma) for side in (256, 384, 512) for sigma in (1.0, 2.0, 4.0, 8.0)]
    for row in rows:
        print(
            f"{row['side']}^3, sigma {row['sigma']:g}: {row['ours_ms']:.3f} ms, cupyx {row['cupyx_ms']:.3f} ms, "
            f"{row['cupyx_ms'] / row['ours_ms']:.1f} times; greatest difference {row['difference']:.2g}"
        )
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"cupy": cupy.__version__, "library": cc.__version__, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
