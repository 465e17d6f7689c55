"""Read a column of Python objects in one pass, with Python code for each type but not for each cell."""

from cpython.dict cimport PyDict_GetItemWithError
from cpython.exc cimport PyErr_CheckSignals
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_AsDouble, PyFloat_CheckExact
from cpython.long cimport PyLong_AsDouble, PyLong_AsLong, PyLong_CheckExact
from cpython.number cimport PyNumber_Float
from cpython.object cimport Py_NE, Py_TYPE, PyObject, PyObject_RichCompare, PyTypeObject
from cpython.unicode cimport PyUnicode_CheckExact
from libc.math cimport NAN
from libc.stdint cimport int32_t

import cython
import numpy as np

cdef enum:  # what the type of a cell says about it
    IS_TEXT = 0
    IS_NUMBER = 1   # never missing
    IS_FLOAT = 2    # missing if it is NaN
    IS_MISSING = 3  # always missing
    IS_TIME = 4     # missing if it is NaT, which does not equal itself; otherwise as IS_NUMBER
    IS_OTHER = 5

cdef enum:
    CELLS_PER_CHECK = 1 << 16  # cells between two checks for signals

TEXT, NUMBER, FLOAT, MISSING, TIME, OTHER = IS_TEXT, IS_NUMBER, IS_FLOAT, IS_MISSING, IS_TIME, IS_OTHER


def factorize(list cells):
    """Return the code of each cell and the distinct cells in order of appearance. Cells must be hashable."""
    cdef Py_ssize_t row
    cdef PyObject *found
    cdef dict index = {}
    cdef list distinct = []
    codes = np.empty(len(cells), dtype=np.int32)
    cdef int32_t[::1] code_view = codes
    for row in range(code_view.shape[0]):
        if row % CELLS_PER_CHECK == 0:
            PyErr_CheckSignals()
        found = PyDict_GetItemWithError(index, cells[row])
        if found != NULL:
            code_view[row] = <int32_t>PyLong_AsLong(<object>found)
        else:
            index[cells[row]] = code_view[row] = <int32_t>len(distinct)
            distinct.append(cells[row])
    return codes, distinct


@cython.final
cdef class ObjectReader:
    """A pass over the cells of a column, which may be text or numbers, with missing cells among them.

    The types of all other cells are collected too, so that the caller can refuse a column.
    """
    cdef readonly set types       # of the cells that are not missing
    cdef readonly object codes    # of text: int32, -1 where missing
    cdef readonly list labels     # of text: the distinct cells in order of appearance
    cdef readonly object values   # of numbers: float64, NaN where missing
    cdef readonly object error    # the first exception of a cell: it has no hash, or is no float
    cdef dict index
    cdef object what_is           # function that returns one of the constants above for a type
    cdef dict known_types
    cdef PyTypeObject *last_type
    cdef Py_ssize_t n
    cdef int32_t[::1] code_view
    cdef double[::1] value_view

    def __init__(self, what_is):
        self.what_is, self.types, self.labels, self.index, self.known_types = what_is, set(), [], {}, {}

    def read(self, list cells):
        """Read all cells. No other code may change the list meanwhile. Return this object."""
        cdef Py_ssize_t row
        cdef object cell
        cdef int what
        self.n = len(cells)
        for row in range(self.n):
            if row % CELLS_PER_CHECK == 0:
                PyErr_CheckSignals()
            cell = cells[row]
            what = self.kind_of(cell)
            if what == IS_MISSING:
                continue
            self.note_type(cell)
            if self.error is not None or what == IS_OTHER:
                continue
            try:
                if what == IS_TEXT:
                    self.add_text(row, cell)
                else:
                    self.add_number(row, cell)
            except Exception as error:
                self.error = error
        return self

    cdef int kind_of(self, object cell) except -1:
        cdef int what
        if PyUnicode_CheckExact(cell):
            return IS_TEXT
        if cell is None:
            return IS_MISSING
        if PyFloat_CheckExact(cell):
            what = IS_FLOAT
        elif PyLong_CheckExact(cell):
            return IS_NUMBER
        else:
            what = self.kind_of_type(type(cell))
        if what == IS_FLOAT:
            value = PyFloat_AsDouble(cell)
            return IS_MISSING if value != value else IS_NUMBER
        if what == IS_TIME:
            return IS_MISSING if PyObject_RichCompare(cell, cell, Py_NE) else IS_NUMBER
        return what

    cdef int kind_of_type(self, object cell_type) except -1:
        cdef PyObject *found = PyDict_GetItemWithError(self.known_types, cell_type)
        if found != NULL:
            return <int>PyLong_AsLong(<object>found)
        what = self.known_types[cell_type] = self.what_is(cell_type)
        return what

    cdef int note_type(self, object cell) except -1:
        if <PyTypeObject *>Py_TYPE(cell) != self.last_type:
            self.last_type = <PyTypeObject *>Py_TYPE(cell)
            self.types.add(type(cell))
        return 0

    cdef int add_text(self, Py_ssize_t row, object cell) except -1:
        cdef PyObject *found
        if self.codes is None:
            self.codes = np.full(self.n, -1, dtype=np.int32)
            self.code_view = self.codes
        found = PyDict_GetItemWithError(self.index, cell)
        if found != NULL:
            self.code_view[row] = <int32_t>PyLong_AsLong(<object>found)
            return 0
        self.index[cell] = self.code_view[row] = <int32_t>len(self.labels)
        self.labels.append(cell)
        return 0

    cdef int add_number(self, Py_ssize_t row, object cell) except -1:
        if self.values is None:
            self.values = np.full(self.n, NAN)
            self.value_view = self.values
        if PyFloat_CheckExact(cell):
            self.value_view[row] = PyFloat_AS_DOUBLE(cell)
        elif PyLong_CheckExact(cell):
            self.value_view[row] = PyLong_AsDouble(cell)
        else:
            self.value_view[row] = PyFloat_AS_DOUBLE(PyNumber_Float(cell))
        return 0
