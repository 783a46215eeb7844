"""The library from Python, through ctypes: the same promises seen from another language, and its symbols.

usage: library_test.py LIBRARY
"""

import array
import ctypes
import math
import random
import subprocess
import sys

CONVERGED, LIMIT_REACHED, NULL_POINTER, BAD_DIMENSION, TOO_LARGE = 0, 1, -1, -2, -4
PLAIN, MIXED, MULTIGRID = 0, 1, 2


def load(path):
    library = ctypes.CDLL(path)
    library.pcg_strerror.restype = ctypes.c_char_p
    library.pcg_strerror.argtypes = [ctypes.c_int]
    library.pcg_solve_float.argtypes = [
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_longlong, ctypes.c_int, ctypes.c_double,
        ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    library.pcg_solve_double.argtypes = [
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_longlong, ctypes.c_int, ctypes.c_int,
        ctypes.c_double, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    return library


def laplace(u, d, side):
    """A u, as pcg.h has it."""
    result = []
    for i, value in enumerate(u):
        total, stride = 2 * d * value, 1
        for _ in range(d):
            c = i // stride % side
            if c > 0:
                total -= u[i - stride]
            if c + 1 < side:
                total -= u[i + stride]
            stride *= side
        result.append(total)
    return result


def address(values):
    return values.buffer_info()[0]


def check_solves(library):
    for d, side in [(1, 33), (2, 10), (3, 6), (4, 4), (5, 3), (6, 2)]:
        random.seed(d)
        u = [random.uniform(-1, 1) for _ in range(side ** d)]
        b = laplace(u, d, side)
        double_b, double_x = array.array("d", b), array.array("d", [math.nan] * len(b))
        for method in (PLAIN, MIXED, MULTIGRID):
            done = ctypes.c_int(-1)
            status = library.pcg_solve_double(address(double_b), address(double_x), d, side, method, 100, 1e-12,
                                              None, ctypes.byref(done))
            assert status == CONVERGED, (d, side, method, library.pcg_strerror(status))
            assert 0 < done.value <= 100
            assert max(abs(x - y) for x, y in zip(double_x, u)) < 1e-9, (d, side, method)
        float_b, float_x = array.array("f", b), array.array("f", [math.nan] * len(b))
        status = library.pcg_solve_float(address(float_b), address(float_x), d, side, 100, 1e-4, None, None)
        assert status == CONVERGED, (d, side, library.pcg_strerror(status))
        residual = [x - y for x, y in zip(float_b, laplace(list(float_x), d, side))]
        assert math.hypot(*residual) <= 1.1e-4 * math.hypot(*float_b), (d, side)


def check_errors(library):
    values = array.array("f", [1.0] * 8)
    assert library.pcg_solve_float(None, address(values), 3, 2, 5, 1e-3, None, None) == NULL_POINTER
    assert library.pcg_solve_float(address(values), address(values), 7, 2, 5, 1e-3, None, None) == BAD_DIMENSION
    assert library.pcg_solve_float(address(values), address(values), 6, 10**9, 5, 1e-3, None, None) == TOO_LARGE
    assert b"null" in library.pcg_strerror(NULL_POINTER)
    assert library.pcg_strerror(99) == b"unknown status"


def check_symbols(path):
    """Nothing is visible but the interface."""
    listing = subprocess.run(["nm", "--dynamic", "--defined-only", "--format=posix", path], check=True,
                             capture_output=True, text=True).stdout
    names = sorted(line.split()[0] for line in listing.splitlines())
    assert names == ["pcg_solve_double", "pcg_solve_float", "pcg_strerror"], names


def main():
    path = sys.argv[1]
    check_symbols(path)
    library = load(path)
    check_errors(library)
    check_solves(library)


main()
