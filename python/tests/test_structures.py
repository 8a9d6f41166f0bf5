"""The structs and numbers that are typed again in Python are those of the headers, as a C compiler sees them."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cudacommon import (
    _errors,
    _expressions,
    _filters,
    _lending,
    _library,
    _observe,
    _pixel,
    _reductions,
    _regions,
    _smoothing,
    _textures,
    _tiles,
)
from cudacommon import _structures as structures

SOURCE = Path(__file__).parents[2]
INCLUDE = SOURCE / "include"

STRUCTS = {
    "cc_region": structures.Region,
    "cc_image_params": structures.ImageParams,
    "cc_descriptor": structures.Descriptor,
    "cc_place_state": structures.PlaceState,
    "cc_host_memory_state": structures.HostMemoryState,
    "cc_path_counters": structures.PathCounters,
    "cc_counters": structures.Counters,
    "cc_live_image": structures.LiveImage,
    "cc_trace_event": structures.TraceEvent,
    "cc_geometry": structures.Geometry,
    "cc_export_params": structures.ExportParams,
    "cc_import_params": structures.ImportParams,
    "cc_convolve_params": structures.ConvolveParams,
    "cc_gaussian_params": structures.GaussianParams,
    "cc_filter": structures.Filter,
    "cc_operand": structures.Operand,
    "cc_resample_params": structures.ResampleParams,
    "cc_pad_params": structures.PadParams,
    "cc_step": structures.Step,
    "cc_tile_pixels": structures.TilePixels,
    "cc_tile": structures.Tile,
    "cc_tiles_input": structures.TilesInput,
    "cc_tiles_params": structures.TilesParams,
    "cc_texture_params": structures.TextureParams,
    "cc_texture": structures.Texture,
}
#: where Python's word is another one
RENAMED = {"from_place": "from", "to_place": "to"}

NUMBERS = {
    "CC_PLACE_HOST": structures.PLACE_HOST,
    "CC_DEVICE_CURRENT": structures.DEVICE_CURRENT,
    "CC_ACCESS_READ": structures.READ,
    "CC_ACCESS_WRITE": structures.WRITE,
    "CC_ACCESS_READ_WRITE": structures.READ_WRITE,
    "CC_ORDER_C": structures.ORDER_C,
    "CC_ORDER_K": structures.ORDER_K,
    "CC_MAX_DIMENSION": structures.MAX_DIMENSION,
    "CC_DESCRIBE_COMPONENT_AXIS": structures.EXPORT_COMPONENT_AXIS,
    "CC_TEXTURE_VOLUME": _textures.SHAPES["volume"],
    "CC_TEXTURE_LAYERS": _textures.SHAPES["layers"],
    "CC_TEXTURE_PLANE": _textures.SHAPES["plane"],
    "CC_TEXTURE_BORDER": _textures.ADDRESSES["border"],
    "CC_TEXTURE_CLAMP": _textures.ADDRESSES["clamp"],
    "CC_TEXTURE_WRAP": _textures.ADDRESSES["wrap"],
    "CC_TEXTURE_MIRROR": _textures.ADDRESSES["mirror"],
    "CC_TEXTURE_POINT": _textures.POINT,
    "CC_TEXTURE_LINEAR": _textures.LINEAR,
    "CC_TEXTURE_ELEMENT": _textures.ELEMENT,
    "CC_TEXTURE_NORMALIZED": _textures.NORMALIZED,
    "CC_TEXTURE_PER_COMPONENT": _textures.PER_COMPONENT,
    "CC_TEXTURE_NORMALIZED_COORDINATES": _textures.NORMALIZED_COORDINATES,
    "CC_EXPORT_STREAM_KNOWN": structures.EXPORT_STREAM_KNOWN,
    "CC_IMPORT_STRIDED": structures.IMPORT_STRIDED,
    "CC_IMPORT_REUSED": structures.IMPORT_REUSED,
    "CC_IMPORT_BORROWED": structures.IMPORT_BORROWED,
    "CC_IMPORT_OWN_GEOMETRY": structures.IMPORT_OWN_GEOMETRY,
    "CC_IMPORT_WRITABLE": structures.IMPORT_WRITABLE,
    "CC_IMPORT_CONTIGUOUS": structures.IMPORT_CONTIGUOUS,
    "CC_DLPACK_COPY": structures.DLPACK_COPY,
    "CC_DLPACK_FORCE": structures.DLPACK_FORCE,
    "CC_LOAN_PENDING": _lending.LOAN_PENDING,
    "CC_PIXEL_BFLOAT16": _pixel.BFLOAT16,
    "CC_MAX_STEPS": _expressions.MAX_STEPS,
    "CC_MAX_INPUTS": _expressions.MAX_INPUTS,
    "CC_TILE_OUTPUT": _tiles.OUTPUT,
    "CC_ERROR_CANCELLED": _tiles._CANCELLED,
    "CC_DERIVATIVE_USE_DIRECTION": _filters.USE_DIRECTION,
    "CC_DERIVATIVE_IGNORE_SPACING": _filters.IGNORE_SPACING,
}


def ask_compiler(tmp_path: Path) -> dict[str, int]:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not INCLUDE.is_dir():
        pytest.skip("no C compiler, or not in the source tree")
    lines = []
    for name, struct in STRUCTS.items():
        lines.append(f'printf("{name} %ld\\n", (long)sizeof({name}));')
        for field, *_ in struct._fields_:
            member = RENAMED.get(field, field)
            lines.append(f'printf("{name}.{field} %ld\\n", (long)offsetof({name}, {member}));')
    lines += [f'printf("{name} %ld\\n", (long)({name}));' for name in NUMBERS]
    # The one header that CMake writes: what it holds is not asked for here.
    (tmp_path / "cudacommon").mkdir()
    (tmp_path / "cudacommon" / "cudacommon_config.h").write_text("")
    source = tmp_path / "ask.c"
    source.write_text(
        "#include <cudacommon/cudacommon.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n"
    )
    program = tmp_path / "ask"
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    subprocess.run(
        [compiler, f"-I{INCLUDE}", f"-I{tmp_path}", str(source), "-o", str(program)], check=True, env=environment
    )
    answer = subprocess.run([str(program)], check=True, capture_output=True, text=True, env=environment).stdout
    return {name: int(number) for name, number in (line.split() for line in answer.splitlines())}


def test_structs_and_numbers_agree_with_the_compiler(tmp_path: Path) -> None:
    expected = ask_compiler(tmp_path)
    found: dict[str, Any] = dict(NUMBERS)
    for name, struct in STRUCTS.items():
        found[name] = ctypes.sizeof(struct)
        for field, *_ in struct._fields_:
            found[f"{name}.{field}"] = getattr(struct, field).offset
    assert found == expected


def enumerators(header: str, prefix: str) -> dict[str, int]:
    path = INCLUDE / "cudacommon" / header
    if not path.is_file():
        pytest.skip("not in the source tree")
    return {name: int(number) for name, number in re.findall(rf"\b({prefix}\w+) = (\d+)", path.read_text())}


def test_every_status_has_its_exception() -> None:
    statuses = enumerators("status.h", "CC_ERROR_")
    assert len(statuses) >= 19
    assert set(_errors.BY_STATUS) == set(statuses.values())
    for name, number in statuses.items():
        words = name.removeprefix("CC_ERROR_").split("_")
        expected = {"OverflowError": "SizeOverflowError"}.get(
            "".join(word.capitalize() for word in words) + "Error",
            "".join(word.capitalize() for word in words) + "Error",
        )
        if expected.startswith("OutOf"):
            expected = expected.removesuffix("Error") + "Error"
        assert _errors.BY_STATUS[number].__name__ == expected, name
        assert _library.library.cc_status_name(number).decode() == name


def test_every_pixel_type_has_its_dtype() -> None:
    types = enumerators("pixel.h", "CC_PIXEL_")
    assert len(types) == 15
    assert {f"CC_PIXEL_{name.upper()}": number for number, name in enumerate(_pixel._NAMES)} == types


def test_trace_names_are_those_of_the_header() -> None:
    kinds = enumerators("trace.h", "CC_TRACE_")
    assert {f"CC_TRACE_{name.upper()}": number for number, name in enumerate(_observe._KINDS)} == kinds
    paths = enumerators("state.h", "CC_PATH_")
    assert {f"CC_PATH_{name.upper()}": number for number, name in enumerate(_observe._PATHS)} == paths


def names_in(module: Any, numbers: dict[str, int], prefix: str) -> dict[str, int]:
    return {name: getattr(module, name.removeprefix(prefix)) for name in numbers}


def test_steps_operands_and_reductions_are_those_of_the_headers() -> None:
    kinds = enumerators("expression.h", "CC_STEP_")
    assert len(kinds) == 21
    assert names_in(_expressions, kinds, "CC_STEP_") == kinds
    kinds = enumerators("expression.h", "CC_OPERAND_")
    assert names_in(_expressions, kinds, "CC_") == kinds
    kinds = enumerators("border.h", "CC_BORDER_")
    assert names_in(_regions, kinds, "CC_BORDER_") == kinds
    kinds = enumerators("reductions.h", "CC_REDUCE_")
    assert names_in(_reductions, kinds, "CC_REDUCE_") == kinds


def test_words_are_the_names_of_the_headers() -> None:
    for header, prefix, words in (
        ("smoothing.h", "CC_SIGMA_IN_", {"millimetres": _smoothing._UNITS["mm"], "pixels": _smoothing._UNITS["pixels"]}),
        ("fft.h", "CC_FILTER_IN_", _smoothing._DOMAINS),
        ("derivatives.h", "CC_DIFFERENCE_", _filters._DIFFERENCES),
        ("resample.h", "CC_INTERPOLATION_", {**_filters._INTERPOLATIONS, "cubic bspline": 2}),
    ):
        kinds = enumerators(header, prefix)
        assert {prefix + re.sub("[ -]", "_", word.upper()): number for word, number in words.items()} == {
            **kinds,
            **({"CC_INTERPOLATION_CUBIC": 2} if header == "resample.h" else {}),
        }
