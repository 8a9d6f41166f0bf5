#!/usr/bin/env python3
"""Reductions and histograms on a GPU, beside CuPy with CUB and cuBLAS in the same run.

    PYTHONPATH=python/src CUDACOMMON_LIBRARY=build/release/src/libcudacommon.so bench/reduction_cost.py [--json FILE]

Microseconds of a call between two events, the median of the repetitions, the result left on the device; of small arrays many calls follow each other, so that it is what launching costs. The library adds in
float64 and gives the same bits every time; CuPy adds float32 in float32, and 8 and 16 bits in 64, so the results are
compared too.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

os.environ["CUPY_ACCELERATORS"] = "cub"

import cudacommon as cc
import cupy
from cudacommon._library import check, library
from cudacommon._reductions import DOT, MAXIMUM, MEAN, MINIMUM, NORM, SUM, VARIANCE
from cupy import cublas

REPETITIONS = 15
BINS = 256
GIB = 1 << 30
TYPES = {"float32": 1.0, "float64": 1.0, "uint8": 256.0, "uint16": 65536.0}  # where the values end

content = cupy.ElementwiseKernel(
    "float64 end",
    "T out",
    """
    unsigned int x = (unsigned int)i * 2654435761u;
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    out = (T)(((x ^ (x >> 16)) >> 8) * (end / 16777216.0));
    """,
    "content",
)


class Row(NamedTuple):
    work: str
    dtype: str
    count: int
    ours_us: float
    theirs_us: float
    difference: float


def microseconds(work: Callable[[], Any], calls: int) -> float:
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    taken = []
    for n in range(REPETITIONS + 3):
        begin.record()
        for _ in range(calls):
            work()
        end.record()
        end.synchronize()
        if n >= 3:
            taken.append(cupy.cuda.get_elapsed_time(begin, end) * 1000 / calls)
    return statistics.median(taken)


def new_image(dtype: str, count: int) -> cc.Image:
    image = cc.Image((count,), dtype, device=0)
    with image.device(write=True, read=False) as pixels:
        content(TYPES[dtype], cupy.asarray(pixels))
    return image


def array_of(image: cc.Image) -> Any:
    with image.device() as pixels:
        return cupy.asarray(pixels).copy()


def theirs_of(x: Any, y: Any) -> dict[int, tuple[str, Callable[[], Any]]]:
    works: dict[int, tuple[str, Callable[[], Any]]] = {
        SUM: ("sum", lambda: x.sum()),
        MINIMUM: ("min", lambda: x.min()),
        MAXIMUM: ("max", lambda: x.max()),
        MEAN: ("mean", lambda: x.mean()),
        VARIANCE: ("var", lambda: x.var()),
    }
    if x.dtype.kind == "f":
        works[DOT] = ("dot (cuBLAS)", lambda: cupy.dot(x, y))
        works[NORM] = ("norm (cuBLAS)", lambda: cublas.nrm2(x))
    return works


def show(row: Row) -> None:
    rate = row.count * cupy.dtype(row.dtype).itemsize * (2 if row.work.startswith("dot") else 1) / row.ours_us / 1000
    print(
        f"{row.work:17s} {row.dtype:8s} {row.count:11d}: {row.ours_us:9.2f} us, {rate:7.1f} GB/s; "
        f"CuPy {row.theirs_us:9.2f} us, {row.theirs_us / row.ours_us:6.2f} times; difference {row.difference:.2g}",
        flush=True,
    )


def compare(dtype: str, count: int) -> list[Row]:
    image, second = new_image(dtype, count), new_image(dtype, count)
    x, y = array_of(image), array_of(second)
    stream = cupy.cuda.get_current_stream().ptr
    calls = 1 if x.nbytes > GIB // 16 else 30
    rows = []
    result = cc.Image((1,), "float64", device=0)
    for reduction, (name, theirs) in theirs_of(x, y).items():
        other = second._handle if reduction == DOT else None  # noqa: SLF001

        def ours(reduction: int = reduction, other: Any = other) -> None:
            check(library.cc_image_reduce(reduction, image._handle, other, result._handle, stream))  # noqa: SLF001

        times = microseconds(ours, calls), microseconds(theirs, calls)
        with result.host() as number:
            found = float(number[0])
        expected = float(theirs())
        rows.append(Row(name, dtype, count, *times, abs(found - expected) / max(abs(found), sys.float_info.min)))
        show(rows[-1])
    counts = cc.Image((BINS,), "uint64", device=0)
    lower, upper = ctypes.c_double(0), ctypes.c_double(TYPES[dtype])

    def count_ours() -> None:
        check(library.cc_image_histogram(image._handle, lower, upper, counts._handle, stream))  # noqa: SLF001

    def count_theirs() -> Any:
        return cupy.histogram(x, bins=BINS, range=(0, TYPES[dtype]))[0]

    times = microseconds(count_ours, calls), microseconds(count_theirs, calls)
    with counts.device() as numbers:
        difference = float(cupy.abs(cupy.asarray(numbers).astype("float64") - count_theirs()).sum()) / count
    rows.append(Row(f"histogram of {BINS}", dtype, count, *times, difference))
    show(rows[-1])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for dtype in TYPES:
        size_bytes = cupy.dtype(dtype).itemsize
        for count in (GIB // size_bytes, 1 << 20, 1000):
            rows += compare(dtype, count)
            cupy.get_default_memory_pool().free_all_blocks()
    slower = [row for row in rows if row.ours_us > row.theirs_us]
    print(f"reduction_cost: {len(rows) - len(slower)} of {len(rows)} at least as fast as CuPy with CUB and cuBLAS")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            versions = {"cupy": cupy.__version__, "library": cc.__version__}
            json.dump({**versions, "rows": [row._asdict() for row in rows]}, file, indent=1)


if __name__ == "__main__":
    main()
