"""An interpreter that ends while pixels are lent, mapped, traced or borrowed ends quietly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PRELUDE = """
import sys, threading, ctypes
import numpy as np
import cudacommon as cc
sys.path.insert(0, {tests!r})
"""

PROGRAMS = {
    "an image": "image = cc.Image((4, 3)).fill(1)",
    "unused capsules": """
image = cc.Image((4, 3), device="cpu")
capsules = [image.__dlpack__(), image.__dlpack__(max_version=(1, 0))]
""",
    "capsules kept by a cycle": """
image = cc.Image((4, 3), device="cpu")
cycle = [image.__dlpack__(), image]
cycle.append(cycle)
sys.kept = cycle
""",
    "arrays": """
image = cc.Image((4, 3), device="cpu")
arrays = [np.asarray(image), np.from_dlpack(image), cc.asnumpy(image)]
sys.kept = arrays
del image
""",
    "a mapping": """
manager = cc.Image((4, 3)).host(write=True)
array = manager.__enter__()
""",
    "a trace": """
trace = cc.trace()
events = trace.__enter__()
image = cc.Image((4, 3))
with image.host(): pass
assert events
""",
    "a trace whose image dies last": """
trace = cc.trace(lambda event: print("event", file=sys.stderr))
trace.__enter__()
sys.kept = cc.Image((4, 3))
with sys.kept.trace() as seen: pass
""",
    "borrowed arrays": """
image = cc.from_array(np.zeros((3, 4), np.float32), 2)
sys.kept = image.__dlpack__()
""",
    "consumed tensors that nobody deletes": """
from tensors import consume
image = cc.from_array(np.zeros((3, 4), np.float32), 2)
consumed = consume(image.__dlpack__())
del image
""",
    "the deleter at exit": """
import atexit
from tensors import consume
image = cc.from_array(np.zeros((3, 4), np.float32), 2)
consumed = consume(image.__dlpack__(max_version=(1, 0)))
del image
atexit.register(consumed.delete)
""",
    "the deleter after the interpreter": """
from tensors import consume, Deleter
image = cc.from_array(np.zeros((3, 4), np.float32), 2)
consumed = consume(image.__dlpack__(max_version=(1, 0)))
del image
libc = ctypes.CDLL(None)
# A C function with a C argument, called by the C library when Python is gone.
on_exit = libc.on_exit
on_exit.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
swap = cc._library.library
class Adapter(ctypes.Structure):
    _fields_ = [("word", ctypes.c_uint64 * 4)]
late = ctypes.CDLL({late!r})
late.delete_at_exit.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
late.delete_at_exit(ctypes.cast(consumed._deleter, ctypes.c_void_p), consumed._address)
""",
    "a thread that is still at work": """
image = cc.Image((64, 64), device="cpu")
def work():
    while True:
        np.from_dlpack(image)
threading.Thread(target=work, daemon=True).start()
""",
    "a device's memory": """
image = cc.Image((4, 3)).fill(1)
if cc.device_count():
    interface = image.__cuda_array_interface__
    capsule = image.__dlpack__()
    sys.kept = image.view()
""",
}

LATE = """
#include <stdlib.h>
typedef void (*deleter_fn)(void *);
static deleter_fn deleter;
static void *tensor;
static void call(void) { deleter(tensor); }
void delete_at_exit(deleter_fn function, void *object)
{
    deleter = function;
    tensor = object;
    atexit(call);
}
"""


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A library that calls a function of C when the process ends."""
    folder = tmp_path_factory.mktemp("late")
    source, library = folder / "late.c", folder / "late.so"
    source.write_text(LATE)
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    try:
        subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True, env=environment)
    except OSError:
        pytest.skip("no C compiler")
    return str(library)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_end_is_quiet(name: str, late: str) -> None:
    program = (PRELUDE + PROGRAMS[name]).replace("{tests!r}", repr(str(Path(__file__).parent))).replace(
        "{late!r}", repr(late)
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def test_a_forked_child_ends_quietly() -> None:
    program = PRELUDE.replace("{tests!r}", "'.'") + """
import os, warnings
warnings.simplefilter("ignore")
image = cc.Image((4, 3), device="cpu").fill(1)
array = np.asarray(image)
child = os.fork()
if child == 0:
    assert array.sum() == 12
    del array, image
    sys.exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_touches_no_driver_and_prints_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import cudacommon; print(cudacommon.__version__)"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "CUDACOMMON_LOG": "stderr"},
    )
    assert done.stderr == ""
    assert done.stdout.startswith("2.")


def test_a_library_that_is_not_there_is_an_import_error() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import cudacommon"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "CUDACOMMON_LIBRARY": "/nowhere/libcudacommon.so"},
    )
    assert done.returncode == 1
    assert "ImportError: libcudacommon.so.2 could not be loaded: /nowhere" in done.stderr


def test_an_older_library_is_an_import_error(tmp_path: Path, late: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import cudacommon"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "CUDACOMMON_LIBRARY": late},
    )
    assert done.returncode == 1
    assert "it is older than this package" in done.stderr
