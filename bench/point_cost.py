#!/usr/bin/env python3
"""Operations on the pixels of 1 GiB on a GPU, beside what CuPy does with the same memory in the same run.

    PYTHONPATH=python/src CUDACOMMON_LIBRARY=build/release/src/libcudacommon.so bench/point_cost.py [--json FILE]

Milliseconds between two events in one stream, of several calls queued together, so that what a call costs on the host
does not count; the median of the repetitions, in which both take turns, each first as often as the others. Both read and write
the same memory, as images over CuPy's arrays, since where a GPU's memory lies makes 1 or 2 %. Where CuPy has several
ways, its quickest counts. The ratio is that of the rates: below 1 CuPy is faster. The results are compared too; casts to
integers are not, as CuPy cuts off what the library rounds and clamps.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import cudacommon as cc
import cupy

CALLS = 4
REPETITIONS = 10
SCALE = 0.75
LOW, HIGH = 0.25, 0.75

Work = Callable[[], Any]


class Row(NamedTuple):
    work: str
    ours_ms: float
    cupy_ms: float
    ratio: float
    gigabytes_per_second: float
    difference: float | None


class Pair:
    """A CuPy array and an image over its memory."""

    def __init__(self, stream: Any, size: Sequence[int], dtype: str, components: int = 1) -> None:
        shape = (*reversed(size), components) if components > 1 else tuple(reversed(size))
        self.array = cupy.empty(shape, dtype)
        self.write()
        self.image = cc.from_array(self.array, len(size), writable=True, stream=stream)

    def write(self) -> None:
        generator = cupy.random.default_rng(self.array.size % 1000)
        parts = self.array.reshape(-1)
        if self.array.dtype.kind == "c":
            parts = parts.view(self.array.real.dtype)
        step = max(1, parts.size // 8)
        for first in range(0, parts.size, step):
            part = parts[first : first + step]
            made = generator.random(part.shape, dtype="float32")
            part[...] = made if part.dtype.kind == "f" else made * 200

    def difference(self, other: Any) -> float:
        """The greatest from another array; NaN is like NaN."""
        greatest = 0.0
        these, those = self.array.reshape(-1), other.reshape(-1)
        step = max(1, these.size // 8)
        for first in range(0, these.size, step):
            a, b = these[first : first + step], those[first : first + step]
            wide = "complex128" if a.dtype.kind == "c" else "float64"
            found = cupy.abs(a.astype(wide) - b.astype(wide))
            found[(a == b) | ((a != a) & (b != b))] = 0
            greatest = max(greatest, float(found.max()))
        return greatest


class Bench:
    def __init__(self, slices: int) -> None:
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.slices = slices
        self.only = ""
        self.rows: list[Row] = []

    def size(self, bytes_of_pixel: int) -> tuple[int, int, int]:
        """Of an image with as many bytes as one of float32 has with `slices` slices."""
        return 1024, 512, max(2, self.slices * 4 // bytes_of_pixel)

    def pair(self, dtype: str, size: Sequence[int] | None = None, components: int = 1) -> Pair:
        itemsize = cupy.dtype(dtype).itemsize
        return Pair(self.stream, size or self.size(itemsize * components), dtype, components)

    def _milliseconds(self, work: Work) -> float:
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record(self.stream)
        for _ in range(CALLS):
            work()
        end.record(self.stream)
        end.synchronize()
        return float(cupy.cuda.get_elapsed_time(begin, end)) / CALLS

    def add(self, work: str, moved: float, out: Pair | None, ours: Work, *theirs: Work) -> None:
        """moved: bytes; out: where both write, or None when the results differ on purpose."""
        if self.only not in work:
            return
        contenders = (ours, *theirs)
        taken: list[list[float]] = [[] for _ in contenders]
        difference = None
        try:
            ours()
            kept = None if out is None else out.array.copy()
            for other in theirs:
                other()
            if out is not None:
                difference = out.difference(kept)
            for repetition in range(REPETITIONS):
                for turn in range(len(contenders)):
                    at = (repetition + turn) % len(contenders)
                    taken[at].append(self._milliseconds(contenders[at]))
        except Exception as error:  # noqa: BLE001 - what one of them cannot do is a row that is not there
            print(f"{work}: {type(error).__name__}: {error}", file=sys.stderr)
            return
        ours_ms, *theirs_ms = (statistics.median(times) for times in taken)
        row = Row(
            work,
            ours_ms,
            min(theirs_ms),
            min(theirs_ms) / ours_ms,
            1e-6 * moved / ours_ms,
            difference,
        )
        self.rows.append(row)
        print(
            f"{row.work:44} {row.ours_ms:8.3f} ms {row.gigabytes_per_second:7.0f} GB/s   CuPy {row.cupy_ms:8.3f} ms   "
            f"{row.ratio:5.2f}{'  UNDER' if row.ratio < 1 else ''}"
            + ("" if not row.difference else f"  greatest difference {row.difference:.2g}"),
            flush=True,
        )


def kernel(dtype: str, takes: str, gives: str, body: str) -> Any:
    return cupy.ElementwiseKernel(*(text.replace("T ", f"{dtype} ") for text in (takes, gives)), body)


def fill_and_copy(bench: Bench, x: Pair, out: Pair, value: float) -> None:
    o, c = out.image, out.array
    dtype, one = c.dtype, c.nbytes
    rest = (1024, 512, c.shape[0] - 1)
    bench.add(
        f"fill a part, {dtype}",
        one * rest[2] / (rest[2] + 1),
        out,
        lambda: o.fill(value, index=(0, 0, 1), size=rest, stream=bench.stream),
        lambda: c[1:].fill(value),
    )
    bench.add(
        f"copy, {dtype}",
        2 * one,
        out,
        lambda: x.image.lazy.evaluate(o, stream=bench.stream),
        lambda: cupy.copyto(c, x.array),
    )


def float_rows(bench: Bench, dtype: str) -> None:
    s = bench.stream
    x, y, out = bench.pair(dtype), bench.pair(dtype), bench.pair(dtype)
    fill_and_copy(bench, x, out, 42.5)
    i, j, o = x.image, y.image, out.image
    a, b, c = x.array, y.array, out.array
    one = a.nbytes
    for name in ("add", "subtract", "multiply", "divide", "minimum", "maximum"):
        ours, theirs = getattr(i, name), getattr(cupy, name)
        bench.add(f"{name}, {dtype}", 3 * one, out, lambda: ours(j, out=o, stream=s), lambda: theirs(a, b, out=c))
        bench.add(
            f"{name}, a value, {dtype}",
            2 * one,
            out,
            lambda: ours(SCALE, out=o, stream=s),
            lambda: theirs(a, SCALE, out=c),
        )
    for name, theirs_name in (
        ("negate", "negative"),
        ("absolute", "absolute"),
        ("square", "square"),
        ("sqrt", "sqrt"),
    ):
        ours, theirs = getattr(i, name), getattr(cupy, theirs_name)
        bench.add(f"{name}, {dtype}", 2 * one, out, lambda: ours(out=o, stream=s), lambda: theirs(a, out=c))
    bench.add(
        f"clamp, {dtype}",
        2 * one,
        out,
        lambda: i.clamp(LOW, HIGH, out=o, stream=s),
        lambda: cupy.clip(a, LOW, HIGH, out=c),
    )
    within = kernel(dtype, "T x, T low, T high", "T r", "r = low <= x && x <= high ? 1 : 0")
    bench.add(
        f"threshold, {dtype}",
        2 * one,
        out,
        lambda: i.threshold(LOW, HIGH, out=o, stream=s),
        lambda: within(a, LOW, HIGH, c),
    )
    rescale = kernel(dtype, "T x, T scale, T shift", "T r", "r = x * scale + shift")
    bench.add(
        f"rescale, {dtype}",
        2 * one,
        out,
        lambda: i.rescale(SCALE, 3.0, out=o, stream=s),
        lambda: rescale(a, SCALE, 3.0, c),
    )
    chain = (i.lazy.square() + j.lazy.square()).sqrt().clamp(LOW, HIGH)
    whole = kernel(dtype, "T x, T y, T low, T high", "T r", "r = min(max(sqrt(x * x + y * y), low), high)")

    @cupy.fuse()  # type: ignore[untyped-decorator]
    def fused(x: Any, y: Any, r: Any) -> None:
        cupy.clip(cupy.sqrt(x * x + y * y), LOW, HIGH, out=r)

    bench.add(
        f"clamp(sqrt(x^2 + y^2)), {dtype}",
        3 * one,
        out,
        lambda: chain.evaluate(o, stream=s),
        lambda: whole(a, b, LOW, HIGH, c),
        lambda: fused(a, b, c),
    )
    axpy = kernel(dtype, "T x, T a", "T y", "y = a * x + y")
    bench.add(f"axpy, {dtype}", 3 * one, None, lambda: o.axpy(1e-3, i, stream=s), lambda: axpy(a, 1e-3, c))


def whole_rows(bench: Bench, dtype: str) -> None:
    s = bench.stream
    x, y, out = bench.pair(dtype), bench.pair(dtype), bench.pair(dtype)
    fill_and_copy(bench, x, out, 42)
    i, j, o = x.image, y.image, out.image
    a, b, c = x.array, y.array, out.array
    one = a.nbytes
    # The library clamps; CuPy's sums are only equal where nothing is to be clamped.
    for name in ("add", "subtract", "multiply"):
        ours, theirs = getattr(i, name), getattr(cupy, name)
        bench.add(f"{name}, {dtype}", 3 * one, None, lambda: ours(j, out=o, stream=s), lambda: theirs(a, b, out=c))
    for name in ("minimum", "maximum"):
        ours, theirs = getattr(i, name), getattr(cupy, name)
        bench.add(f"{name}, {dtype}", 3 * one, out, lambda: ours(j, out=o, stream=s), lambda: theirs(a, b, out=c))
    bench.add(
        f"add, a value, {dtype}",
        2 * one,
        None,
        lambda: i.add(3, out=o, stream=s),
        lambda: cupy.add(a, c.dtype.type(3), out=c),
    )
    bench.add(
        f"clamp, {dtype}", 2 * one, out, lambda: i.clamp(50, 150, out=o, stream=s), lambda: cupy.clip(a, 50, 150, out=c)
    )
    within = kernel(dtype, "T x, T low, T high", "T r", "r = low <= x && x <= high ? 1 : 0")
    bench.add(
        f"threshold, {dtype}",
        2 * one,
        out,
        lambda: i.threshold(50, 150, out=o, stream=s),
        lambda: within(a, 50, 150, c),
    )
    rescale = kernel(dtype, "T x, float32 scale, float32 shift", "T r", "r = rint(x * scale + shift)")
    bench.add(
        f"rescale, {dtype}",
        2 * one,
        None,
        lambda: i.rescale(SCALE, 3.0, out=o, stream=s),
        lambda: rescale(a, SCALE, 3.0, c),
    )


def cast_rows(bench: Bench) -> None:
    s = bench.stream
    for source, target in (
        ("uint8", "float32"),
        ("uint16", "float32"),
        ("int16", "float32"),
        ("float16", "float32"),
        ("float64", "float32"),
        ("int32", "float32"),
        ("float32", "uint8"),
        ("float32", "uint16"),
        ("float32", "int16"),
        ("float32", "float16"),
        ("float32", "float64"),
        ("uint8", "uint16"),
    ):
        larger = max(cupy.dtype(source).itemsize, cupy.dtype(target).itemsize)
        x, out = bench.pair(source, bench.size(larger)), bench.pair(target, bench.size(larger))
        i, o, a, c = x.image, out.image, x.array, out.array
        bench.add(
            f"cast, {source} to {target}",
            a.nbytes + c.nbytes,
            None if c.dtype.kind in "iu" and a.dtype.kind == "f" else out,
            lambda i=i, o=o: i.lazy.evaluate(o, stream=s),  # type: ignore[misc]
            lambda a=a, c=c: cupy.copyto(c, a, casting="unsafe"),  # type: ignore[misc]
        )
        del x, out, i, o, a, c
    x, out = bench.pair("uint16", bench.size(4)), bench.pair("float32")
    rescale = kernel("float32", "uint16 x, T scale, T shift", "T r", "r = x * scale + shift")
    bench.add(
        "rescale, uint16 to float32",
        x.array.nbytes + out.array.nbytes,
        out,
        lambda: x.image.rescale(SCALE, 3.0, out=out.image, stream=s),
        lambda: rescale(x.array, SCALE, 3.0, out.array),
    )


def vector_rows(bench: Bench) -> None:
    s = bench.stream
    x, out = bench.pair("float32", components=3), bench.pair("float32", bench.size(12))
    v, c = x.array, out.array
    norm = kernel("float32", "T x, T y, T z", "T r", "r = sqrt(x * x + y * y + z * z)")
    raw = kernel(
        "float32",
        "raw T v",
        "T r",
        "float x = v[3 * i], y = v[3 * i + 1], z = v[3 * i + 2]; r = sqrt(x * x + y * y + z * z)",
    )
    bench.add(
        "magnitude of 3 components, float32",
        v.nbytes + c.nbytes,
        out,
        lambda: x.image.magnitude(out=out.image, stream=s),
        lambda: norm(v[..., 0], v[..., 1], v[..., 2], c),
        lambda: raw(v, c),
    )
    bench.add(
        "component 1 of 3, float32",
        v.nbytes + c.nbytes,
        out,
        lambda: x.image.component(1, out=out.image, stream=s),
        lambda: cupy.copyto(c, v[..., 1]),
    )


def complex_rows(bench: Bench) -> None:
    s = bench.stream
    x, y, out = bench.pair("complex64"), bench.pair("complex64"), bench.pair("complex64")
    part = bench.pair("float32", bench.size(8))
    i, j, o, p = x.image, y.image, out.image, part.image
    a, b, c, r = x.array, y.array, out.array, part.array
    moved = a.nbytes + r.nbytes
    bench.add("real part", moved, part, lambda: i.real(out=p, stream=s), lambda: cupy.copyto(r, a.real))
    bench.add("imaginary part", moved, part, lambda: i.imag(out=p, stream=s), lambda: cupy.copyto(r, a.imag))
    bench.add(
        "magnitude, complex64", moved, part, lambda: i.absolute(out=p, stream=s), lambda: cupy.absolute(a, out=r)
    )
    bench.add(
        "angle, complex64", moved, part, lambda: i.angle(out=p, stream=s), lambda: cupy.arctan2(a.imag, a.real, out=r)
    )
    bench.add(
        "conjugate, complex64",
        2 * a.nbytes,
        out,
        lambda: i.conjugate(out=o, stream=s),
        lambda: cupy.conjugate(a, out=c),
    )
    for name in ("add", "subtract", "multiply", "divide"):
        ours, theirs = getattr(i, name), getattr(cupy, name)
        bench.add(
            f"{name}, complex64", 3 * a.nbytes, out, lambda: ours(j, out=o, stream=s), lambda: theirs(a, b, out=c)
        )


def region_rows(bench: Bench, dtype: str) -> None:
    s = bench.stream
    x, out = bench.pair(dtype), bench.pair(dtype)
    i, o, a, c = x.image, out.image, x.array, out.array
    moved = 2 * a.nbytes
    columns, rows, slices = i.size
    for axis, name in enumerate("ijk"):
        turned = tuple(slice(None, None, -1 if at == 2 - axis else 1) for at in range(3))
        bench.add(
            f"flip along {name}, {dtype}",
            moved,
            out,
            lambda: i.flip(axis, out=o, stream=s),
            lambda: cupy.copyto(c, a[turned]),
        )
    for order, name in (((1, 0, 2), "jik"), ((2, 1, 0), "kji"), ((0, 2, 1), "ikj")):
        swapped = bench.pair(dtype, [i.size[axis] for axis in order])
        axes = tuple(2 - order[2 - at] for at in range(3))
        bench.add(
            f"permute to {name}, {dtype}",
            moved,
            swapped,
            lambda: i.permute(order, out=swapped.image, stream=s),
            lambda: cupy.copyto(swapped.array, a.transpose(axes)),
        )
        del swapped
    for name, border in (("aligned", 32), ("not aligned", 1)):
        part = bench.pair(dtype, (columns - 2 * border, rows - 2 * border, slices))
        inner = (slice(None), slice(border, -border), slice(border, -border))
        at, size = (border, border, 0), part.image.size
        bench.add(
            f"crop, {name}, {dtype}",
            2 * part.array.nbytes,
            part,
            lambda: i.crop(index=at, size=size, out=part.image, stream=s),
            lambda: cupy.copyto(part.array, a[inner]),
        )
        for mode, theirs in (("constant", "constant"), ("replicate", "edge"), ("symmetric", "symmetric")):
            width = (border, border, 0)
            wider = [(0, 0), (border, border), (border, border)]
            bench.add(
                f"pad, {mode}, {name}, {dtype}",
                part.array.nbytes + c.nbytes,
                None,
                lambda: part.image.pad(width, mode, out=o, stream=s),
                lambda: cupy.pad(part.array, wider, mode=theirs),
            )
        del part


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--only", metavar="TEXT", default="", help="what has this in its name")
    parser.add_argument("--slices", type=int, default=512, help="of 1024 x 512 float32; 512 are 1 GiB")
    arguments = parser.parse_args()
    bench = Bench(arguments.slices)
    bench.only = arguments.only
    with bench.stream:
        for dtype in ("float32", "float64"):
            float_rows(bench, dtype)
        for dtype in ("uint8", "uint16", "int32"):
            whole_rows(bench, dtype)
        cast_rows(bench)
        vector_rows(bench)
        complex_rows(bench)
        for dtype in ("float32", "uint8"):
            region_rows(bench, dtype)
    under = [row for row in bench.rows if row.ratio < 1]
    print(f"{len(bench.rows)} compared, {len(under)} under CuPy")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(
                {
                    "cupy": cupy.__version__,
                    "library": cc.__version__,
                    "rows": [row._asdict() for row in bench.rows],
                },
                file,
                indent=1,
            )


if __name__ == "__main__":
    main()
