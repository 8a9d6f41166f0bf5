#!/usr/bin/env python3
"""Draws one picture of a cc_bench run: bench/plot.py RESULT.json PICTURE.svg (or .png). Needs matplotlib."""

import argparse
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Measures held against a limit of the same run, in the order in which they are drawn.
RATES = [
    "library.owned.up.512MiB",
    "library.owned.down.512MiB",
    "library.pageable.up.512MiB",
    "library.pageable.down.512MiB",
    "library.duplex.512MiB",
    "library.boxes.up.32",
    "library.boxes.down.32",
    "library.boxes.up.8",
    "library.boxes.down.8",
    "library.devices.copy.512MiB",
    "library.operations.rescale.f32_f32",
    "library.operations.fill.f32",
]
# Measures beside the naive strategy's.
TIMES = [
    "library.owned.up.512MiB",
    "library.owned.down.512MiB",
    "library.pixel.read",
    "library.pixel.write_then_device",
    "library.boxes.up.32",
    "library.boxes.down.32",
    "library.create.512MiB",
    "library.fill.512MiB",
]
LIBRARY, NAIVE, TARGET, INK = "#0f6b8f", "#c2703d", "#222222", "#333333"


def seconds_text(seconds):
    for factor, unit in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms"), (1, "s")):
        if seconds * factor < 1000:
            break
    return f"{seconds * factor:.3g} {unit}"


def rate_text(rate):
    return f"{rate / 1e9:.1f} GB/s" if rate < 1e11 else f"{rate / 1e9:,.0f} GB/s"


def work_text(row):
    return row["work"].replace("^3", "³")


def factor_text(factor):
    return f"{factor:.1f}×" if factor < 10 else f"{factor:,.0f}×"


def draw_rates(axes, result):
    measures = {m["name"]: m for m in result["measures"]}
    # A measure may be held against several; the first is what is to be reached.
    targets = {t["measure"]: t for t in reversed(result["targets"]) if t["ratio"] is not None}
    rows = [targets[name] for name in RATES if name in targets]
    for y, target in enumerate(rows):
        measure = measures[target["measure"]]
        axes.barh(y, target["ratio"], height=0.62, color=LIBRARY)
        axes.text(
            0.015, y, rate_text(measure["bytes"] / measure["median_s"]),
            va="center", color="white" if target["ratio"] > 0.2 else INK, fontsize=8,
        )
        if target["reach"] is not None:
            axes.plot([target["reach"]] * 2, [y - 0.38, y + 0.38], color=TARGET, linewidth=2)
    axes.axvline(1, color=INK, linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(rows)), [work_text(row) for row in rows])
    axes.set_xlim(0, max([1.08] + [row["ratio"] * 1.02 for row in rows]))
    axes.set_title("Rate, as a part of the machine's own (line: to reach)", fontsize=10, loc="left")
    axes.invert_yaxis()


def draw_times(axes, result):
    measures = {m["name"]: m["median_s"] for m in result["measures"]}
    compared = {c["measure"]: c for c in result["comparisons"] if c["speedup"] is not None}
    rows = [compared[name] for name in TIMES if name in compared]
    for y, row in enumerate(rows):
        fast, slow = measures[row["measure"]], measures[row["naive"]]
        axes.plot([fast, slow], [y, y], color="#bbbbbb", linewidth=2, zorder=1)
        axes.scatter(fast, y, color=LIBRARY, s=45, zorder=2, label="CudaCommon" if y == 0 else None)
        axes.scatter(slow, y, color=NAIVE, s=45, zorder=2, label="naive" if y == 0 else None)
        for seconds, other in ((fast, slow), (slow, fast)):
            axes.annotate(
                seconds_text(seconds), (seconds, y), xytext=(-8 if seconds <= other else 8, 0),
                textcoords="offset points", va="center", ha="right" if seconds <= other else "left", fontsize=8,
            )
        axes.annotate(
            factor_text(row["speedup"]), ((fast * slow) ** 0.5, y), xytext=(0, 5), textcoords="offset points",
            ha="center", fontsize=8, color=INK,
        )
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [work_text(row) for row in rows])
    axes.margins(x=0.22, y=0.08)
    axes.invert_yaxis()
    axes.set_title("Time in seconds, beside the naive strategy's", fontsize=10, loc="left")
    if rows:
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, -0.17), ncols=2, frameon=False, fontsize=9)


def caption(result):
    machine = result["machine"]
    parts = [
        f"{machine['gpu']}" + (f" × {machine['gpu_count']}" if machine["gpu_count"] > 1 else ""),
        f"driver {machine['driver']}",
        f"{machine['cpu']}, {machine['core_count']} cores",
        f"CudaCommon {result['library']}, commit {result['commit'][:12]}",
        result["date"][:10],
    ]
    if result["quick"]:
        parts.append("a QUICK run")
    return " · ".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", help="what cc_bench --output wrote")
    parser.add_argument("picture", help="the file to write; its ending says how")
    arguments = parser.parse_args()
    with open(arguments.result, encoding="utf-8") as file:
        result = json.load(file)
    if result.get("format") != "cc_bench 1":
        sys.exit(f"{arguments.result}: not what cc_bench writes")

    # The same run gives the same bytes.
    plt.rcParams.update({"svg.hashsalt": "cc_bench", "font.size": 9})
    plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5.2), facecolor="white")
    draw_rates(left, result)
    draw_times(right, result)
    figure.text(0.5, 0.01, caption(result), ha="center", fontsize=8, color="#666666")
    figure.tight_layout(rect=(0, 0.035, 1, 1), w_pad=2)
    metadata = {"Date": None} if arguments.picture.endswith(".svg") else None
    figure.savefig(arguments.picture, dpi=150, metadata=metadata)


if __name__ == "__main__":
    main()
