"""Compile every Cython module of `core/literati`; everything else stands in pyproject.toml."""

import os
import runpy
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

HERE = Path(__file__).resolve().parent
PACKAGE = Path("core/literati")
os.chdir(HERE)  # setuptools wants source paths relative to this file

# No -march: a wheel has to run on any machine of its architecture; the headers choose SIMD at run time.
# No contraction to fused multiply-add: scores compare as IEEE doubles, the same on every machine.
# The other two are also Python's own flags, which CFLAGS in the environment would replace.
# `make mutants` compiles with less optimization, to save time.
COMMON = ["-DNDEBUG", "-fwrapv", "-ffp-contract=off"]
COMPILE = [os.environ.get("LITERATI_OPTIMIZE", "-O3"), "-pthread", *COMMON]
LINK = ["-pthread"]
SANITIZERS = {"1": "address", "threads": "thread"}
if sanitizer := SANITIZERS.get(os.environ.get("LITERATI_SANITIZE", "")):
    COMPILE = ["-O1", "-g", "-fno-omit-frame-pointer", f"-fsanitize={sanitizer}", *COMMON]
    LINK = [f"-fsanitize={sanitizer}", "-pthread"]

# Cython follows .pxd files by itself; headers that include headers it cannot, and setup.py holds the flags.
HEADERS = [str(path) for path in sorted(PACKAGE.glob("*/*.h"))]
# `make build` installs the path entry first and compiles afterwards, because an editable install compiles
# everything anew in a temporary folder.
SOURCES = [] if os.environ.get("LITERATI_NO_EXTENSIONS") == "1" else sorted(PACKAGE.glob("*/*.pyx"))


def stale(source: Path) -> bool:
    """The C file was generated before the directives below last changed."""
    generated = source.with_suffix(".c")
    return generated.exists() and generated.stat().st_mtime < Path("setup.py").stat().st_mtime


extensions = [
    Extension(
        ".".join(source.relative_to("core").with_suffix("").parts),
        [str(source)],
        include_dirs=[str(source.parent)],
        extra_compile_args=COMPILE,
        extra_link_args=LINK,
        depends=[*HEADERS, "setup.py"],
    )
    for source in SOURCES
]

setup(
    options={"build_ext": {"parallel": runpy.run_path("core/literati/cores.py")["usable_cores"]()}},
    ext_modules=cythonize(
        extensions,
        include_path=["core"],
        force=any(stale(source) for source in SOURCES),
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
    )
    if extensions
    else [],
)
